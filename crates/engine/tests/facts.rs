//! Git is asked once, and again only when something has changed.
#![allow(clippy::unwrap_used)]

#[path = "signals/repository.rs"]
mod repository;
mod support;

use retro_insight::Digest;
use retro_store::{DIGESTS, FACTS};
use std::sync::Arc;
use support::Machine;

const REPOSITORY: &str = "commit 40 Round the tax up\nsrc.rs\n  one();";
const STORY: &str = "@ cwd {cwd}\n> Round the tax up and commit\n~ src.rs\n+ one();\n\
                     $ git commit -am \"Round the tax up\"\n| [main {1}] Round the tax up\n< Committed.";

/// Sessions about which git is to be asked, now or later.
fn waiting(machine: &Machine) -> u64 {
    let counts = machine.store().index().unwrap().due_counts().unwrap();
    counts.get("facts").copied().unwrap_or(0)
}

fn survival(machine: &Machine) -> String {
    let store = machine.store();
    let key = store.session_keys().unwrap().remove(0);
    let digest: Digest = store.object(&DIGESTS, &key).unwrap().unwrap();
    let reading = &digest.readings["git_survival"];
    reading.reason.clone().unwrap_or_else(|| reading.value.to_string())
}

fn told() -> Machine {
    let machine = Machine::new();
    let made = repository::make(&machine, REPOSITORY);
    machine.tell("claude", &made.fill(STORY));
    machine
}

#[test]
fn a_machine_without_git_settles_it_with_a_reason_until_git_is_there() {
    let mut machine = told();
    machine.sync();
    assert_eq!((waiting(&machine), survival(&machine).as_str()), (0, "git_missing"));
    let name = |machine: &Machine| {
        let store = machine.store();
        let key = store.session_keys().unwrap().remove(0);
        store.name_of(&FACTS, &key).unwrap()
    };
    let before = name(&machine);
    machine.sync();
    assert_eq!(name(&machine), before, "nothing is written again");
    machine.world.own_env = Arc::new(|name| std::env::var(name).ok().filter(|_| name == "PATH"));
    machine.sync();
    assert_eq!((waiting(&machine), survival(&machine).as_str()), (0, "1.0"));
}

#[test]
fn nothing_waits_for_git_while_it_is_switched_off() {
    let mut machine = told();
    machine.world.own_env = Arc::new(|name| std::env::var(name).ok().filter(|_| name == "PATH"));
    machine.config.facts_git.value = false;
    machine.sync();
    assert_eq!((waiting(&machine), survival(&machine).as_str()), (0, "not_observed"));
    machine.config.facts_git.value = true;
    machine.sync();
    assert_eq!((waiting(&machine), survival(&machine).as_str()), (0, "1.0"));
}
