//! Parses a line as JSON, and tolerates the errors that agents make.

mod convert;
pub mod field;
mod quick;
mod tree;

use std::borrow::Cow;

pub(crate) use tree::pick;
pub use tree::{Json, Object, Room};

/// The defect of a line that could still be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mended {
    /// No defect was found.
    No,
    /// Bytes that are not UTF-8 were read as U+FFFD.
    InvalidUtf8,
}

/// Reads one JSON value. Nesting deeper than 128 levels is refused, so that no line can exhaust the
/// stack. The value borrows from the line and the room, or from `spare` if the line had to be
/// repaired.
pub(crate) fn parse<'a>(
    line: &'a [u8],
    room: &'a Room,
    spare: &'a mut String,
) -> Result<(Json<'a>, Mended), String> {
    // UTF-8 is checked once for the whole line, not once for each string in it.
    let (error, mended) = match std::str::from_utf8(line) {
        Ok(text) => match quick::parse(text, room).map_or_else(|| serde_json::from_str(text), Ok) {
            Ok(json) => return Ok((json, Mended::No)),
            Err(error) => (Some(error), Mended::No),
        },
        Err(_) => (None, Mended::InvalidUtf8),
    };
    mend(line, spare);
    serde_json::from_str(spare).map(|json| (json, mended)).map_err(|mended_error| {
        let as_it_stands = || serde_json::from_slice::<Json<'_>>(line).err();
        describe(&error.or_else(as_it_stands).unwrap_or(mended_error))
    })
}

/// The text of an escaped JSON string without its quotes, even if its end is broken.
pub(crate) fn text_of(escaped: &[u8]) -> String {
    let mut quoted = Vec::with_capacity(escaped.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(escaped);
    quoted.push(b'"');
    match parse(&quoted, &Room::default(), &mut String::new()) {
        Ok((Json::String(text), _)) => text.into_owned(),
        _ => String::from_utf8_lossy(escaped).into_owned(),
    }
}

/// Parses a value that may be encoded as a string once more, as call arguments are. A string that
/// is not JSON stays a string.
pub(crate) fn unwrapped<'t>(value: Option<&'t Json<'t>>, room: &'t Room) -> Cow<'t, Json<'t>> {
    match value {
        Some(Json::String(text)) => {
            let json = quick::parse(text, room).or_else(|| serde_json::from_str(text).ok());
            Cow::Owned(json.unwrap_or(Json::String(Cow::Borrowed(text))))
        }
        Some(value) => Cow::Borrowed(value),
        None => Cow::Owned(Json::Null),
    }
}

fn describe(error: &serde_json::Error) -> String {
    let text = error.to_string();
    // The line number inside a line is always 1: only the column helps.
    match text.split_once(" at line 1") {
        Some((what, place)) => format!("{what}{place}"),
        None => text,
    }
}

/// A second, slower attempt to read a line that is not JSON. Lone surrogates (JavaScript writes
/// them when it cuts a string) and bytes that are not UTF-8 become U+FFFD.
fn mend(line: &[u8], mended: &mut String) {
    *mended = whole_surrogates(&String::from_utf8_lossy(line));
}

/// `text` with every lone `\ud800`-`\udfff` escape written as `\ufffd`.
fn whole_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match (escape(rest), rest.get(6..).and_then(escape)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => {
                out.push_str(&rest[..12]);
                12
            }
            (Some(0xD800..=0xDFFF), _) => {
                out.push_str("\\ufffd");
                6
            }
            _ => {
                // Any other escape is two bytes, the second possibly a character of several.
                let len = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..len]);
                len
            }
        };
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

/// The code unit of a `\uXXXX` escape at the start of `text`.
fn escape(text: &str) -> Option<u16> {
    let hex = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(hex, 16).ok()
}

/// `json!` of `serde_json`, for tests of code that reads records.
#[cfg(test)]
macro_rules! json_tree {
    ($($json:tt)+) => { $crate::Json::from(serde_json::json!($($json)+)) };
}
#[cfg(test)]
pub(crate) use json_tree;

#[cfg(test)]
mod tests;
