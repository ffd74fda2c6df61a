//! A line as a reader sees it: without JSON escapes, colour codes and zero-width characters, and with
//! decoded URL characters such as `%3A`.
//!
//! JSON inside a JSON string keeps its escapes: a `\u003d` or `\/` then splits a token in two.
//! `grep --color=always` puts codes around its match, and a connection string in a query is
//! percent-encoded. The other escapes of JSON end a token or separate the lines of a key, and the
//! rules handle them.

use memchr::{memchr, memchr2, memchr3, memrchr};
use std::ops::Range;

/// The encoding that a reading resolves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// JSON escapes and terminal codes.
    Escapes,
    /// Percent-encoded characters as well.
    Percents,
    /// Zero-width characters as well. A token that contains one still looks whole.
    Unseen,
}

/// A decoded line, and where its bytes came from.
pub(super) struct Reading {
    text: Vec<u8>,
    changes: Vec<Change>,
}

/// One place where a reading differs from the text.
struct Change {
    /// Its offset in the reading.
    at: usize,
    /// Its length there in bytes: 1, or 0 for an invisible one.
    length: usize,
    /// One past its last byte in the original.
    original_end: usize,
}

/// The longest terminal code in bytes: a link contains an address.
const CODE_BYTES_MAX: usize = 4096;

/// Each line of a text that reads differently, with its offset. A JSON string never spans lines.
pub(super) fn lines(text: &[u8], kind: Kind) -> impl Iterator<Item = (usize, Reading)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let change = from + next_change(text.get(from..)?, kind)?;
            let start = memrchr(b'\n', text.get(from..change)?).map_or(from, |end| from + end + 1);
            let end = memchr(b'\n', text.get(change..)?).map_or(text.len(), |end| change + end);
            from = end;
            if let Some(line) = Reading::of(text.get(start..end)?, kind) {
                return Some((start, line));
            }
        }
    })
}

/// The first position that may read differently.
fn next_change(text: &[u8], kind: Kind) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text.get(at..)?;
        let found = match kind {
            Kind::Escapes => memchr3(b'\\', ESCAPE, b'^', rest),
            Kind::Percents => memchr(b'%', rest),
            Kind::Unseen if rest.is_ascii() => None,
            Kind::Unseen => rest.iter().position(|&byte| begins_unseen(byte)),
        };
        let place = at + found?;
        if change(text.get(place..)?, kind).is_some() {
            return Some(place);
        }
        // The escape after this run of backslashes was already checked.
        at = place + slashes(text.get(place..)?).max(1);
    }
}

impl Reading {
    /// The reading of a line. `None` if it is the same as the original.
    fn of(original: &[u8], kind: Kind) -> Option<Reading> {
        let mut reading = Reading { text: Vec::with_capacity(original.len()), changes: Vec::new() };
        let mut is_of_kind = false;
        let mut rest = original;
        while let Some(place) = next_sign(rest, kind) {
            let (plain, from) = rest.split_at(place);
            reading.text.extend_from_slice(plain);
            let Some((length, character)) = change(from, kind) else {
                // Backslashes before other characters all stay.
                let slashes = slashes(from).max(1);
                reading.text.extend_from_slice(from.get(..slashes)?);
                rest = from.get(slashes..)?;
                continue;
            };
            is_of_kind |= match kind {
                Kind::Escapes => true,
                Kind::Percents => from.first() == Some(&b'%'),
                Kind::Unseen => !from.first().is_some_and(u8::is_ascii),
            };
            rest = from.get(length..)?;
            reading.changes.push(Change {
                at: reading.text.len(),
                length: usize::from(character.is_some()),
                original_end: original.len() - rest.len(),
            });
            reading.text.extend(character);
        }
        reading.text.extend_from_slice(rest);
        is_of_kind.then_some(reading)
    }

    /// The decoded text.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The range in the original of a part of the reading. Invisible characters at its ends are
    /// excluded.
    pub(super) fn place(&self, part: &Range<usize>) -> Range<usize> {
        let start = self.changes.partition_point(|change| change.at + change.length <= part.start);
        let end = self.changes.partition_point(|change| change.at < part.end);
        self.offset(start, part.start)..self.offset(end, part.end)
    }

    /// The offset in the original of `at`, after this many changes.
    fn offset(&self, changes: usize, at: usize) -> usize {
        match changes.checked_sub(1).and_then(|last| self.changes.get(last)) {
            Some(change) => change.original_end + at.saturating_sub(change.at + change.length),
            None => at,
        }
    }
}

const ESCAPE: u8 = 0x1b;
const BELL: u8 = 7;

/// The next character that may begin a change.
fn next_sign(text: &[u8], kind: Kind) -> Option<usize> {
    match kind {
        Kind::Escapes => memchr3(b'\\', ESCAPE, b'^', text),
        Kind::Percents => text.iter().position(|byte| matches!(byte, b'%' | b'\\' | &ESCAPE | b'^')),
        Kind::Unseen => {
            text.iter().position(|&byte| matches!(byte, b'\\' | ESCAPE | b'^') || begins_unseen(byte))
        }
    }
}

/// The length of the change at the beginning of `text`, and the character that it reads as. The
/// inner `None`: it is invisible.
fn change(text: &[u8], kind: Kind) -> Option<(usize, Option<u8>)> {
    match text.first()? {
        b'%' if kind == Kind::Percents => percent(text).map(|(length, byte)| (length, Some(byte))),
        b'\\' => code(text)
            .map(|length| (length, None))
            .or_else(|| escape(text).map(|(length, byte)| (length, Some(byte))))
            .or_else(|| unseen_escape(text).map(|length| (length, None))),
        byte if begins_unseen(*byte) => unseen(text).map(|length| (length, None)),
        _ => code(text).map(|length| (length, None)),
    }
}

/// The length and character of the escape at the beginning of `text`: any number of backslashes,
/// for JSON in JSON in JSON, and a printable ASCII character.
fn escape(text: &[u8]) -> Option<(usize, u8)> {
    let slashes = slashes(text);
    match text.get(slashes..)? {
        [b'/', ..] => Some((slashes + 1, b'/')),
        [b'u', b'0', b'0', high, low, ..] => {
            let code = hex(*high, *low)?;
            is_printable(code).then_some((slashes + 5, code))
        }
        _ => None,
    }
}

/// True if a zero-width character may begin with this byte.
fn begins_unseen(byte: u8) -> bool {
    matches!(byte, 0xc2 | 0xcd | 0xe1 | 0xe2 | 0xef | 0xf3)
}

/// The length of the zero-width character at the beginning of `text`: soft hyphen, joiners,
/// zero-width spaces, direction marks, variation selectors, tags.
fn unseen(text: &[u8]) -> Option<usize> {
    match text {
        [0xc2, 0xad, ..] | [0xcd, 0x8f, ..] => Some(2),
        [0xe1, 0xa0, 0x8b..=0x8f, ..] | [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] => Some(3),
        [0xe2, 0x81, 0xa0..=0xaf, ..] | [0xef, 0xbb, 0xbf, ..] | [0xef, 0xb8, 0x80..=0x8f, ..] => Some(3),
        [0xf3, 0xa0, 0x80 | 0x81 | 0x84..=0x87, _, ..] => Some(4),
        _ => None,
    }
}

/// The length of a zero-width character that is written as a JSON escape.
fn unseen_escape(text: &[u8]) -> Option<usize> {
    let slashes = slashes(text);
    let [b'u', digits @ ..] = text.get(slashes..slashes + 5)? else { return None };
    let code = u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    let mut bytes = [0; 4];
    let character = char::from_u32(code)?.encode_utf8(&mut bytes).as_bytes();
    unseen(character).map(|_| slashes + 5)
}

/// The length and character of the percent-encoding at the beginning of `text`, encoded any number
/// of times: `%3A`, `%253A`.
fn percent(text: &[u8]) -> Option<(usize, u8)> {
    let mut at = 1;
    while text.get(at..)?.starts_with(b"25") && text.get(at + 2..at + 4).is_some_and(is_hex) {
        at += 2;
    }
    let [high, low] = *text.get(at..at + 2)? else { return None };
    let code = hex(high, low)?;
    is_printable(code).then_some((at + 2, code))
}

fn slashes(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b'\\').count()
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn is_hex(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_hexdigit)
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

/// The length of the terminal code at the beginning of `text`, real or escaped: colours, cursor
/// moves, links, character sets.
fn code(text: &[u8]) -> Option<usize> {
    let start = match text {
        [ESCAPE, ..] => 1,
        // As `cat -v` shows it.
        [b'^', b'[', b'[', ..] => 2,
        [b'\\', ..] => {
            const WRITTEN: [&[u8]; 6] = [b"u001b", b"u001B", b"x1b", b"x1B", b"e", b"033"];
            let slashes = slashes(text);
            let rest = text.get(slashes..)?;
            slashes + WRITTEN.iter().find(|name| rest.starts_with(name))?.len()
        }
        _ => return None,
    };
    let behind = text.get(start..text.len().min(start + CODE_BYTES_MAX))?;
    let length = match behind {
        [b'[', code @ ..] => {
            let length = code.iter().take_while(|byte| matches!(byte, b' '..=b'?')).count();
            matches!(code.get(length)?, b'@'..=b'~').then_some(length + 2)?
        }
        [b']', link @ ..] => {
            let end = memchr2(BELL, ESCAPE, link)?;
            match link.get(end..)? {
                [BELL, ..] => end + 2,
                [ESCAPE, b'\\', ..] => end + 3,
                _ => return None,
            }
        }
        [b'(' | b')', b'0' | b'A' | b'B', ..] if start == 1 => 2,
        [b'7' | b'8' | b'=' | b'>', ..] if start == 1 => 1,
        _ => return None,
    };
    Some(start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved_and_places_come_back() {
        let original = r"a\u0041b\/c\\u003dd\n";
        let view = Reading::of(original.as_bytes(), Kind::Escapes).expect("there are escapes");
        assert_eq!(view.text(), br"aAb/c=d\n");
        for (part, place) in
            [(0..1, "a"), (1..2, r"\u0041"), (2..5, r"b\/c"), (4..7, r"c\\u003dd"), (7..9, r"\n")]
        {
            assert_eq!(&original[view.place(&part)], place);
        }
    }

    #[test]
    fn codes_for_terminals_are_not_seen() {
        let link = "\u{1b}]8;;https://example.com\u{1b}\\";
        for code in [
            "\u{1b}[01;31m\u{1b}[K",
            "\u{1b}[m",
            "\u{1b}[38;2;1;2;3m",
            "\u{1b}(B\u{1b}[m",
            r"\u001b[32m",
            r"\\u001b[0m",
            r"\x1b[1m",
            r"\e[0m",
            r"\033[0;32m",
            "^[[31m",
            link,
            "\u{1b}]0;title\u{7}",
        ] {
            let original = format!("{code}ab{code}cd{code}e");
            let view = Reading::of(original.as_bytes(), Kind::Escapes).expect("there are codes");
            assert_eq!(view.text(), b"abcde", "{code:?}");
            assert_eq!(original[view.place(&(0..4))], format!("ab{code}cd"));
            assert_eq!(&original[view.place(&(2..4))], "cd");
        }
    }

    #[test]
    fn characters_without_width_are_not_seen() {
        let unseen = "\u{200b}\u{ad}\u{2060}\u{200d}\u{feff}\u{34f}\u{180e}\u{fe0f}\u{e0041}\u{202e}";
        for character in unseen.chars() {
            let original = format!("ab{character}cd");
            let view = Reading::of(original.as_bytes(), Kind::Unseen).expect("there is one");
            assert_eq!(view.text(), b"abcd", "{character:?}");
            assert_eq!(&original[view.place(&(0..4))], original);
            assert_eq!(&original[view.place(&(2..4))], "cd");
        }
        let view = Reading::of(br"ab\u200bc\ud", Kind::Escapes).expect("there is one");
        assert_eq!(view.text(), br"abc\ud");
        for text in ["héllo wörld", "日本語の→テキスト", "a\u{2028}b", "“x”", "plain"] {
            assert!(lines(text.as_bytes(), Kind::Unseen).next().is_none(), "{text}");
        }
    }

    #[test]
    fn signs_of_a_url_are_resolved() {
        let original = "a%3A%2f%252Fb%7Ec%0Ad%zz%4";
        let view = Reading::of(original.as_bytes(), Kind::Percents).expect("there are signs");
        assert_eq!(view.text(), b"a://b~c%0Ad%zz%4");
        for (part, place) in [(1..2, "%3A"), (3..5, "%252Fb"), (4..7, "b%7Ec")] {
            assert_eq!(&original[view.place(&part)], place);
        }
    }

    #[test]
    fn only_lines_that_read_differently_are_resolved() {
        let text = "a\n\\u0041b\nc\nd\\/e";
        let found: Vec<_> = lines(text.as_bytes(), Kind::Escapes).map(|(at, line)| (at, line.text)).collect();
        assert_eq!(found, [(2, b"Ab".to_vec()), (12, b"d/e".to_vec())]);
    }

    #[test]
    fn text_that_reads_as_it_is_written_is_not_copied() {
        for text in ["plain", r"a\nb", r"\u001b", r"\u00", r"\u00zz", r"\\", "\u{1b}", "a^b", "^[x"] {
            assert!(lines(text.as_bytes(), Kind::Escapes).next().is_none(), "{text}");
            assert!(lines(text.as_bytes(), Kind::Percents).next().is_none(), "{text}");
        }
        for text in ["100%", "%d of %s", "%0A", "50% 40%", r"\u0041\/"] {
            assert!(lines(text.as_bytes(), Kind::Percents).next().is_none(), "{text}");
        }
    }
}
