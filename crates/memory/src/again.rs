//! Detects texts that say the same in different words, by their common terms. Ignores words that
//! occur in requests of every kind.

use retro_search::Words;

use crate::idle::IDLE;
use crate::memory::Memory;

/// Minimum terms that two such texts share, and the minimum share of the shorter text.
const TERMS_MIN: usize = 2;
const SHARE_MIN: f64 = 0.5;
/// Above this similarity, one common term is enough.
const COSINE: f32 = 0.85;

/// The significant terms of a text.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms = Words::default().distinct(text);
    terms.retain(|term| !IDLE.contains(term));
    terms
}

/// The significant terms of a memory's quotations.
pub(crate) fn said_terms(memory: &Memory) -> Vec<String> {
    terms(&memory.spans.iter().map(|span| span.text.as_str()).collect::<Vec<_>>().join(" "))
}

/// True if two texts, by their terms and their similarity in meaning, say the same.
pub(crate) fn is_said_again(one: &[String], two: &[String], likeness: f32) -> bool {
    let shared = one.iter().filter(|term| two.contains(term)).count();
    let is_shared = shared >= TERMS_MIN && shared as f64 >= SHARE_MIN * one.len().min(two.len()) as f64;
    is_shared || (shared > 0 && likeness >= COSINE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_for_the_same_are_known_and_other_rules_are_not() {
        let again = |one: &str, two: &str| is_said_again(&terms(one), &terms(two), 0.0);
        assert!(again("labels carry invented guests", "invented guests on the labels, please"));
        assert!(!again("don't use moment, use luxon instead", "don't use loops. Use tenacity instead"));
        assert!(!again("add a test for the label", "add a page for the guest"));
    }
}
