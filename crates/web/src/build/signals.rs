//! Signal values of all sessions by month: columns of values, with a reason for each missing one.
//!
//! A month is rebuilt only if one of its sessions was read again or its cost changed. Values of its
//! other sessions come from the existing chunk.

use rayon::prelude::*;
use retro::engine::Config;
use retro::insight::{self, Group};
use retro::model::SessionKey;
use retro::views;
use serde_json::{Value, json};
use smol_str::SmolStr;
use std::collections::{BTreeMap, HashMap};

use super::{Plan, Site};
use crate::Error;
use crate::chunk::{Chunk, unpacked};
use crate::session::{Ground, ReadingRow, readings_of};
use retro::views::readable::markdown;

/// The names of all signals, sorted as in the chunk that describes them.
pub fn names(config: &Config) -> Vec<String> {
    let mut names: Vec<String> =
        views::signals(config, None::<Group>).signals.into_iter().map(|signal| signal.id).collect();
    names.sort();
    names
}

/// Every signal with its description, sorted by name.
pub fn registry(ground: &Ground<'_>) -> Result<Chunk, Error> {
    let listed = views::signals(ground.config, None::<Group>).signals;
    let rows: Vec<Value> = listed
        .iter()
        .map(|signal| {
            let known = insight::by_id(&signal.id);
            let about = known.map(|found| markdown(&found.explanation()));
            json!({
                "id": signal.id,
                "group": signal.group,
                "kind": signal.kind,
                "method": signal.method,
                "unit": signal.unit,
                // User-defined signals have no title.
                "title": if known.is_some() { &signal.title } else { &signal.id },
                "about": about.unwrap_or_default(),
            })
        })
        .collect();
    Chunk::of("signals", &rows)
}

impl Site {
    /// Writes the months whose sessions changed since the last build.
    pub(super) fn signals(
        &mut self,
        plan: &Plan<'_>,
        ground: &Ground<'_>,
        months: &[(String, Vec<SessionKey>)],
    ) -> Result<(), Error> {
        let names: HashMap<&SessionKey, &String> =
            plan.named.iter().map(|(name, key, _)| (key, name)).collect();
        let mut stamps = BTreeMap::new();
        for (month, keys) in months {
            let stamp = self.stamp(keys, &names);
            if self.state.signals.get(month) == Some(&stamp) && self.folder.has(&format!("g/{month}")) {
                self.folder.kept += 1;
            } else {
                let mut known = self
                    .folder
                    .read(&format!("data/g/{month}.js"))
                    .map_or_else(Known::new, |old| known(&old, ground.signals));
                let sessions: Vec<_> = keys
                    .iter()
                    .filter_map(|key| {
                        let name = (*names.get(key)?).clone();
                        let old = known.remove(&name);
                        Some((self.said.remove(&name).or(old), name, key))
                    })
                    .collect();
                let sessions = sessions.into_par_iter().map(|(known, name, key)| {
                    (name, known.unwrap_or_else(|| said(readings_of(ground, key), ground.signals)))
                });
                let chunk = of_month(month, sessions.collect(), ground.signals)?;
                self.folder.put_large(&chunk, &self.build)?;
            }
            stamps.insert(month.clone(), stamp);
        }
        self.state.signals = stamps;
        Ok(())
    }

    /// Identifies the inputs of a month.
    fn stamp(&self, keys: &[SessionKey], names: &HashMap<&SessionKey, &String>) -> String {
        let mut hasher = blake3::Hasher::new();
        for known in keys.iter().filter_map(|key| self.state.sessions.get_key_value(*names.get(key)?)) {
            hasher.update(format!("{} {} {:?}\n", known.0, known.1.digest, known.1.money).as_bytes());
        }
        hasher.finalize().to_hex().as_str().get(..24).unwrap_or_default().to_owned()
    }
}

/// The value of one signal for one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The index of the signal in the list of all.
    signal: usize,
    /// The value, or the reason why it is missing.
    what: Result<Value, SmolStr>,
}

/// Signal values of each session, by chunk name.
type Known = HashMap<String, Vec<Said>>;

/// The readings that are small enough for a table.
pub fn said(readings: Vec<ReadingRow>, signals: &[String]) -> Vec<Said> {
    let small = readings.into_iter().filter(|reading| is_small(&reading.value));
    let said = small.filter_map(|reading| {
        let what = match reading.reason {
            Some(reason) if reading.value.is_null() => Err(reason.into()),
            _ if reading.value.is_null() => return None,
            _ => Ok(reading.value),
        };
        Some(Said { signal: signals.binary_search(&reading.signal).ok()?, what })
    });
    said.collect()
}

/// Values in columns. Sessions without a value have the index of a reason.
fn of_month(month: &str, sessions: Vec<(String, Vec<Said>)>, signals: &[String]) -> Result<Chunk, Error> {
    let mut reasons: Vec<SmolStr> = Vec::new();
    let mut columns: Vec<Vec<Value>> = vec![Vec::new(); signals.len()];
    let mut names = Vec::new();
    for (at, (name, said)) in sessions.into_iter().enumerate() {
        names.push(name);
        for Said { signal, what } in said {
            let value = what.unwrap_or_else(|reason| {
                let number = reasons.iter().position(|known| *known == reason).unwrap_or_else(|| {
                    reasons.push(reason);
                    reasons.len() - 1
                });
                json!([number])
            });
            if let Some(column) = columns.get_mut(signal) {
                column.resize(at, Value::Null);
                column.push(value);
            }
        }
    }
    let columns: BTreeMap<&String, Vec<Value>> =
        signals.iter().zip(columns).filter(|(_, column)| !column.is_empty()).collect();
    Chunk::of(format!("g/{month}"), &json!({"names": names, "reasons": reasons, "values": columns}))
}

/// The content of a month's chunk. Empty if it cannot be read.
fn known(script: &[u8], signals: &[String]) -> Known {
    let read = unpacked(script).and_then(|json| serde_json::from_slice::<Value>(&json).ok());
    let Some(chunk) = read else { return Known::new() };
    let names: Vec<&str> =
        chunk["names"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut sessions: Vec<Vec<Said>> = vec![Vec::new(); names.len()];
    for (signal, column) in chunk["values"].as_object().into_iter().flatten() {
        let Ok(signal) = signals.binary_search(signal) else { continue };
        for (session, value) in sessions.iter_mut().zip(column.as_array().into_iter().flatten()) {
            let what = match value {
                Value::Null => continue,
                Value::Array(number) => {
                    let number =
                        number.first().and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
                    let reason = number.and_then(|at| chunk["reasons"].get(at)).and_then(Value::as_str);
                    Err(reason.unwrap_or_default().into())
                }
                value => Ok(value.clone()),
            };
            session.push(Said { signal, what });
        }
    }
    names.into_iter().map(str::to_owned).zip(sessions).collect()
}

/// Long texts and lists do not fit a table.
fn is_small(value: &Value) -> bool {
    match value {
        Value::String(text) => text.len() <= 60,
        Value::Array(_) | Value::Object(_) => false,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(signal: &str, value: Value, reason: Option<&str>) -> ReadingRow {
        ReadingRow {
            signal: signal.to_owned(),
            value,
            reason: reason.map(str::to_owned),
            confidence: 1.0,
            evidence_refs: Vec::new(),
        }
    }

    #[test]
    fn a_month_is_columns_with_reasons() {
        let signals = ["calls", "list", "turns"].map(str::to_owned);
        let said = |readings| said(readings, &signals);
        let of_last =
            vec![reading("calls", Value::Null, Some("no_calls")), reading("list", json!([1]), None)];
        let sessions = vec![
            ("s/a".to_owned(), said(vec![reading("calls", json!(3), None)])),
            ("s/b".to_owned(), said(Vec::new())),
            ("s/c".to_owned(), said(of_last)),
        ];
        let chunk = of_month("2026-11", sessions.clone(), &signals).unwrap();
        assert_eq!(known(&chunk.script("b").unwrap(), &signals), sessions.into_iter().collect());
        let value: Value = serde_json::from_slice(&chunk.json).unwrap();
        assert_eq!(chunk.name, "g/2026-11");
        assert_eq!(
            value,
            json!({
                "names": ["s/a", "s/b", "s/c"],
                "reasons": ["no_calls"],
                "values": {"calls": [3, null, [0]]},
            })
        );
    }
}
