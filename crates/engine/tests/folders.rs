//! Folders whose files are one source: large outputs of Claude Code's tools.
#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

use retro_agents::by_name;
use retro_engine::capture::{self, Before};
use retro_engine::discover::discover;
use retro_engine::hook::{self, Call};
use retro_engine::rebuild::rebuild;
use retro_model::{SessionKey, SourceKey, SourceKind};
use retro_store::{Slot, SourceEntry, Stamps, Store};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{Files, Machine, STORY, kept, raw};

fn story() -> SessionKey {
    SessionKey::new("claude", "11111111-1111-4111-8111-111111111111")
}

fn slot(revision: u32) -> Slot {
    Slot::Session { key: story(), source: SourceKey::new("tool-results"), revision }
}

/// A session with a folder of results, and what is in it.
struct Scene {
    machine: Machine,
    main: PathBuf,
    folder: PathBuf,
    files: Files,
}

impl Scene {
    fn new(machine: Machine) -> Scene {
        let main = machine.tell("claude", STORY).remove(0);
        let folder = main.with_extension("").join("tool-results");
        let mut scene = Scene { machine, main, folder, files: Files::new() };
        for number in 0..20 {
            scene.put(&format!("toolu_{number}.txt"), format!("result {number}\n").as_bytes());
        }
        scene
    }

    fn put(&mut self, name: &str, bytes: &[u8]) {
        self.machine.write(&self.folder.join(name), bytes);
        self.files.insert(name.as_bytes().to_vec(), bytes.to_vec());
    }

    /// Fails unless this revision has every file as it is.
    fn assert_kept(&self, revision: u32) {
        let kept = kept(&self.machine.store(), &slot(revision));
        assert_eq!(kept.keys().collect::<Vec<_>>(), self.files.keys().collect::<Vec<_>>());
        assert!(kept == self.files);
    }

    fn raw_bytes(&self) -> Vec<u8> {
        raw(&self.machine.store(), &slot(1))
    }

    /// Appends a line to the log.
    fn say(&self, number: u32) {
        let uuid = format!("22222222-1111-4111-8111-{number:012}");
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"sessionId\":\"{}\",\"timestamp\":\"2026-03-02T10:00:00Z\",\
             \"cwd\":\"/w\",\"message\":{{\"role\":\"user\",\"content\":\"more {number}\"}}}}\n",
            story().id
        );
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.main).unwrap();
        std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    }
}

#[test]
fn every_file_comes_back_byte_for_byte_and_is_kept_once() {
    let mut scene = Scene::new(Machine::new());
    let large: Vec<u8> = (0..10_000_000_u32).flat_map(|number| [(number % 251) as u8]).collect();
    scene.put("empty.txt", b"");
    scene.put("large.bin", &large);
    scene.put("deep/er/nested.txt", b"nested");
    scene.put("deep/toolu_1.txt", b"of the same name");
    scene.put("like-pieces.txt", b"{\"file\":\"x\",\"at\":0,\"bytes\":1,\"is_last\":true}\nx\n");
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        scene.put("with \"quotes\"\nand lines.txt", b"odd name");
        let name = b"not-\xff-text.txt";
        std::fs::write(scene.folder.join(std::ffi::OsStr::from_bytes(name)), "odd bytes").unwrap();
        scene.files.insert(name.to_vec(), b"odd bytes".to_vec());
    }
    scene.machine.write(&scene.folder.join("half.tmp.1"), b"being written");
    let report = scene.machine.sync();
    assert_eq!((report.ingested, report.failed, report.gaps), (1, 0, 0), "{report:?}");
    scene.assert_kept(1);
    let file = scene.machine.store().session(&story()).unwrap().unwrap();
    let entry = &file.sources[&SourceKey::new("tool-results")];
    assert_eq!((entry.kind, entry.format.as_str(), entry.revisions), (SourceKind::Files, "files", 1));
    assert!(!file.sources.contains_key(&SourceKey::new("toolu_1.txt")));
    scene.machine.verify();

    // A changed file is appended, a deleted one stays.
    let before = scene.raw_bytes();
    scene.put("toolu_3.txt", b"another result\n");
    std::fs::remove_file(scene.folder.join("toolu_4.txt")).unwrap();
    let report = scene.machine.sync();
    assert_eq!((report.appended, report.failed), (1, 0), "{report:?}");
    scene.assert_kept(1);
    let after = scene.raw_bytes();
    assert!(after.starts_with(&before) && after.len() < before.len() + 200);
    scene.machine.verify();
    assert_eq!(scene.machine.sync().appended, 0);

    // A new time alone is no new content.
    let again = std::fs::read(scene.folder.join("toolu_5.txt")).unwrap();
    std::fs::remove_file(scene.folder.join("toolu_5.txt")).unwrap();
    scene.put("toolu_5.txt", &again);
    let report = scene.machine.sync();
    assert_eq!((report.appended, report.failed), (0, 0), "{report:?}");
    assert_eq!(scene.raw_bytes(), after);
    let report = scene.machine.sync();
    assert_eq!((report.appended, report.skipped_unchanged), (0, 1), "{report:?}");
    scene.machine.verify();
}

#[test]
fn a_line_more_leaves_the_folder_alone_and_a_file_more_is_appended() {
    for machine in [Machine::new(), Machine::new().busy()] {
        let mut scene = Scene::new(machine);
        scene.machine.sync();
        let path = scene.machine.store().slot_path(&slot(1));
        let looks = || {
            let meta = std::fs::metadata(&path).unwrap();
            (meta.len(), meta.modified().unwrap())
        };
        let before = looks();
        scene.say(1);
        assert_eq!(scene.machine.sync().appended, 1);
        assert_eq!(looks(), before);
        scene.put("toolu_new.txt", b"new");
        scene.say(2);
        assert_eq!(scene.machine.sync().appended, 1);
        scene.assert_kept(1);
        scene.put("toolu_newer.txt", b"newer");
        assert_eq!(scene.machine.sync().appended, 1);
        scene.assert_kept(1);
        scene.machine.verify();
    }
}

#[test]
fn an_index_that_is_gone_costs_a_look_and_nothing_is_kept_twice() {
    let mut scene = Scene::new(Machine::new());
    scene.machine.sync();
    scene.put("toolu_3.txt", b"changed");
    scene.machine.sync();
    let before = scene.machine.answers();
    let root = scene.machine.config.root.value.clone();
    std::fs::remove_dir_all(root.join("index")).unwrap();
    let report = scene.machine.sync();
    assert_eq!((report.appended, report.failed), (0, 0), "{report:?}");
    assert_eq!(scene.machine.answers(), before);
    scene.machine.verify();

    // Without the session file too: the name says what the raw file holds.
    std::fs::remove_dir_all(root.join("index")).unwrap();
    std::fs::remove_dir_all(root.join("sessions")).unwrap();
    scene.machine.sync();
    assert_eq!(scene.machine.answers(), before);
    rebuild(&scene.machine.world, &scene.machine.config, None, &|_| {}).unwrap();
    assert_eq!(scene.machine.answers(), before);
    scene.machine.verify();
    scene.put("toolu_last.txt", b"last");
    assert_eq!(scene.machine.sync().appended, 1);
    scene.assert_kept(1);

    // And without the folder.
    let before = scene.machine.answers();
    std::fs::remove_dir_all(&scene.folder).unwrap();
    std::fs::remove_dir_all(root.join("index")).unwrap();
    assert_eq!(scene.machine.sync().failed, 0);
    assert_eq!(scene.machine.answers(), before);
    scene.machine.verify();
}

#[test]
fn a_raw_file_that_is_gone_or_damaged_is_made_again() {
    let scene = Scene::new(Machine::new());
    scene.machine.sync();
    let path = scene.machine.store().slot_path(&slot(1));
    std::fs::remove_file(&path).unwrap();
    scene.say(1);
    let report = scene.machine.sync();
    assert_eq!((report.appended, report.failed), (1, 0), "{report:?}");
    scene.assert_kept(1);
    scene.machine.verify();

    std::fs::write(&path, b"not what was there").unwrap();
    scene.say(2);
    let report = scene.machine.sync();
    assert_eq!((report.appended, report.failed), (1, 0), "{report:?}");
    scene.assert_kept(1);
    scene.machine.verify();
}

#[test]
fn damage_inside_is_found_by_packing_and_the_folder_is_captured_beside_it() {
    let scene = Scene::new(Machine::new().busy());
    scene.machine.sync();
    let path = scene.machine.store().slot_path(&slot(1));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 0xff;
    std::fs::write(&path, &bytes).unwrap();
    let scene = Scene { machine: scene.machine.quiet(), ..scene };
    for number in 0..2 {
        scene.say(number);
        scene.machine.sync();
    }
    scene.assert_kept(2);
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_file_rewritten_under_its_old_looks_is_found_by_packing() {
    let mut scene = Scene::new(Machine::new().busy());
    scene.machine.sync();
    let path = scene.folder.join("toolu_3.txt");
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    scene.put("toolu_3.txt", b"RESULT 3\n");
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(scene.machine.sync().appended, 0);
    let scene = Scene { machine: scene.machine.quiet(), ..scene };
    scene.machine.sync();
    scene.machine.sync();
    scene.assert_kept(1);
    scene.machine.verify();
}

#[test]
fn a_hook_captures_the_folder() {
    let mut scene = Scene::new(Machine::new());
    for number in 0..2 {
        scene.put("toolu_hook.txt", format!("{number}").as_bytes());
        let call = Call {
            agent: by_name("claude").unwrap(),
            transcript: Some(scene.main.clone()),
            session_id: Some(story().id),
        };
        hook::capture(&scene.machine.world, &scene.machine.config, &call).unwrap();
        scene.assert_kept(1);
    }
    let report = scene.machine.sync();
    assert_eq!((report.ingested, report.appended), (0, 0), "{report:?}");
    scene.machine.verify();
}

/// An earlier retro kept each of these files as a source of its own.
#[test]
fn sources_of_single_files_stay_as_they_are() {
    let scene = Scene::new(Machine::new());
    let folder = scene.folder.with_file_name("away");
    std::fs::rename(&scene.folder, &folder).unwrap();
    scene.machine.sync();
    let store = scene.machine.store();
    let mut file = store.session(&story()).unwrap().unwrap();
    let single = |name: &str| Slot::Session { key: story(), source: SourceKey::new(name), revision: 1 };
    file.sources.retain(|source, _| !source.as_str().starts_with("away"));
    for name in ["toolu_1.txt", "toolu_2.txt"] {
        store.archive(&single(name)).append(&scene.files[name.as_bytes()], 1).unwrap();
        let places = [scene.folder.join(name).display().to_string()].into();
        let (kind, format) = (SourceKind::Document, "opaque".to_owned());
        file.sources.insert(SourceKey::new(name), SourceEntry { kind, format, revisions: 1, places });
    }
    store.put_session(&file).unwrap();
    store.sync_all().unwrap();
    for slot in store.raw_slots(&story()).unwrap() {
        if slot.to_string().contains("away") {
            store.archive(&slot).remove().unwrap();
        }
    }
    drop(store);
    std::fs::rename(&folder, &scene.folder).unwrap();
    for number in 0..3 {
        scene.say(number);
        let report = scene.machine.sync();
        assert_eq!((report.appended, report.failed), (1, 0), "{report:?}");
        scene.machine.verify();
    }
    scene.assert_kept(1);
    let store = scene.machine.store();
    for name in ["toolu_1.txt", "toolu_2.txt"] {
        assert_eq!(raw(&store, &single(name)), scene.files[name.as_bytes()]);
    }
    let file = store.session(&story()).unwrap().unwrap();
    assert!(file.sources.contains_key(&SourceKey::new("toolu_1.txt")));
    let before = scene.machine.answers();
    std::fs::remove_dir_all(scene.machine.config.root.value.join("index")).unwrap();
    assert_eq!(scene.machine.sync().failed, 0);
    assert_eq!(scene.machine.answers(), before);
    scene.machine.verify();
}

#[test]
fn two_copies_of_a_folder_do_not_take_turns() {
    let mut scene = Scene::new(Machine::new());
    let copy = scene.machine.home().join("copy");
    copy_all(&scene.machine.home().join(".claude"), &copy);
    let there = copy.join(scene.folder.strip_prefix(scene.machine.home().join(".claude")).unwrap());
    std::fs::write(there.join("toolu_1.txt"), "other bytes").unwrap();
    let mut sources = scene.machine.config.sources.value.clone();
    sources.insert("claude".to_owned(), vec![copy]);
    scene.machine.config.sources.value = sources;
    scene.machine.sync();
    for number in 0..3 {
        let before = scene.raw_bytes();
        let report = scene.machine.sync();
        assert_eq!((report.appended, report.skipped_unchanged), (0, 1), "{report:?}");
        let name = format!("toolu_new_{number}.txt");
        scene.put(&name, b"new");
        std::fs::write(there.join(&name), b"new").unwrap();
        assert_eq!(scene.machine.sync().appended, 1);
        let after = scene.raw_bytes();
        assert!(after.starts_with(&before) && after.len() < before.len() + 100, "it is kept once");
    }
    scene.machine.verify();
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_all(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Stopped after any number of files and pieces, with an index that heard nothing of it, the
/// next sync completes it.
#[test]
fn a_stop_loses_nothing() {
    let large = vec![7_u8; 9_000_000];
    let mut left = 1;
    loop {
        let mut scene = Scene::new(Machine::new());
        scene.put("large.bin", &large);
        let found = discover(&scene.machine.world, &scene.machine.config, None, &Stamps::default());
        let disk = scene.machine.world.disk.clone();
        let store = Store::open_or_create(&scene.machine.config.root.value, disk).unwrap();
        let (stamps, asked) = (Stamps::default(), AtomicUsize::new(0));
        let before = Before { sources: Vec::new(), stamps: &stamps, is_bare: true, is_old: false };
        let stop = || asked.fetch_add(1, Ordering::Relaxed) >= left;
        capture::session(&store, &found.sessions[0], before, &stop).unwrap();
        drop(store);
        let report = scene.machine.sync();
        assert_eq!(report.failed, 0, "{report:?}");
        scene.assert_kept(1);
        scene.machine.verify();
        assert_eq!(scene.machine.sync().appended, 0);
        if asked.load(Ordering::Relaxed) <= left {
            break;
        }
        left += 4;
    }
    assert!(left > 20);
}

/// A path that is too long cannot be opened, though its folder can be listed.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_named_and_its_neighbours_are_kept() {
    let scene = Scene::new(Machine::new());
    let mut deep = scene.folder.clone();
    while deep.as_os_str().len() < 3_900 {
        deep.push("d".repeat(100));
    }
    std::fs::create_dir_all(&deep).unwrap();
    let write = format!("printf unreadable > {}", "n".repeat(200));
    let made = std::process::Command::new("sh").current_dir(&deep).args(["-c", &write]).status().unwrap();
    assert!(made.success());
    for number in 0..2 {
        let report = scene.machine.sync();
        assert_eq!(report.failures.len(), 1, "{report:?}");
        assert!(report.failures[0].path.contains("nnnn"), "{report:?}");
        scene.assert_kept(1);
        scene.machine.verify();
        scene.say(number);
    }
    let before = scene.raw_bytes();
    std::fs::remove_dir_all(scene.folder.join("d".repeat(100))).unwrap();
    let report = scene.machine.sync();
    assert_eq!((report.failed, report.appended), (0, 1), "{report:?}");
    assert_eq!(scene.raw_bytes(), before);
    assert_eq!(scene.machine.sync().failed, 0);
    scene.machine.verify();
}

#[test]
fn a_rule_that_fits_a_file_of_a_folder_excludes_its_session() {
    let mut scene = Scene::new(Machine::new());
    scene.machine.config.exclude_regex.value = vec![r"toolu_7\.txt$".to_owned()];
    let report = scene.machine.sync();
    assert_eq!((report.excluded, report.ingested), (1, 0), "{report:?}");
}
