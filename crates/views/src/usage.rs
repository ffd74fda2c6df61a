//! Costs, from the ledgers in the index to a report. Reads rows, never logs.

use retro_engine::ask::Ledgers;
use retro_engine::{Failure, is_quiet};
use retro_model::{LinkKind, SessionKey, Timestamp};
use retro_store::SessionRow;
use retro_usage::{Billing, By, Figures, Grain, Query, Report, SessionFacts, decide, report, report_cells};
use serde::Serialize;
use std::collections::HashMap;

use crate::ids::short_ids;
use crate::{Error, nearest};

/// The result of `retro usage`.
#[derive(Debug, Clone, Serialize)]
pub struct UsageView {
    /// `retro.usage/1`.
    pub schema: &'static str,
    /// How the user pays: `plan` (the default) or `api`. Amounts are list prices either way.
    pub billing: Billing,
    /// The day of the newest prices.
    pub prices_of: String,
    /// Sessions whose latest changes these figures do not include yet.
    pub unread_sessions: u64,
    /// Logs, folders and databases that cannot be read and may hold more.
    pub unreadable_files: Vec<Failure>,
    /// The project with the most similar name, if no session matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_project: Option<String>,
    /// The shortest unique prefix of each session's id, by id. For tables.
    #[serde(skip)]
    pub short_ids: HashMap<String, String>,
    /// Usage by `retro mine` when it asked a model about these sessions: runs that no agent logs,
    /// in neither rows nor totals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mining: Option<Figures>,
    /// Rows and totals, with remarks.
    #[serde(flatten)]
    pub report: Report,
}

/// Sums up the usage that the query selects. Fills in its `sessions`.
pub fn usage(ledgers: &Ledgers<'_>, billing: Billing, mut query: Query) -> Result<UsageView, Error> {
    query.sessions = session_facts(ledgers.sessions()?, query.now);
    let nearest_project = choose_project(&mut query);
    let ids = query.sessions.keys().map(|key| key.id.as_str());
    let short_ids = short_ids(ids).into_iter().map(|(id, short)| (id.to_owned(), short)).collect();
    let mut report = match Grain::for_rows(query.by) {
        Grain::Quarter => report_cells(&ledgers.cells(query.mode)?, &query),
        Grain::Answer => report(&decide(ledgers.rows()?), ledgers.prices, &query),
    };
    if !ledgers.are_complete() {
        // Unread usage may belong to any row.
        report.mark_incomplete();
    }
    Ok(UsageView {
        schema: "retro.usage/1",
        billing,
        prices_of: ledgers.prices.snapshot.to_string(),
        unread_sessions: ledgers.unread(),
        unreadable_files: ledgers.unreadable.to_vec(),
        nearest_project,
        short_ids,
        mining: mining(ledgers, &query),
        report,
    })
}

/// Usage by retro's own model runs, within the limits of the query.
fn mining(ledgers: &Ledgers<'_>, query: &Query) -> Option<Figures> {
    if ledgers.mining.is_empty() {
        return None;
    }
    let by_agent = Query { by: By::Agent, ..query.clone() };
    let figures = report(&decide(ledgers.mining.to_vec()), ledgers.prices, &by_agent).totals;
    (figures.responses > 0).then_some(figures)
}

/// If no session has the project, matches it against parts of names. Returns the nearest name if
/// that fails too.
fn choose_project(query: &mut Query) -> Option<String> {
    let wanted = query.project.as_deref()?;
    let names = || query.sessions.values().filter_map(|facts| facts.project.as_deref());
    if names().any(|name| name.eq_ignore_ascii_case(wanted)) {
        return None;
    }
    let part = wanted.to_lowercase();
    if names().any(|name| name.to_lowercase().contains(&part)) {
        query.project_part = true;
        return None;
    }
    nearest(wanted, names()).map(str::to_owned)
}

/// Facts about every session: its project, its start, its parent. A child that only its parent's
/// log names gets that parent.
pub(crate) fn session_facts(
    rows: Vec<SessionRow>,
    now: Option<Timestamp>,
) -> HashMap<SessionKey, SessionFacts> {
    let mut parents: HashMap<SessionKey, String> = HashMap::new();
    for row in &rows {
        for link in row.links.iter().filter(|link| link.kind == LinkKind::Child) {
            parents.insert(SessionKey::new(row.agent.clone(), link.session_id.clone()), row.id.clone());
        }
    }
    let facts = rows.into_iter().map(|row| {
        let key = row.key();
        let growing = now.is_some_and(|now| !is_quiet(row.mtime_ns, now));
        let parent = row.parent.clone().or_else(|| parents.get(&key).cloned());
        let SessionRow { title, project, started_at, .. } = row;
        (key, SessionFacts { parent, title, project, started_at, growing })
    });
    facts.collect()
}
