//! A JSON value that borrows its texts from the line it was read from, and is in the
//! [`Room`] of that line.
//!
//! It offers what the adapters use of `serde_json::Value`, under the same names,
//! and means the same: of several fields with one name the last counts, and
//! fields are gone through in the order of their names. What an event keeps is
//! made of it with [`Json::redacted`].

use bumpalo::Bump;
use retro_text::{Redacted, redact_json};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::ops::{Deref, Index};

/// What a room keeps for the next line.
const ROOM_BYTES_MAX: usize = 1024 * 1024;

/// Memory for the trees of one line after the other: nothing in it is freed by itself.
#[derive(Debug, Default)]
pub struct Room {
    pub(super) memory: Bump,
}

impl Room {
    /// Makes room for the next line.
    pub(crate) fn clear(&mut self) {
        if self.memory.chunk_capacity() > ROOM_BYTES_MAX {
            self.memory = Bump::new();
        } else {
            self.memory.reset();
        }
    }
}

/// A value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Json<'a> {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(Cow<'a, str>),
    /// A list.
    Array(List<'a, Json<'a>>),
    /// Fields.
    Object(Object<'a>),
}

impl<'a> Json<'a> {
    /// A field of an object.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.as_object()?.get(name)
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(is) => Some(*is),
            _ => None,
        }
    }

    /// The number, if it is a whole one that is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number, if it is a whole one.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    fn as_number(&self) -> Option<&Number> {
        match self {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The elements, if it is a list.
    pub fn as_array(&self) -> Option<&[Json<'a>]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The fields, if it is an object.
    pub fn as_object(&self) -> Option<&Object<'a>> {
        match self {
            Json::Object(fields) => Some(fields),
            _ => None,
        }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// Whether it is a text.
    pub fn is_string(&self) -> bool {
        matches!(self, Json::String(_))
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Json::Object(_))
    }

    /// A copy that keeps, without its secrets; those in names too.
    pub fn redacted(&self) -> Redacted<Value> {
        redact_json(self.value())
    }

    /// As a tree of its own. Of equal names the last counts.
    pub(crate) fn value(&self) -> Value {
        match self {
            Json::Null => Value::Null,
            Json::Bool(is) => Value::Bool(*is),
            Json::Number(number) => Value::Number(number.clone()),
            Json::String(text) => Value::String(text.clone().into_owned()),
            Json::Array(items) => items.iter().map(Json::value).collect(),
            Json::Object(fields) => {
                let mut map = Map::new();
                for (name, value) in fields.fields.iter() {
                    map.insert(name.to_string(), value.value());
                }
                Value::Object(map)
            }
        }
    }
}

/// A field, `null` if there is none.
impl<'a> Index<&str> for Json<'a> {
    type Output = Json<'a>;

    fn index(&self, name: &str) -> &Json<'a> {
        self.get(name).unwrap_or(&Json::Null)
    }
}

impl PartialEq<&str> for Json<'_> {
    fn eq(&self, text: &&str) -> bool {
        self.as_str() == Some(*text)
    }
}

/// Some of a kind, one after the other.
#[derive(Debug, Clone)]
pub enum List<'a, T> {
    /// In memory of its own.
    Held(Vec<T>),
    /// In a [`Room`]: nothing there has memory of its own.
    Lent(&'a [T]),
}

impl<T> Deref for List<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            List::Held(all) => all,
            List::Lent(all) => all,
        }
    }
}

impl<T: PartialEq> PartialEq for List<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// A name and what it says.
type Field<'a> = (Cow<'a, str>, Json<'a>);

/// The fields of an object.
#[derive(Debug, Clone)]
pub struct Object<'a> {
    /// As they are in the log; a name may be there more than once.
    fields: List<'a, Field<'a>>,
}

impl<'a> Object<'a> {
    pub(super) fn new(fields: List<'a, Field<'a>>) -> Self {
        Object { fields }
    }

    /// The field of a name. Objects are short, or asked for few names: no table.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.fields.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Each name once, in order, with what it was said to be last.
    pub fn iter(&self) -> std::vec::IntoIter<(&str, &Json<'a>)> {
        let mut sorted: Vec<(&str, &Json<'a>)> =
            self.fields.iter().rev().map(|(name, value)| (&**name, value)).collect();
        // Stable: the last of equal names comes first, and is the one that stays.
        sorted.sort_by_key(|(name, _)| *name);
        sorted.dedup_by_key(|(name, _)| *name);
        sorted.into_iter()
    }
}

impl<'t, 'a> IntoIterator for &'t Object<'a> {
    type Item = (&'t str, &'t Json<'a>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Object<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// These fields of an object, redacted; none if it has none of them.
pub(crate) fn pick(from: &Json<'_>, names: &[&str]) -> Option<Redacted<Value>> {
    let found = |name: &&str| {
        let value = from.get(name).filter(|value| !value.is_null())?;
        Some(((*name).to_owned(), value.value()))
    };
    let picked: Map<String, Value> = names.iter().filter_map(found).collect();
    (!picked.is_empty()).then(|| redact_json(picked.into()))
}
