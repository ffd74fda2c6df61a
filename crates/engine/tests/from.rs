//! `sync --from`: every layout below a folder is found, a session is the same whichever level
//! is named, and nothing else is taken for one.
#![allow(clippy::unwrap_used)]

mod support;

use retro_engine::discover::roots;
use retro_engine::{SyncOptions, SyncReport};
use std::collections::BTreeMap;
use std::path::Path;
use support::{Machine, OTHER, STORY, raw};

const LOG: &str = "{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"ID\",\"cwd\":\"/w\",\"message\":{\"content\":\"hi\"}}\n";

fn log(id: &str) -> Vec<u8> {
    LOG.replace("ID", id).into_bytes()
}

fn id(number: u32) -> String {
    format!("{number}0000000-0000-4000-8000-000000000000")
}

/// What a fresh store holds after a sync from there: each raw file, by session and source.
fn taken(from: &Path, agent: Option<&str>) -> (SyncReport, BTreeMap<String, Vec<u8>>) {
    let machine = Machine::new();
    let report = machine.sync_with(&SyncOptions {
        from: Some(from.to_owned()),
        agent: agent.map(str::to_owned),
        ..SyncOptions::default()
    });
    assert_eq!(report.failed, 0, "{:?}", report.failures);
    machine.verify();
    let store = machine.store();
    let mut all = BTreeMap::new();
    for key in store.session_keys().unwrap() {
        for slot in store.raw_slots(&key).unwrap() {
            all.insert(slot.to_string(), raw(&store, &slot));
        }
    }
    (report, all)
}

#[test]
fn a_session_is_the_same_whichever_level_is_named() {
    for agent in support::agents() {
        let machine = Machine::new();
        for story in [STORY, OTHER] {
            machine.tell(agent.name(), story);
        }
        let own = machine.sync();
        let store = machine.store();
        let mut levels = vec![machine.path().to_owned(), machine.home()];
        let root = roots(&machine.world, &machine.config, *agent).remove(0);
        levels.push(root.clone());
        let main = agent.log_folders().iter().map(|name| root.join(name)).find(|path| path.is_dir()).unwrap();
        levels.push(main);
        let mut expected = BTreeMap::new();
        for key in store.session_keys().unwrap() {
            for slot in store.raw_slots(&key).unwrap() {
                expected.insert(slot.to_string(), raw(&store, &slot));
            }
        }
        assert!(expected.len() as u64 >= own.discovered);
        for level in levels {
            let (report, found) = taken(&level, Some(agent.name()));
            assert_eq!(report.discovered, own.discovered, "{} at {}", agent.name(), level.display());
            assert_eq!(
                found.keys().collect::<Vec<_>>(),
                expected.keys().collect::<Vec<_>>(),
                "{} at {}",
                agent.name(),
                level.display()
            );
            assert!(found == expected, "{} at {}", agent.name(), level.display());
        }
    }
}

#[test]
fn every_layout_below_a_folder_is_taken() {
    let machine = Machine::new();
    machine.write(format!("b/.claude/projects/-p/{}.jsonl", id(1)).as_ref(), &log(&id(1)));
    for number in 2..5 {
        let path = format!("b/old-laptop/.claude/projects/-p/{}.jsonl", id(number));
        machine.write(path.as_ref(), &log(&id(number)));
    }
    let (report, _) = taken(&machine.home().join("b"), None);
    assert_eq!((report.discovered, report.ingested), (4, 4));
    // A project alone: its sessions, and no other.
    let (report, _) = taken(&machine.home().join("b/old-laptop/.claude/projects/-p"), None);
    assert_eq!(report.ingested, 3);
}

/// A tool may print another session's log.
#[test]
fn what_a_tool_printed_is_no_session() {
    let machine = Machine::new();
    let project = "h/.claude/projects/-p";
    machine.write(format!("{project}/{}.jsonl", id(1)).as_ref(), &log(&id(1)));
    for name in ["toolu_1.txt", "toolu_2.jsonl"] {
        machine.write(format!("{project}/{}/tool-results/{name}", id(1)).as_ref(), &log(&id(2)));
    }
    for level in ["", "h", "h/.claude", "h/.claude/projects", "h/.claude/projects/-p"] {
        let (report, found) = taken(&machine.home().join(level), None);
        assert_eq!((report.discovered, found.len()), (1, 2), "{level}: {:?}", found.keys());
    }
    // Nor where the layout around it is lost.
    let loose = format!("copy/{}/tool-results/toolu_2.jsonl", id(1));
    machine.write(loose.as_ref(), &log(&id(2)));
    machine.write(format!("copy/{}.jsonl", id(1)).as_ref(), &log(&id(1)));
    let (report, found) = taken(&machine.home().join("copy"), None);
    assert_eq!((report.discovered, found.len()), (1, 1), "{:?}", found.keys());
}

#[test]
fn loose_logs_are_taken_where_there_is_no_layout_and_named_where_there_is_one() {
    let machine = Machine::new();
    machine.write("b/logs/a.jsonl".as_ref(), &log(&id(1)));
    machine.write("b/logs/node_modules/b.jsonl".as_ref(), &log(&id(2)));
    let (report, _) = taken(&machine.home().join("b"), None);
    assert_eq!((report.ingested, report.notes.len()), (1, 0));
    machine.write(format!("b/.claude/projects/-p/{}.jsonl", id(3)).as_ref(), &log(&id(3)));
    let (report, _) = taken(&machine.home().join("b"), None);
    assert_eq!((report.ingested, report.notes.len()), (1, 1), "{:?}", report.notes);
    assert!(report.notes[0].contains("a.jsonl"), "{:?}", report.notes);
}
