//! Signals over all sessions: counts, means, histograms.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

use super::Row;

/// Everything that the rows of one signal say together.
struct Signal<'r> {
    first: &'r Row,
    values: Vec<&'r Value>,
    missing: u64,
}

/// Aggregates of all signals.
pub(super) struct Aggregates<'r> {
    sessions: u64,
    readings: u64,
    by_signal: BTreeMap<&'r str, Signal<'r>>,
}

/// Aggregates rows.
pub(super) fn of<'r>(rows: impl Iterator<Item = &'r Row>) -> Aggregates<'r> {
    let mut sessions = BTreeSet::new();
    let mut all = Aggregates { sessions: 0, readings: 0, by_signal: BTreeMap::new() };
    for row in rows {
        sessions.insert((&row.agent, &row.session_id));
        all.readings += 1;
        let signal = all.by_signal.entry(&row.signal).or_insert_with(|| Signal {
            first: row,
            values: Vec::new(),
            missing: 0,
        });
        match &row.value {
            Value::Null => signal.missing += 1,
            value => signal.values.push(value),
        }
    }
    all.sessions = sessions.len() as u64;
    all
}

impl Aggregates<'_> {
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
            let line = format!(
                "| {name} | {} | {} | {} |\n",
                signal.first.group,
                signal.values.len(),
                signal.line()
            );
            text.push_str(&line);
        }
        text
    }
}

impl Signal<'_> {
    fn numbers(&self) -> Vec<f64> {
        let mut numbers: Vec<f64> = self.values.iter().filter_map(|value| value.as_f64()).collect();
        numbers.sort_by(f64::total_cmp);
        numbers
    }

    fn histogram(&self) -> Vec<(String, u64)> {
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for value in &self.values {
            *counts.entry(value.as_str().map_or_else(|| value.to_string(), str::to_owned)).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }

    fn json(&self) -> Value {
        let row = self.first;
        let mut fields = json!({
            "group": row.group, "kind": row.kind, "method": row.method, "unit": row.unit,
            "sessions_with_reading": self.values.len(), "sessions_missing": self.missing,
        });
        let numbers = self.numbers();
        let more = match row.kind.as_str() {
            "numeric" if !numbers.is_empty() => json!({
                "min": numbers.first(), "max": numbers.last(), "mean": three(mean(&numbers)),
                "median": three(quantile(&numbers, 0.5)), "p90": three(quantile(&numbers, 0.9)),
                "sum": three(numbers.iter().sum()),
            }),
            "boolean" => {
                let yes = self.values.iter().filter(|value| **value == &Value::Bool(true)).count();
                let all = self.values.len();
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
        let numbers = self.numbers();
        match self.first.kind.as_str() {
            "numeric" if !numbers.is_empty() => format!(
                "median {}, p90 {}, max {}",
                three(quantile(&numbers, 0.5)),
                three(quantile(&numbers, 0.9)),
                three(numbers.last().copied().unwrap_or(0.0))
            ),
            "boolean" => {
                let yes = self.values.iter().filter(|value| **value == &Value::Bool(true)).count();
                format!("true in {yes} of {}", self.values.len())
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
