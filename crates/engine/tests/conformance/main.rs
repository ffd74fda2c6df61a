//! What must hold for every agent, from one place: a new line in the registry runs
//! all of it. Where an agent can do something that others cannot (fork, compress,
//! migrate, keep a database), the trial asks the adapter and says who took part.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod databases;
mod forks;
mod meaning;
mod migration;
mod places;
#[path = "../support/mod.rs"]
mod support;

use retro_agents::Agent;
use retro_engine::discover::roots;
use retro_model::SessionKey;
use retro_usage::{Counted, decide};
use std::collections::BTreeMap;
use std::path::PathBuf;
use support::{Machine, OTHER, STORY};

/// A machine with the stories as one agent tells them.
fn machine(agent: &dyn Agent) -> (Machine, Vec<PathBuf>) {
    let machine = Machine::new();
    let mut files = machine.tell(agent.name(), STORY);
    files.extend(machine.tell(agent.name(), OTHER));
    (machine, files)
}

fn root(machine: &Machine, agent: &dyn Agent) -> PathBuf {
    roots(&machine.world, &machine.config, agent).remove(0)
}

fn keys(machine: &Machine) -> Vec<SessionKey> {
    machine.store().session_keys().unwrap()
}

/// Answers without what a place or a revision of state changes: events and raw bytes.
fn content(machine: &Machine) -> BTreeMap<String, String> {
    let keep = |name: &String| ["events", "raw", "ledger", "turns"].iter().any(|kind| name.starts_with(kind));
    machine.answers().into_iter().filter(|(name, _)| keep(name)).collect()
}

/// What `retro usage` counts.
fn counted(machine: &Machine) -> Counted {
    decide(machine.store().index().unwrap().responses().unwrap())
}

fn forget_index(machine: &Machine) {
    std::fs::remove_dir_all(machine.config.root.value.join("index")).unwrap();
}
