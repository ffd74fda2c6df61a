//! Everything at once, for a while: logs of three agents grow and are rewritten,
//! several programs work at the same store, some are killed. In the end the store
//! verifies, holds every log byte for byte, and is what a fresh one is.
//!
//! A few rounds in the test command; `cargo xtask trial soak --minutes 10` goes on for
//! so long.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod at_work;

use at_work::{Dice, Growth, Machine, kill_after};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const SEED: u64 = 11;

/// Rounds when nobody says for how long.
const ROUNDS: usize = 3;

/// Programs that work at the same time.
const PROGRAMS: usize = 3;

#[test]
fn a_store_in_the_middle_of_everything_stays_whole() {
    let minutes = std::env::var("RETRO_SOAK_MINUTES").ok().and_then(|text| text.parse().ok());
    let length = minutes.map(|minutes: u64| Duration::from_secs(minutes * 60));
    let (machine, start) = (Machine::new(), Instant::now());
    let mut dice = Dice(SEED);
    let mut soak = Soak::default();
    let mut failures = Vec::new();
    while length.map_or(soak.rounds < ROUNDS, |length| start.elapsed() < length) {
        soak.round(&machine, &mut dice);
        if soak.rounds.is_multiple_of(8) {
            let what = machine.verify().err();
            failures.extend(what.map(|what| format!("round {}: {what}", soak.rounds)));
        }
    }
    failures.extend(machine.whole(&soak.rewritten).err());
    failures.extend(machine.like_a_fresh_store().err());
    println!(
        "seed {SEED}; {} programs, {} of them killed; {} logs rewritten",
        soak.programs,
        soak.killed,
        soak.rewritten.len()
    );
    println!("trial soak: {} points, {} failures", soak.rounds, failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What happened so far.
#[derive(Default)]
struct Soak {
    rounds: usize,
    programs: usize,
    killed: usize,
    rewritten: Vec<PathBuf>,
}

impl Soak {
    /// New sessions are written while several programs run; then one log is rewritten.
    fn round(&mut self, machine: &Machine, dice: &mut Dice) {
        let mut growth = machine.growth(self.rounds, dice);
        let work: Vec<_> =
            (0..=dice.below(PROGRAMS)).map(|_| (machine.command_of(dice), dice.below(40))).collect();
        self.programs += work.len();
        let stop = AtomicBool::new(false);
        let killed = std::thread::scope(|scope| {
            let writer = scope.spawn(|| growth.write_until(&stop));
            let programs: Vec<_> = work
                .into_iter()
                .map(|(command, changes)| scope.spawn(move || kill_after(command, &machine.root(), changes)))
                .collect();
            let killed = programs
                .into_iter()
                .filter_map(|program| program.join().ok())
                .filter(|killed| *killed)
                .count();
            stop.store(true, Ordering::Relaxed);
            writer.join().unwrap();
            killed
        });
        self.killed += killed;
        growth.finish();
        if self.rounds % 3 == 2 {
            self.rewritten.extend(rewrite(&growth, dice));
        }
        self.rounds += 1;
    }
}

/// Takes the second line out of a log that has one.
fn rewrite(growth: &Growth, dice: &mut Dice) -> Option<PathBuf> {
    let logs: Vec<&PathBuf> = growth
        .logs
        .iter()
        .map(|(path, _, _)| path)
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    let path = logs.get(dice.below(logs.len()))?;
    let bytes = std::fs::read(path).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let kept: Vec<&[u8]> =
        lines.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| *line).collect();
    std::fs::write(path, kept.concat()).unwrap();
    (lines.len() > 1).then(|| path.to_path_buf())
}
