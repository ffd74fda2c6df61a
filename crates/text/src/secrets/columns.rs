//! Values in a column below a telling name: `user,password` and the rows under it, a Markdown
//! table, the output of a database client.
//!
//! A name is the head of a column if it is alone in its cell. Every line below with as many cells
//! is a row, up to the first one with fewer. Each line is read once, however many names are in it.

use memchr::memchr;
use std::ops::Range;

use super::named::Form;
use super::plausible;
use super::rule::Rule;
use super::scan::{Hit, is_word, unmarked};

/// Columns of one table that are read.
const COLUMNS_MAX: usize = 4;
/// Blanks and marks between a name and the end of its cell.
const FRAME_BYTES_MAX: usize = 40;

/// A name that is alone in its cell.
pub(super) struct Head {
    pub(super) rule: &'static Rule,
    pub(super) name: Range<usize>,
}

/// A quick check: true if this name is alone in its cell.
pub(super) fn is_head(text: &[u8], name: &Range<usize>) -> bool {
    let before = text.get(name.start.saturating_sub(FRAME_BYTES_MAX)..name.start).unwrap_or_default();
    let behind = text.get(name.end..text.len().min(name.end + FRAME_BYTES_MAX)).unwrap_or_default();
    let begins = before.iter().rev().find(|&&byte| !is_frame(byte));
    let ends = behind.iter().find(|&&byte| !is_frame(byte));
    let (left, right) = (begins.copied().filter(|&byte| byte != b'\n'), ends.copied());
    let right = right.filter(|byte| !matches!(byte, b'\n' | b'\r'));
    match (left, right) {
        (None, None) => false,
        (left, right) => [left, right].into_iter().flatten().all(is_delimiter),
    }
}

/// Adds the values below these heads. The heads must be in order.
pub(super) fn add_hits(text: &[u8], heads: &[Head], hits: &mut Vec<Hit>) {
    let mut from = 0;
    for (number, head) in heads.iter().enumerate() {
        if head.name.start < from {
            continue;
        }
        let line = line_around(text, head.name.start);
        let Some(delimiter) = delimiter(text, &line, &head.name) else { continue };
        let Some(first) = text.get(line.clone()) else { continue };
        if delimiter != b'|' && !first.iter().all(|&byte| is_plain(byte) || byte == delimiter) {
            continue;
        }
        let of_line = heads.get(number..).unwrap_or_default().iter();
        let columns = of_line.take_while(|head| head.name.end <= line.end).take(COLUMNS_MAX);
        let columns: Vec<(&Head, usize)> = columns
            .map(|head| {
                let before = text.get(line.start..head.name.start).unwrap_or_default();
                (head, cells(before, delimiter).count() - 1)
            })
            .collect();
        from = add_rows(text, line.end, delimiter, cells(first, delimiter).count(), &columns, hits);
    }
}

/// Adds the values of these columns in the rows after `at`. Returns the end of the rows.
fn add_rows(
    text: &[u8],
    at: usize,
    delimiter: u8,
    width: usize,
    columns: &[(&Head, usize)],
    hits: &mut Vec<Hit>,
) -> usize {
    let mut at = at;
    while let Some(rest) = text.get(at + 1..) {
        let start = at + 1;
        let length = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..length).unwrap_or_default();
        let is_ruler = line.len() > 2
            && line.iter().all(|byte| matches!(byte, b'-' | b'+' | b'|' | b':' | b'=' | b' ' | b'\r'));
        if !is_ruler {
            let cells: Vec<Range<usize>> = cells(line, delimiter).collect();
            if cells.len() < width {
                break;
            }
            for (head, column) in columns {
                let Some(cell) = cells.get(*column).cloned() else { continue };
                let value = trimmed(line, cell);
                let span = start + value.start..start + value.end;
                let (rule, name) = (head.rule, text.get(head.name.clone()).unwrap_or_default());
                let parts =
                    unmarked(text, &span, |value| plausible::is_value(rule, name, value, Form::Quoted));
                let hit = |span| Hit { rule: rule.name, judge: rule.judge, span };
                hits.extend(parts.unwrap_or_default().into_iter().map(hit));
            }
        }
        at = start + length;
        if at >= text.len() {
            break;
        }
    }
    at
}

fn line_around(text: &[u8], at: usize) -> Range<usize> {
    let start = text.get(..at).and_then(|before| memchr::memrchr(b'\n', before)).map_or(0, |end| end + 1);
    let end = text.get(at..).and_then(|rest| memchr(b'\n', rest)).map_or(text.len(), |end| at + end);
    start..end
}

/// The delimiter of the cells in the line with this name.
fn delimiter(text: &[u8], line: &Range<usize>, name: &Range<usize>) -> Option<u8> {
    let behind = text.get(name.end..line.end)?.iter().find(|&&byte| is_delimiter(byte));
    let before = text.get(line.start..name.start)?.iter().rev().find(|&&byte| is_delimiter(byte));
    // A bar around a name is certain. A comma may be in a name beside it.
    match (before, behind) {
        (Some(b'|'), _) | (_, Some(b'|')) => Some(b'|'),
        (found, None) | (_, found) => found.copied(),
    }
}

/// The cells of a line. A delimiter between quotes or after a backslash does not count.
fn cells(line: &[u8], delimiter: u8) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let from = start?;
        let mut in_quotes = false;
        let mut at = from;
        while let Some(&byte) = line.get(at) {
            match byte {
                b'\\' => at += 1,
                b'"' if delimiter != b'|' => in_quotes = !in_quotes,
                _ if byte == delimiter && !in_quotes => {
                    start = Some(at + 1);
                    return Some(from..at);
                }
                _ => {}
            }
            at += 1;
        }
        start = None;
        Some(from..line.len().max(from))
    })
}

/// A cell without the characters around its value.
fn trimmed(line: &[u8], cell: Range<usize>) -> Range<usize> {
    let value = line.get(cell.clone()).unwrap_or_default();
    let is_value = |byte: &u8| !is_frame(*byte) && *byte != b'\r';
    let (Some(first), Some(last)) = (value.iter().position(is_value), value.iter().rposition(is_value))
    else {
        return cell.start..cell.start;
    };
    cell.start + first..cell.start + last + 1
}

fn is_delimiter(byte: u8) -> bool {
    matches!(byte, b',' | b';' | b'\t' | b'|')
}

fn is_frame(byte: u8) -> bool {
    matches!(byte, b' ' | b'"' | b'\'' | b'`' | b'*')
}

/// True if a character may be in the head of a table. Code has others.
fn is_plain(byte: u8) -> bool {
    is_word(byte) || is_frame(byte) || matches!(byte, b'-' | b'.' | b'\r' | 0x80..)
}
