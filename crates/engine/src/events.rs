//! The settled events of a session: from their cache if its stamp is current, otherwise from raw.

use retro_agents::Agent;
use retro_model::{Event, SessionKey};
use retro_store::Store;
use std::collections::BTreeMap;

use crate::stage::StampInputs;
use crate::stages::normalized;
use crate::{Config, Error, read, stamp};

/// Reads the settled events one by one, from the cache if its stamp is current.
pub fn each(
    store: &Store,
    agent: &dyn Agent,
    key: &SessionKey,
    told: &mut dyn FnMut(Box<Event>) -> Result<(), Error>,
) -> Result<(), Error> {
    let stamp = current_stamp(store, agent, key)?;
    if let Some(events) = store.normalized_events(key, &stamp)? {
        for event in events {
            told(Box::new(event?))?;
        }
        return Ok(());
    }
    read::stream(store, agent, key, &|| false, told).map(drop)
}

/// Reads all settled events, from the cache if its stamp is current.
pub fn all(store: &Store, agent: &dyn Agent, key: &SessionKey) -> Result<Vec<Event>, Error> {
    let stamp = current_stamp(store, agent, key)?;
    if let Some(events) = store.normalized(key, &stamp)? {
        return Ok(events);
    }
    Ok(read::session(store, agent, key)?.events)
}

/// The stamp that makes the cached events of a session current.
fn current_stamp(store: &Store, agent: &dyn Agent, key: &SessionKey) -> Result<String, Error> {
    let file = store.session(key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
    let content = stamp::content(store, &file)?;
    // The stage reads events alone, and no part of the configuration.
    let config = Config::for_root(store.root());
    let inputs = StampInputs::of_events(&config, agent, &content);
    Ok(stamp::stamp(&normalized::STAGE, inputs, &BTreeMap::new()))
}
