//! Tokens that continue after the end of a line, where a terminal or a program broke it.
//!
//! If a line ends with a part of a word and the next begins with one, the rules read both as one
//! word. A finding counts if the parts together are better evidence than the first alone: a part of
//! a token is not a token, or the next part looks random. Therefore a name in the next line is
//! kept. The line end is not part of the finding.

use std::ops::Range;

use super::random;
use super::scan::{self, Hit, is_word};

/// Shorter words are not tokens.
const WORD_BYTES_MIN: usize = 20;
/// Only this many bytes of longer parts are read, beside the line end.
const PART_BYTES_MAX: usize = 1024;
/// The most lines that one token may span.
const LINES_MAX: usize = 64;
/// The most blanks before the next part.
const INDENT_MAX: usize = 8;
/// Shorter parts cannot look random.
const REST_BYTES_MIN: usize = 4;
/// What goes on behind a line end has fewer bits than words (`random`).
const REST_BITS: i32 = -2;

/// Adds values that continue over line ends.
pub(super) fn add_hits(text: &[u8], hits: &mut Vec<Hit>) {
    let mut from = 0;
    for end in memchr::memchr_iter(b'\n', text) {
        if end < from || !goes_on(text, end) {
            continue;
        }
        let parts = parts(text, end);
        let length: usize = parts.iter().map(ExactSizeIterator::len).sum();
        from = parts.last().map_or(end, |last| last.end);
        if length >= WORD_BYTES_MIN {
            add_hits_of(text, &parts, hits);
        }
    }
}

/// A quick check: true if a word may continue after this line end.
fn goes_on(text: &[u8], end: usize) -> bool {
    let before = end - usize::from(end > 0 && text.get(end - 1) == Some(&b'\r'));
    let is_end = before.checked_sub(1).and_then(|last| text.get(last)).is_some_and(|&byte| is_part(byte));
    is_end && text.get(next_start(text, end)).is_some_and(|&byte| is_part(byte))
}

/// The start of the first word on the line after `end`.
fn next_start(text: &[u8], end: usize) -> usize {
    let rest = text.get(end + 1..).unwrap_or_default();
    end + 1 + rest.iter().take(INDENT_MAX).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The parts of the word that spans the line end at `end`.
fn parts(text: &[u8], end: usize) -> Vec<Range<usize>> {
    let to = end - usize::from(text.get(..end).is_some_and(|before| before.ends_with(b"\r")));
    let near = text.get(to.saturating_sub(PART_BYTES_MAX)..to).unwrap_or_default();
    let start = to - near.iter().rev().take_while(|&&byte| is_part(byte)).count();
    let mut parts = Vec::new();
    parts.push(start..to);
    let mut line_end = end;
    while parts.len() < LINES_MAX {
        let start = next_start(text, line_end);
        let near = text.get(start..text.len().min(start + PART_BYTES_MAX)).unwrap_or_default();
        let length = near.iter().take_while(|&&byte| is_part(byte)).count();
        if length == 0 {
            break;
        }
        parts.push(start..start + length);
        line_end = start + length + usize::from(text.get(start + length) == Some(&b'\r'));
        if text.get(line_end) != Some(&b'\n') {
            break;
        }
    }
    parts
}

/// Whether anything in a word can be a token that goes over a line end: some part of the word looks
/// random, or what follows a line end does. Words of a text do not, and cost no look at all rules.
fn looks_random(word: &[u8], cuts: &[usize]) -> bool {
    let is_part_of_one = |cut: &[usize]| {
        let part = cut.first().zip(cut.last()).and_then(|(from, to)| word.get(*from..*to));
        part.is_some_and(|part| random::least_start(part) < REST_BITS)
    };
    random::least_bits(word) <= random::BITS_MAX || cuts.windows(2).any(is_part_of_one)
}

fn add_hits_of(text: &[u8], parts: &[Range<usize>], hits: &mut Vec<Hit>) {
    let word = parts.iter().filter_map(|part| text.get(part.clone())).collect::<Vec<_>>().concat();
    let mut cuts = Vec::with_capacity(parts.len());
    for part in parts {
        cuts.push(cuts.last().copied().unwrap_or(0) + part.len());
    }
    if !looks_random(&word, &cuts) {
        return;
    }
    for hit in scan::hits_of_wrapped(&word) {
        let Some(end) = end(&word, &hit, &cuts) else { continue };
        for (part, cut) in parts.iter().zip(&cuts) {
            let begins = cut - part.len();
            let (from, to) = (hit.span.start.max(begins), end.min(*cut));
            if from < to {
                let span = part.start + from - begins..part.start + to - begins;
                hits.push(Hit { span, ..hit.clone() });
            }
        }
    }
}

/// The end of a hit that spans line ends, with all parts that are better evidence together than
/// those before them.
fn end(word: &[u8], hit: &Hit, cuts: &[usize]) -> Option<usize> {
    let inside: Vec<usize> =
        cuts.iter().copied().filter(|cut| (hit.span.start + 1..hit.span.end).contains(cut)).collect();
    // What is a token stays one with more behind it. Most are one after a part or two, so the first
    // such cut is looked for in steps that double, and then by halves.
    let line = cuts.iter().copied().rfind(|&cut| cut <= hit.span.start).unwrap_or_default();
    let is_alone = |cut: usize| word.get(line..cut).is_some_and(|before| scan::sees(before, hit.rule));
    let (mut from, mut to) = (0, 1);
    while inside.get(to - 1).is_some_and(|&cut| !is_alone(cut)) {
        (from, to) = (to, to * 2);
    }
    let unsure = inside.get(from..to.min(inside.len())).unwrap_or_default();
    let alone_from = from + unsure.partition_point(|&cut| !is_alone(cut));
    let mut end = hit.span.end;
    for (at, &cut) in inside.iter().enumerate().rev() {
        let rest = word.get(cut..end)?;
        let is_one = match at >= alone_from {
            true => rest.len() >= REST_BYTES_MIN && random::written_bits(rest) < REST_BITS,
            false => word.get(hit.span.start..end).is_some_and(random::is_random),
        };
        if is_one {
            return Some(end);
        }
        end = cut;
    }
    None
}

/// True if a byte may be part of a token.
fn is_part(byte: u8) -> bool {
    is_word(byte) || matches!(byte, b'-' | b'.' | b'+' | b'/' | b'=' | b'~')
}
