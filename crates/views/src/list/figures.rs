//! Adds turns and cost to listed sessions, from the store.

use retro_engine::ask::Ledgers;
use retro_engine::stages::digest::outcome_in;
use retro_engine::{Config, World, prices};
use retro_insight::Digest;
use retro_model::SessionKey;
use retro_store::{DIGESTS, Index, Made, RealDisk, Store};
use retro_usage::{By, Figures, Query, report_cells};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::SessionView;
use crate::Error;
use crate::usage::session_facts;

/// Adds turns and costs to the sessions that are in the store. If prices cannot be read, the list
/// has no costs, and `usage` reports why.
pub(super) fn fill(world: &World, config: &Config, sessions: &mut [SessionView]) -> Result<(), Error> {
    let store = Store::open(&config.root.value, Arc::new(RealDisk))?;
    let Some(index) = store.index_if_there()? else { return Ok(()) };
    let costs = prices::load(world, config).ok().map(|prices| costs(&index, &prices)).transpose()?;
    let known = match sessions.len() <= ONE_BY_ONE {
        true => None,
        false => Some(Known::of(&index)?),
    };
    for session in sessions.iter_mut().filter(|session| session.captured) {
        let key = SessionKey::new(session.agent.clone(), session.session_id.clone());
        let Told { outcome, evicted, turns } = match &known {
            Some(known) => known.told(&key),
            None => Told::asked(&index, &key)?,
        };
        // A new index, or one that lost a row, lacks the outcome.
        session.outcome = outcome.or_else(|| kept_outcome(&store, &key));
        session.evicted = evicted;
        session.turns = Some(turns);
        if let Some(figures) = costs.as_ref().and_then(|costs| costs.get(&key)) {
            session.cost_usd = figures.cost_usd;
            session.cost_complete = figures.cost_complete && session.up_to_date;
            session.figures = Some(Box::new(figures.clone()));
        }
    }
    Ok(())
}

/// So few sessions are asked about one by one: a short list of a large store does not read rows
/// of all sessions.
const ONE_BY_ONE: usize = 100;

/// What the index says of one session.
struct Told {
    outcome: Option<String>,
    evicted: bool,
    turns: u64,
}

impl Told {
    fn asked(index: &Index, key: &SessionKey) -> Result<Told, Error> {
        let made = index.made(key, DIGEST)?;
        Ok(Told {
            outcome: made.and_then(|made| outcome_in(&made.output).map(str::to_owned)),
            evicted: index.is_without_sources(key)?,
            turns: index.turn_count_of(key)?,
        })
    }
}

/// The stage that leaves outcomes.
const DIGEST: &str = "digest";

/// The same of all sessions.
struct Known {
    turns: HashMap<SessionKey, u64>,
    digests: HashMap<SessionKey, Made>,
    evicted: HashSet<SessionKey>,
}

impl Known {
    fn of(index: &Index) -> Result<Known, Error> {
        let (turns, digests) = (index.turn_counts()?, index.made_by(DIGEST)?);
        Ok(Known { turns, digests, evicted: index.sessions_without_sources()? })
    }

    fn told(&self, key: &SessionKey) -> Told {
        let made = self.digests.get(key);
        Told {
            outcome: made.and_then(|made| outcome_in(&made.output)).map(str::to_owned),
            evicted: self.evicted.contains(key),
            turns: self.turns.get(key).copied().unwrap_or(0),
        }
    }
}

/// The outcome of a session, from its digest.
fn kept_outcome(store: &Store, key: &SessionKey) -> Option<String> {
    let digest: Digest = store.object(&DIGESTS, key).ok()??;
    Some(digest.outcome.value.as_str().to_owned())
}

/// The cost of each session with its sub-agents.
pub(crate) fn costs(
    index: &Index,
    prices: &retro_usage::Prices,
) -> Result<HashMap<SessionKey, Figures>, Error> {
    let ledgers = Ledgers::of(index, prices);
    let query =
        Query { by: By::Session, sessions: session_facts(ledgers.sessions()?, None), ..Query::default() };
    let report = report_cells(&ledgers.cells(query.mode)?, &query);
    let rows = report.rows.into_iter().filter_map(|row| {
        let session = row.session?;
        Some((SessionKey::new(session.agent, session.session_id), row.figures))
    });
    Ok(rows.collect())
}
