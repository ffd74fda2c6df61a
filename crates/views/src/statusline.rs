//! One line for an agent's status bar: what this session, today and the running
//! five hours cost, from the store and from what the agent hands over.
//!
//! It is asked several times a second, so it reads only the rows it needs: those of
//! the session, of today and of the running block, and whatever shares an answer
//! with them. The agent's own figure for its session is newer than any store and is
//! taken for it, also inside today and the block where the session began in them.

mod input;

use jiff::tz::TimeZone;
use retro_model::{LedgerRow, SessionKey, Timestamp};
use retro_store::Index;
use retro_usage::{
    BLOCK_MS, Billing, Block, By, Counted, CountedRow, Mode, Prices, Query, block_start, decide, report,
};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;

pub use input::{StatusInput, StatusLimit};

use crate::Error;

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct StatuslineView {
    /// `retro.statusline/1`.
    pub schema: &'static str,
    /// How the user pays: what the amounts are called.
    pub billing: Billing,
    /// The model, for people.
    pub model: Option<String>,
    /// This session.
    pub session: Option<Amount>,
    /// Today, all agents.
    pub today: Option<Amount>,
    /// The running block of five hours, all agents.
    pub block: Option<RunningBlock>,
    /// Used part of the context window, in percent.
    pub context_percent: Option<f64>,
    /// Windows of the account's allowance.
    pub limits: Vec<StatusLimit>,
}

/// Money, and whether it is all of it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Amount {
    /// Dollars at list price.
    pub usd: f64,
    /// False: it is at least this.
    pub complete: bool,
}

/// The running block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunningBlock {
    /// What it cost so far.
    pub cost: Option<Amount>,
    /// When it ends.
    pub ends_at: Timestamp,
    /// Dollars an hour so far; null for a single answer.
    pub usd_per_hour: Option<f64>,
}

/// Who asks, and by which rules.
pub struct Asked<'a> {
    /// What the agent handed over.
    pub input: &'a StatusInput,
    /// The agent.
    pub agent: &'a str,
    /// Prices in force.
    pub prices: &'a Prices,
    /// Whose cost figures count.
    pub mode: Mode,
    /// How the user pays.
    pub billing: Billing,
    /// Where days are cut.
    pub tz: &'a TimeZone,
    /// The present.
    pub now: Timestamp,
}

/// The line without a store: what the agent handed over.
pub fn statusline_alone(input: &StatusInput, billing: Billing) -> StatuslineView {
    StatuslineView {
        schema: "retro.statusline/1",
        billing,
        model: input.model.clone(),
        session: input.cost_usd.map(|usd| Amount { usd, complete: true }),
        today: None,
        block: None,
        context_percent: input.context_percent,
        limits: input.limits.clone(),
    }
}

/// The line, with what the store knows.
pub fn statusline(index: &Index, asked: &Asked<'_>) -> Result<StatuslineView, Error> {
    let day = asked.now.to_jiff().to_zoned(asked.tz.clone());
    let day_start = day.start_of_day().map_or(asked.now, |start| start.timestamp().into());
    let block_start = block_start(&index.busy_times(asked.now, BLOCK_MS)?, asked.now);
    let session = asked.input.session_id.as_ref().map(|id| SessionKey::new(asked.agent, id));
    let rows = rows(index, block_start.map_or(day_start, |start| start.min(day_start)), session.as_ref())?;
    let counted = decide(rows);
    // Sessions of which the ledger lacks captured bytes make every sum a lower bound.
    let behind = index.behind("ledger")?;
    let has_all = behind.is_empty() && index.failures()?.is_empty();
    let marked = |amount: Option<Amount>| {
        amount.map(|amount| Amount { complete: amount.complete && has_all, ..amount })
    };
    let since = |row: &CountedRow, start: Timestamp| row.row.ts.is_some_and(|ts| ts >= start);
    let is_own = |row: &CountedRow| session.as_ref() == Some(&*row.session);

    let own = amount(&of(&counted, is_own), asked);
    // An agent that was started again to go on with a session counts from there on.
    let is_all = |usd: &f64| own.is_none_or(|own| *usd + CENT >= own.usd);
    let live = asked.input.cost_usd.filter(is_all).map(|usd| Amount { usd, complete: true });
    let began = began(index, session.as_ref(), asked)?;
    // The agent's figure stands for all of its session, so it can stand in for a part only
    // where the session began behind `start`. Else what the store has not read yet is missing.
    let with_live = |start: Timestamp, all: Option<Amount>, stored: Option<Amount>| match live {
        Some(live) if began.is_some_and(|began| began >= start) => {
            let (all, stored) = (all.unwrap_or(Amount::NONE), stored.unwrap_or(Amount::NONE));
            Some(Amount { usd: (all.usd - stored.usd).max(0.0) + live.usd, complete: all.complete })
        }
        Some(live) => all.map(|all| {
            let read = own.unwrap_or(Amount::NONE).usd + CENT;
            Amount { complete: all.complete && live.usd <= read, ..all }
        }),
        None => all,
    };
    let part = |start: Timestamp, own_only: bool| {
        amount(&of(&counted, |row| since(row, start) && (!own_only || is_own(row))), asked)
    };
    let block = block_start.and_then(|start| running(&of(&counted, |row| since(row, start)), asked));
    Ok(StatuslineView {
        session: live.or(own.map(|own| {
            let is_behind = session.as_ref().is_some_and(|key| behind.contains(key));
            Amount { complete: own.complete && !is_behind, ..own }
        })),
        today: marked(with_live(day_start, part(day_start, false), part(day_start, true))),
        block: block.map(|(block, cost)| RunningBlock {
            cost: marked(with_live(block.start, cost, part(block.start, true))),
            ends_at: block.end,
            usd_per_hour: block.burn_rate.and_then(|rate| rate.cost_usd_per_hour),
        }),
        ..statusline_alone(asked.input, asked.billing)
    })
}

/// Amounts that differ by less are the same on a status line.
const CENT: f64 = 0.01;

impl Amount {
    const NONE: Amount = Amount { usd: 0.0, complete: true };
}

/// The rows since an instant and those of the session, with every row of the same
/// answers and of sub-agents whose use is part of theirs, each once.
fn rows(
    index: &Index,
    since: Timestamp,
    session: Option<&SessionKey>,
) -> Result<Vec<(Arc<SessionKey>, LedgerRow)>, Error> {
    let mut rows = index.responses_since(since)?;
    if let Some(session) = session {
        rows.extend(index.responses_with(session)?);
    }
    let included: HashSet<SessionKey> = rows
        .iter()
        .flat_map(|(key, row)| row.includes.iter().map(|id| SessionKey::new(key.agent.clone(), id.clone())))
        .collect();
    for child in included {
        let child = Arc::new(child);
        rows.extend(index.responses_of(&child)?.into_iter().map(|row| (Arc::clone(&child), row)));
    }
    let mut seen = HashSet::new();
    rows.retain(|(key, row)| seen.insert((key.clone(), row.event.clone(), row.key.clone())));
    Ok(rows)
}

/// The rows that are asked for, as if they were all.
fn of(counted: &Counted, asked: impl Fn(&CountedRow) -> bool) -> Counted {
    Counted { rows: counted.rows.iter().filter(|row| asked(row)).cloned().collect(), ..Counted::default() }
}

fn amount(counted: &Counted, asked: &Asked<'_>) -> Option<Amount> {
    let query = Query { mode: asked.mode, by: By::Agent, ..Query::default() };
    let totals = report(counted, asked.prices, &query).totals;
    totals.cost_usd.filter(|_| totals.responses > 0).map(|usd| Amount { usd, complete: totals.cost_complete })
}

fn running(counted: &Counted, asked: &Asked<'_>) -> Option<(Block, Option<Amount>)> {
    let query =
        Query { by: By::Blocks, active: true, now: Some(asked.now), mode: asked.mode, ..Query::default() };
    let row = report(counted, asked.prices, &query).rows.pop()?;
    let cost = row.figures.cost_usd.map(|usd| Amount { usd, complete: row.figures.cost_complete });
    Some((row.block?, cost))
}

/// When the session began: as the store knows, else as long ago as it has been running.
fn began(index: &Index, session: Option<&SessionKey>, asked: &Asked<'_>) -> Result<Option<Timestamp>, Error> {
    let known = match session {
        Some(session) => index.session_row(session)?.and_then(|row| row.started_at),
        None => None,
    };
    let running = || Timestamp::from_millis(asked.now.as_millis().checked_sub(asked.input.duration_ms?)?);
    Ok(known.or_else(running))
}
