//! What was decided reaches its sink, once each and in order, whatever stops the sending.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

mod support;

use retro::engine::patterns::{self, QUEUE};
use retro::store::{RealDisk, Store};
use retro_store::testing::{FailingDisk, Fails};
use std::sync::Arc;
use support::{COMMANDS, Snapshot, Trial, none, problems, scene, tell};

#[test]
fn a_stop_at_any_write_of_a_flush_loses_no_decision_and_doubles_none_unseen() {
    let machine = scene::waiting();
    let config = scene::with_sink(&machine);
    let root = &machine.config.root.value;
    let before = Snapshot::of(root);
    let waiting: Vec<String> =
        QUEUE.read(&machine.store()).unwrap().0.into_iter().map(|one| one.id).collect();
    assert!(waiting.len() >= 2, "{waiting:?}");
    let flush = |disk: Arc<dyn retro::store::Disk>| {
        let store = Store::open(root, disk).unwrap();
        patterns::flush(&machine.world, &config, &store)
    };
    let counting = Arc::new(FailingDisk::counting());
    flush(counting.clone()).unwrap();
    let (mut points, mut again) = (0, 0);
    for fails in [Fails::Once, Fails::ForEver] {
        for after in 0..counting.operations() {
            points += 1;
            before.restore();
            let _ = std::fs::remove_file(scene::received(&machine));
            let stopped = flush(Arc::new(FailingDisk::after(after, fails)));
            let done = flush(Arc::new(RealDisk)).unwrap();
            assert_eq!((done.left, done.problem), (0, None), "stopped at {after}: {stopped:?}");
            let text = std::fs::read_to_string(scene::received(&machine)).unwrap();
            let mut got: Vec<String> = text
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
                .map(|line| line["id"].as_str().unwrap().to_owned())
                .collect();
            // One may come twice, right after itself: it was sent, and the stop came before it
            // was noted. Its id says so.
            let sent = got.len();
            got.dedup();
            again += sent - got.len();
            assert!(sent - got.len() <= 1, "stopped at {after}: {got:?}");
            assert_eq!(got, waiting, "stopped at {after}, {fails:?}");
            assert_eq!(flush(Arc::new(RealDisk)).unwrap().sent, 0);
        }
    }
    println!("{points} points, {again} decisions came twice with their id");
    assert!(again > 0, "no stop came between sending and noting");
}

#[test]
fn a_decision_stopped_at_any_write_is_completed_by_the_next_run() {
    let (mut points, mut failures) = (0, Vec::new());
    for command in COMMANDS.iter().filter(|command| command.name.starts_with("curate")) {
        let trial = Trial::of(command);
        for after in 0..trial.operations {
            points += 1;
            let fails = [Fails::Once, Fails::ForEver][after as usize % 2];
            trial.before.restore();
            let disk = Arc::new(FailingDisk::after(after, fails));
            let _ = (trial.command.run)(&trial.machine, &trial.machine.world.clone().with_disk(disk));
            let left = none(problems(&trial.machine), "before the next run").and_then(|()| trial.complete());
            failures.extend(left.err().map(|what| format!("{} stopped at {after}: {what}", command.name)));
        }
    }
    tell("curate", points, &failures);
}

#[test]
fn an_excluded_project_forms_no_pattern_and_stays_captured() {
    let mut machine = scene::recurring();
    let found = |machine: &support::Machine| {
        let store = machine.store();
        retro::views::patterns::detect(&machine.world, &machine.config, &store, &Default::default()).unwrap()
    };
    let before = found(&machine);
    assert!(!before.candidates.is_empty() && before.sessions == 5);
    machine.config.detect.value.exclude = vec!["shop".to_owned()];
    assert!(found(&machine).candidates.is_empty(), "at once, before the next sync");
    machine.sync();
    let after = found(&machine);
    assert_eq!((after.candidates.len(), after.sessions), (0, 0));
    assert_eq!(machine.store().session_keys().unwrap().len(), 5);
    machine.config.detect.value.exclude.clear();
    machine.sync();
    assert_eq!(found(&machine).candidates.len(), before.candidates.len());
}

#[test]
fn one_stage_is_made_again_over_an_index_that_was_just_started() {
    let machine = scene::recurring();
    let before = support::answers(&machine);
    std::fs::remove_dir_all(machine.config.root.value.join("index")).unwrap();
    std::fs::remove_file(machine.config.root.value.join("patterns/candidates.json")).unwrap();
    let stage = retro::engine::stages::by_name("detect");
    let report = retro::engine::rebuild::rebuild(&machine.world, &machine.config, stage, &|_| {}).unwrap();
    assert_eq!(report.discovered, 5);
    assert_eq!(support::answers(&machine)["candidates"], before["candidates"]);
}
