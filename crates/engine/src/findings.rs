//! What sync found in sessions, for whoever chooses from it again.

use retro_memory::Findings;
use retro_model::SessionKey;
use retro_store::{Index, Store};
use std::collections::HashSet;

use crate::mined::{self, FINDINGS};
use crate::reconcile::outdated_of;
use crate::stages::STAGES;
use crate::{Config, Error};

/// What sync found in sessions and kept, as far as it is what methods would find now.
pub struct Ready {
    index: Option<Index>,
    outdated: HashSet<SessionKey>,
}

impl Ready {
    /// Asks the index which findings are current.
    pub fn new(config: &Config, store: &Store) -> Result<Ready, Error> {
        let Some(index) = store.index_if_there()? else {
            return Ok(Ready { index: None, outdated: HashSet::new() });
        };
        let outdated = outdated_of(config, STAGES, store, &index, &|stage| stage.name == mined::STAGE)?;
        let outdated = outdated.into_iter().map(|(key, ..)| key).collect();
        Ok(Ready { index: Some(index), outdated })
    }

    /// What was found in a session; nothing if it has to be read again.
    pub fn findings(&self, key: &SessionKey) -> Result<Option<Findings>, Error> {
        let Some(index) = self.index.as_ref().filter(|_| !self.outdated.contains(key)) else {
            return Ok(None);
        };
        Ok(index.body(key, FINDINGS, "")?.and_then(|body| serde_json::from_str(&body).ok()))
    }
}
