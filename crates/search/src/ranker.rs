//! The formulas of the ranking.
//!
//! Their parameters are data, in `ranking.json`. A benchmark can rank with other parameters to
//! measure the effect of each part.

use retro_model::PieceKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::Error;

/// The parameters of the ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Numbers {
    /// BM25: the effect of repeated words. Low values saturate early.
    pub k1: f64,
    /// BM25: the effect of a text's length, from 0 to 1.
    pub b: f64,
    /// Factor for each kind of piece.
    pub kinds: BTreeMap<PieceKind, f64>,
    /// Neighbours on either side that form a window with a piece.
    pub reach: u32,
    /// Weight of the piece itself. Its window has 1.
    pub own: f64,
    /// Weight of the second and third prose pieces of a session. The best piece has 1.
    pub further: f64,
    /// Weight of meaning. Words have the rest.
    pub meaning: f64,
    /// Weight of meaning if the query consists of names and codes.
    pub meaning_of_names: f64,
    /// Gain of a piece in which all adjacent words of the query are adjacent.
    pub neighbours: f64,
    /// Maximum distance of words that count as adjacent.
    pub neighbours_apart_max: u32,
    /// Weight of the session as a whole. Its best piece has 1.
    pub whole: f64,
    /// Usual number of pieces with a word, in a session that contains it.
    pub pieces_a_session: f64,
    /// Loss of a session that contains none of the words.
    pub held: f64,
    /// Weight of another form of a word that is not found. The word itself has 1.
    pub form: f64,
    /// Gain of a piece that contains all names of the query exactly.
    pub exact: f64,
    /// Gain of a piece with a label of the query.
    pub labelled: f64,
    /// Gain of a session that has just taken place.
    pub recent: f64,
    /// Half-life of that gain, in days.
    pub recent_days: f64,
    /// Gain of a session in the folder that the query is asked from.
    pub here: f64,
    /// The result is unsure if a session contains a smaller share of the query's words…
    pub unsure_held: f64,
    /// … and is less similar in meaning than this.
    pub unsure_cosine: f64,
}

/// Ranks with one set of parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranker {
    numbers: Numbers,
}

/// The weights of words and meaning. Their sum is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Share {
    pub words: f64,
    pub meaning: f64,
}

impl Share {
    pub(crate) fn of(meaning: f64) -> Share {
        Share { words: 1.0 - meaning, meaning }
    }

    /// Combines a score by words with one by meaning. A part with weight zero may be infinite.
    pub(crate) fn mix(self, words: f64, meaning: f64) -> f64 {
        let part = |share: f64, score: f64| if share > 0.0 { share * score } else { 0.0 };
        part(self.words, words) + part(self.meaning, meaning)
    }
}

impl Ranker {
    /// Uses the built-in parameters.
    pub fn new() -> Result<Ranker, Error> {
        let numbers = serde_json::from_str(include_str!("ranking.json")).map_err(Error::Ranking)?;
        Ok(Ranker { numbers })
    }

    /// Uses other parameters.
    pub fn with(numbers: Numbers) -> Ranker {
        Ranker { numbers }
    }

    /// The parameters in use.
    pub fn numbers(&self) -> &Numbers {
        &self.numbers
    }

    /// Neighbours on either side that form a window with a piece.
    pub(crate) fn reach(&self) -> i64 {
        i64::from(self.numbers.reach)
    }

    /// BM25 of the terms in the bit set `terms`, in a text of `length` times the mean length.
    pub(crate) fn bm25(&self, count: impl Fn(usize) -> u32, terms: u32, weights: &[f64], length: f64) -> f64 {
        let norm = self.norm(length);
        // Added in the order of the terms, so that sums are reproducible.
        let (mut left, mut sum) = (terms, 0.0);
        while left != 0 {
            let term = left.trailing_zeros() as usize;
            sum += weights.get(term).map_or(0.0, |weight| self.of_term(*weight, count(term), norm));
            left &= left - 1;
        }
        sum
    }

    /// How much the length of a text lowers its word counts.
    pub(crate) fn norm(&self, length: f64) -> f64 {
        let Numbers { k1, b, .. } = self.numbers;
        k1 * (1.0 - b + b * length)
    }

    /// The score of a term that occurs `count` times in a text.
    pub(crate) fn of_term(&self, weight: f64, count: u32, norm: f64) -> f64 {
        let count = f64::from(count);
        weight * count * (self.numbers.k1 + 1.0) / (count + norm)
    }

    /// The maximum that a term with this weight adds to a score.
    pub(crate) fn most_of(&self, weight: f64) -> f64 {
        weight * (self.numbers.k1 + 1.0)
    }

    /// The maximum length in bytes of a piece in which a term with this count scores this much by
    /// itself, plus one. Zero if no piece does.
    pub(crate) fn longest(&self, weight: f64, count: u32, score: f64, mean_bytes: f64) -> u32 {
        if score <= 0.0 {
            return u32::MAX;
        }
        let Numbers { k1, b, .. } = self.numbers;
        // The formula of BM25, solved for the length.
        let count = f64::from(count);
        let norm = weight * count * (k1 + 1.0) / score - count;
        let length = (norm / k1 - (1.0 - b)) / b;
        if length < 0.0 { 0 } else { ((length * mean_bytes) as u32).saturating_add(1) }
    }

    /// The weight of another form of a word.
    pub(crate) fn of_form(&self, weight: f64) -> f64 {
        self.numbers.form * weight
    }

    /// The weights of words and meaning for a query.
    pub(crate) fn share(&self, is_all_names: bool) -> Share {
        Share::of(if is_all_names { self.numbers.meaning_of_names } else { self.numbers.meaning })
    }

    /// The score of a piece of a kind, from its window's score and its own. A low factor does not
    /// raise a piece below the mean.
    pub(crate) fn piece(&self, window: f64, own: f64, kind: PieceKind) -> f64 {
        let score = window + self.numbers.own * own;
        gained(score, self.numbers.kinds.get(&kind).map_or(0.0, |factor| factor - 1.0))
    }

    /// The score of a piece in which this share of the query's adjacent words are adjacent.
    pub(crate) fn with_neighbours(&self, score: f64, share: f64) -> f64 {
        gained(score, self.numbers.neighbours * share)
    }

    /// The score of a piece with a label of the query.
    pub(crate) fn with_label(&self, score: f64) -> f64 {
        gained(score, self.numbers.labelled)
    }

    /// The score of a piece that contains this share of the query's names exactly.
    pub(crate) fn exact(&self, score: f64, share: f64) -> f64 {
        score.abs() * self.numbers.exact * share
    }

    /// The score of a session's pieces, best first: `(score, is prose)`.
    pub(crate) fn pieces(&self, pieces: impl Iterator<Item = (f64, bool)>) -> f64 {
        let mut pieces = pieces;
        let Some((best, _)) = pieces.next() else { return f64::NEG_INFINITY };
        let further = pieces.filter(|(score, is_prose)| *is_prose && *score > 0.0).take(2);
        best + self.numbers.further * further.map(|(score, _)| score).sum::<f64>()
    }

    /// The score of a session: by its pieces, as a whole, and by the share of the query's words
    /// that it contains, weighted by rarity.
    pub(crate) fn session(&self, pieces: f64, whole: f64, held: f64) -> f64 {
        gained(pieces + self.numbers.whole * whole, -self.numbers.held * (1.0 - held))
    }

    /// The score of a session of this age.
    pub(crate) fn lifted(&self, score: f64, age_days: Option<f64>, is_here: bool) -> f64 {
        let Numbers { recent, recent_days, here, .. } = self.numbers;
        let by_age = age_days.map_or(0.0, |days| recent * 0.5_f64.powf(days / recent_days));
        gained(score, by_age + if is_here { here } else { 0.0 })
    }

    /// True if a session with this share of the query's words is an unsure result.
    pub(crate) fn is_unsure(&self, held: f64, cosine: Option<f64>) -> bool {
        held < self.numbers.unsure_held && cosine.is_none_or(|cosine| cosine < self.numbers.unsure_cosine)
    }

    /// The weight of a term among sessions, from the number of pieces that contain it. The number
    /// of sessions is not stored. It is estimated from the usual number of such pieces per session.
    pub(crate) fn rarity_among(&self, sessions: u64, holding: u64) -> f64 {
        let all = sessions.max(1) as f64;
        let holding = holding as f64 / self.numbers.pieces_a_session;
        let with = all * (1.0 - (-holding / all).exp());
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }
}

/// The weight of a term by rarity (inverse document frequency).
pub(crate) fn rarity(pieces: u64, holding: u64) -> f64 {
    let (pieces, holding) = (pieces.max(holding) as f64, holding as f64);
    (1.0 + (pieces - holding + 0.5) / (holding + 0.5)).ln()
}

/// A score plus a relative gain. Scores at or below zero stay unchanged.
fn gained(score: f64, gain: f64) -> f64 {
    if score > 0.0 { score * (1.0 + gain) } else { score }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ranker() -> Ranker {
        Ranker::new().unwrap()
    }

    proptest! {
        #[test]
        fn the_longest_piece_is_the_last_that_scores_enough(
            weight in 0.01..12.0_f64,
            count in 1..64_u32,
            score in 0.01..20.0_f64,
            mean_bytes in 1.0..3_000.0_f64,
        ) {
            let ranker = ranker();
            let of_len = |len: u32| ranker.of_term(weight, count, ranker.norm(f64::from(len) / mean_bytes));
            let longest = ranker.longest(weight, count, score, mean_bytes);
            prop_assert!(of_len(longest.saturating_add(1)) < score);
            prop_assert!(longest == 0 || of_len(longest - 1) >= score - 1e-9);
        }
    }

    #[test]
    fn every_kind_has_its_factor() {
        let ranker = ranker();
        assert!(PieceKind::ALL.iter().all(|kind| ranker.numbers().kinds.contains_key(kind)));
    }

    #[test]
    fn rare_words_count_more() {
        assert!(rarity(1_000, 1) > rarity(1_000, 100) && rarity(1_000, 1_000) > 0.0);
        let ranker = ranker();
        let among = |holding| ranker.rarity_among(50, holding);
        assert!(among(0) > among(1) && among(1) > among(10) && among(10_000) > 0.0);
    }

    #[test]
    fn what_is_below_the_mean_neither_gains_nor_loses() {
        let ranker = ranker();
        assert_eq!(ranker.with_neighbours(-1.0, 1.0), -1.0);
        assert_eq!(ranker.session(-3.0, 0.0, 0.0), -3.0);
        assert!(ranker.session(3.0, 0.0, 0.2) < ranker.session(3.0, 0.0, 0.9));
        assert!(ranker.lifted(1.0, Some(0.0), true) > ranker.lifted(1.0, Some(90.0), false));
    }
}
