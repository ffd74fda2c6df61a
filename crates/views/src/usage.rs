//! What it cost: from the ledgers in the index to an answer. Reads rows, never logs.

use retro_engine::ask::Ledgers;
use retro_engine::is_quiet;
use retro_model::{EventId, LinkKind, SessionKey, Timestamp};
use retro_store::SessionRow;
use retro_usage::{
    Billing, CostSource, Counted, Grain, Query, Report, SessionFacts, decide, report, report_cells,
};
use serde::Serialize;
use std::collections::HashMap;

use crate::Error;

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
    /// Rows, totals, and what to know of them.
    #[serde(flatten)]
    pub report: Report,
}

/// Adds up what the query asks for. Its `sessions` are filled in here.
pub fn usage(ledgers: &Ledgers<'_>, billing: Billing, mut query: Query) -> Result<UsageView, Error> {
    query.sessions = session_facts(ledgers.sessions()?, query.now);
    let report = match Grain::for_rows(query.by) {
        Grain::Quarter => report_cells(&ledgers.cells(query.mode)?, &query),
        Grain::Answer => report(&decide(ledgers.rows()?), ledgers.prices, &query),
    };
    Ok(UsageView {
        schema: "retro.usage/1",
        billing,
        prices_of: ledgers.prices.snapshot.to_string(),
        unread_sessions: ledgers.unread(),
        report,
    })
}

/// What is known of every session: its project, its start, its parent, also where only
/// the parent's log names the child.
fn session_facts(rows: Vec<SessionRow>, now: Option<Timestamp>) -> HashMap<SessionKey, SessionFacts> {
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
        (key, SessionFacts { parent, project: row.project, started_at: row.started_at, growing })
    });
    facts.collect()
}

/// Every answer of a session, and why it costs what it costs.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainView {
    /// `retro.usage_explain/1`.
    pub schema: &'static str,
    /// The session.
    pub session: String,
    /// Answers that count here.
    pub responses: Vec<Explained>,
    /// Copies that count elsewhere.
    pub dropped: Vec<Dropped>,
}

/// One answer that counts.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// Source and line: where the log says so.
    pub event: EventId,
    /// Global identity.
    pub key: String,
    /// When.
    pub ts: Option<Timestamp>,
    /// The model, as logged.
    pub model: Option<String>,
    /// Uncached input.
    pub input_tokens: u64,
    /// Written to a cache.
    pub cache_creation_tokens: u64,
    /// Read from a cache.
    pub cache_read_tokens: u64,
    /// Output.
    pub output_tokens: u64,
    /// Whether the output is only a lower bound.
    pub exact: bool,
    /// What it costs; null: no price is known.
    pub cost_usd: Option<f64>,
    /// Whose figure that is.
    pub cost_source: CostSource,
    /// The price row it was calculated with: model, provider, first day, source.
    pub price: Option<String>,
    /// Why the cost is only a lower bound, if it is.
    pub bound: Option<&'static str>,
}

/// A copy that is not counted here.
#[derive(Debug, Clone, Serialize)]
pub struct Dropped {
    /// Where the copy stands.
    pub event: EventId,
    /// Identity that both have.
    pub key: String,
    /// The answer that counts in its place.
    pub twin: String,
}

/// Opens the figures of a session up.
pub fn explain(
    ledgers: &Ledgers<'_>,
    mode: retro_usage::Mode,
    key: &SessionKey,
) -> Result<ExplainView, Error> {
    let counted: Counted = decide(ledgers.rows()?);
    let own = counted.rows.iter().filter(|row| *row.session == *key);
    let responses = own.map(|counted| {
        let row = counted.own_row();
        let cost = retro_usage::cost(row, ledgers.prices, mode);
        Explained {
            event: row.event.clone(),
            key: row.key.clone(),
            ts: row.ts,
            model: row.model.clone(),
            input_tokens: row.tokens.input,
            cache_creation_tokens: row.tokens.cache_write(),
            cache_read_tokens: row.tokens.cache_read,
            output_tokens: row.tokens.output,
            exact: row.exactness == retro_model::Exactness::Exact,
            cost_usd: cost.nano.map(retro_usage::NanoUsd::to_usd),
            cost_source: cost.source,
            price: cost.price_row.map(|found| {
                let from = found.row.from.map_or(String::new(), |from| format!(" from {from}"));
                format!("{} {}{from} ({})", found.row.provider, found.row.model, found.row.source)
            }),
            bound: cost.why_bound,
        }
    });
    let dropped = counted.duplicates.iter().filter(|copy| copy.place.session == *key).map(|copy| Dropped {
        event: copy.place.event.clone(),
        key: copy.key.clone(),
        twin: format!("{}#{}", copy.twin.session, copy.twin.event),
    });
    Ok(ExplainView {
        schema: "retro.usage_explain/1",
        session: key.to_string(),
        responses: responses.collect(),
        dropped: dropped.collect(),
    })
}
