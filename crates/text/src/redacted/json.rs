//! Secrets in JSON, read together with the names beside them.
//!
//! Often only the context shows that a string is a secret: its key (`"password": …`), the key one
//! level up (`"twilio": {"auth_token": …}`), a field that names it
//! (`{"name": "DB_PASSWORD", "value": …}`), or the words before it in a list of
//! arguments (`["mysql", "-p…"]`). Each string is read once alone or with its name, and each list
//! of strings once more as a line, so the cost stays a small multiple of the size.

use serde_json::{Map, Value};
use std::borrow::Cow;

use crate::secrets::{self, beside};

/// `value` without its secrets. `None` if it has none.
pub(super) fn scrubbed(value: &Value) -> Option<Value> {
    inside(value, Name { key: "", above: "" })
}

/// The key of a value, and the key above that one.
#[derive(Clone, Copy)]
struct Name<'a> {
    key: &'a str,
    above: &'a str,
}

fn inside(value: &Value, name: Name<'_>) -> Option<Value> {
    match value {
        Value::String(text) => clean(text, name).map(Value::String),
        Value::Array(items) => list(items, name),
        Value::Object(fields) => object(fields, name),
        Value::Number(number) => {
            let rule = beside::rule_of(name.key, &number.to_string())?;
            Some(Value::String(secrets::marker_of(rule)))
        }
        Value::Null | Value::Bool(_) => None,
    }
}

/// A string without its secrets. `None` if it has none.
fn clean(text: &str, name: Name<'_>) -> Option<String> {
    let named = beside::replace(name.above, name.key, text);
    match secrets::replace(named.as_deref().unwrap_or(text)) {
        Cow::Owned(clean) => Some(clean),
        Cow::Borrowed(_) => named,
    }
}

fn object(fields: &Map<String, Value>, name: Name<'_>) -> Option<Value> {
    let label = label(fields);
    let mut changed: Option<Map<String, Value>> = None;
    for (key, value) in fields {
        let beside = match label {
            Some(label) if is_value(key) => Name { key: label, above: name.key },
            _ => Name { key, above: name.key },
        };
        let value = inside(value, beside);
        let key_clean = secrets::replace(key);
        if value.is_none() && matches!(key_clean, Cow::Borrowed(_)) {
            continue;
        }
        let changed = changed.get_or_insert_with(|| fields.clone());
        let old = changed.get_mut(key).map(Value::take).unwrap_or_default();
        if let Cow::Owned(clean) = key_clean {
            changed.remove(key);
            changed.insert(clean, value.unwrap_or(old));
        } else {
            changed.insert(key.clone(), value.unwrap_or(old));
        }
    }
    changed.map(Value::Object)
}

/// The name that an object gives to its own value.
fn label(fields: &Map<String, Value>) -> Option<&str> {
    let is_label =
        |key: &str| ["name", "key", "header", "variable"].iter().any(|label| key.eq_ignore_ascii_case(label));
    // The name counts only if the object also has a value.
    fields.keys().any(|key| is_value(key)).then_some(())?;
    fields.iter().find(|(key, _)| is_label(key)).and_then(|(_, value)| value.as_str())
}

fn is_value(key: &str) -> bool {
    key.eq_ignore_ascii_case("value")
}

/// A list: each item by itself, with the name of the list, and then all as the words of a command.
fn list(items: &[Value], name: Name<'_>) -> Option<Value> {
    let mut changed: Option<Vec<Value>> = None;
    for (at, item) in items.iter().enumerate() {
        if let Some(item) = inside(item, name) {
            changed.get_or_insert_with(|| items.to_vec())[at] = item;
        }
    }
    let words: Vec<&str> =
        changed.as_deref().unwrap_or(items).iter().map(|item| item.as_str().unwrap_or("\n")).collect();
    for (at, clean) in beside::words(&words) {
        changed.get_or_insert_with(|| items.to_vec())[at] = Value::String(clean);
    }
    changed.map(Value::Array)
}
