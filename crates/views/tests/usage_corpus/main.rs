//! Recorded scenarios of three agents through the whole path: synced into a fresh
//! store and asked for, every answer must have the figures that the model server
//! billed, field by field. What a log cannot know is named in `exceptions.rs`.
//!
//! `RETRO_CORPUS` names a folder with `genuine/<set>/<scenario>/` (a home, the
//! server's ledger, and what truly happened). Without it the test says so and passes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod asked;
mod billed;
mod compare;
mod exceptions;
mod proof;
mod scenario;

use compare::Outcome;
use exceptions::EXCEPTIONS;
use scenario::Scenario;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The agents whose answers are compared; each has a set of scenarios for each of its versions.
const AGENTS: [&str; 3] = ["claude", "codex", "grok"];

#[test]
fn every_answer_has_the_figures_that_were_billed() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let mut wrong = Vec::new();
    let mut sums: BTreeMap<&str, Sums> = BTreeMap::new();
    for scenario in Scenario::all(&corpus, &AGENTS) {
        let outcome = compare::compare(&scenario);
        wrong.extend(outcome.wrong.iter().map(|what| format!("{}: {what}", scenario.name)));
        sums.entry(scenario.agent).or_default().add(&outcome);
    }
    for (agent, sums) in &sums {
        println!("{agent}: {sums:?}");
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
    for agent in AGENTS {
        assert!(sums.get(agent).is_some_and(|sums| sums.equal > 0), "no answer of {agent} was compared");
    }
    for exception in EXCEPTIONS {
        let used = sums[exception.agent].excepted.contains_key(exception.name);
        let (agent, name, why) = (exception.agent, exception.name, exception.why);
        assert!(used, "{agent}: nothing needs the exception \"{name}\" any more: {why}");
    }
}

/// What was compared of one agent.
#[derive(Debug, Default)]
struct Sums {
    scenarios: usize,
    /// Lines of the server's ledgers.
    lines: usize,
    /// Of these, calls that were refused and cost nothing.
    refused: usize,
    /// Rows of ours that are equal in every field.
    equal: usize,
    /// How often each exception was needed.
    excepted: BTreeMap<&'static str, usize>,
}

impl Sums {
    fn add(&mut self, outcome: &Outcome) {
        self.scenarios += 1;
        self.lines += outcome.lines;
        self.refused += outcome.refused;
        self.equal += outcome.equal;
        for name in &outcome.excepted {
            *self.excepted.entry(name).or_default() += 1;
        }
    }
}
