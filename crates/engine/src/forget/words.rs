//! What journals say of sessions that are forgotten: decisions about memories, and what was
//! shown.

use retro_memory::{Decision, Exposure, Memory, Source};
use retro_model::SessionKey;
use retro_store::{Index, Store};
use serde::Serialize;
use std::cell::Cell;
use std::collections::HashSet;

use crate::memory::{self, DECISIONS, EXPOSURES};
use crate::{Config, Error, World};

/// Memories that rest on sessions that are forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct MemoriesTouched {
    /// Ids of those that rest on nothing else: they go.
    pub removed: Vec<String>,
    /// Ids of those that lose evidence.
    pub weakened: Vec<String>,
}

/// Which memories rest on these sessions.
pub(super) fn touched(
    world: &World,
    config: &Config,
    store: &Store,
    index: &Index,
    keys: &[SessionKey],
) -> Result<MemoriesTouched, Error> {
    let folded = memory::fold(store, Some(index), config, world.now())?;
    let mut touched = MemoriesTouched::default();
    for memory in folded.shelf.items() {
        match rests_on(memory, keys) {
            Rests::Alone => touched.removed.push(memory.id.clone()),
            Rests::Also => touched.weakened.push(memory.id.clone()),
            Rests::Not => {}
        }
    }
    Ok(touched)
}

enum Rests {
    Alone,
    Also,
    Not,
}

fn rests_on(memory: &Memory, keys: &[SessionKey]) -> Rests {
    let is_of = |agent: &str, id: &str| keys.iter().any(|key| key.agent == agent && key.id == id);
    let count = memory.origins.iter().filter(|origin| is_of(&origin.agent, &origin.session_id)).count();
    match (count, memory.source) {
        (0, _) => Rests::Not,
        (all, Source::Mined) if all == memory.origins.len() => Rests::Alone,
        _ => Rests::Also,
    }
}

/// Takes these sessions out of the journals. Says how many lines that were.
pub(super) fn mask(
    world: &World,
    config: &Config,
    store: &Store,
    index: &Index,
    keys: &[SessionKey],
) -> Result<u64, Error> {
    let gone: HashSet<String> = touched(world, config, store, index, keys)?.removed.into_iter().collect();
    let is_session = |id: &Option<String>| id.as_ref().is_some_and(|id| keys.iter().any(|key| key.id == *id));
    let masked = Cell::new(0u64);
    let mask = || masked.set(masked.get() + 1);
    DECISIONS.change(store, |decision: &Decision| {
        let about = decision.about.as_deref().map_or(Rests::Not, |about| rests_on(about, keys));
        let is_of_gone = gone.contains(&decision.memory_id) && decision.event != "memory_forgotten";
        if is_session(&decision.session_id) || is_of_gone || matches!(about, Rests::Alone) {
            mask();
            return None;
        }
        let mut kept = decision.clone();
        if let (Rests::Also, Some(about)) = (about, kept.about.as_deref_mut()) {
            mask();
            without(about, keys);
        }
        Some(kept)
    })?;
    EXPOSURES.change(store, |exposure: &Exposure| {
        if is_session(&exposure.session_id) {
            mask();
            return None;
        }
        let mut kept = exposure.clone();
        kept.memory_ids.retain(|id| !gone.contains(id));
        (!kept.memory_ids.is_empty()).then_some(kept)
    })?;
    Ok(masked.get())
}

/// Takes the evidence of sessions out of a memory that rests on others too.
fn without(memory: &mut Memory, keys: &[SessionKey]) {
    let is_of = |agent: &str, id: &str| keys.iter().any(|key| key.agent == agent && key.id == id);
    memory.origins.retain(|origin| !is_of(&origin.agent, &origin.session_id));
    memory.evidence_refs.retain(|reference| {
        let session = reference.split('#').next().unwrap_or_default();
        session.split_once('/').is_none_or(|(agent, id)| !is_of(agent, id))
    });
    // A quotation does not say which session it is from.
    memory.spans.clear();
}
