//! Whether two texts say the same in other words: by the terms that they share, without words
//! that are in requests of every kind.

use retro_search::Words;

use crate::idle::IDLE;
use crate::memory::Memory;

/// Terms that two texts share at least, and the share of the shorter one, if they say the same.
const TERMS_MIN: usize = 2;
const SHARE_MIN: f64 = 0.5;
/// Likeness of meaning from which one term is enough.
const COSINE: f32 = 0.85;

/// The telling terms of a text.
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut terms = Words::default().distinct(text);
    terms.retain(|term| !IDLE.contains(term));
    terms
}

/// The telling terms of what a memory quotes.
pub(crate) fn said_terms(memory: &Memory) -> Vec<String> {
    terms(&memory.spans.iter().map(|span| span.text.as_str()).collect::<Vec<_>>().join(" "))
}

/// Whether two texts, by their terms and their likeness in meaning, say the same.
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
