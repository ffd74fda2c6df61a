//! Parsing text into the tree, and converting the tree for an event.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::fmt;

use super::tree::{Json, List, Object};

/// The initial capacity of an object, in fields: most objects of a log have no more.
pub(super) const FIELDS: usize = 8;

impl<'de: 'a, 'a> Deserialize<'de> for Json<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Tree;

        impl<'de> Visitor<'de> for Tree {
            type Value = Json<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("any valid JSON value")
            }

            fn visit_unit<E>(self) -> Result<Json<'de>, E> {
                Ok(Json::Null)
            }

            fn visit_bool<E>(self, is: bool) -> Result<Json<'de>, E> {
                Ok(Json::Bool(is))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Json<'de>, E> {
                Ok(Json::Number(number.into()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Json<'de>, E> {
                Ok(Json::Number(number.into()))
            }

            fn visit_f64<E>(self, number: f64) -> Result<Json<'de>, E> {
                Ok(Number::from_f64(number).map_or(Json::Null, Json::Number))
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Json<'de>, E> {
                Ok(Json::String(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Json<'de>, E> {
                Ok(Json::String(Cow::Owned(text.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json<'de>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    items.push(item);
                }
                Ok(Json::Array(List::Held(items)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json<'de>, A::Error> {
                let mut fields = Vec::new();
                while let Some(Name(name)) = map.next_key()? {
                    if fields.is_empty() {
                        fields.reserve_exact(FIELDS);
                    }
                    fields.push((name, map.next_value()?));
                }
                Ok(Json::Object(Object::new(List::Held(fields))))
            }
        }

        from.deserialize_any(Tree)
    }
}

/// The name of a field, borrowed if possible.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(text.to_owned())))
            }
        }

        from.deserialize_str(Text)
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Json::Null => to.serialize_unit(),
            Json::Bool(is) => to.serialize_bool(*is),
            Json::Number(number) => number.serialize(to),
            Json::String(text) => to.serialize_str(text),
            Json::Array(items) => to.collect_seq(items.iter()),
            Json::Object(fields) => to.collect_map(fields),
        }
    }
}

/// Serializes as JSON, with names in order.
impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl From<Value> for Json<'static> {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Json::Null,
            Value::Bool(is) => Json::Bool(is),
            Value::Number(number) => Json::Number(number),
            Value::String(text) => Json::String(Cow::Owned(text)),
            Value::Array(items) => Json::Array(List::Held(items.into_iter().map(Json::from).collect())),
            Value::Object(fields) => Json::Object(Object::new(List::Held(
                fields.into_iter().map(|(name, value)| (Cow::Owned(name), Json::from(value))).collect(),
            ))),
        }
    }
}
