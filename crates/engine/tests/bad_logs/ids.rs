//! Session ids that want to be paths, devices or each other.

use retro_agents::Agent;
use retro_engine::SyncOptions;
use retro_model::SessionKey;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::support::{self, Machine, raw};
use crate::{File, ID, replaced, story};

fn ids() -> Vec<String> {
    let mut ids: Vec<String> = [
        "../x",
        "..",
        ".",
        "CON",
        "con",
        "nul.txt",
        "a/b",
        "a\\b",
        "C:\\x",
        "a\nb",
        "",
        " ",
        "a b ",
        "a.",
        "\u{1F980}",
        "Case",
        "case",
        "CASE",
        "a%2fb",
        "%2e%2e",
        "-rf",
        "a\0b",
        "~",
        "*",
        "a\u{202e}b",
        "_shared",
        "m~2",
    ]
    .map(str::to_owned)
    .to_vec();
    ids.extend(["x".repeat(300), format!("{}y", "x".repeat(299)), "\u{e9}".repeat(150)]);
    ids
}

/// The story under a hostile id: in its records, and in its path where a file can be called so.
fn hostile(files: &[File], id: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let escaped = serde_json::to_string(id).unwrap();
    let inside = escaped.trim_matches('"').as_bytes();
    let can_be_named =
        !id.is_empty() && ![".", ".."].contains(&id) && !id.contains(['/', '\0']) && id.len() < 200;
    let told = |file: &File| {
        let path = file.path.display().to_string();
        let path = if can_be_named { path.replace(ID, id) } else { path };
        (PathBuf::from(path), replaced(&file.bytes, ID.as_bytes(), inside))
    };
    files.iter().map(told).collect()
}

/// The main log of such a story under a name that says nothing.
fn nameless(files: &[File], id: &str) -> Vec<u8> {
    let main = files.iter().position(|file| file.source.is_main()).unwrap();
    hostile(files, id).swap_remove(main).1
}

/// Every path below a folder, relative to it.
fn tree(folder: &Path) -> BTreeSet<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).min_depth(1).into_iter().map(Result::unwrap);
    entries.map(|entry| entry.path().strip_prefix(folder).unwrap().to_owned()).collect()
}

/// What must hold of a store, whatever its sessions are called.
fn names_are_safe(machine: &Machine, agent: &dyn Agent) -> usize {
    let root = &machine.config.root.value;
    for path in tree(root) {
        for part in path.components() {
            let part = part.as_os_str().to_str().unwrap();
            let plain = |c: char| {
                c.is_ascii_lowercase() || c.is_ascii_digit() || "._-%~".contains(c) || c.is_ascii_uppercase()
            };
            assert!(part.chars().all(plain) && part.len() <= 160, "{}: {part:?}", agent.name());
            assert!(
                !part.ends_with('.') && part != ".." && !part.eq_ignore_ascii_case("con"),
                "{}: {part:?}",
                agent.name()
            );
        }
    }
    let store = machine.store();
    let keys = store.session_keys().unwrap();
    let folders: BTreeSet<String> =
        keys.iter().map(|key| store.session_path(key).display().to_string().to_lowercase()).collect();
    assert_eq!(folders.len(), keys.len(), "{}: two sessions share a name", agent.name());
    for key in &keys {
        assert_eq!(store.session(key).unwrap().unwrap().key, *key);
        let slots = store.raw_slots(key).unwrap();
        assert!(
            !slots.is_empty() && slots.iter().all(|slot| store.slot_path(slot).starts_with(root)),
            "{key}"
        );
        slots.iter().for_each(|slot| assert!(!raw(&store, slot).is_empty(), "{key}"));
    }
    machine.verify();
    keys.len()
}

/// Everything beside the home and the store: nothing may appear there.
fn outside(machine: &Machine) -> BTreeSet<PathBuf> {
    let inside = |path: &PathBuf| path.starts_with("home") || path.starts_with("store");
    tree(machine.path()).into_iter().filter(|path| !inside(path)).collect()
}

#[test]
fn ids_in_paths_and_records_are_names_and_nothing_else() {
    for agent in support::agents() {
        let files = story(*agent);
        let machine = Machine::new();
        let ids = ids();
        for id in &ids {
            for (path, bytes) in hostile(&files, id) {
                machine.write(&path, &bytes);
            }
        }
        // Beside its other logs, under a name that tells nothing.
        let root = retro_engine::discover::roots(&machine.world, &machine.config, *agent).remove(0);
        for (n, id) in ids.iter().enumerate() {
            let path = root.join(format!("backup-{n}.jsonl"));
            machine.write(path.strip_prefix(machine.home()).unwrap(), &nameless(&files, id));
        }
        let before = (outside(&machine), tree(&machine.home()));
        let report = machine.sync();
        assert_eq!(report.failed, 0, "{}: {:?}", agent.name(), report.failures);
        assert_eq!((outside(&machine), tree(&machine.home())), before, "{}", agent.name());
        let sessions = names_are_safe(&machine, *agent);
        println!("{}: {sessions} sessions of {} ids", agent.name(), ids.len());
        assert!(sessions > 10, "{}", agent.name());
        let again = machine.sync();
        assert_eq!((again.ingested, again.appended, again.failed), (0, 0, 0), "{}", agent.name());
    }
}

/// The same through a file that the user points at.
#[test]
fn ids_in_a_file_somebody_sent_are_names_and_nothing_else() {
    for agent in support::agents() {
        let files = story(*agent);
        let machine = Machine::new();
        let mut taken = BTreeSet::new();
        for (n, id) in ids().iter().enumerate() {
            let path = machine.path().join(format!("sent-{n}.jsonl"));
            std::fs::write(&path, nameless(&files, id)).unwrap();
            let before = outside(&machine);
            let options = SyncOptions { from: Some(path), ..SyncOptions::default() };
            match retro_engine::sync(&machine.world, &machine.config, &options, &|_| {}) {
                Ok(report) => assert_eq!(report.failed, 0, "{} {id:?}: {:?}", agent.name(), report.failures),
                Err(error) => assert!(id.is_empty(), "{} {id:?}: {error}", agent.name()),
            }
            assert_eq!(outside(&machine), before, "{} {id:?}", agent.name());
            let key = SessionKey::new(agent.name(), id.clone());
            taken.extend(machine.store().session(&key).unwrap().map(|_| id.clone()));
        }
        assert!(taken.len() > 20, "{}: {taken:?}", agent.name());
        names_are_safe(&machine, *agent);
    }
}
