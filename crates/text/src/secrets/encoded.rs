//! Secrets inside base64, decoded once.
//!
//! A run of base64 characters is decoded if its beginning decodes to text. Images and hashes do
//! not, and cost a check of sixteen characters. The rules then read the decoded text. If they find
//! something, the run as a whole is the hit, because a part of it cannot be replaced.

use std::ops::Range;

use super::marker;
use super::scan::{self, Hit, is_word};

/// Shorter runs are skipped: they decode to no more than a word.
const RUN_MIN: usize = 24;

/// Characters at the beginning of a run that must decode to text.
const HEAD: usize = 16;

/// Bytes of a run that are decoded at a time, so that a huge one is never held twice, and the
/// overlap of such parts. Both are multiples of four.
const PART: usize = 1 << 20;
const OVERLAP: usize = 1 << 16;

/// Tools wrap base64 at these columns.
const COLUMNS: [usize; 2] = [64, 76];

/// Beginnings that are tried in a run that does not begin with base64 itself, because a path or a
/// prefix may precede it.
const TRIES_MAX: usize = 8;

/// Adds a hit for each run that holds a secret.
pub(super) fn add_hits(text: &[u8], hits: &mut Vec<Hit>) {
    let mut at = 0;
    while let Some(window) = text.get(at..at + RUN_MIN) {
        if let Some(other) = window.iter().rposition(|&byte| !is_base64(byte)) {
            at += other + 1;
            continue;
        }
        let end = run_end(text, at);
        if let Some(start) = text_start(text, at..end) {
            let found = inside(text, start..end);
            hits.extend(
                found.into_iter().filter(|hit| marker::between(text, &hit.span) == [hit.span.clone()]),
            );
        }
        at = end;
    }
}

/// The most certain secret in a run, with the range of the run.
fn inside(text: &[u8], run: Range<usize>) -> Option<Hit> {
    let run_text = text.get(run.clone())?;
    let letters = without_line_ends(run_text);
    let mut best: Option<Hit> = None;
    let mut from = 0;
    while from < letters.len() {
        let part = letters.get(from..letters.len().min(from + PART))?;
        for hit in scan::hits(&decode(part)?) {
            if best.as_ref().is_none_or(|best| hit.judge < best.judge) {
                best = Some(hit);
            }
        }
        if from + PART >= letters.len() {
            break;
        }
        from += PART - OVERLAP;
    }
    let padding = text.get(run.end..)?.iter().take(2).take_while(|&&byte| byte == b'=').count();
    let span = run.start..run.end + padding;
    best.map(|hit| Hit { span, ..hit })
}

/// One past the end of the run that begins at `start`, across the ends of wrapped lines.
fn run_end(text: &[u8], start: usize) -> usize {
    let mut line = start;
    loop {
        let rest = text.get(line..).unwrap_or_default();
        let length = rest.iter().take_while(|&&byte| is_base64(byte)).count();
        let end = line + length;
        let gap = line_end(rest.get(length..).unwrap_or_default());
        let goes_on = text.get(end + gap).is_some_and(|&byte| is_base64(byte));
        // After an escaped `\n`, the letter `n` is not part of the line.
        if gap == 0 || !goes_on || !COLUMNS.contains(&length) {
            return end;
        }
        line = end + gap;
    }
}

/// The offset in a run at which the base64 of a text begins, if it does.
fn text_start(text: &[u8], run: Range<usize>) -> Option<usize> {
    let first = match text.get(..run.start)? {
        // `n` of an escaped `\n`.
        [.., b'\\'] if matches!(text.get(run.start), Some(b'n' | b'r' | b't')) => run.start + 1,
        _ => run.start,
    };
    let begins = |at: &usize| text.get(*at..run.end).is_some_and(begins_text);
    let separators =
        text.get(first..run.end)?.iter().enumerate().filter(|(_, byte)| !is_word(**byte) || **byte == b'_');
    std::iter::once(first).chain(separators.map(|(at, _)| first + at + 1)).take(TRIES_MAX).find(begins)
}

/// True if base64 begins with text: UTF-8 without control characters. For most other runs the first
/// group is enough to decide.
fn begins_text(letters: &[u8]) -> bool {
    let Some(head) = letters.get(..HEAD) else { return false };
    let mut bytes = [0; HEAD / 4 * 3];
    for (group, bytes) in head.chunks_exact(4).zip(bytes.chunks_exact_mut(3)) {
        let bits = group.iter().fold(0, |bits, &letter| bits << 6 | u32::from(SIX_BITS[usize::from(letter)]));
        bytes.copy_from_slice(&bits.to_be_bytes()[1..]);
        if bytes.iter().any(|&byte| is_control(byte)) {
            return false;
        }
    }
    std::str::from_utf8(&bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn is_control(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x1b)
}

/// Length of the line end at the beginning of `text`, real or escaped as in JSON.
fn line_end(text: &[u8]) -> usize {
    [&b"\r\n"[..], b"\n", br"\r\n", br"\n"]
        .into_iter()
        .find(|end| text.starts_with(end))
        .map_or(0, <[u8]>::len)
}

/// A run without its line ends. Their first characters are the only ones in the run that are not
/// base64.
fn without_line_ends(run: &[u8]) -> Vec<u8> {
    let mut letters = Vec::with_capacity(run.len());
    let mut rest = run;
    while let Some(at) = memchr::memchr3(b'\n', b'\r', b'\\', rest) {
        let (line, behind) = rest.split_at(at);
        letters.extend_from_slice(line);
        rest = behind.get(line_end(behind).max(1)..).unwrap_or_default();
    }
    letters.extend_from_slice(rest);
    letters
}

fn is_base64(byte: u8) -> bool {
    SIX_BITS[usize::from(byte)] < 64
}

/// The value of each character in base64, in the standard or the URL alphabet. 64 and more: not
/// base64.
static SIX_BITS: [u8; 256] = {
    let mut table = [u8::MAX; 256];
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut at = 0;
    while at < alphabet.len() {
        table[alphabet[at] as usize] = at as u8;
        at += 1;
    }
    table[b'+' as usize] = 62;
    table[b'-' as usize] = 62;
    table[b'/' as usize] = 63;
    table[b'_' as usize] = 63;
    table
};

/// Decodes base64. Padding is optional.
pub(super) fn decode(letters: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(letters.len() / 4 * 3 + 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for &letter in letters.iter().filter(|&&letter| letter != b'=') {
        let six = SIX_BITS[usize::from(letter)];
        if six >= 64 {
            return None;
        }
        bits = (bits << 6) | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_both_alphabets_is_decoded() {
        assert_eq!(decode(b"YTpi").as_deref(), Some(&b"a:b"[..]));
        assert_eq!(decode(b"YTpiYw==").as_deref(), Some(&b"a:bc"[..]));
        assert_eq!(decode(b"-_-_"), decode(b"+/+/"));
        assert_eq!(decode(b"a b"), None);
    }

    #[test]
    fn a_run_goes_on_over_the_ends_of_wrapped_lines_only() {
        let line = "A".repeat(76);
        for end in ["\n", "\r\n", "\\n"] {
            let text = format!("{line}{end}BBBB CC");
            assert_eq!(run_end(text.as_bytes(), 0), text.len() - 3, "{end:?}");
            let text = format!("{}{end}BBBB", "A".repeat(30));
            assert_eq!(run_end(text.as_bytes(), 0), 30, "{end:?}");
        }
        let wrapped = format!("{line}\\nB\r\nC");
        assert_eq!(without_line_ends(wrapped.as_bytes()).len(), 78);
    }

    #[test]
    fn text_is_told_from_the_bytes_of_an_image() {
        // "a: \"ü\"\n\tb c" and the signature of a PNG.
        assert!(begins_text(b"YTogIsO8IgoJYiBj"));
        assert!(!begins_text(b"iVBORw0KGgoAAAAN"));
        assert!(!begins_text(b"YTogIsO8"));
    }
}
