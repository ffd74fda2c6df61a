//! Values between delimiters: quotes, which may be escaped, tags, cells of a table.

use memchr::{memchr, memchr_iter};
use std::ops::Range;

use super::{Mark, VALUE_BYTES_MAX, blanks, colours, is_quote, slashes};

/// A value after a quote.
pub(super) struct Quoted {
    pub(super) mark: Mark,
    pub(super) start: usize,
    /// One past its last byte. `None` if it does not end on its line.
    pub(super) end: Option<usize>,
}

/// The value of the quote at `at`, if there is one.
pub(super) fn quoted(text: &[u8], at: usize) -> Option<Quoted> {
    // A letter before a quote: `b"…"`, `r"…"`, `$'…'`.
    let prefix = usize::from(
        matches!(text.get(at), Some(b'b' | b'r' | b'f' | b'u' | b'@' | b'$')) && is_quote(text.get(at + 1)),
    );
    let depth = slashes(text, at + prefix);
    let quote = *text.get(at + prefix + depth)?;
    if !is_quote(Some(&quote)) {
        return None;
    }
    let start = colours(text, at + prefix + depth + 1);
    let rest = text.get(start..text.len().min(start.saturating_add(VALUE_BYTES_MAX)))?;
    let line = memchr(b'\n', rest).map_or(rest, |end| &rest[..end]);
    let end = closing(line, quote, depth).map(|length| start + length);
    Some(Quoted { mark: (quote, depth), start, end })
}

/// The first line of a YAML block at `at`: `|` or `>`, and a value on an indented line below it.
pub(super) fn block(text: &[u8], at: usize) -> Option<Range<usize>> {
    text.get(at).filter(|byte| matches!(byte, b'|' | b'>'))?;
    let mut end = at + 1;
    while matches!(text.get(end), Some(b'-' | b'+' | b'1'..=b'9')) && end < at + 3 {
        end += 1;
    }
    let line = line_end(text, blanks(text, end))?;
    let start = blanks(text, line);
    if start == line {
        return None;
    }
    value_of_line(text, start, text.len())
}

/// The first line of the value between triple quotes.
pub(super) fn triple(text: &[u8], at: usize) -> Option<Range<usize>> {
    let is_prefix = matches!(text.get(at), Some(b'b' | b'r' | b'f' | b'u' | b'@'));
    let at = at + usize::from(is_prefix);
    let depth = slashes(text, at);
    let mark = text.get(at..=at + depth)?;
    if !is_quote(mark.last()) || mark.last() == Some(&b'`') {
        return None;
    }
    let marks = mark.repeat(3);
    let behind = text.get(at..)?.strip_prefix(&marks[..])?;
    let first = text.len() - behind.len();
    let start = line_end(text, blanks(text, first)).map_or(first, |line| blanks(text, line));
    let rest = text.get(start..text.len().min(start.saturating_add(VALUE_BYTES_MAX)))?;
    let end = memchr::memmem::find(rest, &marks).map_or(text.len(), |length| start + length);
    value_of_line(text, start, end)
}

/// The rest of the line from `start`, up to `to`, without trailing blanks.
fn value_of_line(text: &[u8], start: usize, to: usize) -> Option<Range<usize>> {
    let rest = text.get(start..to.min(start.saturating_add(VALUE_BYTES_MAX)))?;
    let line = memchr(b'\n', rest).map_or(rest, |end| &rest[..end]);
    let written = memchr::memmem::find(line, br"\n").unwrap_or(line.len());
    let line = line.get(..written)?.trim_ascii_end();
    let line = line.strip_suffix(br"\r").unwrap_or(line);
    (!line.is_empty()).then_some(start..start + line.len())
}

/// The offset after the line end at `at`, real or escaped as in JSON.
fn line_end(text: &[u8], at: usize) -> Option<usize> {
    let depth = slashes(text, at);
    match text.get(at + depth..)? {
        [b'\n', ..] if depth == 0 => Some(at + 1),
        [b'\r', b'\n', ..] if depth == 0 => Some(at + 2),
        [b'n', ..] if depth > 0 => Some(at + depth + 1),
        _ => None,
    }
}

/// How far after the first closing quote a better one is searched.
const SECOND_LOOK_BYTES: usize = 64;

/// Length of the value before its closing quote. Quotes inside are escaped once more than the
/// quotes around it. Shells have no escapes between single quotes.
fn closing(line: &[u8], quote: u8, depth: usize) -> Option<usize> {
    let escaped = closing_if(line, quote, depth, |slashes| slashes % (2 * (depth + 1)) == depth);
    match escaped {
        None if quote == b'\'' && depth == 0 => closing_if(line, quote, depth, |_| true),
        found => found,
    }
}

/// The first such quote, or the first one before a separator: if nothing is escaped, the others are
/// part of the value.
fn closing_if(line: &[u8], quote: u8, depth: usize, closes: impl Fn(usize) -> bool) -> Option<usize> {
    let mut first = None;
    for at in memchr_iter(quote, line) {
        if first.is_some_and(|first| at > first + SECOND_LOOK_BYTES) {
            break;
        }
        let slashes = line[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if !closes(slashes) {
            continue;
        }
        let length = at - depth.min(slashes);
        if ends_value(line.get(at + 1)) {
            return Some(length);
        }
        first.get_or_insert(length);
    }
    first
}

/// True if a value can have ended before this character.
fn ends_value(next: Option<&u8>) -> bool {
    next.is_none_or(|next| {
        next.is_ascii_whitespace()
            || matches!(
                next,
                b',' | b';'
                    | b')'
                    | b'}'
                    | b']'
                    | b':'
                    | b'<'
                    | b'>'
                    | b'\\'
                    | b'.'
                    | b'|'
                    | b'"'
                    | b'\''
                    | b'`'
                    | b'#'
            )
    })
}

/// Longest value of a tag or a cell.
const CELL_BYTES_MAX: usize = 256;

/// The text of a tag that ends with a closing tag.
pub(super) fn tag(text: &[u8], at: usize) -> Option<Range<usize>> {
    const DATA: &[u8] = b"<![CDATA[";
    let start = at + if text.get(at..)?.starts_with(DATA) { DATA.len() } else { 0 };
    let rest = text.get(start..text.len().min(start + CELL_BYTES_MAX))?;
    let length = memchr(b'<', rest).filter(|&end| rest.get(end + 1) == Some(&b'/'))?;
    let value = &rest[..length];
    let value = value.strip_suffix(b"]]>").unwrap_or(value);
    (!value.contains(&b'\n')).then_some(start..start + value.len())
}

/// The text of a cell, without characters that make it look like code.
pub(super) fn cell(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..text.len().min(at + CELL_BYTES_MAX))?;
    let length = memchr(b'|', rest)?;
    let is_frame = |byte: &u8| matches!(byte, b' ' | b'\t' | b'`');
    let start = rest[..length].iter().position(|byte| !is_frame(byte))?;
    let end = rest[..length].iter().rposition(|byte| !is_frame(byte))?;
    let value = &rest[start..=end];
    (!value.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'`'))
        .then_some(at + start..at + end + 1)
}
