//! Stores of every released format, kept as they were made: opened, verified, answered
//! from, and gone on with.
//!
//! `fixtures/home` holds a few logs of our own making, `fixtures/store-1` the store that
//! was made of them, `store-2` what the last program of format 2 made of that. To make the fixture of a new format, raise the number here and run
//! `cargo test -p retro --test released -- --ignored`; the old ones stay.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro::engine::{Config, SyncOptions, World, sync};
use retro::model::SourceKind;
use retro::store::{RealDisk, Slot, Store};
use retro::views;
use std::path::Path;
use std::sync::Arc;
use support::machine::{self, OTHER, STORY};

const FORMATS: &[u32] = &[1, 2];

/// Relative to the crate, so that no path of a machine stands in a fixture.
const HOME: &str = "tests/fixtures/home";

fn fixture(format: u32) -> String {
    format!("tests/fixtures/store-{format}")
}

#[test]
fn stores_of_every_format_are_read_verified_and_gone_on_with() {
    for format in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("store");
        copy(Path::new(&fixture(*format)), &root);
        let store = Store::open(&root, Arc::new(RealDisk)).unwrap();
        assert_eq!(store.format(), *format);
        verified(&store);
        let keys = store.session_keys().unwrap();
        assert!(keys.len() >= 5, "{keys:?}");
        every_log_comes_back(&store);
        let before: Vec<_> = keys.iter().map(|key| views::events(&store, key).unwrap()).collect();

        let (world, config) = (World::at(HOME), Config::for_root(&root));
        let report = sync(&world, &config, &SyncOptions::default(), &|_| {}).unwrap();
        assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "format {format}");
        let store = Store::open(&root, Arc::new(RealDisk)).unwrap();
        assert!(!store.is_older(), "format {format} is taken over");
        verified(&store);
        let after: Vec<_> = keys.iter().map(|key| views::events(&store, key).unwrap()).collect();
        assert_eq!(after, before, "format {format}");
        let listed =
            views::list(&world, &config, &views::ListOptions { children: true, ..Default::default() });
        assert!(listed.unwrap().sessions.iter().all(|session| session.captured && session.up_to_date));
    }
}

#[track_caller]
fn verified(store: &Store) {
    let report = retro::engine::verify::verify(store, true, &mut |_| {}).unwrap();
    assert_eq!(report.problems, []);
}

fn every_log_comes_back(store: &Store) {
    let mut logs = 0;
    for key in store.session_keys().unwrap() {
        for (source, entry) in store.session(&key).unwrap().unwrap().sources {
            let slot = Slot::Session { key: key.clone(), source, revision: entry.revisions };
            for place in entry.places.iter().filter(|_| entry.kind == SourceKind::Log) {
                assert_eq!(machine::raw(store, &slot), std::fs::read(place).unwrap(), "{slot}");
                logs += 1;
            }
        }
    }
    assert!(logs >= 5, "only {logs} logs");
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
#[ignore = "makes the fixture of the present format, once"]
fn make_the_fixture() {
    let root = fixture(*FORMATS.last().unwrap());
    assert!(!Path::new(&root).exists(), "{root} is there: a fixture is never made anew");
    if !Path::new(HOME).exists() {
        for agent in machine::agents() {
            for story in [STORY, OTHER] {
                let script = retro::agents::script::Script::parse(story).unwrap();
                for (path, bytes) in agent.write(&script) {
                    let path = Path::new(HOME).join(path);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, bytes).unwrap();
                }
            }
        }
    }
    std::fs::create_dir_all(&root).unwrap();
    // Ids of zeros: nothing in a fixture may look like a secret.
    let zeros = "0".repeat(32);
    let head = serde_json::json!({"retro": "store", "format": FORMATS.last(), "id": zeros, "machine": zeros, "key": zeros});
    let text = serde_json::to_string_pretty(&head).unwrap();
    let body = format!("{},\n", text.strip_suffix("\n}").unwrap());
    let check = blake3::hash(body.as_bytes()).to_hex();
    std::fs::write(Path::new(&root).join("store.json"), format!("{body}  \"check\": \"{check}\"\n}}\n"))
        .unwrap();
    let now: retro::model::Timestamp = jiff::Timestamp::now().into();
    let quiet = retro::model::Timestamp::from_millis(now.as_millis() + 3 * 86_400_000).unwrap();
    let world = World::at(HOME).with_clock(quiet);
    sync(&world, &Config::for_root(&root), &SyncOptions::default(), &|_| {}).unwrap();
    for derived in ["index", "lock", "queue"] {
        let path = Path::new(&root).join(derived);
        drop(std::fs::remove_dir_all(&path));
        drop(std::fs::remove_file(&path));
    }
}
