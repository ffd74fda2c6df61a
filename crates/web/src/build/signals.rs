//! What signals say of all sessions, by month: values in columns, a reason where there is none.
//!
//! A month is made again only if one of its sessions was looked at again or costs another
//! amount, because it is read from the digests of all its sessions.

use retro::insight::{self, Group};
use retro::model::SessionKey;
use retro::views;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

use super::{Plan, Site};
use crate::Error;
use crate::chunk::Chunk;
use crate::session::{Ground, ReadingRow, readings_of};
use crate::text::markdown;

/// Every signal with what is to be known of it.
pub fn registry(ground: &Ground<'_>) -> Result<Chunk, Error> {
    let listed = views::signals(ground.config, None::<Group>).signals;
    let rows: Vec<Value> = listed
        .iter()
        .map(|signal| {
            let about = insight::by_id(&signal.id).map(|found| markdown(&found.explanation()));
            json!({
                "id": signal.id,
                "group": signal.group,
                "kind": signal.kind,
                "method": signal.method,
                "unit": signal.unit,
                "title": signal.title,
                "about": about.unwrap_or_default(),
            })
        })
        .collect();
    Chunk::of("signals", &rows)
}

impl Site {
    /// Writes the months whose sessions went otherwise than at the last build.
    pub(super) fn signals(
        &mut self,
        plan: &Plan<'_>,
        ground: &Ground<'_>,
        months: &[(String, Vec<SessionKey>)],
    ) -> Result<(), Error> {
        let names: HashMap<&SessionKey, &String> =
            plan.named.iter().map(|(name, key, _)| (key, name)).collect();
        let mut stamps = std::collections::BTreeMap::new();
        for (month, keys) in months {
            let stamp = self.stamp(keys, &names);
            let is_there = self.folder.root().join(format!("data/g/{month}.js")).is_file();
            if self.state.signals.get(month) != Some(&stamp) || !is_there {
                let rows = keys
                    .iter()
                    .filter_map(|key| Some(((*names.get(key)?).clone(), readings_of(ground, key))));
                self.folder.put_chunk(&of_month(month, rows.collect())?, &self.build)?;
            } else {
                self.folder.kept += 1;
            }
            stamps.insert(month.clone(), stamp);
        }
        self.state.signals = stamps;
        Ok(())
    }

    /// Names what a month is made from.
    fn stamp(&self, keys: &[SessionKey], names: &HashMap<&SessionKey, &String>) -> String {
        let mut hasher = blake3::Hasher::new();
        for known in keys.iter().filter_map(|key| self.state.sessions.get_key_value(*names.get(key)?)) {
            hasher.update(format!("{} {} {:?}\n", known.0, known.1.digest, known.1.money).as_bytes());
        }
        hasher.finalize().to_hex().as_str().get(..24).unwrap_or_default().to_owned()
    }
}

/// Values in columns: of a session without one, the number of the reason in a list.
fn of_month(month: &str, sessions: Vec<(String, Vec<ReadingRow>)>) -> Result<Chunk, Error> {
    let mut reasons: Vec<String> = Vec::new();
    let mut columns: Map<String, Value> = Map::new();
    for (at, (_, readings)) in sessions.iter().enumerate() {
        for reading in readings.iter().filter(|reading| is_small(&reading.value)) {
            let value = match &reading.reason {
                Some(reason) if reading.value.is_null() => {
                    let number = reasons.iter().position(|known| known == reason).unwrap_or_else(|| {
                        reasons.push(reason.clone());
                        reasons.len() - 1
                    });
                    json!([number])
                }
                _ => reading.value.clone(),
            };
            let column = columns.entry(reading.signal.clone()).or_insert_with(|| json!([]));
            if let Value::Array(column) = column {
                column.resize(at, Value::Null);
                column.push(value);
            }
        }
    }
    let names: Vec<&String> = sessions.iter().map(|(name, _)| name).collect();
    Chunk::of(format!("g/{month}"), &json!({"names": names, "reasons": reasons, "values": columns}))
}

/// Long texts and lists are not for tables.
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
            title: String::new(),
            group: "cost".to_owned(),
            kind: "numeric".to_owned(),
            value,
            unit: "count".to_owned(),
            reason: reason.map(str::to_owned),
            confidence: 1.0,
            evidence_refs: Vec::new(),
        }
    }

    #[test]
    fn a_month_is_columns_with_reasons() {
        let sessions = vec![
            ("s/a".to_owned(), vec![reading("calls", json!(3), None)]),
            ("s/b".to_owned(), Vec::new()),
            (
                "s/c".to_owned(),
                vec![reading("calls", Value::Null, Some("no_calls")), reading("list", json!([1]), None)],
            ),
        ];
        let chunk = of_month("2026-11", sessions).unwrap();
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
