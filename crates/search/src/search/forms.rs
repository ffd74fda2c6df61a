//! Other forms of words that are not found: inflected, spelled without umlauts, or compound.
//!
//! English suffixes are stripped during indexing. For other languages there are no rules or
//! dictionaries: a form is an existing word with the same beginning.

use hashbrown::HashSet;

use super::Sources;
use crate::Error;
use crate::words::Words;

/// Minimum number of leading letters that two forms share…
const SHARED_MIN: usize = 5;

/// … and their minimum share of the longer form, in percent.
const SHARED_PERCENT: usize = 60;

/// Minimum letters in each part of a compound.
const PART_MIN: usize = 4;

/// Maximum words compared, of those with the same beginning.
const COMPARED_MAX: usize = 2_000;

/// Umlauts, as spelled on a keyboard without them.
const SPELLED: &[(&str, &str)] = &[("ae", "a"), ("oe", "o"), ("ue", "u")];

/// Letters between the parts of a compound.
const JOINTS: &[&str] = &["", "s", "es", "n", "en"];

/// The most similar existing forms of a term, with the number of pieces that contain each: one, or
/// the two parts of a compound.
pub(super) fn of(sources: &Sources<'_>, term: &str) -> Result<Vec<(String, u64)>, Error> {
    let letters = term.chars().count();
    if letters < SHARED_MIN || !term.chars().all(char::is_alphabetic) || term.chars().any(is_sign) {
        return Ok(Vec::new());
    }
    if let Some(form) = held(sources, &spelled(term))?.into_iter().next() {
        return Ok(vec![form]);
    }
    match beginning(sources, term, letters)? {
        Some(form) => Ok(vec![form]),
        None => compound(sources, term, letters),
    }
}

/// True for a Chinese, Japanese or Korean character. These are searched in pairs.
fn is_sign(sign: char) -> bool {
    crate::words::is_one_sign(sign.encode_utf8(&mut [0; 4]))
}

/// The terms that occur in pieces, with the number of pieces.
fn held(sources: &Sources<'_>, terms: &[String]) -> Result<Vec<(String, u64)>, Error> {
    let names: Vec<&str> = terms.iter().map(String::as_str).collect();
    let counts = sources.counts(&names)?;
    let held = terms.iter().cloned().zip(counts);
    Ok(held.filter(|(_, count)| *count > 0).collect())
}

/// A term with one or all of its spelled-out umlauts as indexed.
fn spelled(term: &str) -> Vec<String> {
    let one = SPELLED.iter().map(|(long, short)| term.replace(long, short));
    let all = SPELLED.iter().fold(term.to_owned(), |text, (long, short)| text.replace(long, short));
    let mut forms: Vec<String> = one.chain([all]).filter(|form| form != term).collect();
    forms.dedup();
    forms
}

/// The existing term that shares the most leading letters with this one.
fn beginning(sources: &Sources<'_>, term: &str, letters: usize) -> Result<Option<(String, u64)>, Error> {
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    for term in [term.to_owned()].into_iter().chain(spelled(term)) {
        let start: String = term.chars().take(SHARED_MIN).collect();
        for other in sources.starting_with(&start)? {
            let shared = term.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            let others = other.chars().count();
            let is_start = shared == term.chars().count();
            if is_start || shared * 100 >= letters.max(others) * SHARED_PERCENT {
                found.push((shared, others, other));
            }
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    for (_, _, other) in found.into_iter().take(PART_MIN) {
        if let Some(form) = held(sources, &[other])?.pop() {
            return Ok(Some(form));
        }
    }
    Ok(None)
}

/// The parts of a term that consists of two existing words.
fn compound(sources: &Sources<'_>, term: &str, letters: usize) -> Result<Vec<(String, u64)>, Error> {
    let mut words = Words::default();
    let mut one = |text: &str| words.distinct(text).into_iter().next();
    // The longest first word carries the most information.
    for first in (PART_MIN..=letters.saturating_sub(PART_MIN)).rev() {
        let Some((at, _)) = term.char_indices().nth(first) else { continue };
        let (head, tail) = term.split_at(at);
        let Some(last) =
            one(tail).map(|tail| held(sources, &[tail])).transpose()?.and_then(|mut held| held.pop())
        else {
            continue;
        };
        for joint in JOINTS {
            let Some(head) = head.strip_suffix(joint).filter(|head| head.chars().count() >= PART_MIN) else {
                continue;
            };
            let Some(head) = one(head) else { continue };
            if let Some(first) = held(sources, &[head])?.pop() {
                return Ok(vec![first, last]);
            }
        }
    }
    Ok(Vec::new())
}

impl Sources<'_> {
    /// Terms with this prefix, from the index and from passages it lacks.
    fn starting_with(&self, start: &str) -> Result<HashSet<String>, Error> {
        let mut found = HashSet::new();
        if let Some(finder) = &self.finder {
            found.extend(finder.starting_with(start, COMPARED_MAX)?.into_keys());
        }
        self.tail.starting_with(start, &mut found);
        Ok(found)
    }
}
