//! A session that begins with another's history: every answer and every prompt
//! counts once, whichever was captured first.

use retro_agents::Agent;
use retro_model::{Event, Kind, Origin, SessionKey};
use retro_usage::{By, Prices, Query, report};
use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::support::{self, Machine};
use crate::{counted, forget_index};

// Some agents' ids begin with their time, and that is how they tell own turns from
// copied ones: the fork's lies between the two parts of the story.
const PARENT: &str = "019ca8d7-2d00-7000-8000-0000000000aa";
const FORK: &str = "019ca8f2-a440-7000-8000-0000000000bb";

const BEFORE: &str = "\
> Which test fails?
$ cargo test
| 1 failed
! 101
< The tax test.
";

const AFTER: &str = "\
@ time 2026-03-01T11:00:00Z
> Mend it
~ src/tax.rs
- old
+ new
< Mended.
";

fn story(way: &str) -> String {
    format!("@ session {PARENT}\n{BEFORE}@ time 2026-03-01T10:59:00Z\n@ fork {FORK} {way}\n{AFTER}")
}

/// Every agent with each of its ways to fork.
fn ways() -> Vec<(&'static dyn Agent, &'static str)> {
    let of = |agent: &&'static dyn Agent| agent.forks().iter().map(|way| (*agent, *way)).collect::<Vec<_>>();
    let ways: Vec<_> = support::agents().iter().flat_map(of).collect();
    println!("{:?}", ways.iter().map(|(agent, way)| format!("{} {way}", agent.name())).collect::<Vec<_>>());
    assert!(!ways.is_empty());
    ways
}

/// The files of the story: those of the parent, and those of the fork.
fn told(agent: &dyn Agent, way: &str) -> [Vec<(PathBuf, Vec<u8>)>; 2] {
    let script = retro_agents::script::Script::parse(&story(way)).unwrap();
    let (fork, parent) =
        agent.write(&script).into_iter().partition(|(path, _)| path.display().to_string().contains(FORK));
    [parent, fork]
}

fn write(machine: &Machine, files: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in files {
        machine.write(path, bytes);
    }
}

fn together(agent: &dyn Agent, way: &str) -> Machine {
    let machine = Machine::new();
    for files in told(agent, way) {
        write(&machine, &files);
    }
    let report = machine.sync();
    assert_eq!((report.ingested, report.failed, report.gaps), (2, 0, 0), "{} {way}", agent.name());
    machine
}

/// A story of one session, captured alone.
fn alone(agent: &dyn Agent, text: &str) -> Machine {
    let machine = Machine::new();
    machine.tell(agent.name(), text);
    machine.sync();
    machine
}

fn prompts(events: &[Event]) -> impl Iterator<Item = &Event> {
    events.iter().filter(|event| event.kind == Kind::User && event.origin == Origin::User)
}

#[test]
fn the_order_of_capture_does_not_show() {
    for (agent, way) in ways() {
        let expected = together(agent, way).answers();
        for fork_first in [false, true] {
            let [parent, fork] = told(agent, way);
            let machine = Machine::new();
            let (first, second) = if fork_first { (fork, parent) } else { (parent, fork) };
            write(&machine, &first);
            machine.sync();
            forget_index(&machine);
            write(&machine, &second);
            machine.sync();
            let what = format!("{} {way}, the fork first: {fork_first}", agent.name());
            assert_eq!(machine.answers(), expected, "{what}");
            machine.verify();
        }
    }
}

#[test]
fn every_answer_counts_once() {
    for (agent, way) in ways() {
        let what = format!("{} {way}", agent.name());
        let of_parent = counted(&alone(agent, &format!("@ session {PARENT}\n{BEFORE}"))).rows;
        let of_fork = counted(&alone(agent, &format!("@ session {FORK}\n{AFTER}"))).rows;
        let machine = together(agent, way);
        let both = counted(&machine);
        assert_eq!(both.rows.len(), of_parent.len() + of_fork.len(), "{what}");
        let keys: BTreeSet<_> = both.rows.iter().map(|row| &row.row.key).collect();
        assert_eq!(keys.len(), both.rows.len(), "{what}");
        // What was answered before the fork is the parent's, and a copy says so.
        let owned = |id: &str| both.rows.iter().filter(|row| row.session.id == id).count();
        assert_eq!((owned(PARENT), owned(FORK)), (of_parent.len(), of_fork.len()), "{what}");
        for copy in &both.duplicates {
            assert_eq!(
                (copy.place.session.id.as_str(), copy.twin.session.id.as_str()),
                (FORK, PARENT),
                "{what}"
            );
        }
        let query = Query { by: By::Session, ..Query::default() };
        let answer = report(&both, &Prices::embedded().unwrap(), &query);
        let calls: u64 = both.rows.iter().map(|row| row.row.calls).sum();
        assert_eq!(answer.totals.responses, calls, "{what}");
        let output: u64 = both.rows.iter().map(|row| row.row.tokens.output).sum();
        assert_eq!(answer.totals.output_tokens, output, "{what}");
    }
}

#[test]
fn every_prompt_counts_once_and_a_copy_points_to_its_twin() {
    for (agent, way) in ways() {
        let what = format!("{} {way}", agent.name());
        let machine = together(agent, way);
        let parent = machine.events(&SessionKey::new(agent.name(), PARENT));
        let fork = machine.events(&SessionKey::new(agent.name(), FORK));
        // Where a file cannot tell its copies, they have the ids of the originals.
        let mut seen = BTreeSet::new();
        let own = |event: &&Event| {
            event.copy_of.is_none() && event.native.uuid.as_ref().is_none_or(|uuid| seen.insert(uuid.clone()))
        };
        let asked: Vec<String> = prompts(&parent)
            .chain(prompts(&fork))
            .filter(own)
            .map(|event| event.text.clone().unwrap().into_inner())
            .collect();
        assert_eq!(asked, ["Which test fails?", "Mend it"], "{what}");
        for copy in prompts(&fork).filter(|event| event.text.as_deref().is_some_and(|text| text != "Mend it"))
        {
            let named = copy.copy_of.as_ref().is_some_and(|of| of.starts_with(PARENT));
            let twin = prompts(&parent)
                .any(|event| event.native.uuid.is_some() && event.native.uuid == copy.native.uuid);
            assert!(named || twin, "{what}: {copy:?}");
        }
    }
}

#[test]
fn a_fork_whose_parent_was_never_captured_is_no_failure() {
    for (agent, way) in ways() {
        let machine = Machine::new();
        write(&machine, &told(agent, way)[1]);
        let report = machine.sync();
        assert_eq!((report.ingested, report.failed, report.gaps), (1, 0, 0), "{} {way}", agent.name());
        let events = machine.events(&SessionKey::new(agent.name(), FORK));
        assert!(prompts(&events).any(|event| event.text.as_deref().is_some_and(|text| text == "Mend it")));
        machine.verify();
    }
}

/// The parent goes on after it was forked: an append, nothing else.
#[test]
fn a_parent_that_goes_on_leaves_its_fork_alone() {
    for (agent, way) in ways() {
        let machine = together(agent, way);
        let fork = SessionKey::new(agent.name(), FORK);
        let before = machine.events(&fork);
        let rows = counted(&machine).rows.len();
        let [parent, _] = told(agent, way);
        for (path, bytes) in
            parent.iter().filter(|(path, _)| machine.logs().contains(&machine.home().join(path)))
        {
            // The last turn of the parent once more is nothing new, whatever the form.
            let last = bytes.split_inclusive(|byte| *byte == b'\n').next_back().unwrap();
            machine.write(path, &[bytes, last].concat());
        }
        let report = machine.sync();
        assert_eq!((report.ingested, report.failed), (0, 0), "{} {way}", agent.name());
        assert_eq!(machine.events(&fork), before, "{} {way}", agent.name());
        assert_eq!(counted(&machine).rows.len(), rows, "{} {way}", agent.name());
    }
}
