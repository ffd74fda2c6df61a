//! The settled events of a session, and its raw sources by name.

use retro_agents::by_name;
use retro_engine::events;
use retro_model::{Event, SessionKey};
use retro_store::{Slot, Store};

use crate::Error;

/// The events in order: from the cache where it fits, else computed.
pub fn events(store: &Store, key: &SessionKey) -> Result<Vec<Event>, Error> {
    let agent =
        by_name(&key.agent).ok_or_else(|| Error::NoAgent { name: key.agent.clone(), hint: String::new() })?;
    Ok(events::all(store, agent, key)?)
}

/// The same one by one, for a session of any size.
pub fn each_event<E: From<Error>>(
    store: &Store,
    key: &SessionKey,
    mut told: impl FnMut(&Event) -> Result<(), E>,
) -> Result<(), E> {
    let agent =
        by_name(&key.agent).ok_or_else(|| Error::NoAgent { name: key.agent.clone(), hint: String::new() })?;
    let mut result = Ok(());
    let read = events::each(store, agent, key, &mut |event| {
        if result.is_ok() {
            result = told(&event);
        }
        Ok(())
    });
    read.map_err(Error::from)?;
    result
}

/// The number of the turn that an event belongs to.
pub fn turn_of(store: &Store, key: &SessionKey, event: &str) -> Result<u32, Error> {
    let mut turn = None;
    each_event(store, key, |found| {
        if found.id.to_string() == event {
            turn = Some(found.turn);
        }
        Ok::<(), Error>(())
    })?;
    turn.ok_or_else(|| Error::NoEvent { session: key.to_string(), event: event.to_owned() })
}

/// The raw files of a session, or those of one source and revision.
pub fn source_slots(
    store: &Store,
    key: &SessionKey,
    source: Option<&str>,
    revision: Option<u32>,
) -> Result<Vec<Slot>, Error> {
    let all = store.raw_slots(key)?;
    if let Some(at) = store.session(key).ok().flatten().and_then(|file| file.evicted_at) {
        return Err(retro_engine::Error::Evicted { session: key.to_string(), at }.into());
    }
    let fits = |slot: &&Slot| {
        let Slot::Session { source: name, revision: number, .. } = slot else { return false };
        source.is_none_or(|wanted| wanted == name.as_str()) && revision.is_none_or(|wanted| wanted == *number)
    };
    let chosen: Vec<Slot> = all.iter().filter(fits).cloned().collect();
    if chosen.is_empty() {
        let mut name = source.unwrap_or("m").to_owned();
        if let Some(revision) = revision {
            name.push_str(&format!("~{revision}"));
        }
        let named = |slot: &Slot| match slot {
            Slot::Session { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let there = all.iter().map(named).collect::<Vec<_>>().join(", ");
        return Err(Error::NoSource { session: key.to_string(), name, there });
    }
    Ok(chosen)
}
