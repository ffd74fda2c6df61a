//! The outcome of a session, from its digest: its end, its corrections, its readings.
//!
//! A digest names an event of a sub-agent `<agent>/<child>#<id>`. The page's names never include
//! the agent.

use retro::engine::signals;
use retro::insight::{self, Digest};
use retro::model::SessionKey;
use retro::store::DIGESTS;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

use super::Ground;
use retro::views::readable::plain;

/// The part of a digest that the head holds.
#[derive(Debug, Clone, Serialize)]
pub struct Went {
    /// The outcome, its reason, and the events that show it.
    pub outcome: insight::Outcome,
    /// Whether it was real work.
    pub quality: insight::Quality,
    /// The user's corrections.
    pub corrections: Vec<insight::Correction>,
}

/// One signal of one session.
#[derive(Debug, Clone)]
pub struct ReadingRow {
    /// The signal's name.
    pub signal: String,
    /// The value. Null if there is a reason.
    pub value: Value,
    /// Why the value is missing.
    pub reason: Option<String>,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The events that support it.
    pub evidence_refs: Vec<String>,
}

/// The readings of a session, by the index of each signal in the list of all. That list has the
/// titles and units once for all sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Readings<'r> {
    /// The values. Null if missing.
    pub values: Vec<&'r Value>,
    /// Reasons for missing values, each with the indexes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<&'r str, Vec<usize>>,
    /// The confidence of each reading that is not certain.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub confidence: BTreeMap<usize, f64>,
    /// The events that support a reading.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub refs: BTreeMap<usize, &'r [String]>,
}

impl<'r> Readings<'r> {
    /// Arranges readings by a sorted list of signals.
    pub fn of(rows: &'r [ReadingRow], signals: &[String]) -> Readings<'r> {
        let mut laid = Readings::default();
        for row in rows {
            let Ok(place) = signals.binary_search(&row.signal) else { continue };
            if let Some(reason) = row.reason.as_deref().filter(|_| row.value.is_null()) {
                laid.reasons.entry(reason).or_default().push(place);
            } else if laid.values.len() <= place {
                laid.values.resize(place, &Value::Null);
                laid.values.push(&row.value);
            } else if let Some(value) = laid.values.get_mut(place) {
                *value = &row.value;
            }
            if row.confidence < 1.0 {
                laid.confidence.insert(place, row.confidence);
            }
            if !row.evidence_refs.is_empty() {
                laid.refs.insert(place, row.evidence_refs.as_slice());
            }
        }
        laid.reasons.values_mut().for_each(|places| places.sort_unstable());
        laid
    }
}

/// The stored digest of a session, if it can be read.
pub fn digest(ground: &Ground<'_>, key: &SessionKey) -> Option<Digest> {
    ground.store.object::<Digest>(&DIGESTS, key).ok().flatten()
}

/// The head's part of a digest.
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

/// Every reading of a session, including those that need a price.
pub fn readings(ground: &Ground<'_>, key: &SessionKey, digest: Digest) -> Vec<ReadingRow> {
    let prices = ground.costs.and_then(|costs| costs.of_session(key));
    let readings = signals::readings(digest, prices.as_ref()).into_iter();
    let shown = readings.map(|(signal, reading)| ReadingRow {
        signal,
        value: shown(reading.value),
        reason: reading.reason,
        confidence: reading.confidence,
        evidence_refs: reading.evidence.iter().map(|id| named(id)).collect(),
    });
    shown.collect()
}

/// Texts without hidden characters.
fn shown(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(plain(&text)),
        other => other,
    }
}

/// The page's name for an event.
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
    use super::{ReadingRow, Readings, named};
    use serde_json::{Value, json};

    fn reading(signal: &str, value: Value, reason: Option<&str>, refs: &[&str]) -> ReadingRow {
        ReadingRow {
            signal: signal.to_owned(),
            value,
            reason: reason.map(str::to_owned),
            confidence: if refs.is_empty() { 1.0 } else { 0.5 },
            evidence_refs: refs.iter().map(|id| (*id).to_owned()).collect(),
        }
    }

    #[test]
    fn readings_are_by_the_places_of_their_signals() {
        let signals = ["calls", "edits", "ratio", "turns"].map(str::to_owned);
        let rows = vec![
            reading("turns", json!(3), None, &["m:4"]),
            reading("edits", Value::Null, Some("no_edits"), &[]),
            reading("calls", json!(true), None, &[]),
            reading("gone", json!(1), None, &[]),
        ];
        let expected = json!({
            "values": [true, null, null, 3],
            "reasons": {"no_edits": [1]},
            "confidence": {"3": 0.5},
            "refs": {"3": ["m:4"]},
        });
        assert_eq!(serde_json::to_value(Readings::of(&rows, &signals)).unwrap(), expected);
    }

    #[test]
    fn events_of_sub_agents_are_named_by_their_session() {
        assert_eq!(named("m:12.1"), "m:12.1");
        assert_eq!(named("codex/abc#m:3"), "abc#m:3");
        assert_eq!(named("abc#m:3"), "abc#m:3");
    }
}
