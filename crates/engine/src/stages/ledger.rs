//! The ledger of a session: one row for each model answer its events tell of.
//!
//! Rows say only what this session's own bytes say. Whether an answer was copied
//! from another session is decided over all ledgers, when somebody asks for costs.
//! Where the log cannot tell all that was used, a row says so (`open.rs`).

mod open;

use hashbrown::HashMap;
use open::Open;
use retro_agents::{Agent, Parsed, settle_each};
use retro_model::{Event, EventId, Kind, LedgerRow, RowKind, SessionKey, Thread, Usage};
use retro_text::Redacted;
use serde_json::Value;
use std::collections::VecDeque;
use xxhash_rust::xxh3::xxh3_64;

/// The rows of a settled stream, in its order.
pub fn rows(session: &SessionKey, events: &[Event]) -> Vec<LedgerRow> {
    let mut ledger = Ledger::new(session);
    events.iter().for_each(|event| ledger.push(event));
    ledger.finish()
}

/// The rows of a session whose sources were just read.
pub(crate) fn of_sources(agent: &dyn Agent, session: &SessionKey, sources: Vec<Parsed>) -> Vec<LedgerRow> {
    let mut ledger = Ledger::new(session);
    settle_each(agent, session, sources, &mut |event| ledger.push(&event));
    ledger.finish()
}

/// Rows that wait for words of their answer, which may come after its tokens.
const WAITING_ROWS_MAX: usize = 256;

/// Makes rows of events as they come.
pub(crate) struct Ledger<'a> {
    session: &'a SessionKey,
    cwds: HashMap<Thread, String>,
    first_cwd: Option<String>,
    /// Bytes of text that each answer left in the log, by the hash of its key.
    words: HashMap<u64, u64>,
    rows: VecDeque<LedgerRow>,
    open: Open,
}

impl<'a> Ledger<'a> {
    pub(crate) fn new(session: &'a SessionKey) -> Self {
        let (cwds, words) = (HashMap::new(), HashMap::new());
        Ledger { session, cwds, first_cwd: None, words, rows: VecDeque::new(), open: Open::default() }
    }

    /// Takes the next event.
    pub(crate) fn push(&mut self, event: &Event) {
        let words = if is_of_model(event) { text_bytes(event) } else { 0 };
        self.count_words(event, words);
        self.open.push(event, words);
        if let Some(cwd) = &event.cwd {
            self.first_cwd.get_or_insert_with(|| cwd.to_string());
            self.cwds.insert(event.thread.clone(), cwd.to_string());
        }
        let (Kind::Usage, Some(usage)) = (event.kind, &event.usage) else { return };
        let cwd = self.cwds.get(&event.thread).or(self.first_cwd.as_ref()).cloned();
        if usage.total {
            self.rows.extend(totals(self.session, event, cwd));
        } else {
            self.rows.push_back(row(self.session, event, usage, cwd));
        }
    }

    /// The rows that are done, when there are many.
    pub(crate) fn take_done(&mut self) -> Vec<LedgerRow> {
        match self.rows.len() > 2 * WAITING_ROWS_MAX {
            true => self.take(self.rows.len() - WAITING_ROWS_MAX),
            false => Vec::new(),
        }
    }

    /// All rows that are left.
    pub(crate) fn finish(mut self) -> Vec<LedgerRow> {
        let mut rows = self.take(self.rows.len());
        rows.extend(self.open.finish(self.session));
        rows
    }

    fn take(&mut self, count: usize) -> Vec<LedgerRow> {
        let mut rows: Vec<LedgerRow> = self.rows.drain(..count).collect();
        for row in &mut rows {
            row.text_bytes = self.words.remove(&xxh3_64(row.key.as_bytes())).unwrap_or(0);
        }
        rows
    }

    fn count_words(&mut self, event: &Event, bytes: u64) {
        if let Some(response) = &event.response {
            *self.words.entry(xxh3_64(response.as_bytes())).or_default() += bytes;
        }
    }
}

fn row(session: &SessionKey, event: &Event, usage: &Usage, cwd: Option<String>) -> LedgerRow {
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

/// Whether an event may be a part of what a model answered.
fn is_of_model(event: &Event) -> bool {
    event.response.is_some() || matches!(event.kind, Kind::Assistant | Kind::Reasoning | Kind::ToolCall)
}

/// Bytes of what an event says, secrets included: an answer was paid for with them.
fn text_bytes(event: &Event) -> u64 {
    let text = event.text.as_ref().map_or(0, Redacted::<String>::given_bytes);
    let args = event.tool.as_ref().and_then(|tool| tool.args.as_ref());
    text + args.map_or(0, Redacted::<Value>::given_bytes)
}
