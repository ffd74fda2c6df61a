//! Every command that writes, stopped after any of its writes, for once or for good:
//! the store stays one that verifies, and the next run completes it to what an
//! undisturbed one gives.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro_store::testing::{FailingDisk, Fails};
use std::sync::Arc;
use support::{COMMANDS, IndexFate, Trial, is_trial, none, problems, tell};

/// Points of each command that are tried when not all of them are.
const SOME: u64 = 4;

#[test]
fn a_command_stopped_after_any_write_is_completed_by_the_next_run() {
    let mut points = 0;
    let mut failures = Vec::new();
    for command in COMMANDS {
        let trial = Trial::of(command);
        let before = (points, failures.len());
        for fails in [Fails::Once, Fails::ForEver] {
            for after in points_of(&trial, fails) {
                points += 1;
                let fate = [IndexFate::Kept, IndexFate::Deleted, IndexFate::Garbled][after as usize % 3];
                if let Err(what) = stop(&trial, after, fails, fate) {
                    failures.push(format!(
                        "{} stopped at {after}, {fails:?}, index {fate:?}: {what}",
                        command.name
                    ));
                }
            }
        }
        println!(
            "{}: {} operations, {} points, {} failures",
            command.name,
            trial.operations,
            points - before.0,
            failures.len() - before.1
        );
    }
    tell("faults", points, &failures);
}

fn stop(trial: &Trial, after: u64, fails: Fails, fate: IndexFate) -> Result<(), String> {
    let machine = &trial.machine;
    trial.before.restore();
    let disk = Arc::new(FailingDisk::after(after, fails));
    // The command may fail or get through; it must not harm.
    let _ = (trial.command.run)(machine, &machine.world.clone().with_disk(disk));
    if trial.command.is_sound_before() {
        none(problems(machine), "before the next run")?;
    }
    fate.befall(machine, &trial.before);
    trial.complete()
}

/// The points to try: all of them, or some that differ between the two ways to fail.
fn points_of(trial: &Trial, fails: Fails) -> impl Iterator<Item = u64> + use<> {
    let stride = if is_trial() { 1 } else { (trial.operations / SOME).max(1) };
    let first = if is_trial() || fails == Fails::Once { 0 } else { stride / 2 };
    (first..trial.operations).step_by(stride as usize)
}
