//! The real program, killed at any moment while agents write to their logs.
//!
//! After each kill the store verifies; now and then, and at the end, a sync completes
//! it to the logs byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod at_work;

use at_work::{Dice, Machine, kill_after};
use std::sync::atomic::{AtomicBool, Ordering};

const SEED: u64 = 7;

/// Rounds on one machine: its store grows with each.
const ROUNDS_A_MACHINE: usize = 8;

/// Machines in the trial.
const MACHINES: u64 = 40;

#[test]
fn a_program_killed_at_any_moment_leaves_a_store_that_the_next_sync_completes() {
    let machines = if std::env::var_os("RETRO_TRIAL").is_some() { MACHINES } else { 1 };
    let (mut killed, mut failures) = (0, Vec::new());
    for seed in SEED..SEED + machines {
        killed += rounds(seed, &mut failures);
    }
    let points = ROUNDS_A_MACHINE * machines as usize;
    println!("seeds from {SEED}; {killed} of {points} were killed before they were done");
    println!("trial kills: {points} points, {} failures", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(killed * 4 > points, "only {killed} of {points} were killed: the trial shows nothing");
}

/// Kills one program after the other on one machine; says how many were killed.
fn rounds(seed: u64, failures: &mut Vec<String>) -> usize {
    let machine = Machine::new();
    let mut dice = Dice(seed);
    let mut killed = 0;
    for round in 0..ROUNDS_A_MACHINE {
        let mut fail = |what: String| failures.push(format!("seed {seed}, round {round}: {what}"));
        let mut growth = machine.growth(round, &mut dice);
        let command = machine.command_of(&mut dice);
        let patience = dice.below(24);
        let stop = AtomicBool::new(false);
        let was_killed = std::thread::scope(|scope| {
            let writer = scope.spawn(|| growth.write_until(&stop));
            let was_killed = kill_after(command, &machine.root(), patience);
            stop.store(true, Ordering::Relaxed);
            writer.join().unwrap();
            was_killed
        });
        killed += usize::from(was_killed);
        machine.verify().err().into_iter().for_each(&mut fail);
        growth.finish();
        if round % 4 == 3 {
            machine.whole(&[]).err().into_iter().for_each(&mut fail);
        }
    }
    let fresh = machine.like_a_fresh_store().err();
    failures.extend(fresh.map(|what| format!("seed {seed}: {what}")));
    killed
}
