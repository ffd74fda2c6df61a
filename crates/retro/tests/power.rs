//! The power goes in the middle of a command: what was not synced is gone, or a part
//! of it is, in torn sectors. The store is still one that verifies, and the next run
//! completes it to what an undisturbed one gives.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro_store::testing::{FailingDisk, Fails, Loss, PowerDisk};
use std::sync::Arc;
use support::{COMMANDS, IndexFate, Trial, is_trial, none, problems, tell};

/// Points of each command that are tried when not all of them are.
const SOME: u64 = 3;

/// Seed of the first torn cut; each cut has the next one.
const SEED: u64 = 1;

#[test]
fn a_power_cut_at_any_write_loses_nothing_that_was_reported() {
    let (mut points, mut seed, mut failures) = (0, SEED, Vec::new());
    for command in COMMANDS {
        let trial = Trial::of(command);
        let stride = if is_trial() { 1 } else { (trial.operations / SOME).max(1) };
        // One more than there are operations: the cut after the command is done.
        for after in (0..=trial.operations).step_by(stride as usize) {
            for torn in [false, true] {
                let loss = if torn { Loss::Some(seed) } else { Loss::All };
                seed += u64::from(torn);
                let fate = IndexFate::ALL[(after / stride) as usize % IndexFate::ALL.len()];
                points += 1;
                if let Err(what) = cut(&trial, after, loss, fate) {
                    failures
                        .push(format!("{}, cut at {after}, {loss:?}, index {fate:?}: {what}", command.name));
                }
            }
        }
        println!(
            "{}: {} operations, {points} points so far, {} failures",
            command.name,
            trial.operations,
            failures.len()
        );
    }
    println!("seeds {SEED} to {}", seed - 1);
    tell("power", points, &failures);
}

fn cut(trial: &Trial, after: u64, loss: Loss, fate: IndexFate) -> Result<(), String> {
    let machine = &trial.machine;
    trial.before.restore();
    let works = FailingDisk::after(after, Fails::ForEver);
    let disk = Arc::new(PowerDisk::over(&machine.config.root.value, works).unwrap());
    let _ = (trial.command.run)(machine, &machine.world.clone().with_disk(disk.clone()));
    disk.cut(loss).unwrap();
    if trial.command.is_sound_before() {
        // What the index then holds is tried below; here it is what SQLite kept.
        none(problems(machine), "after the cut")?;
    }
    fate.befall(machine, &trial.before);
    trial.complete()
}
