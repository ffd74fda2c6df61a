//! Finds the unreadable and unknown parts of the sessions in a store by reading all of them again.

use rayon::prelude::*;
use retro_model::{Coverage, Gap, SessionKey};
use retro_store::Store;
use serde::{Deserialize, Serialize};

use crate::{Error, agent_of, read};

/// The problems of one session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Trouble {
    /// Agent and id of the session.
    pub key: SessionKey,
    /// Gaps in its records, with their places.
    pub gaps: Vec<Gap>,
    /// Records that its agent's adapter does not recognize.
    pub unknown: u64,
    /// The reason why its raw files cannot be read back.
    pub damage: Option<String>,
    /// Only parts of it were captured, not its main log.
    pub is_half: bool,
}

impl Trouble {
    fn is_any(&self) -> bool {
        !self.gaps.is_empty() || self.unknown > 0 || self.damage.is_some() || self.is_half
    }
}

/// Reads every session and reports those with problems, by agent and id.
pub fn troubles(store: &Store) -> Result<Vec<Trouble>, Error> {
    let keys = store.session_keys()?;
    let looked: Vec<Result<Option<Trouble>, Error>> = keys.par_iter().map(|key| look(store, key)).collect();
    looked.into_iter().filter_map(Result::transpose).collect()
}

/// Reads a session to find its problems.
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

/// The problems of a session that was just read, from its gaps and the coverage of its records.
pub fn of_read(store: &Store, key: &SessionKey, gaps: &[Gap], coverage: &Coverage) -> Option<Trouble> {
    let trouble = unread(store, key)?;
    let trouble = Trouble { gaps: gaps.to_vec(), unknown: coverage.unknown, ..trouble };
    trouble.is_any().then_some(trouble)
}

/// The facts in the session file. `None` for an evicted session.
fn unread(store: &Store, key: &SessionKey) -> Option<Trouble> {
    // `verify` reports an unreadable session file.
    let file = store.session(key).ok().flatten().filter(|file| file.evicted_at.is_none())?;
    let is_half = !file.sources.keys().any(|source| source.is_main());
    Some(Trouble { key: key.clone(), gaps: Vec::new(), unknown: 0, damage: None, is_half })
}
