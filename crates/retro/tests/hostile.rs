//! A store that came from somebody else: whatever its names, links and JSON say, no
//! command reads or writes outside its root, and none hangs.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
#![cfg(unix)]

mod support;

use retro::model::{SessionKey, SourceKey, SourceKind};
use retro::store::{Job, SessionFile, Slot, SourceEntry};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use support::{COMMANDS, Machine, Snapshot, answers, is_trial, scene};

/// A folder of the user's that no command may touch.
struct Outside {
    folder: PathBuf,
    before: Vec<(PathBuf, Vec<u8>)>,
}

impl Outside {
    fn beside(machine: &Machine) -> Outside {
        let folder = machine.path().join("outside");
        std::fs::create_dir_all(folder.join("deeper")).unwrap();
        std::fs::write(folder.join("letter.txt"), "Dear friend").unwrap();
        std::fs::write(folder.join("deeper/notes.jsonl"), "{\"mine\":1}\n").unwrap();
        let before = files(&folder);
        Outside { folder, before }
    }

    #[track_caller]
    fn is_untouched(&self, after: &str) {
        assert_eq!(files(&self.folder), self.before, "{after}");
    }
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    Snapshot::of(folder).files().map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
}

/// Every place of a store at which a link could stand, and whether it is a folder.
fn places(machine: &Machine) -> Vec<(PathBuf, bool)> {
    let store = machine.store();
    let key = SessionKey::new("claude", "11111111-1111-4111-8111-111111111111");
    let raw = store.slot_path(&store.raw_slots(&key).unwrap()[0]);
    let new_raw =
        store.slot_path(&Slot::Session { key: key.clone(), source: SourceKey::main(), revision: 2 });
    let part = |path: &Path| PathBuf::from(format!("{}.part", path.display()));
    let root = store.root();
    let session = store.session_path(&key);
    let normalized = store.normalized_path(&key);
    let index = root.join("index");
    let mut places = Vec::new();
    for folder in ["raw", "raw/claude", "sessions", "sessions/claude"] {
        places.push((root.join(folder), true));
    }
    for folder in
        ["normalized", "normalized/claude", "rendered", "rendered/claude", "signals", "queue", "index"]
    {
        places.push((root.join(folder), true));
    }
    places.push((new_raw.parent().unwrap().to_owned(), true));
    for file in [&raw, &new_raw, &session, &normalized, &store.rendered_path(&key)] {
        places.push((file.clone(), false));
        places.push((part(file), false));
    }
    for name in ["retro.sqlite", "retro.sqlite-wal", "retro.sqlite-shm", "retro.sqlite.old"] {
        places.push((index.join(name), false));
    }
    places.push((root.join("lock"), false));
    places.push((root.join("store.json.part"), false));
    places
}

#[test]
fn no_link_inside_a_store_is_followed() {
    let machine = scene::grown();
    let outside = Outside::beside(&machine);
    let before = Snapshot::of(&machine.config.root.value);
    let (mut tried, mut done) = (0, 0);
    for (place, is_folder) in places(&machine) {
        let targets = match is_folder {
            true => vec![outside.folder.clone(), outside.folder.join("deeper")],
            // One that is there, and one that writing would make.
            false => vec![outside.folder.join("letter.txt"), outside.folder.join("new")],
        };
        for target in targets {
            let commands = COMMANDS.iter().enumerate().filter(|(_, command)| command.name != "first sync");
            // Every place with some of the commands, or with all.
            for (_, command) in commands.filter(|(at, _)| is_trial() || (at + tried) % 4 == 0) {
                before.restore();
                match place.is_dir() {
                    true => std::fs::remove_dir_all(&place).unwrap(),
                    false => drop(std::fs::remove_file(&place)),
                }
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                symlink(&target, &place).unwrap();
                // It may refuse or get through.
                let _ = (command.run)(&machine, &machine.world);
                outside.is_untouched(&format!(
                    "{} with {} -> {}",
                    command.name,
                    place.display(),
                    target.display()
                ));
                done += 1;
            }
            tried += 1;
        }
    }
    println!("trial links: {done} points, 0 failures");
}

#[test]
fn a_link_is_refused_by_name_with_what_helps() {
    let machine = scene::grown();
    let outside = Outside::beside(&machine);
    let raw = machine.config.root.value.join("raw");
    std::fs::remove_dir_all(&raw).unwrap();
    symlink(&outside.folder, &raw).unwrap();
    let error = (COMMANDS[1].run)(&machine, &machine.world).unwrap_err().to_string();
    assert!(error.contains(&raw.display().to_string()) && error.contains("is a link"), "{error}");
    outside.is_untouched("sync");
}

/// Ids, sources and places as somebody with bad intentions would write them.
#[test]
fn ids_and_paths_in_json_stay_inside_the_root() {
    let machine = scene::grown();
    let outside = Outside::beside(&machine);
    let pipe = machine.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    let has_pipe = made.is_ok_and(|status| status.success());
    println!("{}", if has_pipe { "with a pipe" } else { "mkfifo is not there: without a pipe" });
    let store = machine.store();
    let evil = [
        "../../../outside/letter.txt",
        "/etc/passwd",
        "..",
        ".",
        "",
        "a/../../../outside/new",
        "x\0y",
        "_shared",
        "%2e%2e%2foutside",
    ];
    for id in evil {
        let mut file = SessionFile::new(SessionKey::new("claude", id));
        for source in evil {
            let places = [outside.folder.join("letter.txt"), "/etc/passwd".into(), pipe.clone()];
            let entry = SourceEntry {
                kind: SourceKind::Log,
                format: "json_lines".to_owned(),
                revisions: 3,
                places: places.iter().map(|place| place.display().to_string()).collect(),
            };
            file.sources.insert(SourceKey::new(source), entry);
        }
        store.put_session(&file).unwrap();
        for path in [outside.folder.join("letter.txt"), pipe.clone(), "../../outside/new".into()] {
            store
                .enqueue(&Job {
                    agent: Some(id.to_owned()),
                    path: Some(path),
                    session_id: Some(id.to_owned()),
                })
                .unwrap();
        }
    }
    store.sync_all().unwrap();
    let hostile = Snapshot::of(store.root());
    drop(store);
    for command in
        COMMANDS.iter().filter(|command| command.name != "sync --from a store of the Python program")
    {
        hostile.restore();
        (command.run)(&machine, &machine.world).unwrap_or_else(|error| panic!("{}: {error}", command.name));
        answers(&machine);
        outside.is_untouched(command.name);
    }
}

/// A number that no store has, at which going through one by one would never end.
#[test]
fn a_session_file_that_lists_a_billion_revisions_is_damaged() {
    let machine = scene::whole();
    let store = machine.store();
    let key = store.session_keys().unwrap().remove(0);
    let mut file = store.session(&key).unwrap().unwrap();
    file.sources.values_mut().for_each(|entry| entry.revisions = u32::MAX);
    store.put_session(&file).unwrap();
    store.sync_all().unwrap();
    let problems = support::problems(&machine);
    assert!(problems.iter().any(|problem| problem.contains("revisions")), "{problems:?}");
    support::commands::COMMANDS.iter().find(|command| !command.is_sound_before()).unwrap().run_on(&machine);
    assert_eq!(support::problems(&machine), Vec::<String>::new());
}
