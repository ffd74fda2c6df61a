//! The candidate sessions and pieces of a search, with their scores.

use hashbrown::{HashMap, HashSet};
use std::rc::Rc;

use super::scores::{Scales, Wholes, age_days, score};
use super::{Allowed, Ask, FoundPiece, FoundSession, Known, Meaning, Nearest, Sources, names};
use crate::Place;
use crate::passages::time_ms;
use crate::rank::{self, Hit, Measure, Scored};
use crate::text::{Info, Numbered};

/// Sessions whose lengths are looked up, per session whose texts are read.
const WEIGHED_A_READ: usize = 4;

/// A piece that may be in the result.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub place: Place,
    pub passage: Rc<Numbered>,
    pub piece: usize,
    pub score: f64,
    words: Vec<String>,
    pub cosine: Option<f64>,
    pub is_literal: bool,
    /// Score by words: of its window, and its own.
    pub window: f64,
    pub own: f64,
    /// Query words in the piece itself, as a bit set and as a share.
    pub held: u32,
    pub share: f64,
}

/// The candidates of one session, best first.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub pieces: Vec<Candidate>,
    pub score: f64,
    /// The score by words of the session as a whole.
    pub whole: f64,
    /// The share of the query's words it contains, weighted by rarity.
    pub held: f64,
    /// The best cosine among its pieces.
    pub cosine: Option<f64>,
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
            held: 0,
            share: 0.0,
        }
    }

    /// The piece that represents a passage, if any is in scope.
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

    /// Sets the scores by words.
    fn scored(self, scored: &Scored<'_>, window: f64, terms: &[Known]) -> Candidate {
        let is_held = |at: usize| scored.terms >> at & 1 == 1;
        let words = terms.iter().enumerate().filter(|(at, _)| is_held(*at));
        let words = words.map(|(_, known)| known.word.clone()).collect();
        let held = scored.hit.map_or(0, Hit::terms);
        Candidate { words, window, own: scored.own, held, ..self }
    }

    /// A passage found by label alone. The newest is the best.
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

    pub(super) fn kind(&self) -> retro_model::PieceKind {
        self.passage.passage.pieces.get(self.piece).map_or(retro_model::PieceKind::Output, |piece| piece.kind)
    }

    pub(super) fn has_label(&self, wanted: &[Vec<String>]) -> bool {
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
    /// Sorts the pieces, and scores the session by them.
    pub(super) fn scored(mut self, ask: &Ask<'_>) -> Group {
        self.pieces.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        let pieces = self.pieces.iter().map(|piece| (piece.score, piece.kind().is_prose()));
        self.score = ask.ranker.pieces(pieces);
        self
    }

    /// Converts the group for the caller, each text once.
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
            held: piece.share,
            cosine: piece.cosine,
            is_literal: piece.is_literal,
            piece: piece.piece,
            passage: Rc::unwrap_or_clone(piece.passage),
        });
        let Group { score, held, cosine, .. } = self;
        Some(FoundSession { session, score, held, cosine, pieces: pieces.collect() })
    }
}

/// Scores all candidates by words or by meaning.
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
    // Scores by words and by meaning are combined by their distances from the mean over the
    // searched pieces. Both must count the same pieces.
    let among = nearest.as_ref().map_or(1.0, |nearest| nearest.share) * extent.pieces as f64;
    let exact = names::exact(sources, ask, terms);
    let names = rank::Names { terms: names::bits(ask, terms), passages: exact.as_ref() };
    let measure = Measure { ranker: ask.ranker, weights: &weights, mean_bytes: extent.mean_bytes() };
    let ranked = rank::rank(hits, measure, among as u64, names, ask.per_session.max(3));
    let scales = Scales {
        ranked: &ranked,
        nearest: &nearest.unwrap_or_default(),
        wholes: Wholes::new(sources, terms, &ranked, ask),
        share: ask.share(meaning.is_some()),
        ranker: ask.ranker,
    };
    let mut groups = by_words(sources, terms, &scales, ask);
    add_near(sources, ask, terms, &scales, &mut groups);
    score(&mut groups, &scales, meaning, ask, (sources, terms));
    groups.into_values().collect()
}

fn near(sources: &Sources<'_>, ask: &Ask<'_>, meaning: &dyn Meaning, allowed: &Allowed) -> Nearest {
    let within = sources.library.within(ask.scope);
    let dead = if ask.scope.rewound { HashSet::new() } else { sources.library.rewound() };
    // The library may not know passages that changed recently.
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
    scales: &Scales<'_>,
    ask: &Ask<'_>,
) -> HashMap<u32, Group> {
    let is_decided = scales.share.meaning == 0.0 && ask.is_decided_by_words();
    let is_first = |found: &rank::Group<'_>| found.has_names;
    let usual =
        |found: &rank::Group<'_>| scales.by_words(found, scales.wholes.of_usual_length(&found.counts));
    let mut best: Vec<(f64, &rank::Group<'_>)> =
        scales.ranked.groups.iter().map(|found| (usual(found), found)).collect();
    let order = |a: &(f64, &rank::Group<'_>), b: &(f64, &rank::Group<'_>)| {
        let by_score = || b.0.total_cmp(&a.0).then(a.1.session.cmp(&b.1.session));
        is_first(b.1).cmp(&is_first(a.1)).then_with(by_score)
    };
    rank::first_of(&mut best, ask.sessions_read() * WEIGHED_A_READ, order);
    let weighed = best.into_iter().map(|(_, found)| {
        let whole = scales.wholes.of(sources, found.session, &found.counts);
        let newest = found.pieces.iter().filter_map(|piece| piece.hit.map(|hit| hit.at_ms)).max();
        let score = scales.by_words(found, whole);
        let is_here = (ask.is_here)(found.session);
        (ask.ranker.lifted(score, newest.map(|at| age_days(at, ask.now_ms)), is_here), whole, found)
    });
    let mut best: Vec<(f64, f64, &rank::Group<'_>)> = weighed.collect();
    rank::first_of(&mut best, ask.sessions_read(), |a, b| order(&(a.0, a.2), &(b.0, b.2)));
    // Once enough sessions contain all names verbatim, hardly anything can lift the remaining ones
    // above them. Skip their text, which would be most of the work.
    let (enough, mut certain) = (ask.limit + ask.limit / 2 + 2, 0);
    let mut groups = HashMap::new();
    for (_, whole, found) in best {
        let pieces: Vec<Candidate> =
            found.pieces.iter().filter_map(|piece| candidate(sources, terms, piece, scales, ask)).collect();
        if pieces.is_empty() {
            continue;
        }
        certain += usize::from(pieces.iter().any(|piece| ask.has_names_in(piece.text())));
        let held = scales.wholes.held(&found.counts);
        groups.insert(found.session, Group { pieces, whole, held, ..Group::default() });
        if is_decided && certain == enough {
            break;
        }
    }
    groups
}

/// A scored piece and its text.
fn candidate(
    sources: &Sources<'_>,
    terms: &[Known],
    scored: &Scored<'_>,
    scales: &Scales<'_>,
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
    let pieces = sources.extent(scored.place.session()).pieces;
    Some(Candidate::new(passage, piece).scored(scored, scales.ranked.window(scored, pieces), terms))
}

/// Adds passages that are similar in meaning and not among the best by words.
fn add_near(
    sources: &Sources<'_>,
    ask: &Ask<'_>,
    terms: &[Known],
    scales: &Scales<'_>,
    groups: &mut HashMap<u32, Group>,
) {
    for (number, _) in &scales.nearest.passages {
        let Some(passage) = sources.passage(*number) else { continue };
        let session = passage.session;
        let group = groups.entry(session).or_insert_with(|| match scales.ranked.of_session(session) {
            Some(found) => Group {
                whole: scales.wholes.of(sources, session, &found.counts),
                held: scales.wholes.held(&found.counts),
                ..Group::default()
            },
            None => Group::default(),
        });
        if group.pieces.iter().any(|piece| piece.passage.number == *number) {
            continue;
        }
        let found = Candidate::of(passage, ask);
        group.pieces.extend(found.map(|piece| match scales.ranked.at(piece.place) {
            Some(scored) => {
                let pieces = sources.extent(session).pieces;
                piece.scored(scored, scales.ranked.window(scored, pieces), terms)
            }
            None => piece,
        }));
    }
    groups.retain(|_, group| !group.pieces.is_empty());
}
