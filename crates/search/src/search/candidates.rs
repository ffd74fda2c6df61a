//! The sessions and pieces that an answer is chosen from, with their scores.

use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

use super::{Allowed, Ask, FoundPiece, FoundSession, Known, Meaning, Mode, Nearest, Sources, names};
use crate::Place;
use crate::passages::time_ms;
use crate::rank::{self, Hit, Ranked, Scale, Scored, Sums};
use crate::text::{Info, Numbered};

/// What meaning counts beside words.
const MEANING: f64 = 0.40;

/// The same where a query has nothing but names and codes.
const MEANING_OF_NAMES: f64 = 0.10;

/// What the session as a whole counts beside its pieces.
const WHOLE: f64 = 0.50;

/// What being new and being from the same repository are worth at most.
const RECENT: f64 = 0.05;
const RECENT_DAYS: f64 = 30.0;
const HERE: f64 = 0.05;

/// What a piece gains that carries a label which was asked for.
const LABELLED: f64 = 1.3;

/// Sessions for which the meaning of windows is formed.
const WINDOWS_MAX: usize = 60;

/// A piece that may be the answer.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub place: Place,
    pub passage: Rc<Numbered>,
    pub piece: usize,
    pub score: f64,
    words: Vec<String>,
    cosine: Option<f64>,
    pub is_literal: bool,
    window: f64,
    own: f64,
}

/// The candidates of one session, best first.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub pieces: Vec<Candidate>,
    pub score: f64,
    /// The session as a whole, by words.
    whole: f64,
}

impl Candidate {
    fn new(passage: Rc<Numbered>, piece: usize) -> Candidate {
        Candidate {
            place: passage.place(piece),
            passage,
            piece,
            score: 0.0,
            words: Vec::new(),
            cosine: None,
            is_literal: false,
            window: 0.0,
            own: 0.0,
        }
    }

    /// The piece of a passage that stands for it, if any may be found.
    fn of(passage: Rc<Numbered>, ask: &Ask<'_>) -> Option<Candidate> {
        let is_kept = |at: &usize| {
            passage.passage.pieces.get(*at).is_some_and(|piece| {
                let info = Info { kind: piece.kind, live: passage.passage.live, piece: 0, len: 0 };
                ask.scope.keeps(passage.place(*at), &info, time_ms(piece.at))
            })
        };
        let kept: Vec<usize> = (0..passage.passage.pieces.len()).filter(is_kept).collect();
        let is_prose =
            |at: &&usize| passage.passage.pieces.get(**at).is_some_and(|piece| piece.kind.is_prose());
        let piece = *kept.iter().find(is_prose).or(kept.first())?;
        Some(Candidate::new(passage, piece))
    }

    /// The same with what it is worth by words.
    fn scored(self, scored: &Scored<'_>, terms: &[Known]) -> Candidate {
        let is_held = |at: usize| scored.terms >> at & 1 == 1;
        let words = terms.iter().enumerate().filter(|(at, _)| is_held(*at));
        let words = words.map(|(_, known)| known.word.clone()).collect();
        Candidate { words, window: scored.window, own: scored.own, ..self }
    }

    /// A passage that was asked for by label alone: the newest is the best.
    pub(super) fn by_label(passage: Rc<Numbered>, ask: &Ask<'_>) -> Option<Candidate> {
        let has_label = |piece: &retro_model::Piece| has_label(piece, &ask.query.labels);
        let at = passage.passage.pieces.iter().position(has_label);
        let mut candidate = Candidate::of(passage, ask)?;
        if let Some(at) = at {
            candidate = Candidate::new(candidate.passage, at);
        }
        candidate.score = time_ms(candidate.passage.passage.at()) as f64 / 1e12;
        Some(candidate)
    }

    fn kind(&self) -> retro_model::PieceKind {
        self.passage.passage.pieces.get(self.piece).map_or(retro_model::PieceKind::Output, |piece| piece.kind)
    }

    fn has_label(&self, wanted: &[Vec<String>]) -> bool {
        self.passage.passage.pieces.get(self.piece).is_some_and(|piece| has_label(piece, wanted))
    }

    /// The text of the piece.
    pub(super) fn text(&self) -> &str {
        self.passage.passage.pieces.get(self.piece).map_or("", |piece| piece.text.as_str())
    }
}

fn has_label(piece: &retro_model::Piece, wanted: &[Vec<String>]) -> bool {
    wanted.iter().flatten().any(|label| piece.labels.contains(label))
}

impl Group {
    /// Puts pieces in order and scores the session by them.
    pub(super) fn scored(mut self) -> Group {
        self.pieces.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        self.score = rank::of_session(self.pieces.iter().map(|piece| (piece.score, piece.kind().is_prose())));
        self
    }

    /// The group as it is returned, each text once.
    pub(super) fn into_found(self, per_session: usize) -> Option<FoundSession> {
        let session = self.pieces.first()?.place.session();
        let mut texts: HashSet<String> = HashSet::new();
        let mut pieces = self.pieces;
        pieces.retain(|piece| texts.insert(piece.text().to_owned()));
        pieces.truncate(per_session.max(1));
        let pieces = pieces.into_iter().map(|piece| FoundPiece {
            place: piece.place,
            score: piece.score,
            words: piece.words,
            cosine: piece.cosine,
            is_literal: piece.is_literal,
            piece: piece.piece,
            passage: Rc::unwrap_or_clone(piece.passage),
        });
        Some(FoundSession { session, score: self.score, pieces: pieces.collect() })
    }
}

/// How much words and meaning count.
#[derive(Clone, Copy)]
struct Share {
    words: f64,
    meaning: f64,
}

impl Share {
    fn of(ask: &Ask<'_>, has_meaning: bool) -> Share {
        let meaning = match ask.mode {
            _ if !has_meaning => 0.0,
            Mode::Words => 0.0,
            Mode::Meaning => 1.0,
            Mode::Hybrid if ask.query.is_all_names() => MEANING_OF_NAMES,
            Mode::Hybrid => MEANING,
        };
        Share { words: 1.0 - meaning, meaning }
    }
}

/// Scores everything that is near in words or in meaning.
pub(super) fn find(
    sources: &Sources<'_>,
    ask: &Ask<'_>,
    terms: &[Known],
    hits: &[Hit],
    meaning: Option<&dyn Meaning>,
    allowed: &Allowed,
) -> Vec<Group> {
    let weights: Vec<f64> = terms.iter().map(|known| known.weight).collect();
    let nearest = meaning.map(|meaning| near(sources, ask, meaning, allowed));
    let extent = sources.library.extent();
    // Scores by words and by meaning are mixed by how far they are above the mean of what is
    // looked through: both have to count the same pieces.
    let among = nearest.as_ref().map_or(1.0, |nearest| nearest.share) * extent.pieces as f64;
    let exact = names::exact(sources, ask, terms);
    let names = rank::Names { terms: names::bits(ask, terms), passages: exact.as_ref() };
    let ranked = rank::rank(hits, &weights, extent, among as u64, names, ask.per_session.max(3));
    let nearest = nearest.unwrap_or_default();
    let whole = wholes(sources, &weights, &ranked, ask);
    let share = Share::of(ask, meaning.is_some());
    let scales = Scales { ranked: &ranked, nearest: &nearest, whole, share };
    let mut groups = by_words(sources, terms, &weights, &scales, ask);
    add_near(sources, ask, terms, &nearest, &ranked, &mut groups);
    score(&mut groups, &scales, meaning, ask, sources);
    groups.into_values().collect()
}

fn near(sources: &Sources<'_>, ask: &Ask<'_>, meaning: &dyn Meaning, allowed: &Allowed) -> Nearest {
    let within = sources.library.within(ask.scope);
    let dead = if ask.scope.rewound { HashSet::new() } else { sources.library.rewound() };
    // What changed lately may not be among the passages that the library knows.
    let of_tail = sources.tail.passages.iter().filter(|numbered| {
        numbered.passage.pieces.iter().enumerate().any(|(at, piece)| {
            let info = Info { kind: piece.kind, live: numbered.passage.live, piece: 0, len: 0 };
            ask.scope.keeps(numbered.place(at), &info, time_ms(piece.at))
        })
    });
    let of_tail: HashSet<u64> = of_tail.map(|numbered| numbered.number).collect();
    let (is_narrow, has_dead) = (allowed.is_narrow(), !dead.is_empty());
    let keep = |number: u64| {
        let is_within = |within: &HashSet<u64>| within.contains(&number) || of_tail.contains(&number);
        (!is_narrow || allowed.has(number))
            && !(has_dead && dead.contains(&number))
            && within.as_ref().is_none_or(is_within)
    };
    meaning.nearest(ask.near_read(), &keep)
}

/// The best sessions by words.
fn by_words(
    sources: &Sources<'_>,
    terms: &[Known],
    weights: &[f64],
    scales: &Scales<'_>,
    ask: &Ask<'_>,
) -> HashMap<u32, Group> {
    let mut best: Vec<&rank::Group<'_>> = scales.ranked.groups.iter().collect();
    let order = |a: &&rank::Group<'_>, b: &&rank::Group<'_>| {
        b.has_names.cmp(&a.has_names).then(b.score.total_cmp(&a.score)).then(a.session.cmp(&b.session))
    };
    rank::first_of(&mut best, ask.sessions_read(), order);
    let mean = sources.library.extent().bytes as f64 / sources.library.sessions().max(1) as f64;
    let whole = |found: &rank::Group<'_>| {
        let bytes = sources.library.session_bytes(found.session);
        rank::session_score(&found.counts, weights, bytes, mean)
    };
    let mut best: Vec<(f64, &rank::Group<'_>)> =
        best.into_iter().map(|found| (whole(found), found)).collect();
    let is_decided = scales.share.meaning == 0.0 && ask.is_decided_by_words();
    if is_decided {
        let score = |(whole, found): &(f64, &rank::Group<'_>)| {
            let newest = found.pieces.iter().filter_map(|piece| piece.hit.map(|hit| hit.at_ms)).max();
            lifted(found.score + WHOLE * scales.whole.of(*whole), found.session, newest, ask)
        };
        let is_first = |found: &rank::Group<'_>| found.has_names && ask.query.is_all_names();
        best.sort_by(|a, b| {
            let by_score = || score(b).total_cmp(&score(a)).then(a.1.session.cmp(&b.1.session));
            is_first(b.1).cmp(&is_first(a.1)).then_with(by_score)
        });
    }
    // Nothing lifts a session above one that is better by words and has all names as they
    // stand in the query: with enough of those, the texts of the others are not read, which
    // would be most of the work.
    let (enough, mut certain) = (ask.limit + ask.limit / 2 + 2, 0);
    let mut groups = HashMap::new();
    for (whole, found) in best {
        let pieces: Vec<Candidate> =
            found.pieces.iter().filter_map(|piece| candidate(sources, terms, piece, ask)).collect();
        if pieces.is_empty() {
            continue;
        }
        certain += usize::from(pieces.iter().any(|piece| ask.has_names_in(piece.text())));
        groups.insert(found.session, Group { pieces, score: 0.0, whole });
        if is_decided && certain == enough {
            break;
        }
    }
    groups
}

/// How well sessions as a whole fit by words, over all that are looked through. Each is taken
/// to be of the usual length: it is the scale alone that rests on it.
fn wholes(sources: &Sources<'_>, weights: &[f64], ranked: &Ranked<'_>, ask: &Ask<'_>) -> Scale {
    let mut sums = Sums::default();
    ranked.groups.iter().for_each(|group| sums.add(rank::session_score(&group.counts, weights, 1, 1.0)));
    let count = ask.scope.sessions.as_ref().map_or(sources.library.sessions(), |only| only.len() as u64);
    sums.scale(count.max(ranked.groups.len() as u64))
}

/// A scored piece with its text.
fn candidate(
    sources: &Sources<'_>,
    terms: &[Known],
    scored: &Scored<'_>,
    ask: &Ask<'_>,
) -> Option<Candidate> {
    let (number, piece) = match scored.hit {
        Some(hit) => (hit.passage, Some(usize::from(hit.info.piece))),
        None => (sources.passage_at(scored.place)?, None),
    };
    let passage = sources.passage(number)?;
    let piece = match piece {
        Some(piece) => piece,
        None => (scored.place.position().checked_sub(passage.passage.first)?) as usize,
    };
    let found = passage.passage.pieces.get(piece)?;
    let info = Info { kind: found.kind, live: passage.passage.live, piece: 0, len: 0 };
    if scored.hit.is_none() && !ask.scope.keeps(scored.place, &info, time_ms(found.at)) {
        return None;
    }
    Some(Candidate::new(passage, piece).scored(scored, terms))
}

/// Adds passages that are near in meaning and are not among the best by words.
fn add_near(
    sources: &Sources<'_>,
    ask: &Ask<'_>,
    terms: &[Known],
    nearest: &Nearest,
    ranked: &Ranked<'_>,
    groups: &mut HashMap<u32, Group>,
) {
    for (number, _) in &nearest.passages {
        let Some(passage) = sources.passage(*number) else { continue };
        let group = groups.entry(passage.session).or_default();
        if group.pieces.iter().any(|piece| piece.passage.number == *number) {
            continue;
        }
        let found = Candidate::of(passage, ask);
        group.pieces.extend(found.map(|piece| match ranked.at(piece.place) {
            Some(scored) => piece.scored(scored, terms),
            None => piece,
        }));
    }
    groups.retain(|_, group| !group.pieces.is_empty());
}

struct Scales<'a> {
    ranked: &'a Ranked<'a>,
    nearest: &'a Nearest,
    /// Of sessions as a whole.
    whole: Scale,
    share: Share,
}

impl Scales<'_> {
    fn meaning(&self, cosine: Option<f64>) -> f64 {
        let cosine = cosine.unwrap_or(self.nearest.mean);
        (cosine - self.nearest.mean) / (self.nearest.deviation + 1e-6)
    }

    fn piece(&self, piece: &Candidate, window_cosine: Option<f64>) -> f64 {
        let Share { words, meaning } = self.share;
        let mixed = |scale: Scale, score: f64, cosine: Option<f64>| {
            let by_words = if words > 0.0 { words * scale.of(score) } else { 0.0 };
            let by_meaning = if meaning > 0.0 { meaning * self.meaning(cosine) } else { 0.0 };
            by_words + by_meaning
        };
        let window = mixed(self.ranked.windows, piece.window, window_cosine.or(piece.cosine));
        let own = mixed(self.ranked.pieces, piece.own, piece.cosine);
        rank::weighted(rank::combined(window, own), piece.kind())
    }
}

fn score(
    groups: &mut HashMap<u32, Group>,
    scales: &Scales<'_>,
    meaning: Option<&dyn Meaning>,
    ask: &Ask<'_>,
    sources: &Sources<'_>,
) {
    let known: HashMap<u64, f64> = scales.nearest.passages.iter().copied().collect();
    for piece in groups.values_mut().flat_map(|group| &mut group.pieces) {
        let number = piece.passage.number;
        piece.cosine =
            known.get(&number).copied().or_else(|| meaning.and_then(|meaning| meaning.cosine(&[number])));
        piece.score = scales.piece(piece, None);
    }
    if let Some(meaning) = meaning {
        score_windows(groups, scales, meaning, sources);
    }
    for piece in groups.values_mut().flat_map(|group| &mut group.pieces) {
        if piece.score > 0.0 && piece.has_label(&ask.query.labels) {
            piece.score *= LABELLED;
        }
    }
    for (session, group) in groups.iter_mut() {
        *group = std::mem::take(group).scored();
        let cosine = group
            .pieces
            .iter()
            .filter_map(|piece| piece.cosine)
            .fold(None, |best: Option<f64>, cosine| Some(best.map_or(cosine, |best| best.max(cosine))));
        let Share { words, meaning } = scales.share;
        let by_meaning = if meaning > 0.0 { meaning * scales.meaning(cosine) } else { 0.0 };
        group.score += WHOLE * (words * scales.whole.of(group.whole) + by_meaning);
        let newest = group.pieces.iter().filter_map(|piece| piece.passage.passage.at()).max();
        group.score = lifted(group.score, *session, newest.map(|at| at.as_millis()), ask);
    }
}

/// Scores the pieces of the best sessions again, with what their neighbours mean.
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
            let around = passages_around(piece, sources);
            if around.len() > 1 {
                piece.score = scales.piece(piece, meaning.cosine(&around));
            }
        }
    }
}

/// Numbers of the passages that hold the neighbours of a piece, its own included.
fn passages_around(piece: &Candidate, sources: &Sources<'_>) -> Vec<u64> {
    let passage = &piece.passage.passage;
    let (first, last) = (passage.first, passage.first + passage.pieces.len().saturating_sub(1) as u32);
    let mut numbers = vec![piece.passage.number];
    for by in -rank::REACH..=rank::REACH {
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

/// The score of a session, with what being new and being from here are worth.
fn lifted(score: f64, session: u32, newest_ms: Option<i64>, ask: &Ask<'_>) -> f64 {
    if score <= 0.0 {
        return score;
    }
    let here = if (ask.is_here)(session) { HERE } else { 0.0 };
    score * (1.0 + RECENT * newest_ms.map_or(0.0, |at_ms| recency(at_ms, ask.now_ms)) + here)
}

/// From 1 for what just happened towards 0.
fn recency(at_ms: i64, now_ms: i64) -> f64 {
    let days = (now_ms - at_ms).max(0) as f64 / 86_400_000.0;
    0.5_f64.powf(days / RECENT_DAYS)
}
