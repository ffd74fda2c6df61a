//! The cost of sessions, for signals that need a price.

use retro_engine::signals::spent;
use retro_engine::{Config, World, prices};
use retro_insight::Prices;
use retro_model::SessionKey;
use retro_store::Store;
use std::collections::HashMap;

use crate::list::costs;

/// The cost of every session, with and without its sub-agents.
pub struct Costs(HashMap<SessionKey, Prices>);

impl Costs {
    /// The costs of all sessions. `None` if prices or index cannot be read. The totals are those of
    /// `usage session`, which folds a sub-agent into its root; here a sub-agent has its own total
    /// too.
    pub fn of(world: &World, config: &Config, store: &Store) -> Option<Costs> {
        let prices = prices::load(world, config).ok()?;
        let index = store.index_if_there().ok().flatten()?;
        let mut all = spent(&index, &prices).ok()?;
        for (key, figures) in costs(&index, &prices).ok()? {
            let known = all.entry(key).or_default();
            (known.total_usd, known.complete) = (figures.cost_usd, figures.cost_complete);
        }
        Some(Costs(all))
    }

    /// The cost of a session and its sub-agents.
    pub fn of_session(&self, key: &SessionKey) -> Option<Prices> {
        self.0.get(key).copied()
    }
}
