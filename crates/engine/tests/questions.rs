//! A question is answered from all that was read, before it is written; what is kept
//! afterwards is what a sync would have kept.
#![allow(clippy::unwrap_used)]

mod support;

use retro_engine::quick::{self, Ledgers};
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

fn rows(ledgers: &Ledgers<'_>) -> usize {
    ledgers.rows().unwrap().len()
}

/// Raw files of the store.
fn raw_files(store: &Store) -> usize {
    let keys = store.raw_keys().unwrap();
    keys.iter().map(|key| store.raw_slots(key).unwrap().len()).sum()
}

#[test]
fn the_answer_does_not_wait_for_the_disk() {
    let (asked, synced) = (told(), told());
    let mut times = 0;
    let answered = quick::costs(&asked.world, &asked.config, |ledgers| {
        times += 1;
        assert_eq!(ledgers.unread, 0);
        (rows(ledgers), raw_files(&asked.store()))
    })
    .unwrap();
    answered.kept.unwrap();
    synced.sync();
    let index = synced.store().index().unwrap();
    let (rows_then, raw_then) = answered.answer;
    assert_eq!((times, rows_then), (1, index.responses().unwrap().len()));
    // Only what is replaced as a whole is written at once.
    let raw_now: usize = {
        let store = asked.store();
        let keys = store.session_keys().unwrap();
        keys.iter().map(|key| store.raw_slots(key).unwrap().len()).sum()
    };
    assert!(raw_then < raw_now, "{raw_then} of {raw_now} raw files were written before the answer");
    asked.verify();
    assert_eq!(asked.sync().ingested, 0, "everything was captured");
    assert_eq!(asked.answers(), synced.answers());
}

#[test]
fn a_first_answer_is_made_of_what_is_kept_afterwards() {
    let machine = told();
    let told_of = |ledgers: &Ledgers<'_>| {
        let modes = [Mode::Auto, Mode::Calculate, Mode::Display];
        let sums = modes.map(|mode| ledgers.cells(mode).unwrap().into_owned());
        (ledgers.sessions().unwrap(), ledgers.rows().unwrap(), sums)
    };
    let answered = quick::costs(&machine.world, &machine.config, |ledgers| {
        let is_there = machine.store().index().unwrap().session_rows().unwrap();
        assert_eq!(is_there, [], "nobody else sees what is not safe");
        told_of(ledgers)
    })
    .unwrap();
    answered.kept.unwrap();
    let (index, prices) = (machine.store().index().unwrap(), Prices::embedded().unwrap());
    assert!(index.cells_stamp().unwrap().is_some(), "the sums are kept");
    let (sessions, rows, sums) = told_of(&Ledgers::of(&index, &prices));
    assert_eq!(answered.answer.0, sessions);
    assert_eq!(answered.answer.1, rows);
    assert_eq!(answered.answer.2, sums);
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
    quick::costs(&asked.world, &asked.config, |_| ()).unwrap().kept.unwrap();
    asked.verify();
    asked.sync();
    synced.sync();
    assert_eq!(asked.answers(), synced.answers());
}

#[test]
fn a_question_about_a_session_that_has_grown_is_answered_once_too() {
    let machine = told();
    machine.sync();
    let log = machine.logs().into_iter().next().unwrap();
    let bytes = std::fs::read(&log).unwrap();
    let more = bytes.split(|byte| *byte == b'\n').next().unwrap();
    std::fs::write(&log, [&bytes[..], more, b"\n"].concat()).unwrap();
    let mut times = 0;
    let answered = quick::costs(&machine.world, &machine.config, |ledgers| {
        times += 1;
        (rows(ledgers), ledgers.unread)
    })
    .unwrap();
    answered.kept.unwrap();
    let index = machine.store().index().unwrap();
    assert_eq!((times, answered.answer), (1, (index.responses().unwrap().len(), 0)));
    machine.verify();
}

#[test]
fn a_full_disk_takes_nothing_from_the_answer() {
    let (full, synced) = (told(), told());
    synced.sync();
    let expected = synced.store().index().unwrap().responses().unwrap().len();
    let mut failed = 0;
    // Enough for the index and for what is written at once, then less and less for the rest.
    for free_bytes in (0..40_000).step_by(1_700) {
        let _ = std::fs::remove_dir_all(&full.config.root.value);
        let mut world = full.world.clone();
        world.disk = Arc::new(FullDisk::with_room(free_bytes));
        let Ok(answered) = quick::costs(&world, &full.config, rows) else { continue };
        assert_eq!(answered.answer, expected, "{free_bytes} bytes free");
        failed += u64::from(answered.kept.is_err());
        full.sync();
        full.verify();
    }
    assert!(failed > 0, "the disk was full after an answer");
    assert_eq!(full.answers(), synced.answers());
}

#[test]
fn a_log_that_is_rewritten_before_it_is_written_is_captured_by_the_next_sync() {
    let (asked, synced) = (told(), told());
    let log = |machine: &Machine| {
        let is_claude = |path: &std::path::PathBuf| path.starts_with(machine.home().join(".claude"));
        machine.logs().into_iter().find(is_claude).unwrap()
    };
    let rewrite = |machine: &Machine| {
        let bytes = std::fs::read(log(machine)).unwrap();
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        std::fs::write(log(machine), &bytes[end..]).unwrap();
    };
    let answered = quick::costs(&asked.world, &asked.config, |ledgers| {
        rewrite(&asked);
        rows(ledgers)
    })
    .unwrap();
    answered.kept.unwrap();
    assert!(answered.answer > 0);
    asked.verify();
    let index = asked.store().index().unwrap();
    assert_eq!(index.failures().unwrap().len(), 1, "it is told that one could not be kept");
    assert!(index.responses().unwrap().len() < answered.answer, "nothing counts that is not captured");

    rewrite(&synced);
    asked.sync();
    synced.sync();
    asked.verify();
    assert_eq!(asked.answers(), synced.answers());
}
