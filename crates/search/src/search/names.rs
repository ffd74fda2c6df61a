//! Names in a query: paths, identifiers and codes, and the passages in which their words are
//! adjacent.

use hashbrown::HashSet;

use super::{Allowed, Ask, Known, Sources};
use crate::Phrase;
use crate::words::Words;

/// Bit set of the terms in the query's names, if the query consists only of names. In a sentence, a
/// name is just another word and cannot shorten the search.
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

/// Maximum pieces with the rarest word of a name for which its positions are checked. For millions
/// of pieces that would take half a second, and a name that common carries little information.
const NAMED_MAX: u64 = 50_000;

/// The passages in which the words of every path and name are adjacent as in the query, if it
/// consists only of names. `None` if there are none: any order is better than no result.
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
