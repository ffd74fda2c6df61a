//! A fast parser from a line to its tree, for JSON as programs write it.
//!
//! A general parser took a third of the time to read a log. This parser handles the JSON that
//! occurs in logs and gives up (`None`) on the rest: invalid JSON, raw control characters,
//! excessive nesting. `serde_json` then parses the line, and reports the error if there is one.
//! Both give equal trees for any line that both accept.

use bumpalo::collections::{String, Vec};
use std::borrow::Cow;

use super::convert::FIELDS;
use super::tree::{Json, List, Object, Room};

/// Greatest nesting, as `serde_json` allows it.
const DEPTH_MAX: u8 = 127;

/// Bytes of a string that are scanned eight at a time. Most strings end before. Longer ones justify
/// the setup of a search that takes larger steps.
const SHORT: usize = 32;

/// Digits that always fit into the number type.
const DIGITS_MAX: usize = 18;

/// The tree of a line. `None` if the fast path cannot parse it. Nothing in it owns memory.
pub(super) fn parse<'a>(line: &'a str, room: &'a Room) -> Option<Json<'a>> {
    // No early exit, so that the compiler can check many bytes at once.
    let has_controls = line.bytes().fold(false, |so_far, byte| so_far | (byte < b' '));
    if has_controls {
        return None;
    }
    let mut quick = Quick { text: line, at: 0, room };
    let json = quick.value(DEPTH_MAX)?;
    quick.skip_spaces();
    (quick.at == line.len()).then_some(json)
}

struct Quick<'a> {
    text: &'a str,
    at: usize,
    room: &'a Room,
}

impl<'a> Quick<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips spaces. Other white space cannot occur: control characters were excluded before.
    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Takes the next byte that is not a space.
    fn next(&mut self) -> Option<u8> {
        self.skip_spaces();
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn value(&mut self, depth: u8) -> Option<Json<'a>> {
        match self.next()? {
            b'"' => self.string().map(Cow::Borrowed).map(Json::String),
            b'{' => self.object(depth.checked_sub(1)?),
            b'[' => self.array(depth.checked_sub(1)?),
            b't' => self.word("rue", Json::Bool(true)),
            b'f' => self.word("alse", Json::Bool(false)),
            b'n' => self.word("ull", Json::Null),
            b'-' | b'0'..=b'9' => self.number(self.at - 1),
            _ => None,
        }
    }

    fn word(&mut self, rest: &str, json: Json<'a>) -> Option<Json<'a>> {
        let is_there = self.text.get(self.at..)?.starts_with(rest);
        self.at += rest.len();
        is_there.then_some(json)
    }

    fn object(&mut self, depth: u8) -> Option<Json<'a>> {
        match self.next()? {
            b'}' => return Some(Json::Object(Object::new(List::Lent(&[])))),
            b'"' => {}
            _ => return None,
        }
        let mut fields = Vec::with_capacity_in(FIELDS, &self.room.memory);
        loop {
            let name = self.string()?;
            if self.next()? != b':' {
                return None;
            }
            fields.push((Cow::Borrowed(name), self.value(depth)?));
            match self.next()? {
                b'}' => return Some(Json::Object(Object::new(List::Lent(fields.into_bump_slice())))),
                b',' if self.next()? == b'"' => {}
                _ => return None,
            }
        }
    }

    fn array(&mut self, depth: u8) -> Option<Json<'a>> {
        self.skip_spaces();
        if self.peek()? == b']' {
            self.at += 1;
            return Some(Json::Array(List::Lent(&[])));
        }
        let mut items = Vec::new_in(&self.room.memory);
        loop {
            items.push(self.value(depth)?);
            match self.next()? {
                b']' => return Some(Json::Array(List::Lent(items.into_bump_slice()))),
                b',' => {}
                _ => return None,
            }
        }
    }

    /// A non-negative integer. All others are left to `serde_json`.
    fn number(&mut self, start: usize) -> Option<Json<'a>> {
        let bytes = self.text.as_bytes().get(start..)?;
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
        let (mut number, mut length) = (0u64, 0);
        for digit in digits.take(DIGITS_MAX) {
            number = number * 10 + u64::from(digit - b'0');
            length += 1;
        }
        let is_usual = length == 1 || bytes.first() != Some(&b'0');
        match bytes.get(length) {
            Some(b',' | b'}' | b']' | b' ') | None if length > 0 && is_usual => {
                self.at = start + length;
                Some(Json::Number(number.into()))
            }
            _ => {
                let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                self.at = start + bytes.iter().take_while(is_part).count();
                serde_json::from_str(self.text.get(start..self.at)?).ok()
            }
        }
    }

    /// The rest of a string, after its opening quote.
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        let end = start + unescaped(self.text.as_bytes().get(start..)?)?;
        let plain = self.text.get(start..end)?;
        if self.text.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return Some(plain);
        }
        let mut text = String::with_capacity_in(2 * plain.len() + SHORT, &self.room.memory);
        text.push_str(plain);
        self.at = end;
        loop {
            // A backslash, or the end.
            let escape = self.text.as_bytes().get(self.at + 1);
            if self.peek()? == b'"' {
                self.at += 1;
                return Some(text.into_bump_str());
            }
            match escape? {
                b'n' => text.push('\n'),
                b't' => text.push('\t'),
                b'r' => text.push('\r'),
                b'b' => text.push('\u{8}'),
                b'f' => text.push('\u{c}'),
                byte @ (b'"' | b'\\' | b'/') => text.push(char::from(*byte)),
                b'u' => return self.coded(start),
                _ => return None,
            }
            let from = self.at + 2;
            self.at = from + unescaped(self.text.as_bytes().get(from..)?)?;
            text.push_str(self.text.get(from..self.at)?);
        }
    }

    /// A string with escapes.
    fn coded(&mut self, start: usize) -> Option<&'a str> {
        while self.peek()? == b'\\' {
            let from = self.at + 2;
            self.at = from + unescaped(self.text.as_bytes().get(from..)?)?;
        }
        self.at += 1;
        match serde_json::from_str(self.text.get(start - 1..self.at)?).ok()? {
            Json::String(text) => Some(self.room.memory.alloc_str(&text)),
            _ => None,
        }
    }
}

/// The number of bytes before the first quote or backslash.
fn unescaped(bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = u64::from_ne_bytes([0x80; 8]);
    // The lowest set bit is right. Those above it may not be.
    let zeros = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let mut at = 0;
    while at < SHORT
        && let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk::<8>)
    {
        let word = u64::from_le_bytes(*eight);
        let hits = zeros(word ^ (LOW * u64::from(b'"'))) | zeros(word ^ (LOW * u64::from(b'\\')));
        if hits != 0 {
            return Some(at + hits.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr::memchr2(b'"', b'\\', bytes.get(at..)?).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::{Json, Room};
    use proptest::prelude::*;

    /// The parsed tree, without a borrow of the room.
    fn parse(text: &str) -> Option<Json<'static>> {
        let room = Room::default();
        super::parse(text, &room).map(|json| Json::from(json.value()))
    }

    fn slow(text: &str) -> Option<Json<'_>> {
        serde_json::from_str(text).ok()
    }

    #[test]
    fn what_logs_are_made_of_is_read_here() {
        for text in [
            r#"{"a":"b","c":[1,2,{"d":null}],"e":true,"f":false,"g":-1.5e3,"h":0,"i":""}"#,
            r#" { "a" : [ ] , "b" : { } , "a" : "again" } "#,
            r#""a line\nand \"another\", \\ \/ \b \f \r \t""#,
            r#""\u00e9 \ud83d\ude00 and more than thirty-two bytes before the \n next""#,
            r#"["plain and long enough that it is searched in larger steps, é, 日本", 18446744073709551615]"#,
            "123456789012345678",
            "1234567890123456789012",
            "-0",
        ] {
            assert!(slow(text).is_some(), "{text}");
            assert_eq!(parse(text), slow(text), "{text}");
        }
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(parse(&deep(127)), slow(&deep(127)));
        assert_eq!((parse(&deep(128)), slow(&deep(128))), (None, None));
    }

    #[test]
    fn what_is_not_usual_is_left_to_others() {
        for text in [
            "",
            " ",
            "{",
            "}",
            "[1,]",
            "[,1]",
            "{\"a\":1,}",
            "{a:1}",
            "{\"a\"}",
            "{\"a\":}",
            "tru",
            "nul",
            "1 2",
            "01",
            "1.",
            ".5",
            "+1",
            "1e",
            "-",
            "\"",
            "\"\\\"",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"a\nb\"",
            "[\"a\" \"b\"]",
            "{\"a\":1 \"b\":2}",
            "nulll",
            "[1}",
            "\u{feff}1",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    /// Fragments of JSON in any order: some are whole values, most are not.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("{"),
            Just("}"),
            Just("["),
            Just("]"),
            Just(","),
            Just(":"),
            Just("\""),
            Just("\\"),
            Just(" "),
            Just("\"a\""),
            Just("\"name\":"),
            Just("null"),
            Just("true"),
            Just("0"),
            Just("-"),
            Just("17"),
            Just("1.5"),
            Just("e3"),
            Just("\\n"),
            Just("\\u00e9"),
            Just("\\ud800"),
            Just("é"),
            Just("\t"),
        ];
        proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<Option<bool>>().prop_map(|is| is.map_or(serde_json::Value::Null, Into::into)),
            any::<u64>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<f64>().prop_map(Into::into),
            "\\PC{0,60}".prop_map(Into::into),
            any::<String>().prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                proptest::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_is_read_as_it_was_written(value in value(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            let text = text.unwrap();
            // The fast parser rejects a text with line breaks.
            let expected = if text.contains('\n') { None } else { slow(&text) };
            prop_assert_eq!(parse(&text), expected);
        }

        #[test]
        fn whatever_it_reads_is_read_so_by_everybody(text in pieces()) {
            if let Some(json) = parse(&text) {
                prop_assert_eq!(Some(json), slow(&text));
            }
        }
    }
}
