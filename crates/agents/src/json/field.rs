//! Reading fields of records without asking twice whether they are there.

use retro_model::Timestamp;

use super::Json;

/// The text of a field, if it is text.
pub fn text<'a>(value: &'a Json<'_>, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// The text of a field, if it is text and not empty.
pub fn some<'a>(value: &'a Json<'_>, name: &str) -> Option<&'a str> {
    text(value, name).filter(|text| !text.is_empty())
}

/// A count, if the field is a whole number that is not negative.
pub fn count(value: &Json<'_>, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

/// Whether a field is `true`.
pub fn is(value: &Json<'_>, name: &str) -> bool {
    value.get(name).and_then(Json::as_bool) == Some(true)
}

/// An RFC 3339 time, if the field holds one.
pub fn time(value: &Json<'_>, name: &str) -> Option<Timestamp> {
    Timestamp::parse(text(value, name)?)
}

/// The elements of a field, none if it is no list.
pub fn list<'a, 't>(value: &'t Json<'a>, name: &str) -> &'t [Json<'a>] {
    value.get(name).and_then(Json::as_array).unwrap_or_default()
}
