//! What signals say of all sessions, written for other programs: `signals/readings.jsonl`,
//! `aggregates.json`, `summary.md`. Exports: nothing is read back from them but rows of
//! sessions that a narrower run leaves as they are.

mod aggregates;
mod spent;

use retro_insight::{Digest, Prices, Reading, SIGNALS, by_id};
use retro_model::SessionKey;
use retro_store::{DIGESTS, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

use crate::{Config, Error};
pub use spent::spent;

/// A row of `readings.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// The signal.
    pub signal: String,
    /// What it is about.
    pub group: String,
    /// What its value looks like.
    pub kind: String,
    /// How it is found.
    pub method: String,
    /// The value, or null with a reason.
    pub value: Value,
    /// What it counts.
    pub unit: String,
    /// Why there is no value.
    pub reason: Option<String>,
    /// How sure it is.
    pub confidence: f64,
    /// The events it rests on.
    pub evidence_refs: Vec<String>,
    /// What else there is to know.
    pub metadata: Map<String, Value>,
}

/// Which signals of which sessions.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Only this agent.
    pub agent: Option<String>,
    /// Only these sessions, by their full ids.
    pub sessions: Vec<String>,
    /// Only these signals.
    pub signals: Vec<String>,
    /// Forget rows of sessions and signals that are not there any more.
    pub clean: bool,
}

/// What a run did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// Sessions that were read.
    pub sessions: u64,
    /// Rows that were written for them.
    pub readings: u64,
    /// Rows in the file now.
    pub total: u64,
}

/// The rows of one digest.
pub fn rows(digest: &Digest, config: &Config, prices: Option<&Prices>) -> Vec<Row> {
    let mut readings = digest.readings.clone();
    readings.extend(digest.priced(prices.unwrap_or(&Prices::default())));
    readings.iter().filter_map(|(name, reading)| row(digest, config, name, reading)).collect()
}

/// Every reading of a digest by its signal, those that need a price included.
pub fn readings(digest: Digest, prices: Option<&Prices>) -> BTreeMap<String, Reading> {
    let priced = digest.priced(prices.unwrap_or(&Prices::default()));
    let mut readings = digest.readings;
    readings.extend(priced);
    readings
}

fn row(digest: &Digest, config: &Config, name: &str, reading: &Reading) -> Option<Row> {
    let text = |value: Value| value.as_str().unwrap_or_default().to_owned();
    let json = |value: &dyn erased::Json| text(value.json());
    let (group, kind, method, unit) = match by_id(name) {
        Some(signal) => {
            (json(&signal.group), json(&signal.kind), json(&signal.method), signal.unit.to_owned())
        }
        None => {
            let own = config.insight.value.own.iter().find(|own| own.name == name)?;
            (json(&own.group), "numeric".to_owned(), "heuristic".to_owned(), "count".to_owned())
        }
    };
    Some(Row {
        agent: digest.identity.agent.clone(),
        session_id: digest.identity.session_id.clone(),
        signal: name.to_owned(),
        group,
        kind,
        method,
        value: reading.value.clone(),
        unit,
        reason: reading.reason.clone(),
        confidence: reading.confidence,
        evidence_refs: reading.evidence.clone(),
        metadata: reading.metadata.clone(),
    })
}

/// Serializing through a plain trait object, for enums of the registry.
mod erased {
    pub(super) trait Json {
        fn json(&self) -> serde_json::Value;
    }

    impl<T: serde::Serialize> Json for T {
        fn json(&self) -> serde_json::Value {
            serde_json::to_value(self).unwrap_or_default()
        }
    }
}

/// Whether this names a signal.
pub fn is_known(config: &Config, name: &str) -> bool {
    by_id(name).is_some() || config.insight.value.own.iter().any(|own| own.name == name)
}

/// What the files hold that an earlier run wrote. `None` if there was none.
pub fn earlier(store: &Store) -> Result<Option<Wanted>, Error> {
    let rows = kept(store)?;
    let sessions: BTreeSet<String> = rows.iter().map(|row| row.session_id.clone()).collect();
    let signals: BTreeSet<String> = rows.into_iter().map(|row| row.signal).collect();
    if signals.is_empty() {
        return Ok(None);
    }
    let (sessions, signals) = (sessions.into_iter().collect(), signals.into_iter().collect());
    Ok(Some(Wanted { sessions, signals, ..Wanted::default() }))
}

/// Writes the three files from the digests that are wanted; `cost` knows what a session
/// and its sub-agents cost. Rows of others stay.
pub fn run(
    store: &Store,
    config: &Config,
    wanted: &Wanted,
    cost: &dyn Fn(&SessionKey, &Digest) -> Option<Prices>,
) -> Result<Ran, Error> {
    let mut all: BTreeMap<(String, String, String), Row> = BTreeMap::new();
    if !wanted.clean {
        for row in kept(store)? {
            all.insert((row.agent.clone(), row.session_id.clone(), row.signal.clone()), row);
        }
    }
    let mut ran = Ran::default();
    for key in store.session_keys()? {
        let chosen = wanted.clean
            || (wanted.agent.as_ref().is_none_or(|agent| *agent == key.agent)
                && (wanted.sessions.is_empty() || wanted.sessions.contains(&key.id)));
        if !chosen {
            continue;
        }
        let Some(digest) = store.object::<Digest>(&DIGESTS, &key)? else { continue };
        ran.sessions += 1;
        let prices = cost(&key, &digest);
        for row in rows(&digest, config, prices.as_ref()) {
            if wanted.clean || wanted.signals.is_empty() || wanted.signals.contains(&row.signal) {
                ran.readings += 1;
                all.insert((row.agent.clone(), row.session_id.clone(), row.signal.clone()), row);
            }
        }
    }
    ran.total = all.len() as u64;
    write(store, all.values())?;
    Ok(ran)
}

/// Rows of an earlier run; a line that cannot be read is left out.
fn kept(store: &Store) -> Result<Vec<Row>, Error> {
    let Some(bytes) = store.signals("readings.jsonl")? else { return Ok(Vec::new()) };
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

fn write<'r>(store: &Store, rows: impl Iterator<Item = &'r Row> + Clone) -> Result<(), Error> {
    let mut lines = Vec::new();
    for row in rows.clone() {
        lines.extend(serde_json::to_vec(row).unwrap_or_default());
        lines.push(b'\n');
    }
    store.put_signals("readings.jsonl", &lines)?;
    let aggregates = aggregates::of(rows.clone());
    let text = serde_json::to_vec_pretty(&aggregates.json()).unwrap_or_default();
    store.put_signals("aggregates.json", &text)?;
    store.put_signals("summary.md", aggregates.summary().as_bytes())?;
    Ok(())
}

/// Every signal that can be asked for: retro's and the user's.
pub fn names(config: &Config) -> Vec<String> {
    let own = config.insight.value.own.iter().map(|own| own.name.clone());
    SIGNALS.iter().map(|signal| signal.id.to_owned()).chain(own).collect()
}
