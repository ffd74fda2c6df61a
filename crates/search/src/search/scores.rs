//! Scores candidates: by words, by meaning, and as part of a session.

use hashbrown::HashMap;

use super::candidates::{Candidate, Group};
use super::neighbours::Neighbours;
use super::{Ask, Known, Meaning, Nearest, Sources};
use crate::query::TERMS_MAX;
use crate::rank::{self, Ranked, Scale, Sums};
use crate::ranker::{Ranker, Share, rarity};

/// Maximum sessions for which the meaning of windows is computed.
const WINDOWS_MAX: usize = 60;

/// The scales of all scores.
pub(super) struct Scales<'a> {
    pub ranked: &'a Ranked<'a>,
    pub nearest: &'a Nearest,
    pub wholes: Wholes,
    pub share: Share,
    pub ranker: &'a Ranker,
}

/// Scores of whole sessions by words.
pub(super) struct Wholes {
    ranker: Ranker,
    /// The weight of each term among sessions.
    weights: Vec<f64>,
    /// The weight of each term among pieces.
    rarities: Vec<f64>,
    /// The total weight of the query's words, including those not found.
    asked: f64,
    mean_bytes: f64,
    scale: Scale,
}

impl Wholes {
    /// Measures the scale over all searched sessions, each assumed to have the mean length.
    pub(super) fn new(sources: &Sources<'_>, terms: &[Known], ranked: &Ranked<'_>, ask: &Ask<'_>) -> Wholes {
        let sessions = sources.library.sessions();
        let extent = sources.library.extent();
        let of_form =
            |weight: f64, known: &Known| if known.is_form { ask.ranker.of_form(weight) } else { weight };
        let weights =
            terms.iter().map(|known| of_form(ask.ranker.rarity_among(sessions, known.holding), known));
        let mut wholes = Wholes {
            ranker: ask.ranker.clone(),
            weights: weights.collect(),
            asked: terms.iter().map(|known| rarity(extent.pieces, known.holding)).sum(),
            rarities: terms.iter().map(|known| known.weight).collect(),
            mean_bytes: (extent.bytes as f64 / sessions.max(1) as f64).max(1.0),
            scale: Sums::default().scale(1),
        };
        let mut sums = Sums::default();
        ranked.groups.iter().for_each(|group| sums.add(wholes.score(&group.counts, 1.0)));
        let count = ask.scope.sessions.as_ref().map_or(sessions, |only| only.len() as u64);
        wholes.scale = sums.scale(count.max(ranked.groups.len() as u64));
        wholes
    }

    fn score(&self, counts: &[u32; TERMS_MAX], length: f64) -> f64 {
        let count = |term: usize| counts.get(term).copied().unwrap_or(0);
        self.ranker.bm25(count, terms_of(counts), &self.weights, length)
    }

    /// The score of a session with these term counts.
    pub(super) fn of(&self, sources: &Sources<'_>, session: u32, counts: &[u32; TERMS_MAX]) -> f64 {
        self.score(counts, sources.extent(session).bytes as f64 / self.mean_bytes)
    }

    /// Like [`Wholes::of`], but assumes the mean length instead of looking it up.
    pub(super) fn of_usual_length(&self, counts: &[u32; TERMS_MAX]) -> f64 {
        self.score(counts, 1.0)
    }

    /// The share of the query's words among these counts, weighted by rarity.
    pub(super) fn held(&self, counts: &[u32; TERMS_MAX]) -> f64 {
        self.share(terms_of(counts))
    }

    /// The share of the query's words in this bit set, weighted by rarity.
    pub(super) fn share(&self, terms: u32) -> f64 {
        let held = self.rarities.iter().enumerate().filter(|(at, _)| terms >> at & 1 == 1);
        held.map(|(_, weight)| weight).sum::<f64>() / self.asked.max(f64::MIN_POSITIVE)
    }
}

/// Bit set of the terms with a count.
fn terms_of(counts: &[u32; TERMS_MAX]) -> u32 {
    let there = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    there.fold(0, |bits, (at, _)| bits | 1 << at)
}

impl Scales<'_> {
    fn meaning(&self, cosine: Option<f64>) -> f64 {
        let Nearest { mean, deviation, .. } = *self.nearest;
        Scale { mean, deviation }.of(cosine.unwrap_or(mean))
    }

    fn piece(&self, piece: &Candidate, window_cosine: Option<f64>) -> f64 {
        let mixed = |scale: Scale, score: f64, cosine: Option<f64>| {
            self.share.mix(scale.of(score), self.meaning(cosine))
        };
        let window = mixed(self.ranked.windows, piece.window, window_cosine.or(piece.cosine));
        let own = mixed(self.ranked.pieces, piece.own, piece.cosine);
        self.ranker.piece(window, own, piece.kind())
    }

    /// The score of a session by words alone, given its score as a whole.
    pub(super) fn by_words(&self, found: &rank::Group<'_>, whole: f64) -> f64 {
        let held = self.wholes.held(&found.counts);
        self.ranker.session(found.score, self.wholes.scale.of(whole), held)
    }

    /// The score of a session, from its pieces and as a whole.
    fn session(&self, group: &Group) -> f64 {
        let whole = self.share.mix(self.wholes.scale.of(group.whole), self.meaning(group.cosine));
        self.ranker.session(group.score, whole, group.held)
    }
}

/// Scores candidates and their sessions.
pub(super) fn score(
    groups: &mut HashMap<u32, Group>,
    scales: &Scales<'_>,
    meaning: Option<&dyn Meaning>,
    ask: &Ask<'_>,
    (sources, terms): (&Sources<'_>, &[Known]),
) {
    let known: HashMap<u64, f64> = scales.nearest.passages.iter().copied().collect();
    for piece in groups.values_mut().flat_map(|group| &mut group.pieces) {
        let number = piece.passage.number;
        piece.cosine =
            known.get(&number).copied().or_else(|| meaning.and_then(|meaning| meaning.cosine(&[number])));
        piece.score = scales.piece(piece, None);
        piece.share = scales.wholes.share(piece.held);
    }
    if let Some(meaning) = meaning {
        score_windows(groups, scales, meaning, sources);
    }
    let mut neighbours = Neighbours::of(&ask.query.text, terms, ask.ranker.numbers());
    for piece in groups.values_mut().flat_map(|group| &mut group.pieces) {
        if piece.has_label(&ask.query.labels) {
            piece.score = ask.ranker.with_label(piece.score);
        }
        if piece.score > 0.0 && piece.held.count_ones() > 1 {
            piece.score = ask.ranker.with_neighbours(piece.score, neighbours.share(piece.text()));
        }
    }
    for (session, group) in groups.iter_mut() {
        *group = std::mem::take(group).scored(ask);
        group.cosine = group.pieces.iter().filter_map(|piece| piece.cosine).max_by(f64::total_cmp);
        let score = scales.session(group);
        let newest = group.pieces.iter().filter_map(|piece| piece.passage.passage.at()).max();
        let age = newest.map(|at| age_days(at.as_millis(), ask.now_ms));
        group.score = ask.ranker.lifted(score, age, (ask.is_here)(*session));
        let cosines = group.pieces.iter_mut().map(|piece| &mut piece.cosine).chain([&mut group.cosine]);
        cosines.flatten().for_each(|cosine| *cosine = scales.nearest.usual(*cosine));
    }
}

/// Scores the pieces of the best sessions again, with the meaning of their neighbours.
fn score_windows(
    groups: &mut HashMap<u32, Group>,
    scales: &Scales<'_>,
    meaning: &dyn Meaning,
    sources: &Sources<'_>,
) {
    let best_of =
        |group: &Group| group.pieces.iter().map(|piece| piece.score).fold(f64::NEG_INFINITY, f64::max);
    let mut order: Vec<(f64, u32)> =
        groups.iter().map(|(session, group)| (best_of(group), *session)).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, session) in order.into_iter().take(WINDOWS_MAX) {
        for piece in groups.get_mut(&session).into_iter().flat_map(|group| &mut group.pieces) {
            let around = passages_around(piece, sources, scales.ranker.reach());
            if around.len() > 1 {
                piece.score = scales.piece(piece, meaning.cosine(&around));
            }
        }
    }
}

/// Numbers of the passages around a piece, including its own.
fn passages_around(piece: &Candidate, sources: &Sources<'_>, reach: i64) -> Vec<u64> {
    let passage = &piece.passage.passage;
    let (first, last) = (passage.first, passage.first + passage.pieces.len().saturating_sub(1) as u32);
    let mut numbers = vec![piece.passage.number];
    for by in -reach..=reach {
        let Some(place) = piece.place.offset(by) else { continue };
        if (first..=last).contains(&place.position()) {
            continue;
        }
        if let Some(number) = sources.passage_at(place).filter(|number| !numbers.contains(number)) {
            numbers.push(number);
        }
    }
    numbers
}

/// The age of an instant, in days.
pub(super) fn age_days(at_ms: i64, now_ms: i64) -> f64 {
    (now_ms - at_ms).max(0) as f64 / 86_400_000.0
}
