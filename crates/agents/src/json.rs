//! From the bytes of a line to JSON, forgiving what agents really write.

use serde_json::Value;

/// What was wrong with a line that could still be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mended {
    /// Nothing.
    No,
    /// Bytes that are not UTF-8 were read as U+FFFD.
    InvalidUtf8,
}

/// Reads one JSON value. Nesting deeper than 128 levels is refused, so that no
/// line can exhaust the stack.
pub(crate) fn parse(line: &[u8]) -> Result<(Value, Mended), String> {
    match serde_json::from_slice(line) {
        Ok(value) => Ok((value, Mended::No)),
        Err(error) => mend(line).ok_or_else(|| describe(&error)),
    }
}

/// The text of a JSON string without its quotes, whatever is wrong with its end.
pub(crate) fn text_of(escaped: &[u8]) -> String {
    let mut quoted = Vec::with_capacity(escaped.len() + 2);
    quoted.push(b'"');
    quoted.extend_from_slice(escaped);
    quoted.push(b'"');
    match parse(&quoted) {
        Ok((Value::String(text), _)) => text,
        _ => String::from_utf8_lossy(escaped).into_owned(),
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

/// A second, slow look at a line that is not JSON: halves of surrogate pairs
/// (JavaScript writes them when it cuts a string) and foreign bytes become U+FFFD.
fn mend(line: &[u8]) -> Option<(Value, Mended)> {
    let (text, mended) = match std::str::from_utf8(line) {
        Ok(text) => (text.to_owned(), Mended::No),
        Err(_) => (String::from_utf8_lossy(line).into_owned(), Mended::InvalidUtf8),
    };
    let text = whole_surrogates(&text);
    serde_json::from_str(&text).ok().map(|value| (value, mended))
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

/// Reading fields of records without asking twice whether they are there.
pub mod field {
    use retro_model::Timestamp;
    use serde_json::Value;

    /// The text of a field, if it is text.
    pub fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
        value.get(name)?.as_str()
    }

    /// The text of a field, if it is text and not empty.
    pub fn some<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
        text(value, name).filter(|text| !text.is_empty())
    }

    /// A count, if the field is a whole number that is not negative.
    pub fn count(value: &Value, name: &str) -> Option<u64> {
        value.get(name)?.as_u64()
    }

    /// Whether a field is `true`.
    pub fn is(value: &Value, name: &str) -> bool {
        value.get(name).and_then(Value::as_bool) == Some(true)
    }

    /// An RFC 3339 time, if the field holds one.
    pub fn time(value: &Value, name: &str) -> Option<Timestamp> {
        Timestamp::parse(text(value, name)?)
    }

    /// The elements of a field, none if it is no list.
    pub fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
        value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_surrogate_pair_is_read_as_a_replacement() {
        let (value, mended) = parse(br#"{"a":"x\ud83d","b":"\ud83d\ude00","c":"\\ud83d"}"#).unwrap();
        assert_eq!(value["a"], "x\u{fffd}");
        assert_eq!(value["b"], "😀");
        assert_eq!(value["c"], "\\ud83d");
        assert_eq!(mended, Mended::No);
    }

    #[test]
    fn foreign_bytes_are_read_and_said() {
        let (value, mended) = parse(b"{\"a\":\"x\xff\"}").unwrap();
        assert_eq!(value["a"], "x\u{fffd}");
        assert_eq!(mended, Mended::InvalidUtf8);
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        assert!(parse(b"{\"a\":").unwrap_err().contains("column"));
        assert!(parse("[".repeat(100_000).as_bytes()).is_err());
        assert!(parse(b"{\"a\":1e999}").is_err());
    }
}
