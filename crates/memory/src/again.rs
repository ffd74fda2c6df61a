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
    terms.retain(is_telling);
    terms
}

/// Whether a term says what a text is about. Of scripts without spaces the pairs of signs do; single
/// signs, and pairs of hiragana, are in every sentence.
pub(crate) fn is_telling(term: &String) -> bool {
    let is_kana = |c: char| matches!(c, '\u{3040}'..='\u{309f}');
    let is_dense =
        |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    let is_single = term.chars().all(is_dense) && term.chars().count() < 2;
    !is_single && !term.chars().all(is_kana) && !IDLE.contains(term)
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

/// First telling terms of a rule: what it speaks of.
const HEADS: usize = 3;
/// Signs of a script without spaces that a rule must share at least: pairs of them overlap.
const DENSE_MIN: usize = 3;

/// Whether a rule says in other words what another said before it. `says_so` is that its words
/// call it a second saying.
pub(crate) fn is_rule_again(newer: &[String], older: &[String], likeness: f32, says_so: bool) -> bool {
    let shared =
        |newer: &[String], older: &[String]| newer.iter().filter(|term| older.contains(term)).count();
    let heads = |terms: &[String]| terms.iter().take(HEADS).cloned().collect::<Vec<_>>();
    let is_spaced = newer.iter().chain(older).all(|term| term.is_ascii() || term.chars().count() > 2);
    let min = if is_spaced { TERMS_MIN } else { DENSE_MIN };
    is_said_again(newer, older, likeness)
        || (says_so && shared(newer, older) >= min)
        || (is_spaced && shared(&heads(newer), &heads(older)) >= TERMS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_says_so_is_said_again_with_fewer_words_in_common() {
        let again = |one: &str, two: &str, says_so| is_rule_again(&terms(one), &terms(two), 0.0, says_so);
        let first = "guest numbers are fixed by design, there is no screen that edits one";
        assert!(again("as I said: numbers of a guest stay, no matter what the desk wants", first, true));
        assert!(again("guest numbers stay whatever the desk of the hall wants from us", first, false));
        assert!(!again("as I said: the hall has no screen of its own", first, true));
        assert!(again("说过公开的接口不变", "不要做激进的重构，公开的接口必须保持不变", true));
    }

    #[test]
    fn other_words_for_the_same_are_known_and_other_rules_are_not() {
        let again = |one: &str, two: &str| is_said_again(&terms(one), &terms(two), 0.0);
        assert!(again("labels carry invented guests", "invented guests on the labels, please"));
        assert!(!again("don't use moment, use luxon instead", "don't use loops. Use tenacity instead"));
        assert!(!again("add a test for the label", "add a page for the guest"));
    }
}
