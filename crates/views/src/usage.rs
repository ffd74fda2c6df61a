//! What it cost: from the ledgers in the index to an answer. Reads rows, never logs.

use retro_engine::ask::Ledgers;
use retro_engine::{Failure, is_quiet};
use retro_model::{LinkKind, SessionKey, Timestamp};
use retro_store::SessionRow;
use retro_usage::{Billing, By, Figures, Grain, Query, Report, SessionFacts, decide, report, report_cells};
use serde::Serialize;
use std::collections::HashMap;

use crate::ids::short_ids;
use crate::{Error, nearest};

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct UsageView {
    /// `retro.usage/1`.
    pub schema: &'static str,
    /// How the user pays: `plan` (also when nobody said) or `api`. Amounts are list prices either way.
    pub billing: Billing,
    /// Day of the newest prices.
    pub prices_of: String,
    /// Sessions that have something new which is not in these figures yet.
    pub unread_sessions: u64,
    /// Logs, folders and databases that may hold more and cannot be read.
    pub unreadable_files: Vec<Failure>,
    /// The project most like one that no session has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_project: Option<String>,
    /// The shortest beginning of each session's id that names it, by id; for tables.
    #[serde(skip)]
    pub short_ids: HashMap<String, String>,
    /// What `retro mine` used when it asked a model about these sessions: runs that no agent
    /// logs, in neither rows nor totals.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mining: Option<Figures>,
    /// Rows, totals, and what to know of them.
    #[serde(flatten)]
    pub report: Report,
}

/// Adds up what the query asks for. Its `sessions` are filled in here.
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
        // What is not read may belong to any row.
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

/// What our own runs of a model used, within the limits of the question.
fn mining(ledgers: &Ledgers<'_>, query: &Query) -> Option<Figures> {
    if ledgers.mining.is_empty() {
        return None;
    }
    let by_agent = Query { by: By::Agent, ..query.clone() };
    let figures = report(&decide(ledgers.mining.to_vec()), ledgers.prices, &by_agent).totals;
    (figures.responses > 0).then_some(figures)
}

/// Lets a project that no session has mean a part of a name, where one has that; else
/// returns the nearest name.
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

/// What is known of every session: its project, its start, its parent, also where only
/// the parent's log names the child.
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
