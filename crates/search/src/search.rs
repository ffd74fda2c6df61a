//! Answers a query: collects candidates, ranks them and returns the best.

mod candidates;
mod forms;
mod literal;
mod names;
mod neighbours;
mod scores;
mod suggest;
mod terms;

use hashbrown::{HashMap, HashSet};
use retro_model::PieceKind;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::best::{self, Best, Sought};
use crate::embed::UNRELATED;
use crate::query::Phrase;
use crate::rank::{Extent, Hit};
use crate::ranker::{Ranker, Share};
use crate::text::{Finder, Info, Numbered};
use crate::{Error, Place, Query, Tail, TextIndex};
use candidates::Candidate;
use terms::Known;

/// Postings of the rarest words that are read in full. For commoner words, only the counts in those
/// pieces matter: alone they carry little information.
const ESSENTIAL_MAX: u64 = 10_000;

/// Sessions whose texts are read for an exact order: this many per requested session, within these
/// bounds. Sessions that contain all names of the query come first.
const SESSIONS_A_RESULT: usize = 3;
const SESSIONS_MIN: usize = 24;
const SESSIONS_MAX: usize = 100;

/// Passages similar in meaning to examine, per requested session.
const NEAR_A_RESULT: usize = 8;
const NEAR_MIN: usize = 48;
const NEAR_MAX: usize = 400;

/// How to match a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// By the words in it.
    Words,
    /// By its meaning.
    Meaning,
    /// By words and meaning.
    #[default]
    Hybrid,
}

/// Access to stored passages.
pub trait Library {
    /// The amount of text that is searched.
    fn extent(&self) -> Extent;

    /// The amount of text in a session.
    fn session_extent(&self, session: u32) -> Extent;

    /// The number of sessions.
    fn sessions(&self) -> u64;

    /// A passage by its number.
    fn passage(&self, number: u64) -> Option<Numbered>;

    /// The number of the passage with the piece at a place.
    fn passage_at(&self, place: Place) -> Option<u64>;

    /// The passages of these sessions and this period, by number. `None` if the scope includes all
    /// of them. Recent changes are not asked for: search has their text.
    fn within(&self, scope: &Scope) -> Option<HashSet<u64>>;

    /// The passages on abandoned branches, by number.
    fn rewound(&self) -> HashSet<u64>;

    /// The passages whose text contains this part, by number. Reads every passage. Used for text
    /// without any words.
    fn containing(&self, text: &str) -> HashSet<u64>;
}

/// The meaning of passages, compared with one query.
pub trait Meaning {
    /// The passages most similar in meaning with their cosines, best first, and the mean and
    /// deviation of the cosine over all that `keep` accepts.
    fn nearest(&self, count: usize, keep: &(dyn Fn(u64) -> bool + Sync)) -> Nearest;

    /// The cosine of several passages combined. `None` if they have no meaning.
    fn cosine(&self, passages: &[u64]) -> Option<f64>;
}

/// The passages most similar in meaning.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Nearest {
    /// Numbers and cosines, best first.
    pub passages: Vec<(u64, f64)>,
    /// The mean of all cosines.
    pub mean: f64,
    /// The standard deviation of all cosines.
    pub deviation: f64,
    /// The share of all passages that were compared, from 0 to 1.
    pub share: f64,
    /// Mean and deviation of the cosines of unrelated passages, unless the model is the built-in
    /// one.
    pub unrelated: Option<(f64, f64)>,
}

impl Nearest {
    /// Converts a cosine to the scale of the built-in model, so that a number means the same with
    /// any model.
    pub(crate) fn usual(&self, cosine: f64) -> f64 {
        let Some((mean, deviation)) = self.unrelated else { return cosine };
        let (usual_mean, usual_deviation) = UNRELATED;
        (usual_mean + (cosine - mean) / deviation.max(f64::EPSILON) * usual_deviation).clamp(-1.0, 1.0)
    }
}

/// Restricts a search to sessions, times and kinds.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// Session numbers. `None`: all.
    pub sessions: Option<HashSet<u32>>,
    /// Only from this instant on, in milliseconds since 1970.
    pub since_ms: Option<i64>,
    /// Only before this instant.
    pub until_ms: Option<i64>,
    /// Kinds of pieces. `None`: all.
    pub kinds: Option<Vec<PieceKind>>,
    /// Include abandoned branches.
    pub rewound: bool,
}

impl Scope {
    fn keeps(&self, place: Place, info: &Info, at_ms: i64) -> bool {
        (info.live || self.rewound)
            && self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&place.session()))
            && self.since_ms.is_none_or(|since| at_ms >= since)
            && self.until_ms.is_none_or(|until| at_ms < until)
            && self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&info.kind))
    }

    /// True if the scope restricts nothing.
    pub fn is_everything(&self) -> bool {
        self.sessions.is_none() && self.since_ms.is_none() && self.until_ms.is_none() && self.kinds.is_none()
    }
}

/// A search request.
pub struct Ask<'a> {
    /// The parsed query.
    pub query: &'a Query,
    /// The scope of the search.
    pub scope: &'a Scope,
    /// Words, meaning or both.
    pub mode: Mode,
    /// Ranks sessions and pieces.
    pub ranker: &'a Ranker,
    /// Maximum number of sessions.
    pub limit: usize,
    /// Maximum number of pieces per session.
    pub per_session: usize,
    /// Only pieces that contain the query's text verbatim.
    pub exact: Option<&'a str>,
    /// The current time, for the gain of recent sessions.
    pub now_ms: i64,
    /// True for a session in the repository that the query is asked from.
    pub is_here: &'a dyn Fn(u32) -> bool,
}

impl Ask<'_> {
    /// The weights of words and meaning.
    fn share(&self, has_meaning: bool) -> Share {
        match self.mode {
            Mode::Hybrid if has_meaning => self.ranker.share(self.query.is_all_names()),
            Mode::Meaning if has_meaning => Share::of(1.0),
            _ => Share::of(0.0),
        }
    }

    /// Number of sessions whose texts are read.
    fn sessions_read(&self) -> usize {
        (self.limit * SESSIONS_A_RESULT).clamp(SESSIONS_MIN, SESSIONS_MAX).max(self.limit)
    }

    /// True if words and names alone decide the order.
    fn is_decided_by_words(&self) -> bool {
        self.query.labels.is_empty() && self.exact.is_none()
    }

    /// True if a text contains every name of the query verbatim.
    fn has_names_in(&self, text: &str) -> bool {
        self.query.literals.iter().all(|literal| text.contains(literal.as_str()))
    }

    /// Number of passages similar in meaning to examine.
    fn near_read(&self) -> usize {
        (self.limit * NEAR_A_RESULT).clamp(NEAR_MIN, NEAR_MAX)
    }
}

/// A matching piece.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundPiece {
    /// The place of the piece.
    pub place: Place,
    /// The passage with it.
    pub passage: Numbered,
    /// The index of the piece in its passage.
    pub piece: usize,
    /// The score, comparable within one result.
    pub score: f64,
    /// Query words in it or its neighbours.
    pub words: Vec<String>,
    /// The share of the query's words in the piece itself, weighted by rarity.
    pub held: f64,
    /// The similarity in meaning of its passage, from -1 to 1 on the scale of the built-in model,
    /// if computed.
    pub cosine: Option<f64>,
    /// True if it contains a name or path of the query verbatim.
    pub is_literal: bool,
}

impl FoundPiece {
    /// The event of the piece.
    pub fn event(&self) -> &str {
        self.passage.passage.pieces.get(self.piece).map_or("", |piece| piece.event.as_str())
    }

    /// The text of the piece.
    pub fn text(&self) -> &str {
        self.passage.passage.pieces.get(self.piece).map_or("", |piece| piece.text.as_str())
    }
}

/// A matching session.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundSession {
    /// The session's number.
    pub session: u32,
    /// How well it fits.
    pub score: f64,
    /// The share of the query's words it contains, weighted by rarity.
    pub held: f64,
    /// The similarity of its nearest piece, on the same scale, if computed.
    pub cosine: Option<f64>,
    /// Its best pieces, best first.
    pub pieces: Vec<FoundPiece>,
}

/// The result of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Found {
    /// Sessions, best first.
    pub sessions: Vec<FoundSession>,
    /// True if even the best session may be irrelevant.
    pub is_unsure: bool,
    /// True if more sessions match than were requested.
    pub is_cut: bool,
    /// Existing words similar to those not found.
    pub suggestions: Vec<String>,
    /// Terms that replace query words not found anywhere.
    pub forms: Vec<String>,
}

/// Answers a query from a text index, the passages it lacks, and the meaning of passages.
pub fn search(
    text: Option<&TextIndex>,
    tail: &Tail,
    library: &dyn Library,
    meaning: Option<&dyn Meaning>,
    ask: &Ask<'_>,
) -> Result<Found, Error> {
    let finder = text.map(|text| Finder::new(text, &tail.hidden)).transpose()?;
    let sources = Sources {
        finder,
        tail,
        library,
        read: RefCell::default(),
        at: RefCell::default(),
        extents: RefCell::default(),
    };
    let mut allowed = sources.allowed(ask.query)?;
    if let Some(text) = ask.exact {
        allowed.narrow(sources.containing(text)?);
    }
    let terms = sources.terms(ask.query, library.extent(), ask.ranker)?;
    // The vector of an unknown name has no meaning.
    let is_unknown = ask.query.is_all_names() && terms.iter().all(|known| known.holding == 0);
    let is_asked = ask.mode != Mode::Words && !ask.query.text.is_empty();
    let meaning = meaning.filter(|_| is_asked && (ask.mode == Mode::Meaning || !is_unknown));
    let mut groups = if terms.is_empty() && meaning.is_none() {
        sources.by_labels(ask, &allowed)
    } else {
        let hits =
            if ask.mode == Mode::Meaning { Vec::new() } else { sources.hits(&terms, ask, &allowed)? };
        candidates::find(&sources, ask, &terms, &hits, meaning, &allowed)
    };
    if let Some(text) = ask.exact {
        groups.iter_mut().for_each(|group| group.pieces.retain(|piece| piece.text().contains(text)));
    }
    literal::prefer(&mut groups, ask);
    let has_words = ask.mode != Mode::Meaning;
    let mut found = finish(groups, ask);
    let is_held = |known: &Known| known.holding > 0 && !known.is_form;
    // Other forms of a word may be different words.
    let has_forms_alone = has_words && !terms.is_empty() && !terms.iter().any(is_held) && is_in_words(ask);
    found.is_unsure =
        found.sessions.first().is_some_and(|session| has_forms_alone || is_unsure(session, ask));
    if found.is_unsure && has_words && is_in_words(ask) && terms.iter().all(|known| known.holding == 0) {
        // No turn contains any word of the query.
        found = Found::default();
    }
    if has_words && (found.sessions.is_empty() || found.is_unsure) {
        found.suggestions = suggest::near(&sources, &terms)?;
    }
    found.forms = terms.into_iter().filter(|known| known.is_form).map(|known| known.term).collect();
    if has_forms_alone {
        found.suggestions.splice(0..0, found.forms.iter().cloned());
    }
    Ok(found)
}

/// The passages that satisfy the conditions of a query.
#[derive(Default)]
struct Allowed {
    only: Option<HashSet<u64>>,
    never: HashSet<u64>,
}

impl Allowed {
    /// True if any passage is excluded.
    fn is_narrow(&self) -> bool {
        self.only.is_some() || !self.never.is_empty()
    }

    fn has(&self, passage: u64) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&passage)) && !self.never.contains(&passage)
    }
}

/// The index and the passages it lacks, combined.
struct Sources<'a> {
    finder: Option<Finder<'a>>,
    tail: &'a Tail,
    library: &'a dyn Library,
    /// Passages already read: the best pieces of a session are often in the same passage.
    read: RefCell<HashMap<u64, Option<Rc<Numbered>>>>,
    /// The places where these begin.
    at: RefCell<BTreeMap<Place, u64>>,
    /// The amount of text in sessions, as far as requested.
    extents: RefCell<HashMap<u32, Extent>>,
}

impl Sources<'_> {
    /// The pieces that contain the words, by place.
    fn hits(&self, terms: &[Known], ask: &Ask<'_>, allowed: &Allowed) -> Result<Vec<Hit>, Error> {
        let mut read = 0;
        let is_read = |known: &&Known| {
            read += known.holding;
            read <= ESSENTIAL_MAX
        };
        // Words that are not found come first, and do not exclude all others.
        let first = terms.iter().position(|known| known.holding > 0).map_or(0, |at| at + 1);
        let essential = terms.iter().take_while(is_read).count().max(first);
        let is_narrow = allowed.is_narrow();
        let keep = |piece: &best::Seen| {
            ask.scope.keeps(piece.place, &piece.info, piece.at_ms)
                && (!is_narrow || allowed.has(piece.passage))
        };
        let sought = Sought {
            ranker: ask.ranker,
            terms: terms.iter().map(|known| known.term.as_str()).collect(),
            weights: terms.iter().map(|known| known.weight).collect(),
            essential,
            mean_bytes: self.library.extent().mean_bytes(),
            keep: &keep,
        };
        let mut best = Best::of(&sought);
        if let Some(finder) = &self.finder {
            finder.hits(&sought, &mut best)?;
        }
        self.tail.hits(&sought, &mut best);
        Ok(best.finish())
    }

    fn allowed(&self, query: &Query) -> Result<Allowed, Error> {
        let mut allowed = Allowed::default();
        for labels in &query.labels {
            let mut with = HashSet::new();
            for label in labels {
                if let Some(finder) = &self.finder {
                    finder.labelled(label, &mut with)?;
                }
                self.tail.labelled(label, &mut with);
            }
            allowed.narrow(with);
        }
        // The rarest first. Other phrases are only searched in its passages.
        let mut phrases: Vec<(u64, &Phrase)> = Vec::with_capacity(query.phrases.len());
        for phrase in &query.phrases {
            let finder = self.finder.as_ref();
            phrases.push((finder.map_or(Ok(0), |finder| finder.most_with(phrase))?, phrase));
        }
        phrases.sort_by_key(|(most, _)| *most);
        for (_, phrase) in phrases {
            let with = self.with_phrase(phrase, allowed.only.as_ref())?;
            allowed.narrow(with);
        }
        for phrase in &query.without {
            let with = self.with_phrase(phrase, allowed.only.as_ref())?;
            allowed.never.extend(with);
        }
        Ok(allowed)
    }

    /// The passages with a phrase, out of `of` or all. May include others.
    fn with_phrase(&self, phrase: &Phrase, of: Option<&HashSet<u64>>) -> Result<HashSet<u64>, Error> {
        let mut with = HashSet::new();
        if let Some(finder) = &self.finder {
            finder.with_phrase(phrase, of, &mut with)?;
        }
        self.tail.with_phrase(phrase, &mut with);
        Ok(with)
    }

    /// Passages that may contain this text.
    fn containing(&self, text: &str) -> Result<HashSet<u64>, Error> {
        if let Some(phrase) = Phrase::of(text) {
            return self.with_phrase(&phrase, None);
        }
        let mut found = self.library.containing(text);
        let holds =
            |numbered: &&Numbered| numbered.passage.pieces.iter().any(|piece| piece.text.contains(text));
        found.retain(|number| !self.tail.hidden.contains(number));
        found.extend(self.tail.passages.iter().filter(holds).map(|numbered| numbered.number));
        Ok(found)
    }

    /// The amount of text in a session.
    fn extent(&self, session: u32) -> Extent {
        *self.extents.borrow_mut().entry(session).or_insert_with(|| self.library.session_extent(session))
    }

    /// A passage by its number, from any source.
    fn passage(&self, number: u64) -> Option<Rc<Numbered>> {
        let read = || {
            let in_tail = self.tail.passages.iter().find(|numbered| numbered.number == number);
            let found = in_tail.cloned().or_else(|| self.library.passage(number))?;
            self.at.borrow_mut().insert(found.place(0), number);
            Some(Rc::new(found))
        };
        self.read.borrow_mut().entry(number).or_insert_with(read).clone()
    }

    fn passage_at(&self, place: Place) -> Option<u64> {
        let in_tail = || self.tail.passages.iter().find(|numbered| numbered.has(place));
        let known = self.at.borrow().range(..=place).next_back().and_then(|(_, number)| {
            let read = self.read.borrow();
            read.get(number).cloned().flatten().filter(|numbered| numbered.has(place))
        });
        let number = known.map(|numbered| numbered.number);
        number
            .or_else(|| in_tail().map(|numbered| numbered.number))
            .or_else(|| self.library.passage_at(place))
    }

    /// The newest passages with the requested labels.
    fn by_labels(&self, ask: &Ask<'_>, allowed: &Allowed) -> Vec<candidates::Group> {
        let mut numbers: Vec<u64> = allowed.only.iter().flatten().copied().collect();
        numbers.retain(|number| allowed.has(*number));
        numbers.sort_unstable_by(|a, b| b.cmp(a));
        let mut groups: HashMap<u32, candidates::Group> = HashMap::new();
        for number in numbers.into_iter().take(SESSIONS_MAX * 4) {
            let Some(passage) = self.passage(number) else { continue };
            let Some(candidate) = Candidate::by_label(passage, ask) else { continue };
            groups.entry(candidate.place.session()).or_default().pieces.push(candidate);
        }
        groups.into_values().map(|group| group.scored(ask)).collect()
    }
}

impl Allowed {
    fn narrow(&mut self, with: HashSet<u64>) {
        self.only = Some(match self.only.take() {
            Some(only) => only.intersection(&with).copied().collect(),
            None => with,
        });
    }
}

/// True if the query consists only of words.
fn is_in_words(ask: &Ask<'_>) -> bool {
    ask.query.labels.is_empty() && ask.query.phrases.is_empty() && ask.exact.is_none()
}

/// True if the best session may be irrelevant.
fn is_unsure(session: &FoundSession, ask: &Ask<'_>) -> bool {
    let Some(best) = session.pieces.first() else { return true };
    if ask.query.is_all_names() {
        // Part of a path occurs in many texts, and the meaning of a name is unreliable.
        return !best.is_literal && best.words.len() < ask.query.wanted.len();
    }
    let is_certain = ask.query.wanted.is_empty() && !is_in_words(ask);
    !is_certain && ask.ranker.is_unsure(session.held, session.cosine)
}

/// Sorts sessions and applies the limits.
fn finish(groups: Vec<candidates::Group>, ask: &Ask<'_>) -> Found {
    let mut sessions: Vec<FoundSession> =
        groups.into_iter().filter_map(|group| group.into_found(ask.per_session)).collect();
    sessions.sort_by(|a, b| {
        let newest =
            |session: &FoundSession| session.pieces.first().and_then(|piece| piece.passage.passage.at());
        b.score.total_cmp(&a.score).then_with(|| newest(b).cmp(&newest(a))).then(a.session.cmp(&b.session))
    });
    let is_cut = sessions.len() > ask.limit;
    sessions.truncate(ask.limit);
    Found { sessions, is_cut, ..Found::default() }
}
