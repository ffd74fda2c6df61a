//! Ranking: sorts sessions by the pieces that contain the words of a query.
//!
//! Every piece is scored by itself and as a *window*, together with its two neighbours on either
//! side, because an answer is often spread over several pieces. Scores are BM25 over retro's own
//! counts, so an order depends neither on how the index was written nor on replaced passages. Sums
//! are integers, so their order does not matter either.

use hashbrown::HashSet;
use retro_model::PieceKind;
use std::cmp::Ordering;
use std::ops::Range;

use crate::Place;
use crate::query::TERMS_MAX;
use crate::ranker::Ranker;
use crate::text::Info;

/// With more hits, only pieces that contain a word themselves are scored.
const SPARSE: usize = 5_000;

/// A piece that contains words of the query.
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

    pub(crate) fn score(&self, ranker: &Ranker, weights: &[f64], mean_bytes: f64) -> f64 {
        let length = f64::from(self.info.len) / mean_bytes;
        ranker.bm25(|term| self.count(term), self.held.terms, weights, length)
    }

    /// Bit set of the terms it contains.
    pub(crate) fn terms(&self) -> u32 {
        self.held.terms
    }
}

/// How often a piece contains each term.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Counts {
    /// Bit set of the terms it contains.
    terms: u32,
    counts: [u8; TERMS_MAX],
}

impl Counts {
    /// Counts of a piece with one term.
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

/// The score of a piece while some terms are unknown. Terms are added in order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Partial {
    pub score: f64,
    norm: f64,
}

impl Partial {
    /// Starts with a piece of this length.
    pub(crate) fn new(ranker: &Ranker, bytes: u32, mean_bytes: f64) -> Partial {
        Partial { score: 0.0, norm: ranker.norm(f64::from(bytes) / mean_bytes) }
    }

    /// Adds a term that occurs `count` times in it.
    pub(crate) fn add(&mut self, ranker: &Ranker, weight: f64, count: u32) {
        if count > 0 {
            self.score += ranker.of_term(weight, count.min(u32::from(u8::MAX)), self.norm);
        }
    }
}

/// The amount of text, on which scores are based.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extent {
    /// Number of pieces.
    pub pieces: u64,
    /// Bytes of all pieces.
    pub bytes: u64,
}

impl Extent {
    pub(crate) fn mean_bytes(self) -> f64 {
        (self.bytes as f64 / self.pieces.max(1) as f64).max(1.0)
    }
}

/// A piece and its scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored<'a> {
    pub place: Place,
    /// Its hit. `None` if only its neighbours contain words.
    pub hit: Option<&'a Hit>,
    pub window: f64,
    pub own: f64,
    /// Bit set of the terms in its window.
    pub terms: u32,
    /// The range of hits in its window, end exclusive.
    around: (u32, u32),
    /// True if the piece itself contains all names of the query.
    has_names: bool,
}

/// Pieces of one session, best first, and the session's score by words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group<'a> {
    pub session: u32,
    pub pieces: Vec<Scored<'a>>,
    pub score: f64,
    /// True if one of its pieces contains all names of the query.
    pub has_names: bool,
    /// How often the session contains each term.
    pub counts: [u32; TERMS_MAX],
}

/// A smaller deviation is a rounding error.
const DEVIATION_MIN: f64 = 1e-5;

/// Mean and deviation of a score over all pieces, including those without any word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    pub mean: f64,
    pub deviation: f64,
}

impl Scale {
    /// The distance of a score from the mean, in deviations. Zero if all scores are equal.
    pub(crate) fn of(self, score: f64) -> f64 {
        if self.deviation < DEVIATION_MIN { 0.0 } else { (score - self.mean) / self.deviation }
    }
}

/// Sums of scores, independent of their order.
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

/// The scale of both scores, and the best pieces of each session.
pub(crate) struct Ranked<'a> {
    pub groups: Vec<Group<'a>>,
    pub windows: Scale,
    pub pieces: Scale,
    /// All scored pieces, by place.
    scored: Vec<Scored<'a>>,
    measure: Measure<'a>,
    hits: &'a [Hit],
}

impl<'a> Ranked<'a> {
    /// The hits of a session, if it has any.
    pub(crate) fn of_session(&self, session: u32) -> Option<&Group<'a>> {
        let at = self.groups.binary_search_by_key(&session, |group| group.session).ok()?;
        self.groups.get(at)
    }

    /// The score of a piece's window in a session of this many pieces. Ranking first treats every
    /// window as full unless it begins at the start of its thread.
    pub(crate) fn window(&self, piece: &Scored<'_>, pieces: u64) -> f64 {
        let (first, last) = piece.place.around(self.measure.ranker.reach() as u32);
        if u64::from(last.position()) < pieces {
            return piece.window;
        }
        let last = u64::from(piece.place.position()).max(pieces.saturating_sub(1));
        let there = last + 1 - u64::from(first.position());
        let held = self.hits.get(piece.around.0 as usize..piece.around.1 as usize).unwrap_or_default();
        self.measure.window(held, there as usize).score
    }

    /// The scores of the piece at a place, if it or a neighbour contains a word.
    pub(crate) fn at(&self, place: Place) -> Option<&Scored<'a>> {
        let at = self.scored.binary_search_by_key(&place, |piece| piece.place).ok()?;
        self.scored.get(at)
    }
}

/// The names in a query. A piece should contain all of them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Names<'a> {
    /// Bit set of their terms. Zero without names.
    pub terms: u32,
    /// Passages in which the terms are adjacent, as in the names.
    pub passages: Option<&'a HashSet<u64>>,
}

impl Names<'_> {
    fn are_in(&self, hit: &Hit) -> bool {
        self.terms != 0
            && hit.held.terms & self.terms == self.terms
            && self.passages.is_none_or(|passages| passages.contains(&hit.passage))
    }
}

/// Parameters of scores by words.
#[derive(Clone, Copy)]
pub(crate) struct Measure<'a> {
    pub ranker: &'a Ranker,
    /// The weight of each term.
    pub weights: &'a [f64],
    /// The mean length of a piece.
    pub mean_bytes: f64,
}

impl Measure<'_> {
    /// The score of a window with these hits and this many pieces.
    fn window(&self, held: &[Hit], there: usize) -> Window {
        let usual = (2 * self.ranker.reach() + 1) as f64;
        // Neighbours without a word count as average in length.
        let known: f64 = held.iter().map(|hit| f64::from(hit.info.len)).sum();
        let bytes = known + there.saturating_sub(held.len()) as f64 * self.mean_bytes;
        let terms = held.iter().fold(0, |bits, hit| bits | hit.held.terms);
        let count = |term: usize| held.iter().map(|hit| hit.count(term)).sum();
        let length = bytes / (usual * self.mean_bytes);
        Window { score: self.ranker.bm25(count, terms, self.weights, length), terms }
    }
}

/// Scores hits, which are sorted by place. `among` is the number of pieces searched.
pub(crate) fn rank<'a>(
    hits: &'a [Hit],
    measure: Measure<'a>,
    among: u64,
    names: Names<'_>,
    per_session: usize,
) -> Ranked<'a> {
    let Measure { ranker, weights, mean_bytes } = measure;
    let reach = if hits.len() > SPARSE { 0 } else { ranker.reach() };
    let mut scored: Vec<Scored<'_>> = Vec::with_capacity(hits.len() * (2 * reach as usize + 1));
    let (mut windows, mut pieces) = (Sums::default(), Sums::default());
    let mut last = (0..0, 0, Window::default());
    let reaches = Reaches { centre: reach, window: ranker.reach() };
    each_centre(hits, reaches, |place, own, around, there| {
        if last.0 != around || last.1 != there {
            let held = hits.get(around.clone()).unwrap_or_default();
            last = (around, there, measure.window(held, there));
        }
        let piece = Scored {
            place,
            hit: own,
            window: last.2.score,
            own: own.map_or(0.0, |hit| hit.score(ranker, weights, mean_bytes)),
            terms: last.2.terms,
            around: (last.0.start as u32, last.0.end as u32),
            has_names: own.is_some_and(|hit| names.are_in(hit)),
        };
        windows.add(piece.window);
        pieces.add(piece.own);
        scored.push(piece);
    });
    let among = among.max(scored.len() as u64);
    let (windows, pieces) = (windows.scale(among), pieces.scale(among));
    let lexical = |piece: &Scored<'_>| {
        let kind = piece.hit.map_or(PieceKind::Assistant, |hit| hit.info.kind);
        ranker.piece(windows.of(piece.window), pieces.of(piece.own), kind)
    };
    let mut groups = Vec::new();
    let mut first_hit = 0;
    let mut best: Vec<(f64, &Scored<'_>)> = Vec::with_capacity(per_session + 1);
    for group in scored.chunk_by(|a, b| a.place.session() == b.place.session()) {
        let Some(session) = group.first().map(|piece| piece.place.session()) else { continue };
        best.clear();
        let mut best_hit: Option<(f64, &Scored<'_>)> = None;
        for piece in group {
            let score = lexical(piece);
            if piece.hit.is_some() && best_hit.is_none_or(|(best, _)| score > best) {
                best_hit = Some((score, piece));
            }
            let is_after = |(other, better): &(f64, &Scored<'_>)| {
                let order = piece.has_names.cmp(&better.has_names).then(score.total_cmp(other));
                order != Ordering::Greater
            };
            // Already sorted by place: among equals, the earlier one stays first.
            let at = best.iter().rposition(is_after).map_or(0, |at| at + 1);
            if at < per_session {
                best.insert(at, (score, piece));
                best.truncate(per_session);
            }
        }
        // A piece between two hits may score best, but shows no word itself.
        if best.iter().all(|(_, piece)| piece.hit.is_none()) {
            best.extend(best_hit);
        }
        let has_names = best.first().is_some_and(|(_, piece)| piece.has_names);
        let is_prose = |piece: &Scored<'_>| piece.hit.is_some_and(|hit| hit.info.kind.is_prose());
        let score = ranker.pieces(best.iter().map(|(score, piece)| (*score, is_prose(piece))));
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
    Ranked { groups, windows, pieces, scored, measure, hits }
}

/// Keeps the first `count` elements of an order, sorted.
pub(crate) fn first_of<T>(all: &mut Vec<T>, count: usize, mut order: impl FnMut(&T, &T) -> Ordering) {
    if all.len() > count {
        all.select_nth_unstable_by(count, &mut order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
}

/// Distances to neighbours.
#[derive(Clone, Copy)]
struct Reaches {
    /// From a hit to the pieces to score.
    centre: i64,
    /// From a piece to the ends of its window.
    window: i64,
}

/// Calls `take` for every piece that contains a word or has a neighbour that does. Passes the range
/// of hits around it, and the number of pieces around it as far as places show.
fn each_centre<'a>(
    hits: &'a [Hit],
    reaches: Reaches,
    mut take: impl FnMut(Place, Option<&'a Hit>, Range<usize>, usize),
) {
    let mut done: Option<Place> = None;
    // The first hit around a place, the first behind those, and the first that is not before the
    // place itself. All three only move forward.
    let (mut from, mut to, mut at) = (0, 0, 0);
    for hit in hits {
        for by in -reaches.centre..=reaches.centre {
            let Some(place) = hit.place.offset(by) else { continue };
            if done.is_some_and(|done| place <= done) {
                continue;
            }
            done = Some(place);
            let (first, last) = place.around(reaches.window as u32);
            while hits.get(from).is_some_and(|hit| hit.place < first) {
                from += 1;
            }
            while hits.get(to).is_some_and(|hit| hit.place <= last) {
                to += 1;
            }
            while hits.get(at).is_some_and(|hit| hit.place < place) {
                at += 1;
            }
            let there = (last.position() - first.position() + 1) as usize;
            take(place, hits.get(at).filter(|hit| hit.place == place), from..to, there);
        }
    }
}

/// The words in a piece and its neighbours. The same for all pieces with the same hits around them,
/// which is common: most hits are alone.
#[derive(Debug, Clone, Copy, Default)]
struct Window {
    score: f64,
    /// Bit set of the terms.
    terms: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    fn hit(session: u32, position: u32, counts: &[u32]) -> Hit {
        let info = Info { kind: PieceKind::Assistant, live: true, piece: 0, len: 100 };
        let mut hit =
            Hit::new(Place::new(session, 0, position), u64::from(position), info, 0, Counts::default());
        counts.iter().enumerate().for_each(|(term, count)| hit.add(term as u8, *count));
        hit
    }

    /// Ranks hits among a thousand pieces of a hundred bytes.
    fn with_ranked<T>(hits: &[Hit], names: Names<'_>, count: usize, look: impl Fn(&Ranked<'_>) -> T) -> T {
        let ranker = Ranker::new().unwrap();
        let measure = Measure { ranker: &ranker, weights: &[3.0, 3.0], mean_bytes: 100.0 };
        look(&rank(hits, measure, 1_000, names, count))
    }

    #[test]
    fn neighbours_that_hold_the_other_words_lift_a_piece() {
        let hits = [hit(1, 10, &[1, 0]), hit(1, 11, &[0, 1]), hit(2, 10, &[1, 0]), hit(2, 40, &[0, 1])];
        with_ranked(&hits, Names::default(), 3, |ranked| {
            let best = |session: u32| ranked.of_session(session).unwrap().score;
            assert!(best(1) > best(2));
        });
    }

    #[test]
    fn a_piece_between_two_hits_is_scored_too() {
        let hits = [hit(1, 10, &[1]), hit(1, 12, &[1])];
        let places: Vec<u32> = with_ranked(&hits, Names::default(), 9, |ranked| {
            ranked.groups[0].pieces.iter().map(|piece| piece.place.position()).collect()
        });
        assert!(places.contains(&11) && places.contains(&8) && places.contains(&14) && !places.contains(&15));
        assert_eq!(places.len(), 7);
    }

    #[test]
    fn every_piece_that_was_scored_is_found_by_its_place() {
        let hits = [hit(1, 10, &[1]), hit(2, 3, &[2])];
        with_ranked(&hits, Names::default(), 1, |ranked| {
            let own = |session, position| ranked.at(Place::new(session, 0, position)).map(|piece| piece.own);
            assert!(own(2, 3) > own(1, 10) && own(1, 10) > Some(0.0));
            assert_eq!((own(1, 12), own(1, 13)), (Some(0.0), None));
        });
    }

    #[test]
    fn a_piece_that_holds_all_of_a_name_comes_before_better_ones() {
        const NAMES: Names<'_> = Names { terms: 0b11, passages: None };
        let hits = [hit(1, 1, &[9, 0]), hit(1, 20, &[1, 1]), hit(2, 1, &[9, 0]), hit(2, 2, &[0, 9])];
        with_ranked(&hits, NAMES, 1, |ranked| {
            let first =
                |at: usize| (ranked.groups[at].has_names, ranked.groups[at].pieces[0].place.position());
            assert_eq!(first(0), (true, 20));
            assert!(!first(1).0);
        });
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
        with_ranked(&hits, Names::default(), 9, |ranked| {
            assert!(ranked.groups[0].pieces.iter().all(|piece| piece.terms.count_ones() == 1));
        });
    }

    #[test]
    fn a_window_counts_only_the_pieces_that_are_there() {
        let hits = [hit(1, 0, &[1]), hit(1, 20, &[1]), hit(2, 20, &[1])];
        with_ranked(&hits, Names::default(), 1, |ranked| {
            let window = |session: u32, position: u32, pieces: u64| {
                ranked.window(ranked.at(Place::new(session, 0, position)).unwrap(), pieces)
            };
            assert!(window(1, 0, 40) > window(1, 20, 40), "two pieces are missing before the first");
            assert_eq!(window(1, 20, 40), window(2, 20, 23));
            assert!(window(2, 20, 22) > window(2, 20, 23));
            assert_eq!(window(1, 0, 40), window(2, 20, 21), "as many are missing on the other side");
        });
    }
}
