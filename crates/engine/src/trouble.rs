//! What could not be read or understood of the sessions in a store, found by reading all of
//! them again.

use rayon::prelude::*;
use retro_model::{Gap, SessionKey};
use retro_store::Store;

use crate::{Error, agent_of, read};

/// What is wrong with one session.
#[derive(Debug, Clone)]
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

fn look(store: &Store, key: &SessionKey) -> Result<Option<Trouble>, Error> {
    let mut trouble =
        Trouble { key: key.clone(), gaps: Vec::new(), unknown: 0, damage: None, is_half: false };
    let Some(agent) = agent_of(key) else { return Ok(None) };
    match store.session(key) {
        Ok(Some(file)) if file.evicted_at.is_some() => return Ok(None),
        Ok(Some(file)) => trouble.is_half = !file.sources.keys().any(|source| source.is_main()),
        // `verify` reports a session file that cannot be read.
        _ => return Ok(None),
    }
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
