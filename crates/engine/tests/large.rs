//! Sessions and lines too large to be held go the same way as all others: the same
//! events, rows and files, in whatever pieces they arrive.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use retro_agents::{Part, Reader, settle};
use retro_engine::read::{LARGE_BYTES, feed_raw};
use retro_engine::{SyncOptions, rebuild, stages};
use retro_model::{GapReason, SessionKey};
use retro_search::vectors::Vectors;
use retro_store::Slot;
use support::Machine;

const ID: &str = "33333333-3333-4333-8333-333333333333";

/// A session of more bytes than are held.
fn story() -> String {
    let output = "one line of a long output, and nothing that matters\n| ".repeat(8_500);
    let mut story = format!("@ session {ID}\n@ cwd /home/dev/shop\n");
    for turn in 0..40 {
        story.push_str(&format!(
            "> Step {turn}\n? Think of it\n$ make {turn}\n| {output}end\n< Did {turn}.\n"
        ));
    }
    story
}

/// What the raw files give when everything is held at once.
fn held(machine: &Machine, key: &SessionKey) -> Vec<String> {
    let store = machine.store();
    let agent = retro_agents::by_name(&key.agent).unwrap();
    let mut sources = Vec::new();
    for slot in store.raw_slots(key).unwrap() {
        let Slot::Session { source, revision, .. } = &slot else { continue };
        let format = agent.source_form(source).1;
        let part = Part { session: key.clone(), source: source.clone(), revision: *revision, format };
        let mut reader = Reader::new(agent, part, None);
        feed_raw(&store, &slot, &mut |bytes| reader.feed(bytes)).unwrap();
        sources.push(reader.finish());
    }
    let settled = settle(agent, key, sources);
    settled.events.iter().map(|event| serde_json::to_string(event).unwrap()).collect()
}

#[test]
fn a_large_session_is_told_like_any_other() {
    for agent in support::agents() {
        let name = agent.name();
        let machine = Machine::new();
        let files = machine.tell(name, &story());
        machine.sync();
        let key = SessionKey::new(name, ID);
        let bytes = machine.store().index().unwrap().session_row(&key).unwrap().unwrap().bytes;
        assert!(bytes > LARGE_BYTES, "{name}: {bytes}");
        let expected = machine.answers();
        let events = expected[&format!("events {key}")].lines().map(str::to_owned).collect::<Vec<_>>();
        assert!(events == held(&machine, &key), "{name}: events");
        machine.sync_with(&SyncOptions { until: stages::by_name("normalized"), ..SyncOptions::default() });
        assert!(machine.store().normalized_path(&key).exists(), "{name}");
        assert!(machine.answers() == expected, "{name}: from the cache");
        assert!(expected[&format!("turns {key}")].contains("number: 40"), "{name}");
        assert!(!expected[&format!("ledger {key}")].is_empty(), "{name}");
        machine.verify();
        // What follows is the engine's work and the same for all.
        if name != "claude" {
            continue;
        }

        rebuild::rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
        assert!(machine.answers() == expected, "{name}: rebuilt");

        let logs = machine.logs();
        let pieces = Machine::new();
        for share in [0.4, 0.95, 1.0] {
            for file in &files {
                let bytes = std::fs::read(file).unwrap();
                let end =
                    if logs.contains(file) { (bytes.len() as f64 * share) as usize } else { bytes.len() };
                pieces.write(file.strip_prefix(machine.home()).unwrap(), &bytes[..end]);
            }
            pieces.sync();
        }
        let got = pieces.answers();
        for (question, answer) in &expected {
            assert!(got.get(question) == Some(answer), "{name}: {question} after pieces");
        }
    }
}

#[test]
fn a_line_too_long_to_hold_may_come_in_pieces() {
    let machine = Machine::new();
    let long = "x".repeat(12_000_000);
    let story = format!("@ session {ID}\n@ cwd /home/dev/shop\n> Look\n$ cat dump\n| {long}\n< Seen.\n");
    let path = machine.tell("claude", &story).remove(0);
    let bytes = std::fs::read(&path).unwrap();
    machine.sync();
    let expected = machine.answers();
    let key = SessionKey::new("claude", ID);
    let agent = retro_agents::by_name("claude").unwrap();
    let gaps = retro_engine::read::session(&machine.store(), agent, &key).unwrap().gaps;
    assert_eq!(gaps.iter().map(|gap| gap.reason.clone()).collect::<Vec<_>>(), [GapReason::Oversized]);

    let pieces = Machine::new();
    for end in [2_000, 5_000_000, 9_000_000, 11_000_000, bytes.len()] {
        pieces.write(path.strip_prefix(machine.home()).unwrap(), &bytes[..end]);
        pieces.sync();
        let gaps = retro_engine::read::session(&pieces.store(), agent, &key).unwrap().gaps;
        let last = if end == bytes.len() { GapReason::Oversized } else { GapReason::Pending };
        assert_eq!(gaps.last().map(|gap| gap.reason.clone()), Some(last), "{end}");
    }
    let got = pieces.answers();
    for (question, answer) in &expected {
        assert!(got.get(question) == Some(answer), "{question}");
    }
}

/// A session that comes into a store with others has more turns than vectors are held.
#[test]
fn every_one_of_very_many_turns_has_its_vector() {
    let machine = Machine::new();
    machine.tell("claude", "@ session 44444444-4444-4444-8444-444444444444\n> Begin\n< Done.\n");
    machine.sync();
    let turns = 4_500;
    let mut story = format!("@ session {ID}\n@ cwd /home/dev/shop\n");
    (0..turns).for_each(|turn| story.push_str(&format!("> Step {turn}\n< Did {turn}.\n")));
    machine.tell("claude", &story);
    machine.sync();
    let ids = || {
        let vectors = Vectors::there(&machine.store().vectors_folder()).unwrap();
        let mut ids: Vec<u64> = vectors.ids().collect();
        ids.sort_unstable();
        ids
    };
    let added = ids();
    assert_eq!(added.len(), turns + 1);
    rebuild::rebuild(&machine.world, &machine.config, retro_engine::stages::by_name("vectors"), &|_| {})
        .unwrap();
    assert_eq!(added, ids());
    machine.verify();
}
