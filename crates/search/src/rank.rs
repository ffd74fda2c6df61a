//! Ranking: from the pieces that hold the words of a query to sessions in order.
//!
//! Every piece is scored by itself and as a *window*, together with its two neighbours on
//! either side, because a question is often answered across several pieces. Scores are
//! BM25 over our own counts, so neither the way in which the index was written nor what was
//! replaced in it changes an order. Sums are kept as whole numbers: their order does not
//! matter either.

use hashbrown::HashSet;
use retro_model::PieceKind;
use std::cmp::Ordering;
use std::ops::Range;

use crate::Place;
use crate::query::TERMS_MAX;
use crate::text::Info;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Neighbours on either side that a piece is scored with.
pub(crate) const REACH: i64 = 2;

/// What the piece itself counts beside its window.
const OWN: f64 = 0.30;

/// What the second and third piece of a session count beside its best.
const FURTHER: f64 = 0.30;

/// Beyond so many hits only pieces that hold a word themselves are scored.
const SPARSE: usize = 5_000;

/// A piece that holds words of the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Hit {
    pub place: Place,
    pub passage: u64,
    pub info: Info,
    pub at_ms: i64,
    held: Counts,
}

impl Hit {
    pub(crate) fn new(place: Place, passage: u64, info: Info, at_ms: i64, held: Counts) -> Hit {
        Hit { place, passage, info, at_ms, held }
    }

    pub(crate) fn add(&mut self, term: u8, count: u32) {
        self.held.add(term, count);
    }

    pub(crate) fn count(&self, term: usize) -> u32 {
        self.held.of(term)
    }

    pub(crate) fn score(&self, weights: &[f64], mean_bytes: f64) -> f64 {
        let length = f64::from(self.info.len) / mean_bytes;
        bm25(|term| self.count(term), self.held.terms, weights, length)
    }
}

/// How often a piece holds each term.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Counts {
    /// Bits of the terms it holds.
    terms: u32,
    counts: [u8; TERMS_MAX],
}

impl Counts {
    /// Of a piece with one term.
    pub(crate) fn of_one(term: u8, count: u32) -> Counts {
        let mut counts = Counts::default();
        counts.add(term, count);
        counts
    }

    pub(crate) fn add(&mut self, term: u8, count: u32) {
        if let Some(known) = self.counts.get_mut(usize::from(term)) {
            *known = known.saturating_add(u8::try_from(count).unwrap_or(u8::MAX));
            self.terms |= u32::from(count > 0) << term;
        }
    }

    fn of(&self, term: usize) -> u32 {
        self.counts.get(term).map_or(0, |count| u32::from(*count))
    }
}

/// The score of a piece of which not all terms are known yet. They are added in their order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partial {
    pub score: f64,
    norm: f64,
}

impl Partial {
    /// Of a piece with so many bytes.
    pub(crate) fn new(bytes: u32, mean_bytes: f64) -> Partial {
        Partial { score: 0.0, norm: norm(f64::from(bytes) / mean_bytes) }
    }

    /// Adds a term that it holds so often.
    pub(crate) fn add(&mut self, weight: f64, count: u32) {
        if count > 0 {
            self.score += score_of_term(weight, count.min(u32::from(u8::MAX)), self.norm);
        }
    }
}

/// How much text there is: the counts that scores rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Pieces.
    pub pieces: u64,
    /// Bytes of all pieces.
    pub bytes: u64,
}

impl Extent {
    pub(crate) fn mean_bytes(self) -> f64 {
        (self.bytes as f64 / self.pieces.max(1) as f64).max(1.0)
    }
}

/// A piece with its scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored<'a> {
    pub place: Place,
    /// The words that it holds; nothing if only its neighbours hold any.
    pub hit: Option<&'a Hit>,
    pub window: f64,
    pub own: f64,
    /// Bits of the terms that its window holds.
    pub terms: u32,
    /// Whether it holds all names of the query itself.
    has_names: bool,
}

/// Pieces of one session, best first, and the session's own score by words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group<'a> {
    pub session: u32,
    pub pieces: Vec<Scored<'a>>,
    pub score: f64,
    /// Whether one of its pieces holds all names of the query.
    pub has_names: bool,
    /// How often the session holds each term.
    pub counts: [u32; TERMS_MAX],
}

/// Mean and deviation of a score over all pieces, those that hold no word included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    mean: f64,
    deviation: f64,
}

impl Scale {
    /// How far a score is above the mean, in deviations.
    pub(crate) fn of(self, score: f64) -> f64 {
        (score - self.mean) / (self.deviation + 1e-6)
    }
}

/// Sums of scores that come out the same in any order.
#[derive(Default)]
pub(crate) struct Sums {
    sum: u128,
    squares: u128,
}

impl Sums {
    pub(crate) fn add(&mut self, score: f64) {
        let fixed = u128::from((score * f64::from(1 << 20)) as u64);
        self.sum += fixed;
        self.squares += fixed * fixed;
    }

    pub(crate) fn scale(&self, count: u64) -> Scale {
        let (one, count) = (f64::from(1 << 20), count.max(1) as f64);
        let mean = self.sum as f64 / one / count;
        let squares = self.squares as f64 / one / one / count;
        Scale { mean, deviation: (squares - mean * mean).max(0.0).sqrt() }
    }
}

/// What a rare term counts beside a common one.
pub(crate) fn rarity(pieces: u64, holding: u64) -> f64 {
    let (pieces, holding) = (pieces.max(holding) as f64, holding as f64);
    (1.0 + (pieces - holding + 0.5) / (holding + 0.5)).ln()
}

/// The most that a term with this weight adds to a score, however often a text holds it.
pub(crate) fn most_of(weight: f64) -> f64 {
    weight * (K1 + 1.0)
}

/// The most bytes of a piece in which a term that it holds so often scores so much by itself,
/// or one more; zero if there is no such piece.
pub(crate) fn longest(weight: f64, count: u32, score: f64, mean_bytes: f64) -> u32 {
    if score <= 0.0 {
        return u32::MAX;
    }
    // The formula of BM25, solved for the length.
    let count = f64::from(count);
    let norm = weight * count * (K1 + 1.0) / score - count;
    let length = (norm / K1 - (1.0 - B)) / B;
    if length < 0.0 { 0 } else { ((length * mean_bytes) as u32).saturating_add(1) }
}

/// BM25 of the terms in `terms`, as bits, in a text of `length` times the usual length.
fn bm25(count: impl Fn(usize) -> u32, terms: u32, weights: &[f64], length: f64) -> f64 {
    let norm = norm(length);
    // Added in the order of the terms, whichever of them a text holds.
    let (mut left, mut sum) = (terms, 0.0);
    while left != 0 {
        let term = left.trailing_zeros() as usize;
        sum += weights.get(term).map_or(0.0, |weight| score_of_term(*weight, count(term), norm));
        left &= left - 1;
    }
    sum
}

fn norm(length: f64) -> f64 {
    K1 * (1.0 - B + B * length)
}

fn score_of_term(weight: f64, count: u32, norm: f64) -> f64 {
    let count = f64::from(count);
    weight * count * (K1 + 1.0) / (count + norm)
}

/// Session by words alone, of a text of `bytes` where the usual session has `mean_bytes`.
pub(crate) fn session_score(counts: &[u32], weights: &[f64], bytes: u64, mean_bytes: f64) -> f64 {
    let terms =
        counts.iter().enumerate().filter(|(_, count)| **count > 0).fold(0, |bits, (at, _)| bits | 1 << at);
    let count = |term: usize| counts.get(term).copied().unwrap_or(0);
    bm25(count, terms, weights, bytes as f64 / mean_bytes.max(1.0))
}

/// How much a piece of a kind counts.
pub(crate) fn kind_weight(kind: PieceKind) -> f64 {
    match kind {
        PieceKind::User => 1.15,
        PieceKind::Error => 1.05,
        PieceKind::Assistant => 1.0,
        PieceKind::Command | PieceKind::File => 0.95,
        PieceKind::Output | PieceKind::Reasoning => 0.8,
    }
}

/// The combined score of a window and the piece in it.
pub(crate) fn combined(window: f64, own: f64) -> f64 {
    window + OWN * own
}

/// A score with the weight of its kind. A piece that is below the mean gains nothing by
/// being of a light kind.
pub(crate) fn weighted(score: f64, kind: PieceKind) -> f64 {
    if score > 0.0 { score * kind_weight(kind) } else { score }
}

/// The score of a session from those of its pieces, best first: `(score, is prose)`.
pub(crate) fn of_session(pieces: impl Iterator<Item = (f64, bool)>) -> f64 {
    let mut pieces = pieces;
    let Some((best, _)) = pieces.next() else { return f64::NEG_INFINITY };
    let further = pieces.filter(|(score, is_prose)| *is_prose && *score > 0.0).take(2);
    best + FURTHER * further.map(|(score, _)| score).sum::<f64>()
}

/// The scale of both scores, and the best pieces of each session.
pub(crate) struct Ranked<'a> {
    pub groups: Vec<Group<'a>>,
    pub windows: Scale,
    pub pieces: Scale,
    /// Everything that was scored, by place.
    scored: Vec<Scored<'a>>,
}

impl<'a> Ranked<'a> {
    /// What the piece at a place is worth, if it or a neighbour holds a word.
    pub(crate) fn at(&self, place: Place) -> Option<&Scored<'a>> {
        let at = self.scored.binary_search_by_key(&place, |piece| piece.place).ok()?;
        self.scored.get(at)
    }
}

/// The names in a query, of which a piece should hold all.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Names<'a> {
    /// Bits of the terms that they are made of; none without names.
    pub terms: u32,
    /// Only in these passages do the terms stand together as in the names.
    pub passages: Option<&'a HashSet<u64>>,
}

impl Names<'_> {
    fn are_in(&self, hit: &Hit) -> bool {
        self.terms != 0
            && hit.held.terms & self.terms == self.terms
            && self.passages.is_none_or(|passages| passages.contains(&hit.passage))
    }
}

/// Scores hits, which are sorted by place. `extent` is all that there is, `among` the number
/// of pieces that are looked through.
pub(crate) fn rank<'a>(
    hits: &'a [Hit],
    weights: &[f64],
    extent: Extent,
    among: u64,
    names: Names<'_>,
    per_session: usize,
) -> Ranked<'a> {
    let mean_bytes = extent.mean_bytes();
    let reach = if hits.len() > SPARSE { 0 } else { REACH };
    let mut scored: Vec<Scored<'_>> = Vec::with_capacity(hits.len() * (2 * reach as usize + 1));
    let (mut windows, mut pieces) = (Sums::default(), Sums::default());
    let mut last = (0..0, Window::default());
    each_centre(hits, reach, |place, own, around| {
        if last.0 != around {
            let held = hits.get(around.clone()).unwrap_or_default();
            last = (around, Window::of(held, weights, mean_bytes));
        }
        let piece = Scored {
            place,
            hit: own,
            window: last.1.score,
            own: own.map_or(0.0, |hit| hit.score(weights, mean_bytes)),
            terms: last.1.terms,
            has_names: own.is_some_and(|hit| names.are_in(hit)),
        };
        windows.add(piece.window);
        pieces.add(piece.own);
        scored.push(piece);
    });
    let among = among.max(scored.len() as u64);
    let (windows, pieces) = (windows.scale(among), pieces.scale(among));
    let lexical = |piece: &Scored<'_>| {
        let score = combined(windows.of(piece.window), pieces.of(piece.own));
        piece.hit.map_or(score, |hit| weighted(score, hit.info.kind))
    };
    let mut groups = Vec::new();
    let mut first_hit = 0;
    let mut best: Vec<(f64, &Scored<'_>)> = Vec::with_capacity(per_session + 1);
    for group in scored.chunk_by(|a, b| a.place.session() == b.place.session()) {
        let Some(session) = group.first().map(|piece| piece.place.session()) else { continue };
        best.clear();
        for piece in group {
            let score = lexical(piece);
            let is_after = |(other, better): &(f64, &Scored<'_>)| {
                let order = piece.has_names.cmp(&better.has_names).then(score.total_cmp(other));
                order != Ordering::Greater
            };
            // By place already: of equal ones the earlier stays first.
            let at = best.iter().rposition(is_after).map_or(0, |at| at + 1);
            if at < per_session {
                best.insert(at, (score, piece));
                best.truncate(per_session);
            }
        }
        let has_names = best.first().is_some_and(|(_, piece)| piece.has_names);
        let is_prose = |piece: &Scored<'_>| piece.hit.is_some_and(|hit| hit.info.kind.is_prose());
        let score = of_session(best.iter().map(|(score, piece)| (*score, is_prose(piece))));
        let mut counts = [0; TERMS_MAX];
        while let Some(hit) = hits.get(first_hit).filter(|hit| hit.place.session() == session) {
            counts.iter_mut().zip(hit.held.counts).for_each(|(sum, count)| *sum += u32::from(count));
            first_hit += 1;
        }
        groups.push(Group {
            session,
            pieces: best.iter().map(|(_, piece)| **piece).collect(),
            score,
            has_names,
            counts,
        });
    }
    Ranked { groups, windows, pieces, scored }
}

/// Keeps the first `count` in an order, sorted by it.
pub(crate) fn first_of<T>(all: &mut Vec<T>, count: usize, mut order: impl FnMut(&T, &T) -> Ordering) {
    if all.len() > count {
        all.select_nth_unstable_by(count, &mut order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
}

/// Calls `take` for every piece that holds a word or has a neighbour within `reach` that does,
/// with where the hits around it are.
fn each_centre<'a>(hits: &'a [Hit], reach: i64, mut take: impl FnMut(Place, Option<&'a Hit>, Range<usize>)) {
    let mut done: Option<Place> = None;
    // The first hit around a place, the first behind those, and the first that is not before
    // the place itself. All three only ever go forward.
    let (mut from, mut to, mut at) = (0, 0, 0);
    for hit in hits {
        for by in -reach..=reach {
            let Some(place) = hit.place.offset(by) else { continue };
            if done.is_some_and(|done| place <= done) {
                continue;
            }
            done = Some(place);
            let (first, last) = place.around(REACH as u32);
            while hits.get(from).is_some_and(|hit| hit.place < first) {
                from += 1;
            }
            while hits.get(to).is_some_and(|hit| hit.place <= last) {
                to += 1;
            }
            while hits.get(at).is_some_and(|hit| hit.place < place) {
                at += 1;
            }
            take(place, hits.get(at).filter(|hit| hit.place == place), from..to);
        }
    }
}

/// What a piece and its neighbours hold together. It is the same for all pieces that have the
/// same hits around them, which most have: a hit is often alone.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    score: f64,
    /// Bits of the terms.
    terms: u32,
}

impl Window {
    fn of(around: &[Hit], weights: &[f64], mean_bytes: f64) -> Window {
        let usual = (2 * REACH + 1) as f64;
        // Neighbours that hold no word are taken to be of the usual length.
        let known: f64 = around.iter().map(|hit| f64::from(hit.info.len)).sum();
        let bytes = known + (usual - around.len() as f64).max(0.0) * mean_bytes;
        let terms = around.iter().fold(0, |bits, hit| bits | hit.held.terms);
        let count = |term: usize| around.iter().map(|hit| hit.count(term)).sum();
        Window { score: bm25(count, terms, weights, bytes / (usual * mean_bytes)), terms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_longest_piece_is_the_last_that_scores_enough(
            weight in 0.01..12.0_f64,
            count in 1..64_u32,
            score in 0.01..20.0_f64,
            mean_bytes in 1.0..3_000.0_f64,
        ) {
            let of_len = |len: u32| {
                let mut piece = Partial::new(len, mean_bytes);
                piece.add(weight, count);
                piece.score
            };
            let longest = longest(weight, count, score, mean_bytes);
            prop_assert!(of_len(longest.saturating_add(1)) < score);
            prop_assert!(longest == 0 || of_len(longest - 1) >= score - 1e-9);
        }
    }

    fn hit(session: u32, position: u32, counts: &[u32]) -> Hit {
        let info = Info { kind: PieceKind::Assistant, live: true, piece: 0, len: 100 };
        let mut hit =
            Hit::new(Place::new(session, 0, position), u64::from(position), info, 0, Counts::default());
        counts.iter().enumerate().for_each(|(term, count)| hit.add(term as u8, *count));
        hit
    }

    const EXTENT: Extent = Extent { pieces: 1_000, bytes: 100_000 };

    #[test]
    fn neighbours_that_hold_the_other_words_lift_a_piece() {
        let hits = [hit(1, 10, &[1, 0]), hit(1, 11, &[0, 1]), hit(2, 10, &[1, 0]), hit(2, 40, &[0, 1])];
        let ranked = rank(&hits, &[3.0, 3.0], EXTENT, EXTENT.pieces, Names::default(), 3);
        let best = |session: u32| ranked.groups.iter().find(|group| group.session == session).unwrap().score;
        assert!(best(1) > best(2));
    }

    #[test]
    fn a_piece_between_two_hits_is_scored_too() {
        let hits = [hit(1, 10, &[1]), hit(1, 12, &[1])];
        let ranked = rank(&hits, &[3.0], EXTENT, EXTENT.pieces, Names::default(), 9);
        let places: Vec<u32> = ranked.groups[0].pieces.iter().map(|piece| piece.place.position()).collect();
        assert!(places.contains(&11) && places.contains(&8) && places.contains(&14) && !places.contains(&15));
        assert_eq!(places.len(), 7);
    }

    #[test]
    fn every_piece_that_was_scored_is_found_by_its_place() {
        let hits = [hit(1, 10, &[1]), hit(2, 3, &[2])];
        let ranked = rank(&hits, &[3.0], EXTENT, EXTENT.pieces, Names::default(), 1);
        let own = |session, position| ranked.at(Place::new(session, 0, position)).map(|piece| piece.own);
        assert!(own(2, 3) > own(1, 10) && own(1, 10) > Some(0.0));
        assert_eq!((own(1, 12), own(1, 13)), (Some(0.0), None));
    }

    #[test]
    fn a_piece_that_holds_all_of_a_name_comes_before_better_ones() {
        const NAMES: Names<'_> = Names { terms: 0b11, passages: None };
        let hits = [hit(1, 1, &[9, 0]), hit(1, 20, &[1, 1]), hit(2, 1, &[9, 0]), hit(2, 2, &[0, 9])];
        let ranked = rank(&hits, &[3.0, 3.0], EXTENT, EXTENT.pieces, NAMES, 1);
        let first = |at: usize| (ranked.groups[at].has_names, ranked.groups[at].pieces[0].place.position());
        assert_eq!(first(0), (true, 20));
        assert!(!first(1).0);
    }

    #[test]
    fn the_first_are_the_same_as_of_all_in_order() {
        let mut some = vec![5, 1, 4, 2, 3];
        first_of(&mut some, 3, |a, b| a.cmp(b));
        assert_eq!(some, [1, 2, 3]);
        first_of(&mut some, 9, |a, b| b.cmp(a));
        assert_eq!(some, [3, 2, 1]);
    }

    #[test]
    fn threads_do_not_touch() {
        let mut other = hit(1, 0, &[0, 1]);
        other.place = Place::new(1, 1, 0);
        let last = Place::new(1, 0, (1 << 24) - 1);
        let mut end = hit(1, 0, &[1, 0]);
        end.place = last;
        let hits = [end, other];
        let ranked = rank(&hits, &[3.0, 3.0], EXTENT, EXTENT.pieces, Names::default(), 9);
        assert!(ranked.groups[0].pieces.iter().all(|piece| piece.terms.count_ones() == 1));
    }

    #[test]
    fn rare_words_count_more() {
        assert!(rarity(1_000, 1) > rarity(1_000, 100) && rarity(1_000, 1_000) > 0.0);
    }
}
