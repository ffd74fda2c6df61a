//! What signals say of all sessions, written for other programs: `signals/readings.jsonl`,
//! `aggregates.json`, `summary.md`. Exports: nothing is read back from them but rows of
//! sessions that a narrower run leaves as they are.

mod aggregates;
mod spent;

use retro_insight::{Digest, Prices, Reading, SIGNALS, by_id};
use retro_model::SessionKey;
use retro_store::{DIGESTS, Export, Store};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;

use crate::{Config, Error};
use aggregates::Aggregates;
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
    let (mut sessions, mut signals) = (BTreeSet::new(), BTreeSet::new());
    for row in kept(store)? {
        sessions.insert(row.session_id);
        signals.insert(row.signal);
    }
    if signals.is_empty() {
        return Ok(None);
    }
    let (sessions, signals) = (sessions.into_iter().collect(), signals.into_iter().collect());
    Ok(Some(Wanted { sessions, signals, ..Wanted::default() }))
}

/// Writes the three files from the digests that are wanted; `cost` knows what a session
/// and its sub-agents cost. Rows of others stay. Holds the rows of one session at a time.
pub fn run(
    store: &Store,
    config: &Config,
    wanted: &Wanted,
    cost: &dyn Fn(&SessionKey, &Digest) -> Option<Prices>,
) -> Result<Ran, Error> {
    let before = if wanted.clean { Box::new(std::iter::empty()) } else { kept(store)? };
    let mut before = before.peekable();
    let mut ran = Ran::default();
    let mut out = Out { file: store.signals_export(READINGS)?, aggregates: Aggregates::default(), rows: 0 };
    for key in store.session_keys()? {
        let is_earlier = |row: &Row| (&*row.agent, &*row.session_id) < (&*key.agent, &*key.id);
        while let Some(row) = before.next_if(is_earlier) {
            out.put(&row)?;
        }
        let is_of_it = |row: &Row| (&*row.agent, &*row.session_id) == (&*key.agent, &*key.id);
        let mut all: BTreeMap<String, Row> = BTreeMap::new();
        while let Some(row) = before.next_if(is_of_it) {
            all.insert(row.signal.clone(), row);
        }
        let chosen = wanted.clean
            || (wanted.agent.as_ref().is_none_or(|agent| *agent == key.agent)
                && (wanted.sessions.is_empty() || wanted.sessions.contains(&key.id)));
        let digest = if chosen { store.object::<Digest>(&DIGESTS, &key)? } else { None };
        if let Some(digest) = digest {
            ran.sessions += 1;
            let prices = cost(&key, &digest);
            for row in rows(&digest, config, prices.as_ref()) {
                if wanted.clean || wanted.signals.is_empty() || wanted.signals.contains(&row.signal) {
                    ran.readings += 1;
                    all.insert(row.signal.clone(), row);
                }
            }
        }
        all.values().try_for_each(|row| out.put(row))?;
    }
    before.try_for_each(|row| out.put(&row))?;
    ran.total = out.rows;
    let Out { file, aggregates, .. } = out;
    file.finish()?;
    let text = serde_json::to_vec_pretty(&aggregates.json()).unwrap_or_default();
    store.put_signals("aggregates.json", &text)?;
    store.put_signals("summary.md", aggregates.summary().as_bytes())?;
    Ok(ran)
}

/// The file of all rows, by agent, session and signal.
const READINGS: &str = "readings.jsonl";

/// Rows on their way to the file.
struct Out {
    file: Export,
    aggregates: Aggregates,
    rows: u64,
}

impl Out {
    fn put(&mut self, row: &Row) -> Result<(), Error> {
        let mut line = serde_json::to_vec(row).unwrap_or_default();
        line.push(b'\n');
        self.file.put(&line)?;
        self.aggregates.add(row);
        self.rows += 1;
        Ok(())
    }
}

/// Rows of an earlier run, by agent, session and signal; a line that cannot be read is left out.
fn kept(store: &Store) -> Result<Box<dyn Iterator<Item = Row>>, Error> {
    let read = || -> Result<_, Error> {
        let lines = store.signals(READINGS)?.into_iter().flat_map(|file| file.split(b'\n'));
        Ok(lines.map_while(Result::ok).filter_map(|line| serde_json::from_slice::<Row>(&line).ok()))
    };
    let name = |row: Row| (row.agent, row.session_id, row.signal);
    if read()?.map(name).is_sorted_by(|a, b| a < b) {
        return Ok(Box::new(read()?));
    }
    // Not as we wrote it.
    let all: BTreeMap<_, Row> = read()?.map(|row| (name(row.clone()), row)).collect();
    Ok(Box::new(all.into_values()))
}

/// Every signal that can be asked for: retro's and the user's.
pub fn names(config: &Config) -> Vec<String> {
    let own = config.insight.value.own.iter().map(|own| own.name.clone());
    SIGNALS.iter().map(|signal| signal.id.to_owned()).chain(own).collect()
}
