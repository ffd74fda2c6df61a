//! What must hold whatever the bytes.
//!
//! A [`Law`] takes any bytes, makes something of them (a log, a raw file, a
//! configuration) and asserts what must be true of the result; that nothing
//! panics is part of every law. The fuzzer of `fuzz/` hands bytes of its own
//! choice to them; the tests of this crate hand them every input in
//! `fuzz/corpus/<law>/`, so that what was once found stays found.
//!
//! **Invariants.** Laws are tests: no crate of the program uses this one. An
//! agent of the registry has its laws without a line here.

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

/// Whether a law could be tried: an error is of the disk. A broken law panics.
pub type Tried = Result<(), Box<dyn std::error::Error>>;

/// One thing that must hold.
pub struct Law {
    /// Its name: that of its fuzz target and of its folder of inputs.
    pub name: String,
    about: About,
}

/// What a law speaks of.
enum About {
    /// Any bytes.
    Anything(fn(&[u8]) -> Tried),
    /// The logs of one agent.
    Agent(fn(&'static dyn Agent, &[u8]) -> Tried, &'static dyn Agent),
}

impl Law {
    /// Tries the law with these bytes.
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

/// Tries the law of this name; panics if it is broken, cannot be tried or is not
/// there.
pub fn check(name: &str, bytes: &[u8]) {
    let law = laws().iter().find(|law| law.name == name);
    assert!(law.is_some(), "there is no law named {name}");
    let tried = law.map(|law| law.check(bytes));
    assert!(matches!(tried, Some(Ok(()))), "{name} could not be tried: {tried:?}");
}

type OfAnything = (&'static str, fn(&[u8]) -> Tried);
type OfAgent = (&'static str, fn(&'static dyn Agent, &[u8]) -> Tried);

/// Laws that know no single agent, sorted.
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
