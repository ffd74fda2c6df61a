//! A JSON value that borrows its strings from the line it was read from. Its nodes are in the
//! [`Room`] of that line.
//!
//! It has the subset of the API of `serde_json::Value` that the adapters use, with the same names
//! and the same meaning: of several fields with one name the last counts, and fields are iterated
//! in the order of their names. [`Json::redacted`] makes the owned value that an event keeps.

use bumpalo::Bump;
use retro_text::{Redacted, redact_json};
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::ops::{Deref, Index};

/// Capacity that a room keeps for the next line, in bytes.
const ROOM_BYTES_MAX: usize = 1024 * 1024;

/// An arena for the trees of one line after the other. Nothing in it is freed separately.
#[derive(Debug, Default)]
pub struct Room {
    pub(super) memory: Bump,
}

impl Room {
    /// Empties the arena for the next line.
    pub(crate) fn clear(&mut self) {
        if self.memory.chunk_capacity() > ROOM_BYTES_MAX {
            self.memory = Bump::new();
        } else {
            self.memory.reset();
        }
    }
}

/// A borrowed JSON value.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Json<'a> {
    /// The literal `null`.
    #[default]
    Null,
    /// Either `true` or `false`.
    Bool(bool),
    /// An integer or a float.
    Number(Number),
    /// A string without its escapes.
    String(Cow<'a, str>),
    /// The elements of an array.
    Array(List<'a, Json<'a>>),
    /// The fields of an object.
    Object(Object<'a>),
}

impl<'a> Json<'a> {
    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.as_object()?.get(name)
    }

    /// The string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(is) => Some(*is),
            _ => None,
        }
    }

    /// The number, if it is a non-negative integer.
    pub fn as_u64(&self) -> Option<u64> {
        self.as_number()?.as_u64()
    }

    /// The number, if it is an integer.
    pub fn as_i64(&self) -> Option<i64> {
        self.as_number()?.as_i64()
    }

    /// The number as a float, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        self.as_number()?.as_f64()
    }

    fn as_number(&self) -> Option<&Number> {
        match self {
            Json::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The elements, if it is an array.
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

    /// True if it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Json::Null)
    }

    /// True if it is a string.
    pub fn is_string(&self) -> bool {
        matches!(self, Json::String(_))
    }

    /// True if it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, Json::Object(_))
    }

    /// An owned copy without secrets, in values and in names.
    pub fn redacted(&self) -> Redacted<Value> {
        redact_json(self.value())
    }

    /// An owned copy. Of equal names the last counts.
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

/// The value of a field, or `null` if it is missing.
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

/// A sequence of nodes, owned or borrowed.
#[derive(Debug, Clone)]
pub enum List<'a, T> {
    /// Owned by the list.
    Held(Vec<T>),
    /// Borrowed from a [`Room`]. Nothing in it owns memory.
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

/// A field's name and value.
type Field<'a> = (Cow<'a, str>, Json<'a>);

/// The fields of an object.
#[derive(Debug, Clone)]
pub struct Object<'a> {
    /// In the order of the log. A name may occur more than once.
    fields: List<'a, Field<'a>>,
}

impl<'a> Object<'a> {
    pub(super) fn new(fields: List<'a, Field<'a>>) -> Self {
        Object { fields }
    }

    /// Finds a field by its name. Objects are short or asked for few names, so there is no table.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.fields.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// True if there are no fields.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// Iterates over the names in order, each once, with its last value.
    pub fn iter(&self) -> std::vec::IntoIter<(&str, &Json<'a>)> {
        let mut sorted: Vec<(&str, &Json<'a>)> =
            self.fields.iter().rev().map(|(name, value)| (&**name, value)).collect();
        // The sort is stable: the last of equal names comes first and is kept.
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

/// These fields of an object, redacted. `None` if it has none of them.
pub(crate) fn pick(from: &Json<'_>, names: &[&str]) -> Option<Redacted<Value>> {
    let found = |name: &&str| {
        let value = from.get(name).filter(|value| !value.is_null())?;
        Some(((*name).to_owned(), value.value()))
    };
    let picked: Map<String, Value> = names.iter().filter_map(found).collect();
    (!picked.is_empty()).then(|| redact_json(picked.into()))
}
