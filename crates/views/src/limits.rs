//! How much of each subscription is used and left, from the newest figures in the logs.
//!
//! A reading describes one moment. Once its window has ended, its percentage is obsolete, and the
//! result says so.

use retro_agents::{AGENTS, by_name};
use retro_engine::ask::Ledgers;
use retro_model::{EventId, LimitReading, Part, Timestamp};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

use crate::Error;

/// The result of `retro usage limits`.
#[derive(Debug, Clone, Serialize)]
pub struct LimitsView {
    /// `retro.usage.limits/1`.
    pub schema: &'static str,
    /// When the report was made.
    pub at: Timestamp,
    /// Sessions whose latest changes were not read yet.
    pub unread_sessions: u64,
    /// One per window of each allowance, shortest first.
    pub windows: Vec<LimitWindow>,
    /// Agents in this store without limits, and why.
    pub without: Vec<NoLimits>,
}

/// One window of an allowance.
#[derive(Debug, Clone, Serialize)]
pub struct LimitWindow {
    /// The agent's name.
    pub agent: String,
    /// The allowance and window, as the log names them.
    pub window: String,
    /// The subscription, as the log names it.
    pub plan: Option<String>,
    /// How long the window is.
    pub window_minutes: Option<u64>,
    /// The share used. Null once the window has ended.
    pub used_percent: Option<f64>,
    /// The share left. Null once the window has ended.
    pub left_percent: Option<f64>,
    /// When the window resets, or did.
    pub resets_at: Option<Timestamp>,
    /// True if the window ended after the log was written.
    pub ended: bool,
    /// The percentage in the log.
    pub read_percent: f64,
    /// When it was logged.
    pub read_at: Timestamp,
    /// The session whose log has it.
    pub session_id: String,
    /// The record that has it.
    pub record: EventId,
}

/// An agent whose limits are unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NoLimits {
    /// The agent's name.
    pub agent: String,
    /// Why its limits are unknown.
    pub reason: String,
}

/// The newest reading of each window, for one agent or all.
pub fn limits(ledgers: &Ledgers<'_>, agent: Option<&str>, now: Timestamp) -> Result<LimitsView, Error> {
    let mut newest: BTreeMap<(String, String), (LimitReading, String)> = BTreeMap::new();
    let mut agents = BTreeSet::new();
    for row in ledgers.sessions()?.into_iter().filter(|row| agent.is_none_or(|agent| row.agent == agent)) {
        for (window, reading) in row.limits {
            let found = (reading, row.id.clone());
            let known = newest.entry((row.agent.clone(), window)).or_insert_with(|| found.clone());
            *known = known.clone().max(found);
        }
        agents.insert(row.agent);
    }
    let mut windows: Vec<LimitWindow> =
        newest.into_iter().map(|(name, (reading, session))| window(name, reading, session, now)).collect();
    windows.sort_by(|a, b| {
        (&a.agent, a.window_minutes, &a.window).cmp(&(&b.agent, b.window_minutes, &b.window))
    });
    let without = AGENTS.iter().map(|agent| agent.name()).filter(|name| agents.contains(*name));
    let without = without.filter(|name| !windows.iter().any(|window| window.agent == *name)).map(|name| {
        let why = by_name(name).and_then(|agent| agent.tells_no_limits());
        let why = why.unwrap_or("no session here names a limit, and a key that is billed by use has none");
        NoLimits { agent: name.to_owned(), reason: why.to_owned() }
    });
    let without = without.collect();
    Ok(LimitsView {
        schema: "retro.usage.limits/1",
        at: now,
        unread_sessions: ledgers.unread(),
        windows,
        without,
    })
}

fn window(
    (agent, window): (String, String),
    reading: LimitReading,
    session_id: String,
    now: Timestamp,
) -> LimitWindow {
    let ended = end_of(&reading).is_some_and(|end| end <= now);
    let used = reading.used_percent();
    LimitWindow {
        agent,
        window,
        plan: reading.plan,
        window_minutes: reading.window_minutes,
        used_percent: (!ended).then_some(used),
        left_percent: (!ended).then_some((100.0 - used).max(0.0)),
        resets_at: reading.resets_at,
        ended,
        read_percent: used,
        read_at: reading.ts,
        session_id,
        record: reading.at.event(Part::Whole),
    }
}

/// The end of the window: from the log, else one window length after the reading.
fn end_of(reading: &LimitReading) -> Option<Timestamp> {
    let length_ms = || i64::try_from(reading.window_minutes?).ok()?.checked_mul(60_000);
    reading.resets_at.or_else(|| Timestamp::from_millis(reading.ts.as_millis().checked_add(length_ms()?)?))
}
