//! What sessions and their sub-agents spent, for signals that need a price.

use retro_insight::Prices;
use retro_model::{LinkKind, SessionKey};
use retro_store::Index;
use retro_usage::{Mode, NanoUsd, Pricer, decide};
use std::collections::HashMap;

use crate::Error;
use crate::ask::Ledgers;

/// Generations of sub-agents that are followed: parents may name each other in a circle.
const DEPTH_MAX: usize = 32;

/// The responses of a session and those below it.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    total: NanoUsd,
    below: NanoUsd,
    /// A response has no price.
    unpriced: bool,
}

impl Spent {
    fn add(&mut self, cost: Option<NanoUsd>, is_below: bool) {
        let plus = |sum: NanoUsd, cost: NanoUsd| sum.checked_add(cost);
        let added = cost.and_then(|cost| {
            let below = if is_below { plus(self.below, cost)? } else { self.below };
            Some((plus(self.total, cost)?, below))
        });
        match added {
            Some((total, below)) => (self.total, self.below) = (total, below),
            None => self.unpriced = true,
        }
    }

    fn prices(self) -> Prices {
        let known = |nano: NanoUsd| (!self.unpriced).then(|| nano.to_usd());
        Prices {
            total_usd: Some(self.total.to_usd()),
            below_usd: known(self.below),
            complete: !self.unpriced,
        }
    }
}

/// What each session cost with those below it, and what these took of that.
pub fn spent(index: &Index, prices: &retro_usage::Prices) -> Result<HashMap<SessionKey, Prices>, Error> {
    let ledgers = Ledgers::of(index, prices);
    let parents = parents(&ledgers)?;
    let mut pricer = Pricer::new(prices, Mode::default());
    let mut spent: HashMap<SessionKey, Spent> = HashMap::new();
    for counted in decide(ledgers.rows()?).rows {
        let row = counted.own_row();
        let cost = pricer.cost(row).nano;
        let own = &*counted.session;
        spent.entry(own.clone()).or_default().add(cost, !row.thread.is_main());
        let mut above = parents.get(own);
        for _ in 0..DEPTH_MAX {
            let Some(key) = above.filter(|key| *key != own) else { break };
            above = parents.get(key);
            spent.entry(key.clone()).or_default().add(cost, true);
        }
    }
    Ok(spent.into_iter().map(|(key, spent)| (key, spent.prices())).collect())
}

/// The parent of every session that has one; some agents name it in one of the two only.
fn parents(ledgers: &Ledgers<'_>) -> Result<HashMap<SessionKey, SessionKey>, Error> {
    let mut parents = HashMap::new();
    for row in ledgers.sessions()? {
        let key = row.key();
        for link in row.links.iter().filter(|link| link.kind == LinkKind::Child) {
            parents.entry(SessionKey::new(&key.agent, &link.session_id)).or_insert_with(|| key.clone());
        }
        if let Some(parent) = &row.parent {
            parents.insert(key.clone(), SessionKey::new(&key.agent, parent));
        }
    }
    Ok(parents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_without_a_price_leaves_the_share_open() {
        let mut spent = Spent::default();
        spent.add(Some(NanoUsd(300)), false);
        spent.add(Some(NanoUsd(100)), true);
        assert_eq!((spent.total, spent.below, spent.unpriced), (NanoUsd(400), NanoUsd(100), false));
        spent.add(None, true);
        assert!(spent.unpriced);
    }
}
