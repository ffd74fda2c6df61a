//! Words that exist, for words that were not found.

use strsim::damerau_levenshtein;

use super::{Known, Sources};
use crate::Error;

/// Words that are offered.
const SUGGESTIONS_MAX: usize = 5;

/// Words with the same beginning that are compared.
const COMPARED_MAX: usize = 2_000;

/// The nearest words that exist, the nearest and commonest first. A number is near no other,
/// and a code only one that differs in a single sign.
pub(super) fn near(sources: &Sources<'_>, terms: &[Known]) -> Result<Vec<String>, Error> {
    let Some(finder) = &sources.finder else { return Ok(Vec::new()) };
    let mut found: Vec<(usize, u64, String)> = Vec::new();
    for known in terms.iter().filter(|known| known.holding == 0 && is_word(&known.term)) {
        let start: String = known.term.chars().take(2).collect();
        let is_code = has_digit(&known.term);
        let far = if known.term.chars().count() > 5 && !is_code { 2 } else { 1 };
        for (word, count) in finder.starting_with(&start, COMPARED_MAX)? {
            let distance = damerau_levenshtein(&word, &known.term);
            if distance <= far && has_digit(&word) == is_code {
                found.push((distance, count, word));
            }
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)).then(a.2.cmp(&b.2)));
    found.dedup_by(|a, b| a.2 == b.2);
    Ok(found.into_iter().take(SUGGESTIONS_MAX).map(|(_, _, word)| word).collect())
}

/// Whether a term is long enough to be compared, and no number.
fn is_word(term: &str) -> bool {
    term.len() > 2 && term.starts_with(|first: char| !first.is_ascii_digit())
}

fn has_digit(term: &str) -> bool {
    term.contains(|sign: char| sign.is_ascii_digit())
}
