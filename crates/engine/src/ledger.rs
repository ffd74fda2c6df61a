//! The ledger of a session: one row for each model answer its events tell of.
//!
//! Rows say only what this session's own bytes say. Whether an answer was copied
//! from another session is decided over all ledgers, when somebody asks for costs.
//! Where the log cannot tell all that was used, a row says so (`open.rs`).

mod open;

use retro_model::{Event, EventId, Kind, LedgerRow, RowKind, SessionKey, Thread, Usage};
use serde_json::Value;
use std::collections::HashMap;

/// The rows of a settled stream, in its order.
pub fn rows(session: &SessionKey, events: &[Event]) -> Vec<LedgerRow> {
    let mut cwds: HashMap<&Thread, String> = HashMap::new();
    let mut first_cwd: Option<String> = None;
    let words = words(events);
    let mut rows = Vec::new();
    for event in events {
        if let Some(cwd) = &event.cwd {
            first_cwd.get_or_insert_with(|| cwd.to_string());
            cwds.insert(&event.thread, cwd.to_string());
        }
        let (Kind::Usage, Some(usage)) = (event.kind, &event.usage) else { continue };
        let cwd = cwds.get(&event.thread).or(first_cwd.as_ref()).cloned();
        if usage.total {
            rows.extend(totals(session, event, cwd));
        } else {
            rows.push(row(session, event, usage, cwd, &words));
        }
    }
    rows.extend(open::rows(session, events));
    rows
}

fn row(
    session: &SessionKey,
    event: &Event,
    usage: &Usage,
    cwd: Option<String>,
    words: &HashMap<&str, u64>,
) -> LedgerRow {
    let key = event.response.clone().unwrap_or_else(|| format!("{session}#{}", event.id));
    let data = |name: &str| event.data.as_ref().and_then(|data| data.get(name));
    let includes = data("includes")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>());
    let kind = match data("kind").and_then(Value::as_str) {
        Some("compaction") => RowKind::Compaction,
        Some("side") => RowKind::Side,
        _ => RowKind::Main,
    };
    LedgerRow {
        ts: event.ts,
        cwd,
        provider: data("provider").and_then(Value::as_str).map(str::to_owned),
        model: event.model.clone(),
        calls: data("calls").and_then(Value::as_u64).unwrap_or(1),
        includes: includes.unwrap_or_default(),
        kind,
        text_bytes: words.get(key.as_str()).copied().unwrap_or(0),
        ..LedgerRow::of(key, event.id.clone(), event.thread.clone(), usage)
    }
}

/// A cumulative figure tells each model apart, where the log does.
fn totals(session: &SessionKey, event: &Event, cwd: Option<String>) -> Vec<LedgerRow> {
    let models = event.data.as_ref().and_then(|data| data.get("models")).and_then(Value::as_object);
    let of_model = |(model, figures): (&String, &Value)| {
        let usage: Usage = serde_json::from_value(figures.clone()).ok()?;
        let key = format!("{}:total:{}:{model}", session.agent, session.id);
        let place: EventId = event.id.clone();
        Some(LedgerRow {
            ts: event.ts,
            cwd: cwd.clone(),
            model: Some(model.clone()),
            kind: RowKind::Total,
            ..LedgerRow::of(key, place, event.thread.clone(), &usage)
        })
    };
    models.into_iter().flatten().filter_map(of_model).collect()
}

/// Bytes of text that each answer left in the log.
fn words(events: &[Event]) -> HashMap<&str, u64> {
    let mut words = HashMap::new();
    for event in events {
        let Some(response) = &event.response else { continue };
        *words.entry(response.as_str()).or_default() += text_bytes(event);
    }
    words
}

/// Bytes of what an event says.
fn text_bytes(event: &Event) -> u64 {
    let text = event.text.as_ref().map_or(0, |text| text.len() as u64);
    let args = event.tool.as_ref().and_then(|tool| tool.args.as_ref());
    text + args.map_or(0, |args| args.to_string().len() as u64)
}
