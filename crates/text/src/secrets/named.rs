//! A value beside a telling name, in the forms that programs, settings and people write:
//! `DB_PASSWORD=…`, `"api_key": "…"`, `define('DB_PASSWORD', '…')`, `<password>…</password>`,
//! `| token | … |`, `set -x DB_PASSWORD …`.
//!
//! Parsed by hand and not by a pattern, for two reasons. The end of a bare value depends on its
//! context, and random values contain every character that could end one. And text that repeats a
//! name must not be read again for each: the end of a run of characters is found once (`Runs`).

mod bare;
mod name;
mod quoted;

pub(super) use bare::Runs;
pub(super) use name::Names;

use super::marker;
use std::ops::Range;

/// How a value is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Between delimiters that mark its end.
    Quoted,
    /// Up to a blank, or another certain end.
    Run,
    /// Up to the first character that may end it.
    Short,
}

/// The value beside a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Beside {
    /// The value, read in up to two ways. The first one that is a secret counts.
    pub(super) values: [Option<(Range<usize>, Form)>; 2],
    pub(super) name: Range<usize>,
}

/// Longest value that is read.
pub(super) const VALUE_BYTES_MAX: usize = 8192;

/// The value beside the name that ends at `keyword`, if one follows.
pub(super) fn read(
    text: &[u8],
    keyword: &Range<usize>,
    name: Range<usize>,
    names: &Names,
    runs: &mut Runs,
) -> Option<Beside> {
    if marker::around(text, name.end) {
        return None;
    }
    let (at, link, in_quotes) = link(text, &name, names, names.is_weak(text, keyword))?;
    // The same name follows, and is read by itself.
    let again = text.get(name.start..at)?;
    if at > name.end && text.get(at..).is_some_and(|rest| rest.starts_with(again)) {
        return None;
    }
    let string = if in_quotes { None } else { bare::opened_by(text, name.start) };
    let quoted = |span| [Some((span, Form::Quoted)), None];
    if matches!(link, Link::Any | Link::BeforeQuote)
        && let Some(value) = quoted::block(text, at).or_else(|| quoted::triple(text, at))
    {
        return Some(Beside { values: quoted(value), name });
    }
    let values = match link {
        Link::Any | Link::BeforeQuote if bare::is_setting(text, &name) => {
            let at = colours(text, name.end + 1);
            let ends = |end: usize| text.get(end + 1).is_none_or(u8::is_ascii_whitespace);
            match quoted::quoted(text, at) {
                Some(quoted::Quoted { end: Some(end), start, .. }) if start == at + 1 && ends(end) => {
                    quoted(start..end)
                }
                _ => bare::values(text, &name, at, string, runs),
            }
        }
        Link::Tag => quoted(quoted::tag(text, at)?),
        Link::Cell => quoted(quoted::cell(text, at)?),
        Link::Any | Link::BeforeQuote => match quoted::quoted(text, at) {
            // The quote ends the string that contains the name.
            Some(found) if string.is_some_and(|string| found.mark == string) => return None,
            // A word of a command continues after the quote.
            Some(quoted::Quoted { end: Some(end), start, .. }) if names.is_option && goes_on(text, end) => {
                [Some((bare::word(text, at, runs), Form::Run)), Some((start..end, Form::Quoted))]
            }
            Some(quoted::Quoted { end: Some(end), start, .. }) => quoted(start..end),
            // The text was cut off here.
            Some(cut) => bare::values(text, &name, cut.start, None, runs),
            None if link == Link::BeforeQuote => return None,
            None => bare::values(text, &name, at, string, runs),
        },
    };
    Some(Beside { values, name })
}

/// True if a word continues after the quote at `end`.
fn goes_on(text: &[u8], end: usize) -> bool {
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b',' | b';' | b')' | b']' | b'}' | b'"' | b'\'' | b'`' | b'\\')
    };
    text.get(end + 1).is_some_and(|byte| !ends(byte))
}

/// The connection between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Link {
    /// An assignment or a similar operator.
    Any,
    /// An operator that only a quoted value follows.
    BeforeQuote,
    /// `<name>`.
    Tag,
    /// The line between two cells of a table.
    Cell,
}

/// A quote, and the number of backslashes before it.
type Mark = (u8, usize);

/// The offset of the value after a name, the connection, and whether the name is quoted.
fn link(text: &[u8], name: &Range<usize>, names: &Names, weak: bool) -> Option<(usize, Link, bool)> {
    let mut at = colours(text, name.end);
    let quote = at + slashes(text, at);
    let in_quotes = is_quote(text.get(quote));
    if in_quotes {
        at = quote + 1;
    }
    if text.get(at) == Some(&b']') {
        at += 1;
    }
    at = stars(text, at);
    let sign = colours(text, blanks(text, at));
    let before = text.get(..name.start)?;
    let any = if weak && sign > at { Link::BeforeQuote } else { Link::Any };
    let (behind, link) = match text.get(sign..)? {
        [b'=', b'>', ..] | [b':' | b'?', b'=', ..] => (sign + 2, any),
        [b'=', b'=', b'=', ..] => (sign + 3, Link::BeforeQuote),
        [b'=', b'=', ..] => (sign + 2, Link::BeforeQuote),
        [b'=', ..] => (sign + 1, any),
        [b':', b':', ..] => return None,
        [b':', ..] if weak => (sign + 1, Link::BeforeQuote),
        [b':', rest @ ..] => match annotation(rest) {
            Some(length) => (sign + 1 + length, Link::BeforeQuote),
            None => (sign + 1, Link::Any),
        },
        [b',', ..] if in_quotes && is_called(before) => (sign + 1, Link::BeforeQuote),
        [b'>', ..] if before.last() == Some(&b'<') => return Some((sign + 1, Link::Tag, in_quotes)),
        [b'|', ..] if is_cell(before) => return Some((sign + 1, Link::Cell, in_quotes)),
        rest if in_quotes && sign > at && rest.starts_with(b"value=") => (sign + 6, Link::BeforeQuote),
        _ if sign > at && (names.is_option || is_set(before)) => (sign, Link::Any),
        _ => return None,
    };
    Some((colours(text, blanks(text, stars(text, behind))), link, in_quotes))
}

/// Length of a type between a colon and `=`, as in `password: &str = "…"`.
fn annotation(behind_colon: &[u8]) -> Option<usize> {
    const BYTES_MAX: usize = 40;
    let fits = |byte: u8| {
        byte.is_ascii_alphanumeric()
            || matches!(byte, b'_' | b'&' | b'<' | b'>' | b'[' | b']' | b'.' | b'|' | b'?' | b' ' | b'\'')
    };
    let length = behind_colon.iter().take(BYTES_MAX).take_while(|&&byte| fits(byte)).count();
    let is_assigned = length > 1 && behind_colon.get(length) == Some(&b'=');
    let value = blanks(behind_colon, length + 1);
    (is_assigned && is_quote(behind_colon.get(value))).then_some(length + 1)
}

/// True if a quoted name is the first argument of a call.
fn is_called(before: &[u8]) -> bool {
    let quote = before.iter().rposition(|&byte| byte != b'\\' && !is_quote(Some(&byte)));
    quote.is_some_and(|at| at + 1 < before.len() && before[at] == b'(')
}

/// True if a name begins a cell of a table.
fn is_cell(before: &[u8]) -> bool {
    let rest = before.iter().rev().find(|&&byte| !matches!(byte, b' ' | b'\t' | b'`' | b'*'));
    rest == Some(&b'|')
}

/// True if a command that sets a variable precedes the name: `set -x`, `setenv`, `ENV`.
fn is_set(before: &[u8]) -> bool {
    const COMMAND_BYTES_MAX: usize = 16;
    let from = before.len().saturating_sub(COMMAND_BYTES_MAX);
    let Some(command) = before.get(from..).and_then(|end| end.strip_suffix(b" ")) else { return false };
    let mut words = command.rsplit(|byte| matches!(byte, b' ' | b'\n' | b'\t' | b'"' | b'\''));
    match words.next() {
        Some(b"setenv" | b"ENV" | b"ARG") => true,
        Some([b'-', flags @ ..]) => {
            !flags.is_empty() && flags.iter().all(u8::is_ascii_alphabetic) && words.next() == Some(b"set")
        }
        _ => false,
    }
}

/// Skips colour codes at `at`, real or escaped.
fn colours(text: &[u8], at: usize) -> usize {
    const ESCAPES: [&[u8]; 5] = [b"\x1b", br"\u001b", br"\x1b", br"\e", br"\033"];
    let mut at = at;
    while let Some(rest) = text.get(at..) {
        let code = ESCAPES.iter().find_map(|escape| rest.strip_prefix(*escape)?.strip_prefix(b"["));
        let Some(code) = code else { break };
        let digits = code.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
        if code.get(digits) != Some(&b'm') {
            break;
        }
        at = text.len() - code.len() + digits + 1;
    }
    at
}

/// Skips a few blanks.
fn blanks(text: &[u8], at: usize) -> usize {
    const BLANKS_MAX: usize = 8;
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take(BLANKS_MAX).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Skips the stars that make text bold.
fn stars(text: &[u8], at: usize) -> usize {
    let is_bold = text.get(at..).is_some_and(|rest| rest.starts_with(b"**"));
    at + if is_bold { 2 } else { 0 }
}

fn slashes(text: &[u8], at: usize) -> usize {
    const SLASHES_MAX: usize = 16;
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take(SLASHES_MAX).take_while(|&&byte| byte == b'\\').count()
}

fn is_quote(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b'"' | b'\'' | b'`'))
}
