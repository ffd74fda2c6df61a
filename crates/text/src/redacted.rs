//! The type that proves a text was scanned, and the functions that make it.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use crate::secrets;

/// A value whose secrets were replaced by `[redacted:<rule>]`.
///
/// Only the functions of this module make one. It can be read back from our
/// own derived files, which were written from one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Redacted<T>(T);

impl<T> Redacted<T> {
    /// The value inside, given up.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Redacted<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Redacted<String> {
    /// The first `bytes_max` bytes, cut at a character boundary. A part of a
    /// redacted text is redacted.
    pub fn head(&self, bytes_max: usize) -> Redacted<String> {
        let mut end = bytes_max.min(self.0.len());
        while !self.0.is_char_boundary(end) {
            end -= 1;
        }
        Redacted(self.0[..end].to_owned())
    }
}

// What is made of redacted parts alone is redacted.

impl From<bool> for Redacted<Value> {
    fn from(is: bool) -> Self {
        Redacted(Value::Bool(is))
    }
}

impl From<Number> for Redacted<Value> {
    fn from(number: Number) -> Self {
        Redacted(Value::Number(number))
    }
}

impl From<Redacted<String>> for Redacted<Value> {
    fn from(text: Redacted<String>) -> Self {
        Redacted(Value::String(text.0))
    }
}

impl FromIterator<Redacted<Value>> for Redacted<Value> {
    fn from_iter<I: IntoIterator<Item = Redacted<Value>>>(items: I) -> Self {
        Redacted(Value::Array(items.into_iter().map(|item| item.0).collect()))
    }
}

/// Of equal names the last counts.
impl FromIterator<(Redacted<String>, Redacted<Value>)> for Redacted<Value> {
    fn from_iter<I: IntoIterator<Item = (Redacted<String>, Redacted<Value>)>>(fields: I) -> Self {
        Redacted(Value::Object(fields.into_iter().map(|(name, value)| (name.0, value.0)).collect()))
    }
}

/// `text` without its secrets.
pub fn redact(text: &str) -> Redacted<String> {
    Redacted(secrets::replace(text).into_owned())
}

/// Like [`redact`], without a copy when there is nothing to replace.
pub fn redact_owned(text: String) -> Redacted<String> {
    match secrets::replace(&text) {
        Cow::Borrowed(_) => Redacted(text),
        Cow::Owned(clean) => Redacted(clean),
    }
}

/// `value` with every string in it redacted, keys too.
pub fn redact_json(mut value: Value) -> Redacted<Value> {
    scrub(&mut value);
    Redacted(value)
}

fn scrub(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = secrets::replace(text) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(scrub),
        Value::Object(fields) => {
            let dirty = fields.keys().any(|key| matches!(secrets::replace(key), Cow::Owned(_)));
            if dirty {
                let old = std::mem::take(fields);
                for (key, item) in old {
                    fields.insert(secrets::replace(&key).into_owned(), item);
                }
            }
            fields.values_mut().for_each(scrub);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
