//! Laws that must hold for any bytes.
//!
//! A [`Law`] takes any bytes, makes something of them (a log, a raw file, a configuration) and
//! asserts facts about the result. The absence of panics is part of every law. The fuzzer of
//! `fuzz/` passes bytes of its own choice to them. The tests of this crate pass every input in
//! `fuzz/corpus/<law>/`, so that earlier findings stay fixed.
//!
//! **Invariants.** Laws are tests: no crate of the program uses this one. An agent of the registry
//! has its laws without a line here.

mod archive;
mod config;
mod log;
mod mutate;
mod patch;
mod prices;
mod session;
mod split;
mod story;
mod text;

use retro_agents::{AGENTS, Agent};
use std::sync::LazyLock;

/// The result of a check. An error comes from the disk. A broken law panics.
pub type Tried = Result<(), Box<dyn std::error::Error>>;

/// A property that must hold for any bytes.
pub struct Law {
    /// Its name, also of its fuzz target and of its folder of inputs.
    pub name: String,
    about: About,
}

/// The subject of a law.
enum About {
    /// Bytes of any kind.
    Anything(fn(&[u8]) -> Tried),
    /// The logs of one agent.
    Agent(fn(&'static dyn Agent, &[u8]) -> Tried, &'static dyn Agent),
}

impl Law {
    /// Checks the law with these bytes.
    pub fn check(&self, bytes: &[u8]) -> Tried {
        match &self.about {
            About::Anything(check) => check(bytes),
            About::Agent(check, agent) => check(*agent, bytes),
        }
    }
}

/// Every law, sorted by name.
pub fn laws() -> &'static [Law] {
    static LAWS: LazyLock<Vec<Law>> = LazyLock::new(|| {
        let mut laws: Vec<Law> = ANYTHING
            .iter()
            .map(|(name, check)| Law { name: (*name).to_owned(), about: About::Anything(*check) })
            .collect();
        for agent in AGENTS {
            for (name, check) in EVERY_AGENT {
                let name = format!("{name}-{}", agent.name());
                laws.push(Law { name, about: About::Agent(*check, *agent) });
            }
        }
        laws.sort_by(|a, b| a.name.cmp(&b.name));
        laws
    });
    &LAWS
}

/// Checks the law with this name. Panics if it is broken, cannot be checked or does not exist.
pub fn check(name: &str, bytes: &[u8]) {
    let law = laws().iter().find(|law| law.name == name);
    assert!(law.is_some(), "there is no law named {name}");
    let tried = law.map(|law| law.check(bytes));
    assert!(matches!(tried, Some(Ok(()))), "{name} could not be tried: {tried:?}");
}

type OfAnything = (&'static str, fn(&[u8]) -> Tried);
type OfAgent = (&'static str, fn(&'static dyn Agent, &[u8]) -> Tried);

/// Laws without a specific agent, sorted.
const ANYTHING: &[OfAnything] = &[
    ("archive", archive::check),
    ("config", config::check),
    ("patch", patch::check),
    ("prices", prices::check),
    ("split", split::check),
    ("text", text::check),
];

/// Laws of every agent's logs, sorted: `log-claude`, `story-claude`, …
const EVERY_AGENT: &[OfAgent] = &[("log", log::check), ("story", story::check)];
