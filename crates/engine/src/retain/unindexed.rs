//! Sessions that the store has and the index has not: those of a lost index, which a sweep
//! first brings back, and those that nothing can read.

use retro_model::SessionKey;
use retro_store::{Index, SessionRow, Store};
use std::collections::{BTreeSet, HashSet};

use crate::sync::settle;
use crate::{Config, Error, Progress, World, reconcile};

/// The sessions of the store that are not in the index.
pub(super) fn unindexed(store: &Store, index: &Index) -> Result<BTreeSet<SessionKey>, Error> {
    let known: HashSet<SessionKey> = index.session_rows()?.iter().map(SessionRow::key).collect();
    let all = store.session_keys()?.into_iter().chain(store.raw_keys()?);
    Ok(all.filter(|key| !known.contains(key)).collect())
}

/// Brings the index up to date with the store, and says which sessions cannot be read. Their
/// digest would be missing, and so would what it adds to the digest of a session above.
pub(super) fn unreadable(
    world: &World,
    config: &Config,
    store: &Store,
    index: &Index,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<BTreeSet<SessionKey>, Error> {
    reconcile::reconcile(world, crate::stages::STAGES, store, index)?;
    let lost = unindexed(store, index)?;
    if lost.is_empty() {
        return Ok(lost);
    }
    settle(world, config, store, index, &lost.into_iter().collect(), progress)?;
    if world.stopping() {
        return Err(Error::Interrupted);
    }
    unindexed(store, index)
}
