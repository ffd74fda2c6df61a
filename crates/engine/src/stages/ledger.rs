//! The ledger of a session: one row for each response of a model that its events report.
//!
//! Rows contain only facts from this session's own bytes. Queries for costs compare all ledgers to
//! find responses that were copied from another session. If the log does not record all usage, a
//! row marks that (`open.rs`).
//!
//! The rows are in the index after every append. The file is truth. It is written when the session
//! has gone quiet.

mod open;

use hashbrown::HashMap;
use open::Open;
use retro_model::{Event, EventId, Kind, LedgerRow, RowKind, SessionKey, Thread, Usage};
use retro_store::{Index, LEDGER, LedgerWriter, Responses, Store};
use retro_text::Redacted;
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use xxhash_rust::xxh3::xxh3_64;

use super::{Comparing, Input, Making, Product, Stage, Subject, Truth, When, Work};
use crate::Error;

pub(crate) const STAGE: Stage = Stage {
    name: "ledger",
    version: 2,
    when: When::AppendAndQuiet,
    help: "one row for each response of a model",
    inputs: &[Input::Events],
    work: Work::Events(make),
    truth: Some(Truth::in_files(restore)),
    document: Some(&LEDGER),
    tail: Some(tail),
    compare: Some(compare),
};

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    let file = subject.is_quiet.then(|| subject.store.ledger_writer(subject.key)).transpose()?;
    Ok(Box::new(Keeping {
        ledger: Ledger::new(subject.key.clone()),
        store: subject.store.clone(),
        key: subject.key.clone(),
        rows: Responses::new(subject.store),
        held: Vec::new(),
        is_quiet: subject.is_quiet,
        file,
    }))
}

/// Restores the rows from the ledger file.
fn restore(subject: &Subject<'_>, _: &Value) -> Result<Product, Error> {
    let key = subject.key.clone();
    let mut rows = Responses::new(subject.store);
    for part in subject.store.ledger(&key)?.unwrap_or_default().chunks(HELD_ROWS_MAX) {
        rows.add(part)?;
    }
    let output = rows.name();
    let put = move |index: &retro_store::Writer<'_>| index.put_responses(&key, &mut rows);
    Ok(Product { output, put: Some(Box::new(put)), ..Product::default() })
}

fn tail(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    let (ledger, rows) = (Ledger::new(subject.key.clone()), Responses::new(subject.store));
    Ok(Box::new(Adding { ledger, key: subject.key.clone(), rows }))
}

/// Adds the new responses. Cumulative figures wait for the whole session.
struct Adding {
    ledger: Ledger,
    key: SessionKey,
    rows: Responses,
}

impl Making for Adding {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.ledger.push(event);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Product, Error> {
        let is_response = |row: &LedgerRow| row.calls > 0;
        let new: Vec<LedgerRow> = self.ledger.finish_rows().into_iter().filter(is_response).collect();
        self.rows.add(&new)?;
        let Adding { key, mut rows, .. } = *self;
        let put = move |index: &retro_store::Writer<'_>| index.add_responses(&key, &mut rows);
        Ok(Product { put: Some(Box::new(put)), ..Product::default() })
    }
}

fn compare(_: &Store, index: &Index, key: &SessionKey) -> Result<Box<dyn Comparing>, Error> {
    Ok(Box::new(Checking { ledger: Ledger::new(key.clone()), known: index.responses_of(key)? }))
}

/// Compares the rows of the index with those that its events give.
struct Checking {
    ledger: Ledger,
    known: Vec<LedgerRow>,
}

impl Comparing for Checking {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.ledger.push(event);
        Ok(())
    }

    fn difference(mut self: Box<Self>) -> Result<Option<&'static str>, Error> {
        // The index sorts them by event and key.
        let rows: BTreeMap<(EventId, String), LedgerRow> = self
            .ledger
            .finish_rows()
            .into_iter()
            .map(|row| ((row.event.clone(), row.key.clone()), row))
            .collect();
        Ok((!rows.into_values().eq(self.known)).then_some("its costs"))
    }
}

/// Number of ledger rows that are held in memory. A longer ledger is written in pieces.
const HELD_ROWS_MAX: usize = 2_000;

/// Makes the ledger of one session of any length: rows go to the index packed, and to the file in
/// pieces once there are many.
struct Keeping {
    ledger: Ledger,
    store: Store,
    key: SessionKey,
    rows: Responses,
    held: Vec<LedgerRow>,
    is_quiet: bool,
    file: Option<LedgerWriter>,
}

impl Keeping {
    fn take(&mut self, rows: Vec<LedgerRow>) -> Result<(), Error> {
        self.rows.add(&rows)?;
        if self.is_quiet {
            self.held.extend(rows);
        }
        if self.held.len() > HELD_ROWS_MAX
            && let Some(file) = &mut self.file
        {
            std::mem::take(&mut self.held).iter().try_for_each(|row| file.push(row))?;
        }
        Ok(())
    }
}

impl Making for Keeping {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.ledger.push(event);
        let done = self.ledger.take_done();
        if done.is_empty() { Ok(()) } else { self.take(done) }
    }

    fn finish(mut self: Box<Self>) -> Result<Product, Error> {
        let rest = self.ledger.finish_rows();
        self.take(rest)?;
        let Keeping { store, key, mut rows, held, is_quiet, file, .. } = *self;
        match file.filter(|file| !file.is_empty()) {
            Some(mut file) => {
                held.iter().try_for_each(|row| file.push(row))?;
                file.finish()?;
            }
            None if is_quiet => drop(store.put_ledger(&key, &held)?),
            None => {}
        }
        let output = rows.name();
        let put = move |index: &retro_store::Writer<'_>| index.put_responses(&key, &mut rows);
        Ok(Product { output, put: Some(Box::new(put)), ..Product::default() })
    }
}

/// The rows of a settled stream, in its order.
pub fn rows(session: &SessionKey, events: &[Event]) -> Vec<LedgerRow> {
    let mut ledger = Ledger::new(session.clone());
    events.iter().for_each(|event| ledger.push(event));
    ledger.finish_rows()
}

/// Rows that wait for more text of their response, which may come after its tokens.
const WAITING_ROWS_MAX: usize = 256;

/// Makes ledger rows from events as they come.
pub(crate) struct Ledger {
    session: SessionKey,
    cwds: HashMap<Thread, String>,
    first_cwd: Option<String>,
    /// Bytes of text that each response left in the log, by the hash of its key.
    words: HashMap<u64, u64>,
    rows: VecDeque<LedgerRow>,
    open: Open,
}

impl Ledger {
    pub(crate) fn new(session: SessionKey) -> Self {
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
            self.rows.extend(totals(&self.session, event, cwd));
        } else {
            self.rows.push_back(row(&self.session, event, usage, cwd));
        }
    }

    /// The finished rows, once there are many.
    pub(crate) fn take_done(&mut self) -> Vec<LedgerRow> {
        if self.rows.len() > 2 * WAITING_ROWS_MAX {
            self.take(self.rows.len() - WAITING_ROWS_MAX)
        } else {
            Vec::new()
        }
    }

    /// All remaining rows.
    pub(crate) fn finish_rows(&mut self) -> Vec<LedgerRow> {
        let mut rows = self.take(self.rows.len());
        rows.extend(std::mem::take(&mut self.open).finish(&self.session));
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

/// Makes rows of a cumulative figure: one for each model, if the log separates them.
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

/// Whether an event may be a part of a response.
fn is_of_model(event: &Event) -> bool {
    event.response.is_some() || matches!(event.kind, Kind::Assistant | Kind::Reasoning | Kind::ToolCall)
}

/// Bytes of an event's text and arguments, including secrets, because they were paid for.
fn text_bytes(event: &Event) -> u64 {
    let text = event.text.as_ref().map_or(0, Redacted::<String>::given_bytes);
    let args = event.tool.as_ref().and_then(|tool| tool.args.as_ref());
    text + args.map_or(0, Redacted::<Value>::given_bytes)
}
