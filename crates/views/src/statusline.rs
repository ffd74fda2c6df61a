//! One line for an agent's status bar: the cost of this session, today and the current five hours,
//! from the store and the agent's own figures.
//!
//! Agents run it several times a second, so it reads only the rows of the session, of today and of
//! the current block, and rows that share a response with them. The agent's own figure for its
//! session is newer than any store, so it replaces the store's figure. The same holds within today
//! and the block if the session began in them.

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

/// The result of `retro statusline`.
#[derive(Debug, Clone, Serialize)]
pub struct StatuslineView {
    /// `retro.statusline/1`.
    pub schema: &'static str,
    /// How the user pays, which decides the label of the amounts.
    pub billing: Billing,
    /// The model's display name.
    pub model: Option<String>,
    /// Cost of this session.
    pub session: Option<Amount>,
    /// Cost of today, all agents.
    pub today: Option<Amount>,
    /// The current five-hour block, all agents.
    pub block: Option<RunningBlock>,
    /// Used share of the context window, in percent.
    pub context_percent: Option<f64>,
    /// Windows of the account's allowance.
    pub limits: Vec<StatusLimit>,
}

/// An amount, and whether it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Amount {
    /// Dollars at list price.
    pub usd: f64,
    /// False if it is a lower bound.
    pub complete: bool,
}

/// The current five-hour block.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunningBlock {
    /// Its cost so far.
    pub cost: Option<Amount>,
    /// When it ends.
    pub ends_at: Timestamp,
    /// Dollars per hour so far. Null for a single response.
    pub usd_per_hour: Option<f64>,
}

/// A request for the line, with its settings.
pub struct Asked<'a> {
    /// The agent's own data.
    pub input: &'a StatusInput,
    /// The agent's name.
    pub agent: &'a str,
    /// Prices in force.
    pub prices: &'a Prices,
    /// The cost figures to use: the log's or calculated ones.
    pub mode: Mode,
    /// How the user pays.
    pub billing: Billing,
    /// The time zone of days.
    pub tz: &'a TimeZone,
    /// The current time.
    pub now: Timestamp,
}

/// The line without a store, from the agent's data alone.
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

/// The line, using the store.
pub fn statusline(index: &Index, asked: &Asked<'_>) -> Result<StatuslineView, Error> {
    let day = asked.now.to_jiff().to_zoned(asked.tz.clone());
    let day_start = day.start_of_day().map_or(asked.now, |start| start.timestamp().into());
    let block_start = block_start(&index.busy_times(asked.now, BLOCK_MS)?, asked.now);
    let session = asked.input.session_id.as_ref().map(|id| SessionKey::new(asked.agent, id));
    let rows = rows(index, block_start.map_or(day_start, |start| start.min(day_start)), session.as_ref())?;
    let counted = decide(rows);
    // If the ledger lacks captured bytes of any session, every sum is a lower bound.
    let behind = index.behind("ledger")?;
    let has_all = behind.is_empty() && index.failures()?.is_empty();
    let marked = |amount: Option<Amount>| {
        amount.map(|amount| Amount { complete: amount.complete && has_all, ..amount })
    };
    let since = |row: &CountedRow, start: Timestamp| row.row.ts.is_some_and(|ts| ts >= start);
    let is_own = |row: &CountedRow| session.as_ref() == Some(&*row.session);

    let own = amount(&of(&counted, is_own), asked);
    // An agent that was restarted to resume a session counts from the restart.
    let is_all = |usd: &f64| own.is_none_or(|own| *usd + CENT >= own.usd);
    let live = asked.input.cost_usd.filter(is_all).map(|usd| Amount { usd, complete: true });
    let began = began(index, session.as_ref(), asked)?;
    // The agent's figure covers its whole session. It can replace a period's part only if the
    // session began after `start`. Otherwise the unread part is missing.
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

/// Amounts that differ by less look equal on a status line.
const CENT: f64 = 0.01;

impl Amount {
    const NONE: Amount = Amount { usd: 0.0, complete: true };
}

/// The rows since an instant and those of the session, with all rows of the same responses and of
/// sub-agents whose usage is part of them, each once.
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

/// Keeps only the matching rows.
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

/// When the session began: from the store, else from its running time.
fn began(index: &Index, session: Option<&SessionKey>, asked: &Asked<'_>) -> Result<Option<Timestamp>, Error> {
    let known = match session {
        Some(session) => index.session_row(session)?.and_then(|row| row.started_at),
        None => None,
    };
    let running = || Timestamp::from_millis(asked.now.as_millis().checked_sub(asked.input.duration_ms?)?);
    Ok(known.or_else(running))
}
