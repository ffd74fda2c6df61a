//! Values without delimiters: up to a blank, or up to a character that ends them in their context.

use memchr::{memchr_iter, memchr3_iter, memmem, memrchr, memrchr3};
use std::ops::Range;

use super::{Form, Mark, VALUE_BYTES_MAX, slashes};
use crate::secrets::next::Next;
use crate::secrets::scan::is_word;
use crate::secrets::{marker, random};

/// The positions of characters that may end a value. Each is found once, however many names precede
/// it.
#[derive(Default)]
pub(in crate::secrets) struct Runs {
    blank: Next,
    sign: Next,
    escape: Next,
}

impl Runs {
    /// The next blank or control character.
    fn blank(&mut self, text: &[u8], at: usize) -> usize {
        self.blank.at(text, at, |rest| rest.iter().position(|&byte| byte <= b' ' || byte == 0x7f))
    }

    /// The next character that may end a bare value.
    fn sign(&mut self, text: &[u8], at: usize) -> usize {
        self.sign.at(text, at, |rest| rest.iter().position(|&byte| SIGNS[usize::from(byte)]))
    }

    /// The next line end, or character written as an escape.
    fn escape(&mut self, text: &[u8], at: usize) -> (usize, bool) {
        let find = |rest: &[u8]| {
            memchr_iter(b'\\', rest).find(|&slash| {
                matches!(rest.get(slash + 1), Some(b'n' | b'r' | b't')) || rest[slash..].starts_with(br"\u00")
            })
        };
        let place = self.escape.at(text, at, find);
        let before = text.get(at..place).unwrap_or_default();
        let slashes = before.iter().rev().take_while(|&&byte| byte == b'\\').count();
        (place - slashes, text.get(place + 1) == Some(&b'u'))
    }
}

static SIGNS: [bool; 256] = {
    let mut table = [false; 256];
    let signs = b"\"'`\\,;(){}[]<>&|$";
    let mut at = 0;
    while at < signs.len() {
        table[signs[at] as usize] = true;
        at += 1;
    }
    table
};

/// The two readings of a bare value at `at`: as long and as short as it may be.
pub(super) fn values(
    text: &[u8],
    name: &Range<usize>,
    at: usize,
    string: Option<Mark>,
    runs: &mut Runs,
) -> [Option<(Range<usize>, Form)>; 2] {
    let run_end = runs.blank(text, at);
    let (escape, is_character) = runs.escape(text, at);
    // Escaped characters are resolved elsewhere, and the rules then read the whole value.
    let to = if is_character { run_end.min(escape) } else { run_end };
    let window = text.get(at..to.min(at.saturating_add(VALUE_BYTES_MAX))).unwrap_or_default();
    let begins_line = begins_line(text, name.start);
    let ends_line = matches!(text.get(run_end), None | Some(b'\n' | b'\r'));
    let inside = match string {
        Some(quote) => up_to_quote(window, quote),
        // A line of its own: an apparent escaped line end is part of the value.
        None if begins_line == Some(Line::Real) && ends_line => window,
        // A random value continues after an apparent escaped line end.
        None if goes_on(window, escape - at) => window,
        None => window.get(..escape - at).unwrap_or(window),
    };
    let is_cut = inside.len() < window.len();
    let is_setting = text.get(at.wrapping_sub(1)) == Some(&b'=')
        && match begins_line {
            Some(Line::Real) => ends_line && !is_cut,
            Some(Line::Written) => is_cut,
            None => false,
        };
    let mut long = up_to_next_name(inside);
    if !is_setting && long.len() == inside.len() {
        long = trimmed(long);
    }
    let short = (runs.sign(text, at) - at).min(inside.len());
    // A value cut off by our own limit has no known end.
    let is_whole = |length: usize| length > 0 && length < VALUE_BYTES_MAX;
    let value = |length: usize, form| is_whole(length).then(|| (at..at + length, form));
    [value(long.len(), Form::Run), value(short, Form::Short)]
}

/// True if a value continues after an apparent escaped line end.
fn goes_on(window: &[u8], escape: usize) -> bool {
    /// The backslash and the letter, and the first word of a next line that is too short to judge.
    const ESCAPE_BYTES: usize = 2;
    const REST_BYTES_MIN: usize = 4;
    let rest = window.get(escape + ESCAPE_BYTES..).unwrap_or_default();
    rest.len() >= REST_BYTES_MIN && random::written_bits(rest) < -2 && random::is_random(window)
}

/// A word of a command from `at` to the next blank.
pub(super) fn word(text: &[u8], at: usize, runs: &mut Runs) -> Range<usize> {
    at..runs.blank(text, at).min(at.saturating_add(VALUE_BYTES_MAX))
}

/// The quote, with the number of backslashes before it, that opened the string around `at`. Only
/// the nearest quote on the line is checked, and only if it is near.
pub(super) fn opened_by(text: &[u8], at: usize) -> Option<Mark> {
    const NEAR_BYTES: usize = 256;
    let near = text.get(at.saturating_sub(NEAR_BYTES)..at)?;
    let line = memrchr(b'\n', near).map_or(near, |end| &near[end + 1..]);
    let place = memrchr3(b'"', b'\'', b'`', line)?;
    let depth = line[..place].iter().rev().take_while(|&&byte| byte == b'\\').count();
    let opens = match line[..place - depth].last() {
        None => near.len() < NEAR_BYTES || line.len() < near.len(),
        Some(before) => {
            matches!(before, b':' | b'[' | b'{' | b',' | b'(' | b'=' | b' ' | b'\t' | b'>' | b'$')
        }
    };
    // A separator follows a closing quote.
    let follows = !matches!(line.get(place + 1), Some(b',' | b':' | b';' | b']' | b'}' | b')' | b' '));
    (opens && follows).then(|| (line[place], depth))
}

/// Up to the quote that closes the string, or the escaped end of a line in it.
fn up_to_quote(window: &[u8], (quote, depth): Mark) -> &[u8] {
    let mut at = 0;
    while let Some(&byte) = window.get(at) {
        let run = slashes(window, at);
        match window.get(at + run) {
            Some(&found) if found == quote && run % (2 * (depth + 1)) == depth => return &window[..at],
            Some(b'n' | b'r' | b't') if run == 2 * depth + 1 => return &window[..at],
            _ => at += run + usize::from(run == 0 || byte != b'\\'),
        }
    }
    window
}

/// Up to the sign before another name and its value: `…&user=`, `…;Encrypt=`.
fn up_to_next_name(value: &[u8]) -> &[u8] {
    /// Bytes of a value, and of a name, that are read.
    const LOOK_BYTES: usize = 256;
    const NAME_BYTES: std::ops::RangeInclusive<usize> = 2..=32;
    let head = value.get(..LOOK_BYTES).unwrap_or(value);
    for at in memchr3_iter(b'&', b';', b',', head) {
        let sign = head[at];
        let rest = &head[at + 1..];
        let length = rest.iter().take_while(|&&byte| is_word(byte) || byte == b'-').count();
        let is_assigned = match rest.get(length) {
            Some(b'=') => true,
            Some(b':') => sign == b',',
            _ => false,
        };
        let name = &rest[..length];
        if is_assigned && NAME_BYTES.contains(&length) && random::written_bits(name) >= 0 {
            return &value[..at];
        }
    }
    value
}

/// Without trailing characters that belong to the text around the value.
fn trimmed(value: &[u8]) -> &[u8] {
    const SIGNS_MAX: usize = 8;
    let mut value = value;
    for _ in 0..SIGNS_MAX {
        let [rest @ .., last] = value else { break };
        let is_open = |open: u8| {
            rest.iter().filter(|&&byte| byte == open).count()
                > rest.iter().filter(|byte| *byte == last).count()
        };
        let goes = match last {
            b',' | b';' | b'"' | b'\'' | b'`' | b'\\' => true,
            b')' => !is_open(b'('),
            b']' => !is_open(b'[') && !marker::ends(value),
            b'}' => !is_open(b'{'),
            b'>' => !is_open(b'<'),
            _ => false,
        };
        if !goes {
            break;
        }
        value = rest;
    }
    value
}

/// True if a name and `=` begin a real line, as in a settings file or a list of environment
/// variables: the rest of the line is the value.
pub(super) fn is_setting(text: &[u8], name: &Range<usize>) -> bool {
    text.get(name.end) == Some(&b'=') && begins_line(text, name.start) == Some(Line::Real)
}

/// How a line begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Real,
    /// After a line end that is escaped as in JSON.
    Written,
}

/// Whether a name begins its line, after prefixes that programs add: `export`, the sign of a diff,
/// a line number.
fn begins_line(text: &[u8], name: usize) -> Option<Line> {
    const FRONT_BYTES_MAX: usize = 32;
    let near = text.get(name.saturating_sub(FRONT_BYTES_MAX)..name).unwrap_or_default();
    let (front, line) = match (memrchr(b'\n', near), memmem::rfind(near, b"\\n")) {
        (Some(end), _) => (&near[end + 1..], Line::Real),
        (None, Some(end)) => (&near[end + 2..], Line::Written),
        (None, None) if near.len() < FRONT_BYTES_MAX => (near, Line::Real),
        (None, None) => return None,
    };
    let is_front = |word: &[u8]| {
        matches!(word, b"export" | b"declare" | b"-x" | b"+" | b"-" | b"ENV" | b"set")
            || word
                .iter()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'|' | b'+' | b'-' | 0x80..))
    };
    front.split(|byte| matches!(byte, b' ' | b'\t')).all(is_front).then_some(line)
}
