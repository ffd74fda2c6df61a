//! The real program, killed at any moment while agents write to their logs.
//!
//! After each kill the store verifies; now and then, and at the end, a sync completes
//! it to the logs byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod at_work;

use at_work::{Dice, Machine, kill_after};
use std::sync::atomic::{AtomicBool, Ordering};

const SEED: u64 = 7;

#[test]
fn a_program_killed_at_any_moment_leaves_a_store_that_the_next_sync_completes() {
    let rounds = if std::env::var_os("RETRO_TRIAL").is_some() { 300 } else { 8 };
    let machine = Machine::new();
    let mut dice = Dice(SEED);
    let (mut killed, mut failures) = (0, Vec::new());
    for round in 0..rounds {
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
        let verify = machine.output(&["verify", "--deep"]);
        if !verify.status.success() {
            failures.push(format!("round {round}: {}", String::from_utf8_lossy(&verify.stdout)));
        }
        growth.finish();
        if round % 4 == 3 {
            failures.extend(machine.whole(&[]).err().map(|what| format!("round {round}: {what}")));
        }
    }
    failures.extend(machine.whole(&[]).err());
    failures.extend(machine.like_a_fresh_store().err());
    println!("seed {SEED}; {killed} of {rounds} were killed before they were done");
    println!("trial kills: {rounds} points, {} failures", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(killed * 4 > rounds, "only {killed} of {rounds} were killed: the trial shows nothing");
}
