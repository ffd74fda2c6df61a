//! Paths, identifiers and codes in a query: where their words stand together.

use hashbrown::HashSet;

use super::{Allowed, Ask, Known, Sources};
use crate::Phrase;
use crate::words::Words;

/// Bits of the terms that the names in a query are made of, if it has nothing but names. A name
/// in a sentence is one of its words, and no reason to read less.
pub(super) fn bits(ask: &Ask<'_>, terms: &[Known]) -> u32 {
    if !ask.query.is_all_names() {
        return 0;
    }
    let mut words = Words::default();
    let of_names: Vec<String> =
        ask.query.literals.iter().flat_map(|literal| words.distinct(literal)).collect();
    let is_of_name = |(_, known): &(usize, &Known)| of_names.contains(&known.term);
    terms.iter().enumerate().filter(is_of_name).fold(0, |bits, (at, _)| bits | 1 << at)
}

/// Pieces with the rarest word of a name beyond which nobody looks where its words follow each
/// other: in millions of pieces that takes half a second, and so common a name tells little.
const NAMED_MAX: u64 = 50_000;

/// The passages in which the words of every path and name follow each other as in the query,
/// where it has nothing but those. Nothing if there are none: any order is better than none.
pub(super) fn exact(sources: &Sources<'_>, ask: &Ask<'_>, terms: &[Known]) -> Option<HashSet<u64>> {
    if !ask.query.is_all_names() {
        return None;
    }
    let mut exact = Allowed::default();
    let phrases = ask.query.literals.iter().filter_map(|literal| Phrase::of(literal));
    for phrase in phrases.filter(|phrase| phrase.terms.len() > 1) {
        let of_phrase = |known: &&Known| phrase.terms.iter().any(|(_, term)| *term == known.term);
        let rarest = terms.iter().filter(of_phrase).map(|known| known.holding).min();
        if rarest.is_some_and(|holding| holding > NAMED_MAX) {
            return None;
        }
        let with = sources.with_phrase(&phrase, exact.only.as_ref()).ok()?;
        exact.narrow(with);
    }
    exact.only.filter(|passages| !passages.is_empty())
}
