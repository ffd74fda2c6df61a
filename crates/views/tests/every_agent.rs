//! What people are shown, for every agent of the registry.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use retro_agents::script::Script;
use retro_agents::{AGENTS, Agent};
use retro_engine::ask::Ledgers;
use retro_engine::{Config, SyncOptions, World, sync};
use retro_model::{Event, GapReason, Kind, SessionKey, Timestamp};
use retro_store::{RealDisk, Store};
use retro_usage::{Billing, Mode, Prices, Query};
use retro_views::{Entry, ListOptions, events, explain, list, show, usage};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

// Ids that begin with their time: that of the fork lies between the two parts of the story.
const PARENT: &str = "019ca8d7-2d00-7000-8000-0000000000aa";
const FORK: &str = "019ca8f2-a440-7000-8000-0000000000bb";

/// A home with logs, and a store.
struct Machine {
    _dir: tempfile::TempDir,
    world: World,
    config: Config,
}

impl Machine {
    fn new() -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::parse("2026-03-02T00:00:00Z").unwrap();
        let world = World::at(dir.path().join("home")).with_clock(now);
        let config = Config::for_root(dir.path().join("store"));
        Machine { _dir: dir, world, config }
    }

    fn write(&self, files: &[(PathBuf, Vec<u8>)]) {
        for (path, bytes) in files {
            let path = self.world.home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }

    fn sync(&self) -> Store {
        let report = sync(&self.world, &self.config, &SyncOptions::default(), &|_| {}).unwrap();
        assert_eq!(report.failed, 0, "{:?}", report.failures);
        Store::open(&self.config.root.value, Arc::new(RealDisk)).unwrap()
    }
}

/// A story that is forked: the files of the parent, and those of the fork.
fn forked(agent: &dyn Agent, way: &str) -> [Vec<(PathBuf, Vec<u8>)>; 2] {
    let story = format!(
        "@ session {PARENT}\n> Which test fails?\n< The tax test.\n@ time 2026-03-01T11:00:00Z\n@ fork {FORK} {way}\n> Mend it\n< Mended.\n"
    );
    let files = agent.write(&Script::parse(&story).unwrap());
    let (fork, parent) = files.into_iter().partition(|(path, _)| path.display().to_string().contains(FORK));
    [parent, fork]
}

fn asked(events: &[Event]) -> Vec<String> {
    let prompts = events.iter().filter(|event| event.kind == Kind::User && event.turn > 0);
    prompts.filter_map(|event| Some(event.text.as_ref()?.to_string())).collect()
}

/// Prompts as a reader of the transcript meets them, a fork's history first.
fn read(entries: &[Entry]) -> Vec<String> {
    let mut prompts = Vec::new();
    for entry in entries {
        match entry {
            Entry::Prompt(prompt) if prompt.turn > 0 => prompts.push(prompt.text.clone()),
            Entry::History { entries, .. } => prompts.extend(read(entries)),
            _ => {}
        }
    }
    prompts
}

/// A fork that copied nothing needs its parent: without it there is a gap that names
/// it, and never a failure; once the parent is there, so is the history.
#[test]
fn a_fork_without_its_parent_says_what_is_missing() {
    let mut borrowed = Vec::new();
    for agent in AGENTS {
        for way in agent.forks() {
            let what = format!("{} {way}", agent.name());
            let [parent, fork] = forked(*agent, way);
            let machine = Machine::new();
            machine.write(&fork);
            let store = machine.sync();
            let key = SessionKey::new(agent.name(), FORK);
            let own = events(&store, &key).unwrap();
            let copies = asked(&own).contains(&"Which test fails?".to_owned());
            let alone = show(&machine.config, &store, &key).unwrap();
            let missing: Vec<_> =
                alone.view.gaps.iter().filter(|gap| gap.reason == GapReason::Missing).collect();
            assert_eq!(missing.len(), usize::from(!copies), "{what}: {missing:?}");
            assert!(
                missing.iter().all(|gap| gap.detail.as_ref().unwrap().contains(PARENT)),
                "{what}: {missing:?}"
            );
            assert_eq!(read(&alone.transcript()).last().map(String::as_str), Some("Mend it"), "{what}");
            if !copies {
                borrowed.push(what.clone());
            }
            machine.write(&parent);
            let store = machine.sync();
            let both = show(&machine.config, &store, &key).unwrap();
            assert!(both.view.gaps.is_empty(), "{what}: {:?}", both.view.gaps);
            assert_eq!(read(&both.transcript()), ["Which test fails?", "Mend it"], "{what}");
            assert_eq!(events(&store, &key).unwrap(), own, "{what}: a session's events are its own bytes");
        }
    }
    println!("whose history lies in the parent: {borrowed:?}");
    assert!(!borrowed.is_empty());
}

/// A clock that was far ahead puts no session on top for ever.
#[test]
fn a_session_from_the_future_is_not_the_newest() {
    for agent in AGENTS {
        let machine = Machine::new();
        let story = |id: &str, time: &str| format!("@ session {id}\n@ time {time}\n> Hi\n< Hello.\n");
        for (id, time) in [(PARENT, "9999-01-01T00:00:00Z"), (FORK, "2026-03-01T11:00:00Z")] {
            machine.write(&agent.write(&Script::parse(&story(id, time)).unwrap()));
        }
        for captured in [false, true] {
            if captured {
                machine.sync();
            }
            let found = list(&machine.world, &machine.config, &ListOptions::default()).unwrap();
            let ids: Vec<&str> = found.sessions.iter().map(|session| session.session_id.as_str()).collect();
            assert_eq!(ids, [FORK, PARENT], "{}, captured: {captured}", agent.name());
        }
    }
}

/// What is not read may belong to any row, so no amount is complete until it is.
#[test]
fn while_a_session_is_unread_every_amount_is_a_lower_bound() {
    let machine = Machine::new();
    let story = format!("@ session {PARENT}\n@ model claude-opus-5\n> Hi\n< Hello.\n");
    machine.write(&AGENTS[0].write(&Script::parse(&story).unwrap()));
    let store = machine.sync();
    let (index, prices) = (store.index().unwrap(), Prices::embedded().unwrap());
    for unread in [HashSet::new(), HashSet::from([SessionKey::new(AGENTS[0].name(), FORK)])] {
        let ledgers = Ledgers::of(&index, &prices).lacking(&unread);
        let query = Query { breakdown: true, ..Query::default() };
        let view = usage(&ledgers, Billing::default(), query).unwrap();
        let is_whole = unread.is_empty();
        assert_eq!(view.report.totals.cost_complete, is_whole);
        assert!(!view.report.rows.is_empty());
        for row in &view.report.rows {
            assert_eq!(row.figures.cost_complete, is_whole, "{}", row.key);
            assert!(row.breakdown.iter().all(|part| part.figures.cost_complete == is_whole), "{}", row.key);
        }
        let key = SessionKey::new(AGENTS[0].name(), PARENT);
        let explained = explain(&ledgers, Mode::Auto, &key, &Default::default()).unwrap();
        assert_eq!(explained.totals.cost_complete, is_whole);
    }
}
