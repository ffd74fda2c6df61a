//! A person's decisions about memories, from the command line or the page.

use retro_engine::{Config, World, memory};
use retro_memory::Decision;
use retro_store::Store;
use serde::Serialize;

use super::find;
use crate::Error;

/// A decision about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Agents may see it.
    Accept,
    /// Agents never see it.
    Reject,
    /// It is hidden but kept.
    Retire,
    /// It returns to the state in which it was found.
    Restore,
}

impl Verdict {
    /// All verdicts, in the order of the buttons on the page.
    pub const ALL: [Verdict; 4] = [Verdict::Accept, Verdict::Reject, Verdict::Retire, Verdict::Restore];

    /// The name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Accept => "accept",
            Verdict::Reject => "reject",
            Verdict::Retire => "retire",
            Verdict::Restore => "restore",
        }
    }

    /// The verdict with this name.
    pub fn parse(name: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// The memory's state afterwards, in a word.
    pub fn done(self) -> &'static str {
        match self {
            Verdict::Accept => "accepted",
            Verdict::Reject => "rejected",
            Verdict::Retire => "retired",
            Verdict::Restore => "restored",
        }
    }

    /// The verdict's name in the journal.
    fn event(self) -> &'static str {
        match self {
            Verdict::Accept => "memory_accepted",
            Verdict::Reject => "memory_rejected",
            Verdict::Retire => "memory_retired",
            Verdict::Restore => "memory_restored",
        }
    }
}

/// The result of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// `retro.memory.decided/1`.
    pub schema: &'static str,
    /// The verdict's name in the journal.
    pub event: &'static str,
    /// The full ids of the memories.
    pub ids: Vec<String>,
}

/// Decides about memories: about all of them, or about none if an id is unknown.
pub fn decide(
    world: &World,
    config: &Config,
    store: &Store,
    verdict: Verdict,
    ids: &[String],
) -> Result<Decided, Error> {
    let mut decisions = Vec::new();
    for id in ids {
        decisions.push(Decision {
            memory_id: find(world, config, store, id)?.id,
            event: verdict.event().to_owned(),
            created_at: Some(world.now()),
            ..Decision::default()
        });
    }
    memory::decide(world, config, store, &decisions)?;
    let ids = decisions.into_iter().map(|decision| decision.memory_id).collect();
    Ok(Decided { schema: "retro.memory.decided/1", event: verdict.event(), ids })
}
