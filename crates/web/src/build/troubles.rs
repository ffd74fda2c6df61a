//! Problems of single sessions, for the page on the store's health.
//!
//! Sessions built in this run were read in full. Of the others, only changed and unchecked ones are
//! read, such as those that the page leaves out.

use rayon::prelude::*;
use retro::engine::damage::look;
use retro::model::SessionKey;
use retro::store::Store;
use std::collections::HashSet;

use super::{Plan, Site};
use crate::Error;

impl Site {
    /// Checks sessions that were not read yet, and forgets removed ones.
    pub(super) fn look(
        &mut self,
        plan: &Plan<'_>,
        changed: &HashSet<SessionKey>,
        store: &Store,
    ) -> Result<(), Error> {
        let root = |key: &SessionKey| plan.roots.get(key).unwrap_or(key).clone();
        let made: HashSet<&String> = self.built.changed.iter().collect();
        let families: HashSet<&SessionKey> =
            plan.named.iter().filter(|(name, ..)| made.contains(name)).map(|(_, key, _)| key).collect();
        let is_due = |key: &SessionKey| match self.state.looked.contains_key(&key.to_string()) {
            true => changed.contains(&root(key)) && !families.contains(&root(key)),
            false => true,
        };
        let keys = store.session_keys()?;
        let due: Vec<&SessionKey> = keys.iter().filter(|key| is_due(key)).collect();
        let looked: Vec<_> = due.par_iter().map(|key| (key.to_string(), look(store, key))).collect();
        let present: HashSet<String> = keys.iter().map(ToString::to_string).collect();
        self.state.looked.retain(|name, _| present.contains(name));
        self.built.looked = looked.len() as u64;
        for (name, trouble) in looked {
            self.state.looked.insert(name, trouble?);
        }
        Ok(())
    }
}
