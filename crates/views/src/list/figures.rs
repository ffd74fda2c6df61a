//! Adds turns and cost to listed sessions, from the store.

use retro_engine::ask::Ledgers;
use retro_engine::stages::digest::outcome_in;
use retro_engine::{Config, World, prices};
use retro_insight::Digest;
use retro_model::SessionKey;
use retro_store::{DIGESTS, Index, RealDisk, Store};
use retro_usage::{By, Figures, Query, report_cells};
use std::collections::HashMap;
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
    let turns = index.turn_counts()?;
    let digests = index.made_by("digest")?;
    let evicted = index.sessions_without_sources()?;
    for session in sessions.iter_mut().filter(|session| session.captured) {
        let key = SessionKey::new(session.agent.clone(), session.session_id.clone());
        let told = digests.get(&key).and_then(|made| outcome_in(&made.output)).map(str::to_owned);
        // A new index, or one that lost a row, lacks the outcome.
        session.outcome = told.or_else(|| kept_outcome(&store, &key));
        session.evicted = evicted.contains(&key);
        session.turns = Some(turns.get(&key).copied().unwrap_or(0));
        if let Some(figures) = costs.as_ref().and_then(|costs| costs.get(&key)) {
            session.cost_usd = figures.cost_usd;
            session.cost_complete = figures.cost_complete && session.up_to_date;
            session.figures = Some(Box::new(figures.clone()));
        }
    }
    Ok(())
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
