//! Signals over all sessions: counts, means, histograms.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

use super::Row;

/// Everything that the rows of one signal say together.
struct Signal {
    group: String,
    kind: String,
    method: String,
    unit: String,
    /// Rows with a value, and without.
    values: u64,
    missing: u64,
    /// The values, as far as their kind needs them.
    numbers: Vec<f64>,
    counts: BTreeMap<String, u64>,
    yes: u64,
}

/// Aggregates of all signals, as far as rows were added.
#[derive(Default)]
pub(super) struct Aggregates {
    sessions: u64,
    readings: u64,
    /// Agent and session of the last row.
    last: Option<(String, String)>,
    by_signal: BTreeMap<String, Signal>,
}

impl Aggregates {
    /// Adds a row. Those of a session come one after the other.
    pub(super) fn add(&mut self, row: &Row) {
        let is_same = |(agent, id): &(String, String)| *agent == row.agent && *id == row.session_id;
        if !self.last.as_ref().is_some_and(is_same) {
            self.sessions += 1;
            self.last = Some((row.agent.clone(), row.session_id.clone()));
        }
        self.readings += 1;
        if !self.by_signal.contains_key(&row.signal) {
            self.by_signal.insert(row.signal.clone(), Signal::of(row));
        }
        if let Some(signal) = self.by_signal.get_mut(&row.signal) {
            signal.add(&row.value);
        }
    }
}

impl Aggregates {
    /// As `aggregates.json`.
    pub(super) fn json(&self) -> Value {
        let by_signal: Map<String, Value> =
            self.by_signal.iter().map(|(name, signal)| ((*name).to_owned(), signal.json())).collect();
        json!({ "sessions": self.sessions, "readings": self.readings, "by_signal": by_signal })
    }

    /// As `summary.md`.
    pub(super) fn summary(&self) -> String {
        let mut text = format!(
            "# Signals\n\n{} sessions, {} readings.\n\n| signal | group | sessions | summary |\n| --- | --- | ---: | --- |\n",
            self.sessions, self.readings
        );
        for (name, signal) in &self.by_signal {
            let line = format!("| {name} | {} | {} | {} |\n", signal.group, signal.values, signal.line());
            text.push_str(&line);
        }
        text
    }
}

impl Signal {
    fn of(row: &Row) -> Signal {
        Signal {
            group: row.group.clone(),
            kind: row.kind.clone(),
            method: row.method.clone(),
            unit: row.unit.clone(),
            values: 0,
            missing: 0,
            numbers: Vec::new(),
            counts: BTreeMap::new(),
            yes: 0,
        }
    }

    fn add(&mut self, value: &Value) {
        if value.is_null() {
            self.missing += 1;
            return;
        }
        self.values += 1;
        match self.kind.as_str() {
            "numeric" => self.numbers.extend(value.as_f64()),
            "boolean" => self.yes += u64::from(*value == Value::Bool(true)),
            "categorical" => {
                let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                *self.counts.entry(name).or_default() += 1;
            }
            _ => {}
        }
    }

    fn sorted(&self) -> Vec<f64> {
        let mut numbers = self.numbers.clone();
        numbers.sort_by(f64::total_cmp);
        numbers
    }

    fn histogram(&self) -> Vec<(String, u64)> {
        let mut counts: Vec<_> = self.counts.iter().map(|(name, count)| (name.clone(), *count)).collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }

    fn json(&self) -> Value {
        let mut fields = json!({
            "group": self.group, "kind": self.kind, "method": self.method, "unit": self.unit,
            "sessions_with_reading": self.values, "sessions_missing": self.missing,
        });
        let numbers = self.sorted();
        let more = match self.kind.as_str() {
            "numeric" if !numbers.is_empty() => json!({
                "min": numbers.first(), "max": numbers.last(), "mean": three(mean(&numbers)),
                "median": three(quantile(&numbers, 0.5)), "p90": three(quantile(&numbers, 0.9)),
                "sum": three(numbers.iter().sum()),
            }),
            "boolean" => {
                let (yes, all) = (self.yes, self.values);
                let ratio = if all == 0 { 0.0 } else { three(yes as f64 / all as f64) };
                json!({ "true_count": yes, "false_count": all - yes, "true_ratio": ratio })
            }
            "categorical" => {
                let histogram: Vec<Value> = self
                    .histogram()
                    .into_iter()
                    .map(|(value, count)| json!({ "value": value, "count": count }))
                    .collect();
                json!({ "histogram": histogram })
            }
            _ => json!({}),
        };
        if let (Some(fields), Value::Object(more)) = (fields.as_object_mut(), more) {
            fields.extend(more);
        }
        fields
    }

    fn line(&self) -> String {
        let numbers = self.sorted();
        match self.kind.as_str() {
            "numeric" if !numbers.is_empty() => format!(
                "median {}, p90 {}, max {}",
                three(quantile(&numbers, 0.5)),
                three(quantile(&numbers, 0.9)),
                three(numbers.last().copied().unwrap_or(0.0))
            ),
            "boolean" => {
                format!("true in {} of {}", self.yes, self.values)
            }
            "categorical" => {
                let parts: Vec<String> = self
                    .histogram()
                    .into_iter()
                    .take(4)
                    .map(|(value, count)| format!("{value} {count}"))
                    .collect();
                parts.join(", ")
            }
            _ => "-".to_owned(),
        }
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// With linear interpolation between neighbours.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let place = q * (sorted.len().saturating_sub(1)) as f64;
    let below = place.floor();
    let value = |at: f64| sorted.get(at as usize).copied().unwrap_or(0.0);
    value(below) + (value(place.ceil()) - value(below)) * (place - below)
}

fn three(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let numbers = [1.0, 2.0, 3.0, 4.0];
        assert_eq!(quantile(&numbers, 0.5), 2.5);
        assert_eq!(three(quantile(&numbers, 0.9)), 3.7);
        assert_eq!(quantile(&[7.0], 0.9), 7.0);
    }
}
