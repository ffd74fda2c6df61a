//! What a log cannot tell is named: through real files, sync and the view, for
//! every agent, from the logs their own writers make.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../engine/tests/support/mod.rs"]
mod support;

use retro_engine::ask::Ledgers;
use retro_model::Timestamp;
use retro_usage::{Billing, Incomplete, Prices, Query};
use std::path::Path;
use support::Machine;

const STORY: &str = "\
@ session 33333333-3333-4333-8333-333333333333
> Run the tests
$ cargo test
| 1 failed
! 101
< One fails.
";

fn incomplete(machine: &Machine, now: Option<Timestamp>) -> Vec<Incomplete> {
    let index = machine.store().index().unwrap();
    let query = Query { now, ..Query::default() };
    retro_views::usage(&Ledgers::of(&index, &Prices::embedded().unwrap()), Billing::Plan, query)
        .unwrap()
        .report
        .incomplete
}

/// A machine on which an agent logged the story up to the line in which `stop` stands.
fn killed(agent: &str, stop: &str) -> Machine {
    let machine = Machine::new();
    let files = machine.tell(agent, STORY);
    let log = files.iter().find(|path| std::fs::read_to_string(path).unwrap().contains(stop)).unwrap();
    let text = std::fs::read_to_string(log).unwrap();
    let kept: Vec<&str> = text.lines().take_while(|line| !line.contains(stop)).collect();
    assert!(kept.len() < text.lines().count(), "{stop:?} stands nowhere in {text}");
    std::fs::write(log, kept.join("\n") + "\n").unwrap();
    // What a program writes only when it ends is not there after a kill.
    for path in files.iter().filter(|path| *path != log) {
        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
        if agent == "grok" && name != "summary.json" {
            std::fs::remove_file(path).unwrap();
        }
    }
    machine.sync();
    machine
}

#[test]
fn a_killed_program_leaves_a_session_that_says_so() {
    for (agent, stop, reason) in [
        ("claude", "\"tool_result\"", "stops in the middle of a turn"),
        ("codex", "function_call_output", "stops in the middle of a turn"),
        ("grok", "turn_completed", "no token figures"),
    ] {
        let machine = killed(agent, stop);
        let open = incomplete(&machine, None);
        let [one] = open.as_slice() else { panic!("{agent}: {open:?}") };
        assert_eq!(
            (one.agent.as_str(), one.session_id.as_str()),
            (agent, "33333333-3333-4333-8333-333333333333")
        );
        assert!(one.reason.contains(reason), "{agent}: {}", one.reason);
    }
}

#[test]
fn a_session_that_ended_is_complete() {
    for agent in ["claude", "codex", "grok"] {
        for story in [STORY, support::STORY, support::OTHER, "> Go\n$ sleep 9\n^\n"] {
            let machine = Machine::new();
            machine.tell(agent, story);
            machine.sync();
            let open: Vec<Incomplete> = incomplete(&machine, None)
                .into_iter()
                .filter(|one| !one.reason.contains("logged before they ended"))
                .collect();
            assert_eq!(open, [], "{agent}: {story}");
        }
    }
}

#[test]
fn a_sub_agent_that_reported_its_end_was_not_cut_off() {
    let machine = Machine::new();
    let files = machine.tell("claude", support::STORY);
    let is_log = |path: &&std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("agent-") && name.ends_with(".jsonl")
    };
    let log = files.iter().find(is_log).unwrap();
    let text = std::fs::read_to_string(log).unwrap();
    let kept: Vec<&str> = text.lines().take_while(|line| !line.contains("Two callers")).collect();
    assert!(kept.last().unwrap().contains("tool_result"), "{text}");
    std::fs::write(log, kept.join("\n") + "\n").unwrap();
    machine.sync();
    assert_eq!(incomplete(&machine, None), []);
}

#[test]
fn a_session_that_still_grows_is_not_incomplete_yet() {
    let machine = killed("claude", "\"tool_result\"");
    let now: Timestamp = jiff::Timestamp::now().into();
    assert_eq!(incomplete(&machine, Some(now)), []);
    let later = Timestamp::from_millis(now.as_millis() + 20 * 60_000).unwrap();
    assert_eq!(incomplete(&machine, Some(later)).len(), 1);
}

#[test]
fn an_answer_without_a_stop_reason_is_told_by_its_session() {
    let machine = Machine::new();
    let files = machine.tell("claude", STORY);
    let text = std::fs::read_to_string(&files[0]).unwrap();
    std::fs::write(&files[0], text.replace("\"stop_reason\":\"end_turn\"", "\"stop_reason\":null")).unwrap();
    machine.sync();
    let open = incomplete(&machine, None);
    let [one] = open.as_slice() else { panic!("{open:?}") };
    assert!(one.reason.contains("logged before they ended"), "{}", one.reason);
}

#[test]
fn what_is_open_survives_in_the_ledger_file() {
    let machine = killed("claude", "\"tool_result\"");
    let store = machine.store();
    let key = store.session_keys().unwrap().remove(0);
    let rows = store.ledger(&key).unwrap().unwrap();
    assert_eq!(rows.iter().filter(|row| row.kind.is_open()).count(), 1);
}
