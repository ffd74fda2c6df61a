//! Reading fields of records that may be missing.

use retro_model::Timestamp;

use super::Json;

/// The string of a field, if it is one.
pub fn text<'a>(value: &'a Json<'_>, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// The string of a field, if it is one and not empty.
pub fn some<'a>(value: &'a Json<'_>, name: &str) -> Option<&'a str> {
    text(value, name).filter(|text| !text.is_empty())
}

/// A count, if the field is a non-negative integer.
pub fn count(value: &Json<'_>, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

/// True if a field is `true`.
pub fn is(value: &Json<'_>, name: &str) -> bool {
    value.get(name).and_then(Json::as_bool) == Some(true)
}

/// An RFC 3339 time, if the field has one.
pub fn time(value: &Json<'_>, name: &str) -> Option<Timestamp> {
    Timestamp::parse(text(value, name)?)
}

/// The elements of a field. Empty if it is not an array.
pub fn list<'a, 't>(value: &'t Json<'a>, name: &str) -> &'t [Json<'a>] {
    value.get(name).and_then(Json::as_array).unwrap_or_default()
}
