//! Logs that changed otherwise than by growing at their end: what was captured stays,
//! what is there now is another revision, and bytes are never mixed.

use retro_engine::{SyncOptions, stages};
use retro_model::{SessionKey, SourceKey};
use retro_store::Slot;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::support::{Machine, raw};
use crate::{ID, lines, loggers, story, write};

/// What the log is after the change, how it gets there, and how many revisions
/// that makes.
struct Change {
    name: &'static str,
    bytes: fn(&[u8]) -> Vec<u8>,
    put: fn(&Path, &[u8]),
    revisions: u32,
}

const CHANGES: &[Change] = &[
    Change { name: "other content of the same size", bytes: other, put: in_place, revisions: 2 },
    Change {
        name: "other content of the same size, through a rename",
        bytes: other,
        put: renamed,
        revisions: 2,
    },
    Change { name: "other content and an older time", bytes: other, put: set_back, revisions: 2 },
    Change {
        name: "other content at the start, and more at the end",
        bytes: |log| grown(&other(log)),
        put: in_place,
        revisions: 2,
    },
    Change { name: "shrunk", bytes: |log| lines(log)[2..].concat(), put: in_place, revisions: 2 },
    Change { name: "grown in the middle", bytes: in_the_middle, put: in_place, revisions: 2 },
    Change {
        name: "grown in the middle, through a rename",
        bytes: in_the_middle,
        put: renamed,
        revisions: 2,
    },
    Change { name: "emptied", bytes: |_| Vec::new(), put: in_place, revisions: 1 },
    Change {
        name: "cut at its end",
        bytes: |log| log[..log.len() / 2].to_vec(),
        put: in_place,
        revisions: 1,
    },
    Change { name: "the same, through a rename", bytes: <[u8]>::to_vec, put: renamed, revisions: 1 },
    Change { name: "the same, and an older time", bytes: <[u8]>::to_vec, put: set_back, revisions: 1 },
    Change { name: "grown, through a rename", bytes: grown, put: renamed, revisions: 1 },
    Change { name: "grown, and an older time", bytes: grown, put: set_back, revisions: 1 },
];

/// The same number of bytes with other words.
fn other(log: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(log.to_vec()).unwrap();
    assert!(text.contains("Fix the tax test"));
    text.replace("Fix the tax test", "Mix the wax nest").into_bytes()
}

fn grown(log: &[u8]) -> Vec<u8> {
    [log, b"{\"type\":\"novelty\"}\n"].concat()
}

fn in_the_middle(log: &[u8]) -> Vec<u8> {
    let lines = lines(log);
    [&lines[..2].concat(), b"{\"type\":\"novelty\"}\n".as_slice(), &lines[2..].concat()].concat()
}

fn in_place(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

fn renamed(path: &Path, bytes: &[u8]) {
    let beside = path.with_extension("swap");
    std::fs::write(&beside, bytes).unwrap();
    std::fs::rename(beside, path).unwrap();
}

fn set_back(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(86_400)).unwrap();
}

#[test]
fn a_log_that_was_changed_is_another_revision() {
    for agent in &loggers() {
        let files = story(*agent);
        let main = files.iter().find(|file| file.source.is_main()).unwrap();
        for change in CHANGES {
            for forgets in [false, true] {
                let what = format!("{}: {}, without its index: {forgets}", agent.name(), change.name);
                let machine = Machine::new();
                write(&machine, &files);
                machine.sync();
                let key = SessionKey::new(agent.name(), ID);
                let before = machine.events(&key);
                if forgets {
                    std::fs::remove_dir_all(machine.config.root.value.join("index")).unwrap();
                }
                let now = (change.bytes)(&main.bytes);
                (change.put)(&machine.home().join(&main.path), &now);
                let report = machine.sync();
                assert_eq!(report.failed, 0, "{what}: {:?}", report.failures);
                let store = machine.store();
                let entry = store.session(&key).unwrap().unwrap().sources[&SourceKey::main()].clone();
                assert_eq!(entry.revisions, change.revisions, "{what}");
                let kept = |revision| {
                    raw(&store, &Slot::Session { key: key.clone(), source: SourceKey::main(), revision })
                };
                let longest = if now.starts_with(&main.bytes) { &now } else { &main.bytes };
                assert!(kept(1) == *longest, "{what}: the first revision");
                if change.revisions == 2 {
                    assert!(kept(2) == now, "{what}: the second revision");
                }
                let after: Vec<String> =
                    machine.events(&key).iter().map(|event| event.id.to_string()).collect();
                let lost: Vec<_> = before
                    .iter()
                    .map(|event| event.id.to_string())
                    .filter(|id| !after.contains(id))
                    .collect();
                assert!(lost.is_empty(), "{what}: {lost:?} are gone");
                machine.verify();
            }
        }
    }
}

/// Other content of the same size at the same time shows nowhere; it is found when
/// the log has been quiet for a day and is packed for good.
#[test]
fn a_change_that_nothing_shows_is_found_at_repack() {
    for agent in &loggers() {
        let files = story(*agent);
        let main = files.iter().find(|file| file.source.is_main()).unwrap();
        let machine = Machine::new();
        write(&machine, &files);
        let path = machine.home().join(&main.path);
        let options = SyncOptions { until: stages::by_name("normalized"), ..SyncOptions::default() };
        machine.sync_with(&options);
        let modified = path.metadata().unwrap().modified().unwrap();
        let mut file = std::fs::File::options().write(true).open(&path).unwrap();
        file.write_all(&other(&main.bytes)).unwrap();
        file.set_modified(modified).unwrap();
        machine.sync();
        machine.sync();
        let kept = |revision| {
            let key = SessionKey::new(agent.name(), ID);
            raw(&machine.store(), &Slot::Session { key, source: SourceKey::main(), revision })
        };
        assert!(kept(1) == main.bytes, "{}: the first revision", agent.name());
        assert!(kept(2) == other(&main.bytes), "{}: the second revision", agent.name());
        machine.verify();
    }
}
