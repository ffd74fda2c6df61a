//! Sync under faults: stopped after any write, for once or for good, the store stays
//! one that verifies, and the next sync completes it to what an undisturbed one gives.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro_engine::SyncOptions;
use retro_engine::sync::sync_store;
use retro_store::Store;
use retro_store::testing::{FailingDisk, Fails};
use std::path::PathBuf;
use std::sync::Arc;
use support::{Machine, OTHER, STORY};

/// A machine in the middle of its life: one sync is done; since then a log has
/// grown, one was rewritten, a session is new, and a hook has left a job.
struct Scene {
    machine: Machine,
    grown: Vec<(PathBuf, Vec<u8>)>,
}

fn scene() -> Scene {
    let machine = Machine::new();
    let mut grown = Vec::new();
    for agent in support::agents() {
        for path in machine.tell(agent.name(), STORY) {
            let bytes = std::fs::read(&path).unwrap();
            if machine.logs().contains(&path) {
                std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
                grown.push((path, bytes));
            }
        }
    }
    machine.sync();
    Scene { machine, grown }
}

impl Scene {
    /// What happens between the first sync and the disturbed one.
    fn go_on(&self) {
        for (at, (path, bytes)) in self.grown.iter().enumerate() {
            match at {
                0 => {
                    let rewritten: Vec<u8> =
                        bytes.split_inclusive(|b| *b == b'\n').skip(1).flatten().copied().collect();
                    std::fs::write(path, rewritten).unwrap();
                }
                _ => std::fs::write(path, bytes).unwrap(),
            }
        }
        self.machine.tell("claude", OTHER);
        let job = retro_store::Job { agent: Some("claude".into()), path: None, session_id: None };
        self.machine.store().enqueue(&job).unwrap();
    }
}

/// Operations of an undisturbed second sync, and what the store answers after it.
fn undisturbed() -> (usize, std::collections::BTreeMap<String, String>) {
    let scene = scene();
    scene.go_on();
    let disk = Arc::new(FailingDisk::counting());
    let store = Store::open(&scene.machine.config.root.value, disk.clone()).unwrap();
    sync_store(&scene.machine.world, &scene.machine.config, &SyncOptions::default(), &store, &|_| {})
        .unwrap();
    drop(store);
    (disk.operations() as usize, scene.machine.answers())
}

/// How many of the points are tried: all of them when `RETRO_TRIAL` is set.
fn stride() -> usize {
    if std::env::var_os("RETRO_TRIAL").is_some() { 1 } else { 7 }
}

#[test]
fn a_sync_stopped_after_any_write_is_completed_by_the_next() {
    let (operations, expected) = undisturbed();
    assert!(operations > 40, "{operations} operations are too few to mean anything");
    let mut tried = 0;
    for forever in [false, true] {
        for after in (0..operations).skip(usize::from(forever) * 3).step_by(stride()) {
            let scene = scene();
            scene.go_on();
            let machine = &scene.machine;
            let fails = if forever { Fails::ForEver } else { Fails::Once };
            let disk = Arc::new(FailingDisk::after(after as u64, fails));
            // The command may fail or get through; it must not harm.
            if let Ok(store) = Store::open(&machine.config.root.value, disk) {
                let _ = sync_store(&machine.world, &machine.config, &SyncOptions::default(), &store, &|_| {});
            }
            match after % 3 {
                0 => {}
                1 => drop(std::fs::remove_dir_all(machine.config.root.value.join("index"))),
                _ => {
                    std::fs::write(machine.config.root.value.join("index/retro.sqlite"), b"garbled").unwrap()
                }
            }
            machine.sync();
            machine.verify();
            let got = machine.answers();
            for (name, answer) in &expected {
                assert_eq!(
                    got.get(name),
                    Some(answer),
                    "{name} after a stop at {after}, for ever: {forever}"
                );
            }
            tried += 1;
        }
    }
    println!("{tried} of {} fail points", operations * 2);
}
