//! What stands where a secret stood: `[redacted:<rule>]`.
//!
//! A marker is opaque to every rule. No finding may touch one, neither overlap
//! it nor begin or end beside it: the text next to a marker was next to a
//! secret when it was looked at first, and it was no secret then.

use std::ops::Range;

use super::rules;

const OPEN: &str = "[redacted:";
const CLOSE: u8 = b']';

/// Longest rule name; a test keeps the tables to it.
pub(super) const NAME_BYTES_MAX: usize = 40;

/// Puts a marker at the end of `text`.
pub(super) fn write(text: &mut String, rule: &str) {
    text.push_str(OPEN);
    text.push_str(rule);
    text.push(char::from(CLOSE));
}

/// Whether a marker overlaps `span` or stands right beside it. Only the name of
/// a rule makes a marker: brackets around anything else hide nothing.
pub(super) fn touches(text: &[u8], span: &Range<usize>) -> bool {
    let longest = OPEN.len() + NAME_BYTES_MAX + 1;
    let from = span.start.saturating_sub(longest);
    let to = span.end.saturating_add(1).min(text.len());
    let mut at = from;
    while let Some(open) = text.get(at..to).and_then(|part| part.iter().position(|&byte| byte == b'[')) {
        let start = at + open;
        if let Some(end) = marker_end(text, start)
            && end >= span.start
        {
            return true;
        }
        at = start + 1;
    }
    false
}

/// One past the marker that begins at `start`, if one does.
fn marker_end(text: &[u8], start: usize) -> Option<usize> {
    let inside = text.get(start..)?.strip_prefix(OPEN.as_bytes())?;
    let length = inside.iter().take(NAME_BYTES_MAX + 1).position(|&byte| byte == CLOSE)?;
    let name = inside.get(..length)?;
    rules::all().any(|rule| rule.name.as_bytes() == name).then_some(start + OPEN.len() + length + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_touched_from_within_and_from_both_sides() {
        let text = b"ab[redacted:jwt]cd";
        assert!(touches(text, &(0..2)));
        assert!(touches(text, &(4..6)));
        assert!(touches(text, &(16..18)));
        assert!(!touches(text, &(0..1)));
        assert!(!touches(text, &(17..18)));
    }

    #[test]
    fn brackets_around_another_word_are_no_marker() {
        assert!(!touches(b"[redacted:whatever]", &(0..19)));
        assert!(!touches(b"[redacted:jwt", &(0..13)));
    }
}
