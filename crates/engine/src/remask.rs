//! Redaction under new rules. A change of the rules for secrets makes every stage outdated. What no
//! stage makes again is handled here: caches that are made on request, memories and decisions
//! that people wrote, and the traces that old rows leave in the database file.

use retro_memory::{Decision, Memory};
use retro_store::{Index, Store};
use retro_text::secrets::RULES_VERSION;

use crate::memory::{DECISIONS, ITEMS};
use crate::reconcile::MADE_WITH;
use crate::stages::{Input, STAGES, Stage};
use crate::{Error, World};

/// Where the index stores the rules under which all of the store is redacted.
const RULES: &str = "rules";

/// True if everything is redacted under the current rules.
fn is_current(index: &Index) -> Result<bool, Error> {
    Ok(index.meta(RULES)?.as_deref() == Some(RULES_VERSION.to_string().as_str()))
}

/// Removes caches and redacts memories and decisions, if the rules have changed. Stopped anywhere,
/// the next sync does it again.
pub(crate) fn begin(world: &World, store: &Store, index: &Index) -> Result<(), Error> {
    if is_current(index)? {
        return Ok(());
    }
    let Some(_lock) = world.lock(store)? else { return Ok(()) };
    // A new index has no old rows, and says nothing of the rules under which caches were made.
    let is_new = index.meta(MADE_WITH)?.is_none();
    if !is_new {
        for key in store.session_keys()? {
            store.remove_caches(&key)?;
        }
    }
    ITEMS.change(store, |memory: &Memory| {
        let mut memory = memory.clone();
        memory.redact();
        Some(memory)
    })?;
    DECISIONS.change(store, |decision: &Decision| {
        let mut decision = decision.clone();
        decision.redact();
        Some(decision)
    })?;
    store.sync_all()?;
    if is_new {
        index.write(|index| index.set_meta(RULES, &RULES_VERSION.to_string()))?;
    }
    Ok(())
}

/// Removes the traces of old rows once no stage that reads events is outdated any more.
pub(crate) fn finish(world: &World, store: &Store, index: &Index) -> Result<(), Error> {
    let due = index.due_counts()?;
    let reads_events = |stage: &&Stage| stage.inputs.iter().any(|input| matches!(input, Input::Events));
    if is_current(index)? || STAGES.iter().filter(reads_events).any(|stage| due.contains_key(stage.name)) {
        return Ok(());
    }
    let Some(_lock) = world.lock(store)? else { return Ok(()) };
    index.wipe()?;
    index.write(|index| index.set_meta(RULES, &RULES_VERSION.to_string()))?;
    Ok(())
}
