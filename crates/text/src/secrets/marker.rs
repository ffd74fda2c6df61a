//! The replacement of a secret: `[redacted:<rule>]`.
//!
//! A marker is not a secret and does not hide one: rules read across it, and their findings are cut
//! around it. Therefore each round of redaction leaves less text outside of markers, and the last
//! one finds nothing.

use memchr::memmem;
use std::ops::Range;
use std::sync::LazyLock;

use super::rules;

const OPEN: &str = "[redacted:";
const CLOSE: u8 = b']';

/// Finds the beginning of a marker. Making one costs more than a short search.
static OPENING: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new(OPEN));

/// The longest rule name. A test checks the tables against it.
pub(super) const NAME_BYTES_MAX: usize = 40;

/// Appends a marker to `text`.
pub(super) fn write(text: &mut String, rule: &str) {
    text.push_str(OPEN);
    text.push_str(rule);
    text.push(char::from(CLOSE));
}

/// The parts of `span` outside of markers. A marker may begin before it and end after it. Only the
/// name of a rule makes a marker: brackets around anything else hide nothing.
pub(super) fn between(text: &[u8], span: &Range<usize>) -> Vec<Range<usize>> {
    const LONGEST: usize = OPEN.len() + NAME_BYTES_MAX + 1;
    let from = span.start.saturating_sub(LONGEST);
    let to = span.end.saturating_add(LONGEST).min(text.len());
    let mut parts = Vec::new();
    let mut start = span.start;
    for open in OPENING.find_iter(text.get(from..to).unwrap_or_default()) {
        let open = from + open;
        if open >= span.end {
            break;
        }
        let Some(end) = marker_end(text, open) else { continue };
        if end > start {
            parts.push(start..open.max(start));
            start = end;
        }
    }
    parts.push(start..span.end.max(start));
    parts.retain(|part| !part.is_empty());
    parts
}

/// True if `at` is inside a marker, in its name or just before its closing bracket.
pub(super) fn around(text: &[u8], at: usize) -> bool {
    text.get(at) == Some(&CLOSE) && ends(text.get(..=at).unwrap_or_default())
}

/// True if `text` ends with a marker.
pub(super) fn ends(text: &[u8]) -> bool {
    let from = text.len().saturating_sub(OPEN.len() + NAME_BYTES_MAX + 1);
    let tail = text.get(from..).unwrap_or_default();
    tail.last() == Some(&CLOSE)
        && memmem::rfind(tail, OPEN.as_bytes()).is_some_and(|open| marker_end(tail, open) == Some(tail.len()))
}

/// One past the end of the marker that begins at `start`, if there is one.
fn marker_end(text: &[u8], start: usize) -> Option<usize> {
    static NAMES: LazyLock<Vec<&[u8]>> = LazyLock::new(|| {
        let mut names: Vec<&[u8]> = rules::all().map(|rule| rule.name.as_bytes()).collect();
        names.sort_unstable();
        names
    });
    let inside = text.get(start..)?.strip_prefix(OPEN.as_bytes())?;
    let length = inside.iter().take(NAME_BYTES_MAX + 1).position(|&byte| byte == CLOSE)?;
    let name = inside.get(..length)?;
    NAMES.binary_search(&name).is_ok().then_some(start + OPEN.len() + length + 1)
}

#[cfg(test)]
// The tests need lists with one element.
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_cut_out_of_what_overlaps_it() {
        let text = b"ab[redacted:jwt]cd";
        assert_eq!(between(text, &(0..2)), [0..2]);
        assert_eq!(between(text, &(0..18)), [0..2, 16..18]);
        assert!(between(text, &(4..6)).is_empty());
        assert_eq!(between(text, &(4..18)), [16..18]);
        assert_eq!(between(text, &(1..9)), [1..2]);
        assert_eq!(between(text, &(16..18)), [16..18]);
        assert!(between(b"[redacted:jwt][redacted:jwt]", &(0..28)).is_empty());
    }

    #[test]
    fn brackets_around_another_word_are_no_marker() {
        assert_eq!(between(b"[redacted:whatever]", &(0..19)), [0..19]);
        assert_eq!(between(b"[redacted:jwt", &(0..13)), [0..13]);
    }

    #[test]
    fn the_name_in_a_marker_is_known() {
        assert!(around(b"x [redacted:password]", 20));
        assert!(!around(b"x[password]", 10));
        assert!(!around(b"x [redacted:password] ", 21));
    }
}
