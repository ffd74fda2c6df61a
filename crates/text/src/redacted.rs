//! The type that proves a text was scanned, and the functions that make it.

mod json;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::OnceLock;

use crate::secrets;

/// A value whose secrets are replaced by `[redacted:<rule>]`.
///
/// The functions of this module make one from log content. Much of that is never read, so a value
/// is scanned on first access, and only the scanned value is accessible. A value that is read back
/// with `Deserialize` is trusted: it must come from retro's own files, which contain only scanned
/// values.
#[derive(Clone, Default)]
pub struct Redacted<T> {
    /// The original value. Never exposed before a scan.
    given: T,
    /// The result of the scan. The inner `None`: there was nothing to replace.
    clean: OnceLock<Option<Box<T>>>,
}

/// A value that can be scanned for secrets.
pub trait Scrub: Sized {
    /// The value without its secrets. `None` if it has none.
    fn scrubbed(&self) -> Option<Self>;
}

impl<T> Redacted<T> {
    fn unseen(given: T) -> Self {
        Redacted { given, clean: OnceLock::new() }
    }

    fn seen(clean: T) -> Self {
        Redacted { given: clean, clean: OnceLock::from(None) }
    }
}

impl<T: Scrub> Redacted<T> {
    /// Takes the scanned value out.
    pub fn into_inner(self) -> T {
        let Redacted { given, clean } = self;
        match clean.into_inner() {
            Some(Some(clean)) => *clean,
            Some(None) => given,
            None => given.scrubbed().unwrap_or(given),
        }
    }
}

impl<T: Scrub> Deref for Redacted<T> {
    type Target = T;
    fn deref(&self) -> &T {
        let scan = || self.given.scrubbed().map(Box::new);
        self.clean.get_or_init(scan).as_deref().unwrap_or(&self.given)
    }
}

impl<T: Scrub + fmt::Debug> fmt::Debug for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Redacted").field(&**self).finish()
    }
}

impl<T: Scrub + fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Scrub + PartialEq> PartialEq for Redacted<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Scrub + Eq> Eq for Redacted<T> {}

impl<T: Scrub + PartialOrd> PartialOrd for Redacted<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: Scrub + Ord> Ord for Redacted<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: Scrub + Hash> Hash for Redacted<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: Scrub + Serialize> Serialize for Redacted<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        (**self).serialize(to)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Redacted<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        T::deserialize(from).map(Redacted::seen)
    }
}

impl Redacted<String> {
    /// The first `bytes_max` bytes, cut at a character boundary. A part of a
    /// redacted text is redacted.
    pub fn head(&self, bytes_max: usize) -> Redacted<String> {
        let mut end = bytes_max.min(self.len());
        while !self.is_char_boundary(end) {
            end -= 1;
        }
        Redacted::seen(self[..end].to_owned())
    }

    /// The length of the original in bytes. A length reveals nothing, so it needs no scan.
    pub fn given_bytes(&self) -> u64 {
        self.given.len() as u64
    }
}

impl Redacted<Value> {
    /// The length of the original as JSON in bytes. A length reveals nothing, so it needs no scan.
    pub fn given_bytes(&self) -> u64 {
        json_bytes(&self.given)
    }
}

/// Bytes of a value as JSON without spaces.
fn json_bytes(value: &Value) -> u64 {
    let between = |count: usize| count.saturating_sub(1) as u64;
    match value {
        Value::Null | Value::Bool(true) => 4,
        Value::Bool(false) => 5,
        Value::Number(number) => {
            let mut count = Count(0);
            // Counting cannot fail.
            let _ = serde_json::to_writer(&mut count, number);
            count.0
        }
        Value::String(text) => string_bytes(text),
        Value::Array(items) => 2 + between(items.len()) + items.iter().map(json_bytes).sum::<u64>(),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| string_bytes(name) + 1 + json_bytes(value);
            2 + between(fields.len()) + fields.iter().map(field).sum::<u64>()
        }
    }
}

fn string_bytes(text: &str) -> u64 {
    let more = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
        0..=31 => 5,
        _ => 0u64,
    };
    2 + text.len() as u64 + text.bytes().map(more).sum::<u64>()
}

struct Count(u64);

impl std::io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// `text` without its secrets.
pub fn redact(text: &str) -> Redacted<String> {
    Redacted::unseen(text.to_owned())
}

/// Like [`redact`], but without a copy.
pub fn redact_owned(text: String) -> Redacted<String> {
    Redacted::unseen(text)
}

/// `value` with every string in it redacted, keys too. A string is read together with
/// the name beside it: its key, or the words before it in a list of arguments.
pub fn redact_json(value: Value) -> Redacted<Value> {
    Redacted::unseen(value)
}

/// An id, a tool's name or another short word of a log, without any secret. The same id always
/// becomes the same text. An ordinary one is returned unchanged, and costs next to nothing.
pub fn redact_id(id: &str) -> Cow<'_, str> {
    if is_ordinary_id(id) { Cow::Borrowed(id) } else { secrets::replace(id) }
}

/// True if an id has a form that no rule matches: digits and lower case letters up to `f` between
/// dashes, as in UUIDs and hashes.
fn is_ordinary_id(id: &str) -> bool {
    id.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f' | b'-'))
}

impl Scrub for String {
    fn scrubbed(&self) -> Option<String> {
        match secrets::replace(self) {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(clean),
        }
    }
}

impl Scrub for Value {
    fn scrubbed(&self) -> Option<Value> {
        json::scrubbed(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<Option<bool>>().prop_map(|is| is.map_or(Value::Null, Into::into)),
            any::<i64>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(3, 20, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
                proptest::collection::btree_map(any::<String>(), inner, 0..5)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn every_byte_of_a_text_is_counted_as_it_is_written() {
        let all: String = (0..=300u32).filter_map(char::from_u32).collect();
        let value = json!({ all.clone(): [all, -1.5, 1e300, [], {}] });
        assert_eq!(redact_json(value.clone()).given_bytes(), value.to_string().len() as u64);
    }

    #[test]
    fn ordinary_ids_stay_and_tokens_go() {
        for id in
            ["3f2a0c1e-0000-4000-8000-00000000beef", "toolu_01AbCdEfGhIjKlMnOpQrStUv", "call_9", "", "msg-1"]
        {
            assert!(matches!(redact_id(id), Cow::Borrowed(same) if same == id), "{id}");
        }
        let token = format!("gh{}_{}", "p", "k7Tq0ZpX4mWvR2sLk7Tq0ZpX4mWvR2sLa8Kd");
        assert_eq!(redact_id(&token), "[redacted:github-token]");
        assert_eq!(redact_id(&redact_id(&token)), redact_id(&token));
    }

    proptest! {
        #[test]
        fn no_rule_knows_an_ordinary_id(id in "[0-9a-f-]{0,80}") {
            prop_assert!(is_ordinary_id(&id));
            prop_assert_eq!(secrets::find(&id), []);
        }

        #[test]
        fn as_many_bytes_are_counted_as_are_written(value in value()) {
            let written = value.to_string().len() as u64;
            prop_assert_eq!(redact_json(value).given_bytes(), written);
        }
    }
}
