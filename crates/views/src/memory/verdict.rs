//! What a person decides about memories, from the command line or on the page.

use retro_engine::{Config, World, memory};
use retro_memory::Decision;
use retro_store::Store;
use serde::Serialize;

use super::find;
use crate::Error;

/// A decision that can be made about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It may be shown to agents.
    Accept,
    /// It is never shown.
    Reject,
    /// It is hidden and kept.
    Retire,
    /// It stands again where it was found.
    Restore,
}

impl Verdict {
    /// Every one, in the order of the buttons on the page.
    pub const ALL: [Verdict; 4] = [Verdict::Accept, Verdict::Reject, Verdict::Retire, Verdict::Restore];

    /// The name of its command.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Accept => "accept",
            Verdict::Reject => "reject",
            Verdict::Retire => "retire",
            Verdict::Restore => "restore",
        }
    }

    /// The one with this name.
    pub fn parse(name: &str) -> Option<Verdict> {
        Verdict::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// What a memory is afterwards, in a word.
    pub fn done(self) -> &'static str {
        match self {
            Verdict::Accept => "accepted",
            Verdict::Reject => "rejected",
            Verdict::Retire => "retired",
            Verdict::Restore => "restored",
        }
    }

    /// Its name in the journal.
    fn event(self) -> &'static str {
        match self {
            Verdict::Accept => "memory_accepted",
            Verdict::Reject => "memory_rejected",
            Verdict::Retire => "memory_retired",
            Verdict::Restore => "memory_restored",
        }
    }
}

/// What was decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decided {
    /// `retro.memory.decided/1`.
    pub schema: &'static str,
    /// Its name in the journal.
    pub event: &'static str,
    /// The memories, by their whole ids.
    pub ids: Vec<String>,
}

/// Decides about memories: all of them, or none where one of the ids is not known.
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
