//! The sub-agents of a session that are sessions of their own.
//!
//! Some agents keep a sub-agent's work inside the session, others as a session
//! beside it. A reader of the parent is shown both the same way: the child's
//! events stand on a thread named by its id.

use retro_agents::by_name;
use retro_engine::read;
use retro_model::{Event, LinkKind, SessionKey, Thread};
use retro_store::Store;
use std::collections::HashSet;

use crate::Error;

/// Sessions of one tree that are shown together.
const FAMILY_MAX: usize = 200;

/// The events of every child session, and of theirs, each on its own thread.
pub(crate) fn children(store: &Store, key: &SessionKey, events: &[Event]) -> Result<Vec<Event>, Error> {
    let mut seen = HashSet::from([key.clone()]);
    let mut waiting = named(key, events);
    waiting.extend(linked(store, key)?);
    let mut all = Vec::new();
    while let Some(child) = waiting.pop() {
        if seen.len() > FAMILY_MAX || !seen.insert(child.clone()) || store.session(&child)?.is_none() {
            continue;
        }
        let Some(agent) = by_name(&child.agent) else { continue };
        let mut events = read::legible(store, agent, &child)?.settled.events;
        // A child that was given its parent's history holds copies of it.
        events.retain(|event| event.copy_of.is_none());
        waiting.extend(named(&child, &events));
        for event in events.iter_mut().filter(|event| event.thread.is_main()) {
            event.thread = Thread::sub(child.id.clone());
        }
        all.extend(events);
    }
    Ok(all)
}

/// Sessions that events name as started or reported of.
fn named(key: &SessionKey, events: &[Event]) -> Vec<SessionKey> {
    let ids: HashSet<&String> = events.iter().filter_map(|event| event.child.as_ref()).collect();
    ids.into_iter().map(|id| SessionKey::new(key.agent.clone(), id.clone())).collect()
}

/// Sessions that say of themselves that this one is their parent.
fn linked(store: &Store, key: &SessionKey) -> Result<Vec<SessionKey>, Error> {
    let Some(index) = store.index_if_there()? else { return Ok(Vec::new()) };
    let is_child = |row: &retro_store::SessionRow| {
        row.agent == key.agent
            && row.links.iter().any(|link| link.kind == LinkKind::Parent && link.session_id == key.id)
    };
    Ok(index.session_rows()?.iter().filter(|row| is_child(row)).map(|row| row.key()).collect())
}
