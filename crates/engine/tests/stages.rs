//! A stage is one file and one line: toy stages of each kind, added here, run when what
//! they read changes and at no other time.
#![allow(clippy::unwrap_used)]

mod support;

use retro_engine::stages::{
    Body, Consumer, Everything, Input, Making, Product, STAGES, Seen, Stage, Subject, When, Work,
};
use retro_engine::{Config, Error, rebuild, reconcile::outdated};
use retro_model::{Event, SessionKey};
use retro_store::{Changes, Follow, Mark, Store};
use std::sync::Mutex;
use support::{Machine, OTHER, STORY};

/// What the toys did, in order. Each test names its sessions differently, so that they do
/// not see each other's work.
static DONE: Mutex<Vec<(String, &str)>> = Mutex::new(Vec::new());

fn note(key: &SessionKey, stage: &'static str) {
    DONE.lock().unwrap().push((key.id.clone(), stage));
}

/// What was done for one session since the last time, sorted.
fn done(id: &str) -> Vec<&'static str> {
    let mut all = DONE.lock().unwrap();
    let (own, others) = all.drain(..).partition(|(session, _)| session == id);
    *all = others;
    let own: Vec<(String, &str)> = own;
    let mut stages: Vec<&str> = own.into_iter().map(|(_, stage)| stage).collect();
    stages.sort_unstable();
    stages
}

/// Counts the events of a session.
const COUNT: Stage = Stage {
    name: "toy-count",
    version: 1,
    when: When::Append,
    help: "count events",
    inputs: &[Input::Events],
    work: Work::Events(count),
    ..Stage::PLAIN
};

struct Counting(u64);

fn count(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    note(subject.key, "toy-count");
    Ok(Box::new(Counting(0)))
}

impl Making for Counting {
    fn event(&mut self, _: &Event) -> Result<(), Error> {
        self.0 += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let text = Some(self.0.to_string());
        let body = Body { name: "toy-count", part: String::new(), text };
        Ok(Product { output: self.0.to_string(), bodies: vec![body], ..Product::default() })
    }
}

/// Reads what the first one made.
const DOUBLE: Stage = Stage {
    name: "toy-double",
    version: 1,
    when: When::Append,
    help: "read what another stage made",
    inputs: &[Input::Made("toy-count")],
    work: Work::Session(double),
    ..Stage::PLAIN
};

fn double(subject: &Subject<'_>) -> Result<Product, Error> {
    note(subject.key, "toy-double");
    Ok(Product::default())
}

/// Depends on a setting.
const DOMAIN: Stage = Stage {
    name: "toy-domain",
    version: 1,
    when: When::Append,
    help: "read a part of the configuration",
    inputs: &[Input::Config(domains)],
    work: Work::Session(domain),
    ..Stage::PLAIN
};

fn domains(config: &Config) -> String {
    format!("{:?}", config.domains.value)
}

fn domain(subject: &Subject<'_>) -> Result<Product, Error> {
    note(subject.key, "toy-domain");
    Ok(Product::default())
}

/// Depends on the sessions below it.
const FAMILY: Stage = Stage {
    name: "toy-family",
    version: 1,
    when: When::Append,
    help: "read child sessions",
    inputs: &[Input::Children],
    work: Work::Session(family),
    ..Stage::PLAIN
};

fn family(subject: &Subject<'_>) -> Result<Product, Error> {
    note(subject.key, "toy-family");
    Ok(Product::default())
}

/// Keeps the names of all sessions in a file of its own.
const NAMES: Stage = Stage {
    name: "toy-names",
    version: 1,
    when: When::Append,
    help: "follow all sessions",
    inputs: &[Input::Changes(Follow::Sessions)],
    work: Work::Store(&Names),
    ..Stage::PLAIN
};

struct Names;

impl Names {
    fn path(store: &Store) -> std::path::PathBuf {
        store.root().join("index/toy-names")
    }

    fn kept(store: &Store) -> (Seen, Vec<String>) {
        let text = std::fs::read_to_string(Names::path(store)).unwrap_or_default();
        let mut lines = text.lines().map(str::to_owned);
        let (Some(series), Some(number), Some(stamp)) = (lines.next(), lines.next(), lines.next()) else {
            return Default::default();
        };
        (Seen { mark: Mark { series, number: number.parse().unwrap() }, stamp }, lines.collect())
    }
}

impl Consumer for Names {
    fn seen(&self, all: &Everything<'_>) -> Result<Seen, Error> {
        Ok(Names::kept(all.store).0)
    }

    fn follow(&self, all: &Everything<'_>, changes: Changes, stamp: &str) -> Result<(), Error> {
        let (_, mut names) = Names::kept(all.store);
        if changes.starts_over {
            names.clear();
        }
        for key in &changes.sessions {
            note(key, "toy-names");
            names.push(key.id.clone());
        }
        names.retain(|name| changes.removed_sessions.iter().all(|key| key.id != *name));
        names.sort();
        names.dedup();
        let Mark { series, number } = &changes.mark;
        let text = format!("{series}\n{number}\n{stamp}\n{}\n", names.join("\n"));
        std::fs::write(Names::path(all.store), text).unwrap();
        Ok(())
    }
}

/// Follows what the first one leaves, and nothing else.
const TOTAL: Stage = Stage {
    name: "toy-total",
    version: 1,
    when: When::Append,
    help: "follow the counts of all sessions",
    inputs: &[Input::Changes(Follow::Bodies("toy-count"))],
    work: Work::Store(&Total),
    ..Stage::PLAIN
};

struct Total;

impl Total {
    fn path(store: &Store) -> std::path::PathBuf {
        store.root().join("index/toy-total")
    }

    /// What it kept: how far it came, and the sum.
    fn kept(store: &Store) -> (Seen, u64) {
        let text = std::fs::read_to_string(Total::path(store)).unwrap_or_default();
        let kept = text.split_once('\n');
        kept.map_or_else(Default::default, |(seen, sum)| (Seen::parse(seen).unwrap(), sum.parse().unwrap()))
    }
}

impl Consumer for Total {
    fn seen(&self, all: &Everything<'_>) -> Result<Seen, Error> {
        Ok(Total::kept(all.store).0)
    }

    fn follow(&self, all: &Everything<'_>, changes: Changes, stamp: &str) -> Result<(), Error> {
        changes.bodies.iter().for_each(|key| note(key, "toy-total"));
        let counts = all.index.bodies("toy-count")?;
        let sum: u64 = counts.iter().map(|row| row.text.parse::<u64>().unwrap()).sum();
        let seen = Seen { mark: changes.mark, stamp: stamp.to_owned() };
        std::fs::write(Total::path(all.store), format!("{}\n{sum}", seen.text())).unwrap();
        Ok(())
    }
}

/// The real stages with the toys among them, some with another version.
fn with_toys(raised: Option<&str>) -> &'static [Stage] {
    let of_events = STAGES.iter().position(|stage| matches!(stage.work, Work::Events(_))).unwrap();
    let mut all: Vec<Stage> = STAGES.to_vec();
    all.insert(of_events, COUNT);
    all.extend([DOUBLE, DOMAIN, FAMILY, NAMES, TOTAL]);
    for stage in all.iter_mut().filter(|stage| Some(stage.name) == raised) {
        stage.version += 1;
    }
    Box::leak(all.into_boxed_slice())
}

fn machine(id: &str, agent: &str) -> Machine {
    let mut machine = Machine::new();
    machine.stages = with_toys(None);
    machine.tell(agent, &STORY.replace("11111111-1111-4111-8111-111111111111", id));
    machine
}

fn grow(machine: &Machine, id: &str) {
    let logs = machine.logs();
    let log = logs.iter().find(|log| log.to_string_lossy().contains(id)).unwrap();
    let bytes = std::fs::read(log).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let last = lines.iter().rev().find(|line| line.windows(6).any(|word| word == b"\"user\"")).unwrap();
    let again = String::from_utf8_lossy(last).replace("\"uuid\":\"", "\"uuid\":\"again-");
    std::fs::write(log, [&bytes[..], again.as_bytes()].concat()).unwrap();
}

fn backlog(machine: &Machine) -> Vec<&'static str> {
    let store = machine.store();
    let index = store.index().unwrap();
    let mut stages: Vec<&str> = outdated(&machine.config, machine.stages, &store, &index)
        .unwrap()
        .into_iter()
        .map(|(_, stage, _)| stage)
        .collect();
    stages.sort_unstable();
    stages.dedup();
    stages
}

#[test]
fn toy_stages_of_each_kind_run_when_what_they_read_changes() {
    let id = "aaaaaaaa-1111-4111-8111-111111111111";
    let mut machine = machine(id, "claude");
    machine.sync();
    assert_eq!(done(id), ["toy-count", "toy-domain", "toy-double", "toy-family", "toy-names", "toy-total"]);
    machine.sync();
    assert!(done(id).is_empty(), "nothing changed");
    assert!(backlog(&machine).is_empty());

    grow(&machine, id);
    machine.sync();
    assert_eq!(
        done(id),
        ["toy-count", "toy-double", "toy-names", "toy-total"],
        "only what reads events, and what reads that"
    );

    machine.config.domains.value.insert("shop".into(), "retail".into());
    assert_eq!(backlog(&machine), ["digest", "toy-domain"], "it shows before the sync");
    machine.sync();
    assert_eq!(done(id), ["toy-domain"], "no row of the session changed");
    assert!(backlog(&machine).is_empty());
}

#[test]
fn a_raised_version_runs_exactly_that_stage_again() {
    let id = "bbbbbbbb-1111-4111-8111-111111111111";
    let mut machine = machine(id, "claude");
    machine.sync();
    done(id);
    let before = machine.answers();
    let is_consumer = |name: &str| ["toy-names", "toy-total"].contains(&name);
    for stage in ["toy-count", "toy-double", "toy-names", "toy-total", "ledger", "turns", "calls", "repack"] {
        let made = |machine: &Machine| {
            let store = machine.store();
            let made = store.index().unwrap().made_of(&SessionKey::new("claude", id)).unwrap();
            made.into_iter().map(|(stage, made)| (stage, made.stamp)).collect::<Vec<_>>()
        };
        machine.stages = with_toys(None);
        machine.sync();
        let old = made(&machine);
        done(id);
        machine.stages = with_toys(Some(stage));
        if !is_consumer(stage) {
            assert_eq!(backlog(&machine), [stage], "it shows before the sync");
        }
        machine.sync();
        let ran: Vec<&str> = done(id).into_iter().filter(|toy| !is_consumer(toy) || stage == *toy).collect();
        assert_eq!(ran, if stage.starts_with("toy") { vec![stage] } else { vec![] });
        let changed: Vec<String> = old
            .iter()
            .zip(made(&machine))
            .filter(|(old, new)| **old != *new)
            .map(|(old, _)| old.0.clone())
            .collect();
        assert_eq!(changed, if is_consumer(stage) { vec![] } else { vec![stage.to_owned()] });
        assert!(backlog(&machine).is_empty(), "{stage}");
    }
    assert_eq!(machine.answers(), before);
}

#[test]
fn rebuild_works_for_each_stage() {
    let id = "cccccccc-1111-4111-8111-111111111111";
    let machine = machine(id, "claude");
    machine.sync();
    let before = machine.answers();
    for stage in machine.stages.iter().filter(|stage| !matches!(stage.work, Work::Sync | Work::Store(_))) {
        done(id);
        rebuild::rebuild_of(machine.stages, &machine.world, &machine.config, Some(stage), &|_| {}).unwrap();
        assert_eq!(machine.answers(), before, "{}", stage.name);
        assert!(backlog(&machine).is_empty(), "{}", stage.name);
        if stage.name.starts_with("toy") {
            assert_eq!(done(id).first(), Some(&stage.name));
        }
    }
}

#[test]
fn a_child_that_changes_makes_its_parent_due() {
    let id = "dddddddd-1111-4111-8111-111111111111";
    let machine = machine(id, "codex");
    machine.sync();
    let index = machine.store().index().unwrap();
    let child = index.children_of(&SessionKey::new("codex", id)).unwrap().remove(0);
    done(id);
    done(&child.id);
    grow(&machine, &child.id);
    machine.sync();
    assert_eq!(done(id), ["toy-family"]);
    assert!(done(&child.id).contains(&"toy-count"));
}

#[test]
fn a_consumer_follows_changes_and_starts_over_with_a_new_index() {
    let (id, other) = ("eeeeeeee-1111-4111-8111-111111111111", "eeeeeeee-2222-4222-8222-222222222222");
    let machine = machine(id, "claude");
    machine.sync();
    machine.tell("claude", &OTHER.replace("22222222-2222-4222-8222-222222222222", other));
    done(id);
    machine.sync();
    assert_eq!(Names::kept(&machine.store()).1, [id, other]);
    assert!(!done(id).contains(&"toy-names"), "the first one did not change");
    rebuild::rebuild_of(machine.stages, &machine.world, &machine.config, None, &|_| {}).unwrap();
    machine.sync();
    assert_eq!(Names::kept(&machine.store()).1, [id, other]);
    assert!(done(id).contains(&"toy-names"), "another index is another series");
}
