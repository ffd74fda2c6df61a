//! The record behind an event, as the agent wrote it, with secrets taken out.
//!
//! A folder does not hold raw records: they would double its size. There the page names the
//! command that prints the record instead.

use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::Response;
use retro::engine::read::feed_raw;
use retro::model::{EventId, SessionKey};
use retro::store::{RealDisk, Slot, Store};
use retro::text::{redact, redact_json};
use retro::views::source_slots;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

use super::search::Library;
use super::{Shared, answer, plain};
use crate::session::Redact;
use retro::views::readable as text;

/// Bytes of a record that are read at most.
const RECORD_BYTES_MAX: usize = 4 << 20;

/// Characters of one text inside a record that are shown.
const TEXT_CHARS_MAX: usize = 20_000;

/// Which event of which session.
#[derive(Debug, Deserialize)]
pub struct Asked {
    agent: String,
    id: String,
    event: String,
}

/// Answers with the record, its source and its number.
pub async fn raw(State(shared): State<Arc<Shared>>, Query(asked): Query<Asked>) -> Response {
    if shared.library.options.redact == Redact::Strict {
        return plain(StatusCode::NOT_FOUND, "this page leaves out what calls printed");
    }
    match tokio::task::spawn_blocking(move || shared.library.record(&asked)).await {
        Ok(Ok(Some(record))) => {
            let body = record.to_string().into_bytes();
            answer(StatusCode::OK, &[(header::CONTENT_TYPE, "application/json")], body)
        }
        Ok(Ok(None)) => plain(StatusCode::NOT_FOUND, "no such record"),
        Ok(Err(why)) => plain(StatusCode::NOT_FOUND, &why),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the record could not be read"),
    }
}

impl Library {
    fn record(&self, asked: &Asked) -> Result<Option<Value>, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let event: EventId = asked.event.parse().map_err(|_| "no such event".to_owned())?;
        let store = Store::open(&self.config.root.value, Arc::new(RealDisk)).map_err(|error| said(&error))?;
        let key = SessionKey::new(asked.agent.clone(), asked.id.clone());
        let slots = source_slots(&store, &key, Some(event.source.as_str()), Some(event.revision))
            .map_err(|error| said(&error))?;
        let Some(slot) = slots.last() else { return Ok(None) };
        let found = line(&store, slot, event.record).map_err(|error| said(&error))?;
        Ok(found.map(|(offset, bytes)| {
            json!({
                "source": event.source.as_str(),
                "revision": event.revision,
                "line": event.record,
                "offset": offset,
                "bytes": bytes.len(),
                "text": shown(&bytes),
            })
        }))
    }
}

/// A line of a source, counted from 1, and where it begins.
fn line(store: &Store, slot: &Slot, wanted: u64) -> Result<Option<(u64, Vec<u8>)>, retro::engine::Error> {
    let mut lines = Lines { wanted, at: 1, offset: 0, begins: 0, found: Vec::new() };
    feed_raw(store, slot, &mut |bytes| lines.take(bytes))?;
    Ok((!lines.found.is_empty()).then_some((lines.begins, lines.found)))
}

/// Looks for one line in bytes that come in pieces.
struct Lines {
    wanted: u64,
    at: u64,
    offset: u64,
    begins: u64,
    found: Vec<u8>,
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.at == self.wanted && self.found.len() < RECORD_BYTES_MAX {
                if self.found.is_empty() {
                    self.begins = self.offset;
                }
                self.found.extend_from_slice(piece);
            }
            self.offset += piece.len() as u64;
            if piece.ends_with(b"\n") {
                self.at += 1;
            }
        }
    }
}

/// The record with indentation if it is JSON, without secrets and hidden characters.
fn shown(bytes: &[u8]) -> String {
    let text = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => {
            let value = cut(redact_json(value).into_inner());
            serde_json::to_string_pretty(&value).unwrap_or_default()
        }
        Err(_) => redact(&String::from_utf8_lossy(bytes)).into_inner(),
    };
    text.split('\n').map(text::plain).collect::<Vec<_>>().join("\n")
}

/// Without the rest of very long texts, such as pictures.
fn cut(value: Value) -> Value {
    match value {
        Value::String(text) if text.len() > TEXT_CHARS_MAX => {
            let head: String = text.chars().take(TEXT_CHARS_MAX / 10).collect();
            Value::String(format!("{head}… ({} bytes)", text.len()))
        }
        Value::Array(list) => Value::Array(list.into_iter().map(cut).collect()),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, cut(value))).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_across_pieces() {
        let mut lines = Lines { wanted: 2, at: 1, offset: 0, begins: 0, found: Vec::new() };
        for piece in ["one\ntw", "o\nth", "ree\n"] {
            lines.take(piece.as_bytes());
        }
        assert_eq!((lines.begins, lines.found.as_slice()), (4, &b"two\n"[..]));
    }

    #[test]
    fn a_record_is_shown_without_its_secrets_and_long_texts() {
        let key = format!("ghp_{}", "Ab1".repeat(12));
        let record = json!({"key": key, "picture": "A".repeat(30_000), "note": "fine"}).to_string();
        let text = shown(record.as_bytes());
        assert!(!text.contains(&key), "{text}");
        assert!(text.len() < 4_000 && text.contains("(30000 bytes)") && text.contains("\"note\": \"fine\""));
        assert_eq!(shown(b"not json"), "not json");
    }
}
