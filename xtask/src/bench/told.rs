//! The rows of a store's ledgers, and what the logs tell beside them.
//!
//! The logs are read at the places that the rows name: the switches of our arithmetic ask
//! for things that a row does not hold.

use retro::store::{RealDisk, SessionFile, SourceEntry, Store};
use retro_model::{LedgerRow, SessionKey, SourceKey, Timestamp};
use retro_usage::{REPLAY_PAUSE_MS, Told};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::failure::Failure;

/// Every row of a store, with what its log tells.
pub(crate) fn rows(root: &Path, agent: &str) -> Result<Vec<(SessionKey, LedgerRow, Told)>, Failure> {
    let failed = |error: retro::store::Error| Failure::at(root, error);
    let store = Store::open(root, Arc::new(RealDisk)).map_err(failed)?;
    let mut rows = Vec::new();
    for key in store.session_keys().map_err(failed)?.into_iter().filter(|key| key.agent == agent) {
        let (Some(file), Some(ledger)) =
            (store.session(&key).map_err(failed)?, store.ledger(&key).map_err(failed)?)
        else {
            continue;
        };
        let mut sources = Sources::of(&file);
        for row in ledger {
            let told = sources.told(&row)?;
            rows.push((key.clone(), row, told));
        }
    }
    Ok(rows)
}

/// The logs of one session.
struct Sources {
    places: HashMap<String, PathBuf>,
    read: HashMap<String, Vec<String>>,
}

impl Sources {
    fn of(file: &SessionFile) -> Sources {
        let place = |(key, source): (&SourceKey, &SourceEntry)| {
            Some((key.as_str().to_owned(), PathBuf::from(source.places.first()?)))
        };
        Sources { places: file.sources.iter().filter_map(place).collect(), read: HashMap::new() }
    }

    fn told(&mut self, row: &LedgerRow) -> Result<Told, Failure> {
        let source = row.event.source.as_str();
        let Some(place) = self.places.get(source) else { return Ok(Told::default()) };
        if place.extension().is_some_and(|extension| extension == "zst") {
            return Ok(Told { compressed: true, ..Told::default() });
        }
        if !self.read.contains_key(source) {
            let bytes = std::fs::read(place).map_err(|error| Failure::at(place, error))?;
            let lines = String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect();
            self.read.insert(source.to_owned(), lines);
        }
        let lines = self.read.get(source).map(Vec::as_slice).unwrap_or_default();
        let at = usize::try_from(row.event.record).unwrap_or(usize::MAX).saturating_sub(1);
        Ok(told(lines, at))
    }
}

/// What the lines of a log tell of the answer that stands at one of them.
fn told(lines: &[String], at: usize) -> Told {
    let parsed = |line: &String| serde_json::from_str::<Value>(line).unwrap_or_default();
    let Some((line, rest)) = lines.get(at..).and_then(<[String]>::split_first) else {
        return Told::default();
    };
    let record = parsed(line);
    let is_record = record["type"] == "token_usage_record";
    let broadcast = if is_record { broadcast(rest) } else { None };
    Told {
        burst_since: burst_since(lines),
        compressed: false,
        in_progress: record["type"] == "progress",
        requestless: record["type"] == "assistant" && !record["requestId"].is_string(),
        spaced: record["message"].is_object() && !line.contains("\"usage\":{"),
        broadcast_at: broadcast.as_ref().and_then(|line| Timestamp::parse(line["timestamp"].as_str()?)),
        unbroadcast: is_record && broadcast.is_none(),
        unpriced: false,
    }
}

/// When the first broadcast was made, in the log of a child that opens with two of
/// them close together, whatever they say.
fn burst_since(lines: &[String]) -> Option<Timestamp> {
    let first: Value = serde_json::from_str(lines.first()?).ok()?;
    let meta = &first["payload"];
    let is_child = meta["forked_from_id"].is_string()
        || meta["source"]["subagent"]["thread_spawn"]["parent_thread_id"].is_string();
    let mut times = lines
        .iter()
        .filter(|line| is_child && line.contains("token_count"))
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|record| is_broadcast(record) && record["payload"]["info"].is_object())
        .filter_map(|record| Timestamp::parse(record["timestamp"].as_str()?));
    let (first, second) = (times.next()?, times.next()?);
    let pause_ms = second.as_millis() - first.as_millis();
    (0..=REPLAY_PAUSE_MS).contains(&pause_ms).then_some(first)
}

fn is_broadcast(record: &Value) -> bool {
    record["type"] == "event_msg" && record["payload"]["type"] == "token_count"
}

/// The broadcast that follows before the next record does.
fn broadcast(rest: &[String]) -> Option<Value> {
    let records = rest.iter().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    records.take_while(|record| record["type"] != "token_usage_record").find(is_broadcast)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[&str]) -> Vec<String> {
        text.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn a_record_of_codex_is_broadcast_or_not() {
        let record = r#"{"type":"token_usage_record","payload":{}}"#;
        let count =
            r#"{"timestamp":"2026-01-01T00:00:09Z","type":"event_msg","payload":{"type":"token_count"}}"#;
        let log = lines(&[r#"{"type":"session_meta","payload":{}}"#, record, "{}", count, record]);
        let broadcast_at = Timestamp::parse("2026-01-01T00:00:09Z");
        assert_eq!(told(&log, 1), Told { broadcast_at, ..Told::default() });
        assert_eq!(told(&log, 4), Told { unbroadcast: true, ..Told::default() });
        assert!(told(&lines(&[record, record, count]), 0).unbroadcast, "the next one was broadcast");
        assert_eq!(told(&log, 9), Told::default(), "no such line");
    }

    #[test]
    fn a_child_says_so_in_its_first_line_and_may_open_with_a_burst() {
        let count = |time: &str| {
            let line = r#"{"timestamp":"2026-01-01T00:00:TIMEZ","type":"event_msg","payload":{"type":"token_count","info":{}}}"#;
            line.replace("TIME", time)
        };
        let silent = count("00.000").replace("{}", "null");
        let since = |first: &str, times: [&str; 2]| {
            let [one, two] = times.map(count);
            told(&lines(&[first, &silent, &one, &two]), 2).burst_since
        };
        let fork = r#"{"type":"session_meta","payload":{"forked_from_id":"p"}}"#;
        let agent = r#"{"payload":{"source":{"subagent":{"thread_spawn":{"parent_thread_id":"p"}}}}}"#;
        for first in [fork, agent] {
            assert_eq!(since(first, ["05.000", "06.000"]), Timestamp::parse("2026-01-01T00:00:05Z"));
            assert_eq!(since(first, ["05.000", "06.001"]), None, "a pause");
        }
        assert_eq!(since(r#"{"payload":{"source":"exec"}}"#, ["05.000", "05.000"]), None, "no child");
        assert_eq!(told(&lines(&[fork, &count("05.000")]), 1).burst_since, None, "one alone");
    }

    #[test]
    fn a_line_of_claude_has_a_request_and_spaces_or_not() {
        let tight = r#"{"type":"assistant","requestId":"r","message":{"usage":{"output_tokens":1}}}"#;
        let spaced = r#"{"type": "assistant", "message": {"usage": {"output_tokens": 1}}}"#;
        let log = lines(&[tight, spaced]);
        assert_eq!(told(&log, 0), Told::default());
        assert_eq!(told(&log, 1), Told { requestless: true, spaced: true, ..Told::default() });
    }
}
