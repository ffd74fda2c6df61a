//! What could not be read or understood of the sessions in a store, found by reading all of
//! them again.

use rayon::prelude::*;
use retro_model::{Coverage, Gap, SessionKey};
use retro_store::Store;
use serde::{Deserialize, Serialize};

use crate::{Error, agent_of, read};

/// What is wrong with one session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trouble {
    /// Which session.
    pub key: SessionKey,
    /// What could not be read, with its place.
    pub gaps: Vec<Gap>,
    /// Records that its agent's adapter does not know.
    pub unknown: u64,
    /// Why its raw files do not read back.
    pub damage: Option<String>,
    /// Its main log was never captured, only parts of it.
    pub is_half: bool,
}

impl Trouble {
    fn is_any(&self) -> bool {
        !self.gaps.is_empty() || self.unknown > 0 || self.damage.is_some() || self.is_half
    }
}

/// Reads every session and reports those with something wrong, by agent and id.
pub fn troubles(store: &Store) -> Result<Vec<Trouble>, Error> {
    let keys = store.session_keys()?;
    let looked: Vec<Result<Option<Trouble>, Error>> = keys.par_iter().map(|key| look(store, key)).collect();
    looked.into_iter().filter_map(Result::transpose).collect()
}

/// What is wrong with a session, by reading it.
pub fn look(store: &Store, key: &SessionKey) -> Result<Option<Trouble>, Error> {
    let Some(agent) = agent_of(key) else { return Ok(None) };
    let Some(mut trouble) = unread(store, key) else { return Ok(None) };
    match read::stream(store, agent, key, &|| false, &mut |_| Ok(())) {
        Ok(told) => {
            trouble.gaps = told.gaps;
            trouble.unknown = told.coverage.unknown;
        }
        Err(error) if error.is_of_one_session() => trouble.damage = Some(error.to_string()),
        Err(error) => return Err(error),
    }
    Ok(trouble.is_any().then_some(trouble))
}

/// What is wrong with a session that was just read: these gaps, and what its records were.
pub fn of_read(store: &Store, key: &SessionKey, gaps: &[Gap], coverage: &Coverage) -> Option<Trouble> {
    let trouble = unread(store, key)?;
    let trouble = Trouble { gaps: gaps.to_vec(), unknown: coverage.unknown, ..trouble };
    trouble.is_any().then_some(trouble)
}

/// What the file of a session says; nothing of one whose bytes were given up.
fn unread(store: &Store, key: &SessionKey) -> Option<Trouble> {
    // `verify` reports a session file that cannot be read.
    let file = store.session(key).ok().flatten().filter(|file| file.evicted_at.is_none())?;
    let is_half = !file.sources.keys().any(|source| source.is_main());
    Some(Trouble { key: key.clone(), gaps: Vec::new(), unknown: 0, damage: None, is_half })
}
