//! Which captured records hold secrets: raw files are kept as they were written, so
//! this is the place to learn what lies in them. Values are never told.

use retro_model::{Address, SessionKey, SourceKey};
use retro_store::{Slot, Store};
use retro_text::secrets::find;
use serde_json::Value;
use std::collections::BTreeMap;

use crate::Error;
use crate::read::feed_raw;

/// A line longer than this is looked through as text, piece by piece, without
/// reading its JSON.
const LINE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What two pieces share, so that nothing is missed where they meet.
const SHARED_BYTES: usize = 64 * 1024;

/// Secrets of one kind in one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretAt {
    /// The record.
    pub at: Address,
    /// The rule that knew them.
    pub rule: &'static str,
    /// How many.
    pub count: u64,
}

/// Looks through every captured byte of a session.
pub fn scan(store: &Store, key: &SessionKey) -> Result<Vec<SecretAt>, Error> {
    let mut found = Vec::new();
    for slot in store.raw_slots(key)? {
        let Slot::Session { source, revision, .. } = &slot else { continue };
        let mut lines = Lines {
            source,
            revision: *revision,
            record: 1,
            line: Vec::new(),
            rules: BTreeMap::new(),
            is_long: false,
            found: &mut found,
        };
        feed_raw(store, &slot, &mut |bytes| lines.feed(bytes))?;
        lines.end();
    }
    Ok(found)
}

struct Lines<'a> {
    source: &'a SourceKey,
    revision: u32,
    record: u64,
    line: Vec<u8>,
    /// What the beginning of the line held, if it is too long to be kept.
    rules: BTreeMap<&'static str, u64>,
    is_long: bool,
    found: &'a mut Vec<SecretAt>,
}

impl Lines<'_> {
    fn feed(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.end();
                self.record += 1;
            } else if self.line.len() > LINE_BYTES_MAX {
                self.pass_on();
            }
        }
    }

    /// Looks through the beginning of a long line and keeps only its end.
    fn pass_on(&mut self) {
        let keep_from = self.line.len() - SHARED_BYTES;
        let text = String::from_utf8_lossy(&self.line);
        // What begins in the shared part is found again with what follows it.
        for secret in find(&text).iter().filter(|secret| secret.start < keep_from) {
            *self.rules.entry(secret.rule).or_default() += 1;
        }
        drop(text);
        self.line.drain(..keep_from);
        self.is_long = true;
    }

    fn end(&mut self) {
        let line = std::mem::take(&mut self.line);
        let mut rules = std::mem::take(&mut self.rules);
        let is_long = std::mem::take(&mut self.is_long);
        match (!is_long).then(|| serde_json::from_slice::<Value>(&line).ok()).flatten() {
            Some(json) => in_json(&json, &mut rules),
            None => in_text(&String::from_utf8_lossy(&line), &mut rules),
        }
        for (rule, count) in rules {
            let at = Address { source: self.source.clone(), revision: self.revision, record: self.record };
            self.found.push(SecretAt { at, rule, count });
        }
    }
}

fn in_text(text: &str, rules: &mut BTreeMap<&'static str, u64>) {
    for secret in find(text) {
        *rules.entry(secret.rule).or_default() += 1;
    }
}

fn in_json(json: &Value, rules: &mut BTreeMap<&'static str, u64>) {
    match json {
        Value::String(text) => in_text(text, rules),
        Value::Array(items) => items.iter().for_each(|item| in_json(item, rules)),
        Value::Object(fields) => {
            for (name, value) in fields {
                in_text(name, rules);
                in_json(value, rules);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
