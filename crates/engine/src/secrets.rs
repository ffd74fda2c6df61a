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
    /// Names the value by a keyed hash: the same in every session.
    pub id: String,
    /// The rule that knew them.
    pub rule: &'static str,
    /// How many.
    pub count: u64,
}

/// Looks through every captured byte of a session.
pub fn scan(store: &Store, key: &SessionKey) -> Result<Vec<SecretAt>, Error> {
    scan_naming(store, key, &|value| store.value_id(value))
}

/// The value that has this id, where a captured record holds it.
pub fn value_of(store: &Store, id: &str) -> Result<Option<String>, Error> {
    let found = std::cell::RefCell::new(None);
    let name = |value: &str| {
        let known = store.value_id(value);
        if known == id {
            *found.borrow_mut() = Some(value.to_owned());
        }
        known
    };
    for key in store.raw_keys()? {
        match scan_naming(store, &key, &name) {
            Err(error) if !error.is_of_one_session() => return Err(error),
            _ => {}
        }
        if found.borrow().is_some() {
            break;
        }
    }
    Ok(found.into_inner())
}

fn scan_naming(
    store: &Store,
    key: &SessionKey,
    name: &dyn Fn(&str) -> String,
) -> Result<Vec<SecretAt>, Error> {
    let mut found = Vec::new();
    for slot in store.raw_slots(key)? {
        let Slot::Session { source, revision, .. } = &slot else { continue };
        let mut lines = Lines {
            name,
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

/// Secrets of a record: how many of each rule and value.
type Rules = BTreeMap<(&'static str, String), u64>;

struct Lines<'a> {
    name: &'a dyn Fn(&str) -> String,
    source: &'a SourceKey,
    revision: u32,
    record: u64,
    line: Vec<u8>,
    /// What the beginning of the line held, if it is too long to be kept.
    rules: Rules,
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
            let id = (self.name)(text.get(secret.start..secret.end).unwrap_or_default());
            *self.rules.entry((secret.rule, id)).or_default() += 1;
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
            Some(json) => in_json(&json, self.name, &mut rules),
            None => in_text(&String::from_utf8_lossy(&line), self.name, &mut rules),
        }
        for ((rule, id), count) in rules {
            let at = Address { source: self.source.clone(), revision: self.revision, record: self.record };
            self.found.push(SecretAt { at, id, rule, count });
        }
    }
}

fn in_text(text: &str, name: &dyn Fn(&str) -> String, rules: &mut Rules) {
    for secret in find(text) {
        let id = name(text.get(secret.start..secret.end).unwrap_or_default());
        *rules.entry((secret.rule, id)).or_default() += 1;
    }
}

fn in_json(json: &Value, named: &dyn Fn(&str) -> String, rules: &mut Rules) {
    match json {
        Value::String(text) => in_text(text, named, rules),
        Value::Array(items) => items.iter().for_each(|item| in_json(item, named, rules)),
        Value::Object(fields) => {
            for (name, value) in fields {
                in_text(name, named, rules);
                in_json(value, named, rules);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
