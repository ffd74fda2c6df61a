//! Nothing but hooks: they capture every part of a session and of what it started.
#![allow(clippy::unwrap_used)]

mod support;

use retro_engine::hook::{Call, capture, enqueue};
use std::path::PathBuf;
use support::{Machine, OTHER, STORY, agents};

const ID: &str = "11111111-1111-4111-8111-111111111111";
const OTHER_ID: &str = "22222222-2222-4222-8222-222222222222";

/// The log that an agent would name: the session's own, and the longest of those.
fn transcript(files: &[PathBuf], id: &str) -> PathBuf {
    let of_session = |path: &&PathBuf| {
        let text = path.display().to_string();
        text.contains(id) && text.ends_with(".jsonl") && !text.contains("agent-")
    };
    let bytes = |path: &&PathBuf| std::fs::metadata(path).unwrap().len();
    files.iter().filter(of_session).max_by_key(bytes).unwrap().clone()
}

/// Fails if a sync still finds something new.
fn nothing_is_left(machine: &Machine, what: &str) {
    let report = machine.sync();
    assert_eq!((report.ingested, report.appended), (0, 0), "{what}: {report:?}");
    machine.verify();
}

#[test]
fn a_hook_captures_every_part_of_its_session() {
    for agent in agents() {
        for is_named in [true, false] {
            let machine = Machine::new();
            let files = machine.tell(agent.name(), STORY);
            let transcript = is_named.then(|| transcript(&files, ID));
            let call = Call { agent: *agent, transcript, session_id: Some(ID.to_owned()) };
            capture(&machine.world, &machine.config, &call).unwrap();
            nothing_is_left(&machine, &format!("{}, transcript named: {is_named}", agent.name()));
        }
    }
}

#[test]
fn a_hook_captures_nothing_on_a_disk_that_is_nearly_full() {
    let agent = agents()[0];
    let mut machine = Machine::new();
    let files = machine.tell(agent.name(), STORY);
    let transcript = Some(transcript(&files, ID));
    let call = Call { agent, transcript, session_id: Some(ID.to_owned()) };
    machine.config.retention.value.min_free_bytes = Some(u64::MAX);
    capture(&machine.world, &machine.config, &call).unwrap();
    assert_eq!(machine.store().raw_keys().unwrap(), []);
    machine.config.retention.value.min_free_bytes = Some(0);
    capture(&machine.world, &machine.config, &call).unwrap();
    assert!(!machine.store().raw_keys().unwrap().is_empty());
}

#[test]
fn a_hook_does_what_earlier_ones_left() {
    for agent in agents() {
        let machine = Machine::new();
        let files = [machine.tell(agent.name(), STORY), machine.tell(agent.name(), OTHER)].concat();
        let call = |id: &str| Call {
            agent: *agent,
            transcript: Some(transcript(&files, id)),
            session_id: Some(id.to_owned()),
        };
        enqueue(&machine.world, &machine.config, &call(OTHER_ID)).unwrap();
        capture(&machine.world, &machine.config, &call(ID)).unwrap();
        assert_eq!(machine.store().jobs().unwrap(), [], "{}", agent.name());
        nothing_is_left(&machine, agent.name());
    }
}

#[test]
fn a_session_that_is_not_here_leaves_a_job() {
    for agent in agents() {
        let machine = Machine::new();
        machine.tell(agent.name(), OTHER);
        let call = Call { agent: *agent, transcript: None, session_id: Some(ID.to_owned()) };
        capture(&machine.world, &machine.config, &call).unwrap();
        assert_eq!(machine.store().jobs().unwrap().len(), 1, "{}", agent.name());
    }
}
