//! How a session went, from its digest: its end, the corrections in it, its readings.
//!
//! A digest names an event of a sub-agent `<agent>/<child>#<id>`; the page names it without
//! the agent, as it does everywhere.

use retro::engine::signals;
use retro::insight::{self, Digest};
use retro::model::SessionKey;
use retro::store::DIGESTS;
use serde::Serialize;
use serde_json::Value;

use super::Ground;
use crate::text::plain;

/// The part of a digest that the head holds.
#[derive(Debug, Clone, Serialize)]
pub struct Went {
    /// How it ended, why, and the events that show it.
    pub outcome: insight::Outcome,
    /// Whether it was real work.
    pub quality: insight::Quality,
    /// What the person corrected.
    pub corrections: Vec<insight::Correction>,
}

/// One signal of one session.
#[derive(Debug, Clone, Serialize)]
pub struct ReadingRow {
    /// The signal.
    pub signal: String,
    /// Its name for people.
    pub title: String,
    /// What it is about.
    pub group: String,
    /// What its value looks like.
    pub kind: String,
    /// The value, or null with a reason.
    pub value: Value,
    /// What it counts.
    pub unit: String,
    /// Why there is no value.
    pub reason: Option<String>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// The events it rests on.
    pub evidence_refs: Vec<String>,
}

/// The digest that is kept of a session, if there is one that can be read.
pub fn digest(ground: &Ground<'_>, key: &SessionKey) -> Option<Digest> {
    ground.store.object::<Digest>(&DIGESTS, key).ok().flatten()
}

/// What the head holds of a digest.
pub fn went(digest: &Digest) -> Went {
    let mut outcome = digest.outcome.clone();
    outcome.evidence_refs = outcome.evidence_refs.iter().map(|id| named(id)).collect();
    outcome.reason = plain(&outcome.reason);
    let corrections = digest.corrections.iter().map(|one| insight::Correction {
        event_id: named(&one.event_id),
        text: plain(&one.text),
        ..one.clone()
    });
    Went { outcome, quality: digest.quality.clone(), corrections: corrections.collect() }
}

/// Every reading of a session, those that need a price included.
pub fn readings(ground: &Ground<'_>, key: &SessionKey, digest: &Digest) -> Vec<ReadingRow> {
    let prices = ground.costs.and_then(|costs| costs.of_session(key));
    let rows = signals::rows(digest, ground.config, prices.as_ref());
    let shown = rows.into_iter().map(|row| ReadingRow {
        title: insight::by_id(&row.signal).map_or_else(|| row.signal.clone(), |found| found.title.to_owned()),
        signal: row.signal,
        group: row.group,
        kind: row.kind,
        value: shown(row.value),
        unit: row.unit,
        reason: row.reason,
        confidence: row.confidence,
        evidence_refs: row.evidence_refs.iter().map(|id| named(id)).collect(),
    });
    shown.collect()
}

/// Texts without characters that hide something.
fn shown(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(&text)),
        other => other,
    }
}

/// The page's name of an event.
fn named(id: &str) -> String {
    match id.split_once('#') {
        Some((session, event)) => {
            let session = session.split_once('/').map_or(session, |(_, session)| session);
            format!("{session}#{event}")
        }
        None => id.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn events_of_sub_agents_are_named_by_their_session() {
        assert_eq!(named("m:12.1"), "m:12.1");
        assert_eq!(named("codex/abc#m:3"), "abc#m:3");
        assert_eq!(named("abc#m:3"), "abc#m:3");
    }
}
