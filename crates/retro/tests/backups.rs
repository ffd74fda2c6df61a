//! Raw files, documents and the index put back from different backups: one sync
//! makes the store complete, whatever the mix.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::path::Path;
use support::machine::{OTHER, STORY};
use support::{Machine, answers, problems, tell};

const PARTS: [&str; 3] = ["raw", "sessions", "index"];

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A machine whose store was backed up three times while its logs grew, and what it answers.
#[test]
fn every_mix_of_three_backups_is_complete_after_one_sync() {
    let machine = Machine::new();
    let root = machine.config.root.value.clone();
    let backup = |number: usize| machine.path().join(format!("backup-{number}"));
    let claude = |path: &std::path::PathBuf| path.starts_with(machine.home().join(".claude"));
    let keep = |number: usize| {
        machine.sync();
        copy(&root, &backup(number));
    };
    machine.tell("claude", STORY);
    let log = machine.logs().into_iter().find(claude).unwrap();
    let whole = std::fs::read(&log).unwrap();
    std::fs::write(&log, &whole[..whole.len() / 2]).unwrap();
    keep(0);
    machine.tell("codex", STORY);
    std::fs::write(&log, &whole[..whole.len() * 3 / 4]).unwrap();
    keep(1);
    std::fs::write(&log, &whole).unwrap();
    machine.tell("claude", OTHER);
    machine.tell("grok", OTHER);
    keep(2);
    let expected = answers(&machine);

    let mut failures = Vec::new();
    let mut points = 0;
    for mix in 0..3usize.pow(3) {
        let chosen: Vec<usize> = (0..3u32).map(|part| mix / 3usize.pow(part) % 3).collect();
        std::fs::remove_dir_all(&root).unwrap();
        copy(&backup(2), &root);
        for (part, number) in PARTS.iter().zip(&chosen) {
            std::fs::remove_dir_all(root.join(part)).unwrap();
            copy(&backup(*number).join(part), &root.join(part));
        }
        points += 1;
        let report = machine.sync();
        let found = problems(&machine);
        let difference = support::first_difference(&answers(&machine), &expected);
        if report.failed > 0 || !found.is_empty() || difference.is_some() {
            failures
                .push(format!("{PARTS:?} from {chosen:?}: {found:?} {difference:?} {:?}", report.failures));
        }
    }
    tell("backups", points, &failures);
}
