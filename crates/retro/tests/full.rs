//! No room, no right: every command that writes, on a disk that is full after so many
//! bytes, or whose rights are lost half-way. The error names a path and what helps;
//! the store is whole, and complete after the next run.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro::store::Disk;
use retro_store::testing::{FailingDisk, Fails, FullDisk};
use std::io::ErrorKind;
use std::sync::Arc;
use support::{COMMANDS, Trial, is_trial, none, problems, tell};

/// Points of each command that are tried when not all of them are.
const SOME: u64 = 2;

/// Bytes by which the disk is larger from one try to the next, in the trial.
const STEP_BYTES: u64 = 211;

#[test]
fn a_full_disk_loses_nothing_and_says_what_to_do() {
    let (mut points, mut failures) = (0, Vec::new());
    for command in COMMANDS {
        let trial = Trial::of(command);
        let needed = bytes_needed(&trial);
        let step = if is_trial() { STEP_BYTES } else { (needed / SOME).max(1) };
        for room in (0..needed).step_by(step as usize) {
            points += 1;
            let disk = Arc::new(FullDisk::with_room(room));
            if let Err(what) = refused(&trial, disk, "free some space") {
                failures.push(format!("{} with room for {room} bytes: {what}", command.name));
            }
        }
    }
    tell("full disk", points, &failures);
}

#[test]
fn rights_that_are_lost_half_way_lose_nothing_and_it_says_what_to_do() {
    let (mut points, mut failures) = (0, Vec::new());
    let reasons = [
        (ErrorKind::PermissionDenied, "make the folder yours again"),
        (ErrorKind::ReadOnlyFilesystem, "mount it for writing"),
    ];
    for command in COMMANDS {
        let trial = Trial::of(command);
        let stride = if is_trial() { 1 } else { (trial.operations / SOME).max(1) };
        for after in (0..trial.operations).step_by(stride as usize) {
            points += 1;
            let (kind, help) = reasons[points % reasons.len()];
            let disk = Arc::new(FailingDisk::after(after, Fails::ForEver).because(kind));
            if let Err(what) = refused(&trial, disk, help) {
                failures.push(format!("{}, {kind:?} after {after}: {what}", command.name));
            }
        }
    }
    tell("lost rights", points, &failures);
}

/// How much room a command needs where it needs most.
fn bytes_needed(trial: &Trial) -> u64 {
    const PLENTY: u64 = 1 << 40;
    trial.before.restore();
    let disk = Arc::new(FullDisk::with_room(PLENTY));
    (trial.command.run)(&trial.machine, &trial.machine.world.clone().with_disk(disk.clone())).unwrap();
    PLENTY - disk.least_free_bytes()
}

/// The command fails with a message that helps, or does without what failed.
fn refused(trial: &Trial, disk: Arc<dyn Disk>, help: &str) -> Result<(), String> {
    let machine = &trial.machine;
    trial.before.restore();
    if let Err(error) = (trial.command.run)(machine, &machine.world.clone().with_disk(disk)) {
        let text = error.to_string();
        if !text.contains(&machine.config.root.value.display().to_string()) || !text.contains(help) {
            return Err(format!("it only said {text:?}"));
        }
    }
    if trial.command.is_sound_before() {
        none(problems(machine), "before the next run")?;
    }
    trial.complete()
}
