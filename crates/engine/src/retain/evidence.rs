//! Sessions on which something rests that a person approved. Their raw bytes go last.
//!
//! To protect more, write a function and add it to `SOURCES`.

use retro_memory::Status;
use retro_model::SessionKey;
use retro_store::{Index, Store};
use std::collections::HashSet;

use crate::{Config, Error, World, memory, patterns};

/// What is looked at to find such sessions.
pub(crate) struct Ground<'a> {
    pub world: &'a World,
    pub config: &'a Config,
    pub store: &'a Store,
    pub index: &'a Index,
}

type Source = fn(&Ground<'_>) -> Result<Vec<SessionKey>, Error>;

static SOURCES: &[Source] = &[accepted_memories, approved_patterns];

/// All such sessions.
pub(crate) fn sessions(ground: &Ground<'_>) -> Result<HashSet<SessionKey>, Error> {
    let mut sessions = HashSet::new();
    for source in SOURCES {
        sessions.extend(source(ground)?);
    }
    Ok(sessions)
}

/// The sessions in which an accepted memory was found.
fn accepted_memories(ground: &Ground<'_>) -> Result<Vec<SessionKey>, Error> {
    let Ground { world, config, store, index } = ground;
    let folded = memory::fold(store, Some(index), config, world.now())?;
    let accepted = folded.shelf.items().iter().filter(|memory| memory.status == Status::Accepted);
    let origins = accepted.flat_map(|memory| memory.origins.clone());
    Ok(origins.map(|origin| SessionKey::new(origin.agent, origin.session_id)).collect())
}

/// The sessions that an approved pattern of the catalog names.
fn approved_patterns(ground: &Ground<'_>) -> Result<Vec<SessionKey>, Error> {
    let catalog = patterns::catalog(ground.store, ground.config)?;
    let approved =
        catalog.patterns.into_iter().filter(|pattern| pattern.status == retro_patterns::Status::Approved);
    let sessions = approved.flat_map(|pattern| pattern.provenance.sessions);
    Ok(sessions.map(|one| SessionKey::new(one.agent, one.session_id)).collect())
}
