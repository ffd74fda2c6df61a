//! A question is answered from all that is new without a lock and without writing; what is
//! kept afterwards is what a sync would have kept.
#![allow(clippy::unwrap_used)]

mod support;

use retro_engine::ask::{self, Asked, Ledgers, Patience};
use retro_store::Store;
use retro_store::testing::FullDisk;
use retro_usage::{Mode, Prices};
use std::sync::Arc;
use support::{Machine, OTHER, STORY, agents};

fn told() -> Machine {
    let machine = Machine::new();
    for agent in agents() {
        machine.tell(agent.name(), STORY);
        machine.tell(agent.name(), OTHER);
    }
    machine
}

/// Sessions of that machine: some agents log a sub-agent as a session of its own.
fn sessions() -> u64 {
    told().sync().discovered
}

fn read(machine: &Machine) -> Asked {
    ask::read(&machine.world, &machine.config, Patience::All, &|_| {}).unwrap()
}

fn keep(machine: &Machine, asked: Asked) {
    asked.keep(&machine.world, &machine.config, &|_| {}).unwrap();
}

/// Everything a question about costs can see.
fn answer(ledgers: &Ledgers<'_>) -> String {
    let modes = [Mode::Auto, Mode::Calculate, Mode::Display];
    let sums = modes.map(|mode| ledgers.cells(mode).unwrap());
    let sessions: Vec<String> = ledgers
        .sessions()
        .unwrap()
        .iter()
        .map(|row| format!("{} {:?} {:?}", row.id, row.title, row.cwd))
        .collect();
    format!("{:#?} {:#?} {sums:#?} {}", sessions, ledgers.rows().unwrap(), ledgers.unread())
}

fn answer_of_store(machine: &Machine) -> String {
    let (index, prices) = (machine.store().index().unwrap(), Prices::embedded().unwrap());
    answer(&Ledgers::of(&index, &prices))
}

#[test]
fn a_first_answer_writes_nothing_and_is_that_of_a_sync() {
    let (asked, synced) = (told(), told());
    let reading = read(&asked);
    let first = answer(&reading.ledgers());
    assert!(!asked.config.root.value.exists(), "no store was made for the answer");
    synced.sync();
    assert_eq!(first, answer_of_store(&synced));
    keep(&asked, reading);
    assert_eq!(answer_of_store(&asked), first, "it was kept");
    asked.verify();
    assert_eq!(asked.sync().ingested, 0, "everything was captured");
    assert_eq!(asked.answers(), synced.answers());
}

#[test]
fn an_answer_that_is_held_open_makes_no_sync_wait() {
    let machine = told();
    let reading = read(&machine);
    let held = answer(&reading.ledgers());
    // As many programs as like may write meanwhile: none of them waits for the reader.
    for round in 0..8 {
        let report = machine.sync();
        assert_eq!(report.ingested, if round == 0 { sessions() } else { 0 });
        assert!(machine.store().try_lock().unwrap().is_some(), "nobody holds the lock");
    }
    assert_eq!(answer(&reading.ledgers()), held, "the answer does not change under its reader");
    keep(&machine, reading);
    machine.verify();
    assert_eq!(answer_of_store(&machine), held);
}

#[test]
fn nothing_is_kept_while_somebody_else_writes_and_the_next_sync_has_it_all() {
    let machine = told();
    let reading = read(&machine);
    let store = Store::open_or_create(&machine.config.root.value, machine.world.disk.clone()).unwrap();
    let lock = store.try_lock().unwrap().unwrap();
    keep(&machine, reading);
    assert!(store.session_keys().unwrap().is_empty());
    drop(lock);
    assert_eq!(machine.sync().ingested, sessions());
    machine.verify();
}

#[test]
fn a_session_that_has_grown_or_was_rewritten_is_answered_as_a_sync_would() {
    let machine = told();
    machine.sync();
    let logs: Vec<_> = machine.logs().into_iter().collect();
    for (at, log) in logs.iter().enumerate() {
        let bytes = std::fs::read(log).unwrap();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let changed = if at % 2 == 0 {
            [&bytes[..], lines[0]].concat()
        } else {
            // Its first line is gone: the rest is the next revision.
            lines[1..].concat()
        };
        std::fs::write(log, changed).unwrap();
    }
    let reading = read(&machine);
    let asked = answer(&reading.ledgers());
    machine.sync();
    assert_eq!(asked, answer_of_store(&machine));
    machine.verify();
}

#[test]
fn copies_of_a_source_are_captured_as_by_a_sync() {
    let twice = || {
        let machine = Machine::new();
        for path in machine.tell("claude", STORY) {
            let bytes = std::fs::read(&path).unwrap();
            let below = path.strip_prefix(machine.home().join(".claude")).unwrap();
            machine.write(
                &std::path::Path::new(".config/claude").join(below),
                &[&bytes[..], b"\n{}\n"].concat(),
            );
        }
        machine
    };
    let (asked, synced) = (twice(), twice());
    let reading = read(&asked);
    let first = answer(&reading.ledgers());
    keep(&asked, reading);
    asked.verify();
    synced.sync();
    assert_eq!(first, answer_of_store(&synced));
    asked.sync();
    assert_eq!(asked.answers(), synced.answers());
}

#[test]
fn a_full_disk_takes_nothing_from_the_answer() {
    let (full, synced) = (told(), told());
    synced.sync();
    let expected = answer_of_store(&synced);
    let mut failed = 0;
    for free_bytes in (0..40_000).step_by(1_700) {
        let _ = std::fs::remove_dir_all(&full.config.root.value);
        let reading = read(&full);
        assert_eq!(answer(&reading.ledgers()), expected, "{free_bytes} bytes free");
        let mut world = full.world.clone();
        world.disk = Arc::new(FullDisk::with_room(free_bytes));
        failed += u64::from(reading.keep(&world, &full.config, &|_| {}).is_err());
        full.sync();
        full.verify();
    }
    assert!(failed > 0, "the disk was full after an answer");
    assert_eq!(full.answers(), synced.answers());
}

#[test]
fn without_patience_the_answer_is_what_the_store_has() {
    let machine = told();
    let reading = ask::read(&machine.world, &machine.config, Patience::None, &|_| {}).unwrap();
    assert_eq!((reading.ledgers().rows().unwrap().len(), reading.read_count()), (0, 0));
    machine.sync();
    let reading = ask::read(&machine.world, &machine.config, Patience::None, &|_| {}).unwrap();
    assert_eq!(answer(&reading.ledgers()), answer_of_store(&machine));
}

#[test]
fn who_stops_while_it_reads_gets_what_was_read_and_hears_of_the_rest() {
    let machine = told();
    machine.world.stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let reading = read(&machine);
    let ledgers = reading.ledgers();
    assert!(ledgers.unread() > 0);
    assert_eq!(ledgers.unread() + reading.read_count(), sessions());
}
