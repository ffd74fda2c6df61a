//! Every byte of a store flipped in turn: `verify --deep` finds it, or it is harmless,
//! which means that all answers are the same, at once and after the next sync.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro::engine::SyncOptions;
use retro::store::{Job, RealDisk, Store};
use retro_store::testing::Dice;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use support::machine::OTHER;
use support::{Machine, Snapshot, answers, difference, is_trial, problems, tell};

/// Of so many bytes one is flipped when not all of them are, truth and derived.
const ONE_OF: (usize, usize) = (97, 2_003);

/// Of so many bytes of the index one is flipped when all others are: most of a
/// database is empty pages.
const ONE_OF_INDEX: usize = 11;

const SEED: u64 = 3;

#[test]
fn every_flipped_byte_is_found_or_harmless() {
    // Each on a machine of its own: what one tries, no other sees.
    let workers = if is_trial() { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    let tried: Vec<Tried> = std::thread::scope(|scope| {
        let started: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || flipped(worker, workers))).collect();
        started.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let points: usize = tried.iter().map(|tried| tried.points).sum();
    let found: usize = tried.iter().map(|tried| tried.found).sum();
    let failures: Vec<String> = tried.into_iter().flat_map(|tried| tried.failures).collect();
    println!("seed {SEED}; {found} of {points} flips were found, the others harmless");
    assert!(found * 20 > points, "only {found} of {points} flips were found");
    tell("flips", points, &failures);
}

#[derive(Default)]
struct Tried {
    points: usize,
    found: usize,
    failures: Vec<String>,
}

/// Flips the bytes that one of some workers has to try.
fn flipped(worker: usize, workers: usize) -> Tried {
    let machine = small();
    let expected = answers(&machine);
    let whole = Snapshot::of(&machine.config.root.value);
    let mut dice = Dice::new(SEED);
    let (mut tried, mut number) = (Tried::default(), 0);
    for (path, bytes) in whole.files() {
        let name = path.strip_prefix(&machine.config.root.value).unwrap().display().to_string();
        let (truth, derived) = if is_trial() { (1, 1) } else { ONE_OF };
        let stride = match name.split('/').next() {
            Some("index") if is_trial() => ONE_OF_INDEX,
            Some("index" | "normalized" | "rendered") => derived,
            _ => truth,
        };
        for at in (dice.below(stride as u64) as usize..bytes.len()).step_by(stride) {
            let bit = 1 << dice.below(8);
            number += 1;
            if number % workers != worker {
                continue;
            }
            let mut flipped = bytes.clone();
            flipped[at] ^= bit;
            std::fs::write(path, &flipped).unwrap();
            tried.points += 1;
            match fate(&machine, &expected) {
                Fate::Found => tried.found += 1,
                Fate::Harmless => {}
                Fate::Harm(what) => tried.failures.push(format!("byte {at} of {name} ^ {bit}: {what}")),
            }
            whole.restore();
        }
    }
    tried
}

/// Names, ids and paths in the index: SQLite sees nothing wrong with another letter.
#[test]
fn flipped_words_of_the_index_are_found_or_harmless() {
    let machine = small();
    let expected = answers(&machine);
    let whole = Snapshot::of(&machine.config.root.value);
    let path = machine.config.root.value.join("index/retro.sqlite");
    let bytes = std::fs::read(&path).unwrap();
    let (mut points, mut failures) = (0, Vec::new());
    for word in ["mtime_ns", "inode", "value TEXT", "-2222-4222-", ".jsonl", "claude", "upkeep"] {
        let places = bytes.windows(word.len()).enumerate().filter(|(_, found)| *found == word.as_bytes());
        for (place, _) in places {
            let at = place + word.len() / 2;
            for bit in [2, 128] {
                let mut flipped = bytes.clone();
                flipped[at] ^= bit;
                std::fs::write(&path, &flipped).unwrap();
                points += 1;
                if let Fate::Harm(what) = fate(&machine, &expected) {
                    failures.push(format!("byte {at} ({word}) ^ {bit}: {what}"));
                }
                whole.restore();
            }
        }
    }
    tell("flipped words", points, &failures);
}

/// A machine with one small session of every agent, a job and pages.
fn small() -> Machine {
    let machine = Machine::new();
    for agent in support::machine::agents() {
        machine.tell(agent.name(), OTHER);
    }
    machine.sync();
    let store = machine.store();
    store.enqueue(&Job { agent: Some("claude".into()), ..Job::default() }).unwrap();
    for key in store.session_keys().unwrap() {
        store.put_rendered(&key, "# A page\n").unwrap();
    }
    machine
}

enum Fate {
    Found,
    Harmless,
    Harm(String),
}

fn fate(machine: &Machine, expected: &BTreeMap<String, String>) -> Fate {
    let compare = || catch_unwind(AssertUnwindSafe(|| difference(machine, expected)));
    let said = |thrown: Box<dyn std::any::Any + Send>| {
        thrown.downcast_ref::<String>().cloned().unwrap_or_else(|| "an answer failed".to_owned())
    };
    match catch_unwind(AssertUnwindSafe(|| problems(machine))) {
        Ok(problems) if !problems.is_empty() => return Fate::Found,
        Ok(_) => {}
        Err(thrown) => return Fate::Harm(format!("verify: {}", said(thrown))),
    }
    match compare() {
        Ok(None) => {}
        Ok(Some(what)) => return Fate::Harm(what),
        Err(thrown) => return Fate::Harm(said(thrown)),
    }
    if let Err(error) = retro::engine::sync(&machine.world, &machine.config, &SyncOptions::default(), &|_| {})
    {
        return Fate::Harm(format!("the next sync: {error}"));
    }
    match compare() {
        Ok(None) => Fate::Harmless,
        Ok(Some(what)) => Fate::Harm(format!("after the next sync: {what}")),
        Err(thrown) => Fate::Harm(format!("after the next sync: {}", said(thrown))),
    }
}

/// The end of a ledger or raw file that a stop left torn is said and mended, not
/// taken for damage.
#[test]
fn a_torn_end_is_noted_and_the_next_sync_repairs_it() {
    let machine = Machine::new();
    let log = machine.tell("claude", OTHER).into_iter().next().unwrap();
    machine.sync_with_clock_now();
    let expected = answers(&machine);
    let store = machine.store();
    let key = store.session_keys().unwrap().remove(0);
    let raw = store.slot_path(&store.raw_slots(&key).unwrap().remove(0));
    let good = std::fs::read(&raw).unwrap();
    for garbage in [&b"torn"[..], &[0; 200], &good[..good.len() / 2]] {
        std::fs::write(&raw, [&good, garbage].concat()).unwrap();
        let report = reopened(store.root()).verify(true, &mut |_| {}).unwrap();
        assert_eq!(report.problems, []);
        assert_eq!(report.notes.len(), 1, "{report:?}");
        assert!(report.notes[0].what.contains("not finished"), "{}", report.notes[0]);
        assert_eq!(difference(&machine, &expected), None);
    }
    let live = std::fs::read(&log).unwrap();
    let line = live.split_inclusive(|byte| *byte == b'\n').next_back().unwrap();
    std::fs::write(&log, [&live, line].concat()).unwrap();
    machine.sync_with_clock_now();
    assert_eq!(reopened(store.root()).verify(true, &mut |_| {}).unwrap().notes, []);
}

fn reopened(root: &Path) -> Store {
    Store::open(root, Arc::new(RealDisk)).unwrap()
}
