//! Collects the pieces that contain the words of a query.
//!
//! In a large store, millions of pieces contain a very common word. Only those with the best own
//! scores are kept. The selection does not depend on the source or order of the pieces.

use crate::Place;
use crate::rank::{Counts, Hit, Partial};
use crate::ranker::Ranker;
use crate::text::Info;

/// Maximum hits to keep.
const HITS_MAX: usize = 10_000;

/// Tolerance for sums that are computed in different ways.
const ROUNDING: f64 = 1e-9;

/// The terms to look for, and how to score a piece.
pub(crate) struct Sought<'a> {
    pub ranker: &'a Ranker,
    /// Terms, rarest first.
    pub terms: Vec<&'a str>,
    /// The weight of each term.
    pub weights: Vec<f64>,
    /// A piece is a hit if it contains one of the first `essential` terms.
    pub essential: usize,
    /// The mean length of a piece.
    pub mean_bytes: f64,
    /// True if a piece passes the filters.
    pub keep: &'a dyn Fn(&Seen) -> bool,
}

/// The data of a piece before its words are read.
pub(crate) struct Seen {
    pub place: Place,
    pub passage: u64,
    pub info: Info,
    pub at_ms: i64,
}

impl Seen {
    /// A hit with these term counts.
    pub(crate) fn hit(&self, held: Counts) -> Hit {
        Hit::new(self.place, self.passage, self.info, self.at_ms, held)
    }
}

impl Sought<'_> {
    /// The piece's own score, without its neighbours.
    fn score(&self, hit: &Hit) -> f64 {
        hit.score(self.ranker, &self.weights, self.mean_bytes)
    }

    /// The maximum that the terms from this one on can add to a score.
    fn most_from(&self, term: usize) -> f64 {
        self.weights.iter().skip(term).map(|weight| self.ranker.most_of(*weight)).sum()
    }
}

/// The best hits so far.
pub(crate) struct Best<'a> {
    sought: &'a Sought<'a>,
    hits: Vec<Hit>,
    /// Hits with a lower score are not among the best.
    floor: f64,
    hits_max: usize,
}

/// The maximum length of a piece, by how often it contains a term. The count is known before
/// anything else of the piece is read.
pub(crate) struct Longest([u32; Longest::COUNTS]);

impl Longest {
    const COUNTS: usize = 64;

    /// Zero if no piece with this count is among the best.
    pub(crate) fn of(&self, count: u32) -> u32 {
        self.0.get(count as usize).copied().unwrap_or(u32::MAX)
    }
}

impl<'a> Best<'a> {
    pub(crate) fn of(sought: &'a Sought<'a>) -> Best<'a> {
        Best::with(sought, HITS_MAX)
    }

    fn with(sought: &'a Sought<'a>, hits_max: usize) -> Best<'a> {
        Best { sought, hits: Vec::new(), floor: f64::NEG_INFINITY, hits_max }
    }

    /// True if any hit may still be among the best.
    pub(crate) fn has_room(&self) -> bool {
        self.floor == f64::NEG_INFINITY
    }

    /// The minimum score for a piece to be among the best while the terms from this one on are
    /// unknown.
    pub(crate) fn least(&self, term: usize) -> f64 {
        self.floor - self.sought.most_from(term) - ROUNDING
    }

    /// A piece of this length whose terms are still unknown.
    pub(crate) fn partial(&self, bytes: u32) -> Partial {
        Partial::new(self.sought.ranker, bytes, self.sought.mean_bytes)
    }

    /// Adds a term that occurs `count` times in the piece.
    pub(crate) fn add(&self, partial: &mut Partial, term: u8, count: u32) {
        partial.add(self.sought.ranker, self.weight(term), count);
    }

    /// The weight of a term.
    fn weight(&self, term: u8) -> f64 {
        self.sought.weights.get(usize::from(term)).copied().unwrap_or(0.0)
    }

    /// The maximum length of a piece among the best, by how often it contains this term, while the
    /// terms from `unknown` on are unknown.
    pub(crate) fn longest(&self, term: u8, unknown: usize) -> Longest {
        let (weight, least) = (self.weight(term), self.least(unknown));
        let Sought { ranker, mean_bytes, .. } = self.sought;
        Longest(std::array::from_fn(|count| ranker.longest(weight, count as u32, least, *mean_bytes)))
    }

    pub(crate) fn extend(&mut self, hits: impl IntoIterator<Item = Hit>) {
        self.hits.extend(hits);
        if self.hits.len() > 2 * self.hits_max {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let scores = self.hits.iter().map(|hit| self.sought.score(hit));
        let mut scored: Vec<(f64, &Hit)> = scores.zip(&self.hits).collect();
        scored.select_nth_unstable_by(self.hits_max, |(a, one), (b, other)| {
            b.total_cmp(a).then(one.place.cmp(&other.place))
        });
        scored.truncate(self.hits_max);
        self.floor = scored.iter().map(|(score, _)| *score).fold(f64::INFINITY, f64::min);
        self.hits = scored.into_iter().map(|(_, hit)| *hit).collect();
    }

    /// All hits, sorted by place.
    pub(crate) fn finish(mut self) -> Vec<Hit> {
        if self.hits.len() > self.hits_max {
            self.cut();
        }
        self.hits.sort_by_key(|hit| hit.place);
        self.hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use retro_model::PieceKind;

    fn hit(number: u32, len: u32, counts: [u32; 2]) -> Hit {
        let info = Info { kind: PieceKind::Assistant, live: true, piece: 0, len };
        let mut hit = Hit::new(Place::new(number, 0, 0), u64::from(number), info, 0, Counts::default());
        counts.iter().zip(0..).for_each(|(count, term)| hit.add(term, *count));
        hit
    }

    proptest! {
        #[test]
        fn the_best_of_many_are_kept_in_whatever_order_they_come(
            pieces in prop::collection::vec((1..2_000_u32, 1..4_u32, 0..4_u32), 0..400),
            step in 1..40_usize,
        ) {
            let ranker = Ranker::new().unwrap();
            let sought = Sought {
                ranker: &ranker,
                terms: vec!["rare", "common"],
                weights: vec![2.0, 1.0],
                essential: 1,
                mean_bytes: 300.0,
                keep: &|_| true,
            };
            let all: Vec<Hit> =
                pieces.iter().zip(0..).map(|((len, a, b), number)| hit(number, *len, [*a, *b])).collect();
            let kept = |order: &[usize], step: usize| {
                let mut best = Best::with(&sought, 20);
                for part in order.chunks(step) {
                    let part = part.iter().filter_map(|at| all.get(*at));
                    // A source can skip pieces by length before it looks up the other terms.
                    let longest = best.longest(0, 1);
                    let may_be = |hit: &&Hit| hit.info.len <= longest.of(hit.count(0));
                    let part: Vec<Hit> = part.filter(may_be).copied().collect();
                    best.extend(part);
                }
                best.finish()
            };
            let forward: Vec<usize> = (0..all.len()).collect();
            let backward: Vec<usize> = (0..all.len()).rev().collect();
            let found = kept(&forward, step);
            prop_assert_eq!(&found, &kept(&backward, 1));
            let lowest = found.iter().map(|hit| sought.score(hit)).fold(f64::INFINITY, f64::min);
            let left_out = all.iter().filter(|hit| !found.contains(hit));
            prop_assert_eq!(found.len(), all.len().min(20));
            prop_assert!(left_out.into_iter().all(|hit| sought.score(hit) <= lowest));
        }
    }
}
