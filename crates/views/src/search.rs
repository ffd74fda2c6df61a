//! Finding past turns: a question, and the sessions and turns that answer it.

mod library;
mod snippet;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use retro_agents::by_name;
use retro_engine::news::{News, Patience};
use retro_engine::platform::is_below;
use retro_engine::stages::vectors;
use retro_engine::{Config, Progress, World, consumers};
use retro_model::{Passage, PieceKind, SessionKey, Timestamp};
use retro_search::embed::{Embedder, Embedding};
use retro_search::vectors::Vectors;
use retro_search::{
    Ask, Found, FoundPiece, Meaning, Measured, Mode, Passages, Query, Scope, Tail, TextIndex, search as find,
};
use retro_store::SessionRow;
use serde::Serialize;
use std::time::Instant;

use crate::Error;
use crate::resolve::{session_among, without_place};
use library::Shelf;
pub use snippet::Snippet;

/// With more passages that the text index lacks, it is brought up to date after an answer.
const WAITING_MAX: usize = 1_000;

/// Passages that are embedded for one question at most. With more, meaning waits for a sync.
const EMBEDDED_MAX: usize = 5_000;

/// From this cosine on, meaning is a reason.
const NEAR: f64 = 0.3;

/// Of a session, so many bytes say what it is like.
const WORDS_BYTES: usize = 8_000;

/// Characters that make a token, roughly.
const TOKEN_CHARS: usize = 4;

/// What is looked for, and where.
#[derive(Debug, Clone)]
pub struct SearchQuestion {
    /// The query, with its operators.
    pub text: String,
    /// Only this agent.
    pub agent: Option<String>,
    /// Only this project: its name, a part of it, or a folder.
    pub project: Option<String>,
    /// Only this session.
    pub session: Option<SessionKey>,
    /// From this day on.
    pub since: Option<Date>,
    /// Up to and including this day.
    pub until: Option<Date>,
    /// Only pieces of these kinds.
    pub kinds: Option<Vec<PieceKind>>,
    /// By words, by meaning, or both.
    pub mode: Mode,
    /// Sessions to return.
    pub limit: usize,
    /// Cut the answer to about so many tokens.
    pub budget_tokens: Option<usize>,
    /// Only where the text stands exactly so.
    pub exact: bool,
    /// Also on branches that were rewound.
    pub rewound: bool,
    /// The folder that the question is asked in.
    pub cwd: Option<String>,
    /// The zone that days are named in.
    pub tz: TimeZone,
}

impl SearchQuestion {
    /// Looks for a text everywhere, in this machine's time zone.
    pub fn new(text: impl Into<String>) -> SearchQuestion {
        SearchQuestion {
            text: text.into(),
            agent: None,
            project: None,
            session: None,
            since: None,
            until: None,
            kinds: None,
            mode: Mode::Hybrid,
            limit: 10,
            budget_tokens: None,
            exact: false,
            rewound: false,
            cwd: None,
            tz: TimeZone::system(),
        }
    }
}

/// A turn that is near a vector.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id of the session.
    pub session_id: String,
    /// The thread.
    pub thread: String,
    /// The turn's number on its thread.
    pub turn: u32,
    /// The first event of the passage.
    pub event_id: String,
    /// How near it is, -1 to 1.
    pub cosine: f64,
}

/// A turn that was found.
#[derive(Debug, Clone, Serialize)]
pub struct HitView {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id of the session.
    pub session_id: String,
    /// The turn's number on its thread; 0 before the first message.
    pub turn: u32,
    /// The thread.
    pub thread: String,
    /// The event that was found.
    pub event_id: String,
    /// What it is: user, assistant, command, file, output.
    pub kind: &'static str,
    /// How well it fits, comparable within this answer.
    pub score: f64,
    /// Words of the query that it or its neighbours hold, and how near it is in meaning.
    pub why: Vec<String>,
    /// The part that shows it.
    pub snippet: String,
    /// Where words of the query stand in the snippet, in bytes.
    pub marks: Vec<(usize, usize)>,
    /// When.
    pub timestamp: Option<Timestamp>,
    /// The session's project.
    pub project: Option<String>,
    /// The session's title.
    pub title: Option<String>,
    /// Whether this fits so badly that it may be nothing.
    pub weak: bool,
    /// False on a branch that was rewound.
    pub live: bool,
    /// The command that resumes the session; null where the agent's log of it is gone.
    pub resume: Option<String>,
}

/// How much was looked through.
#[derive(Debug, Clone, Serialize)]
pub struct Searched {
    /// Sessions.
    pub sessions: u64,
    /// Turns.
    pub turns: u64,
}

/// Days that the words of a query named.
#[derive(Debug, Clone, Serialize)]
pub struct Narrowed {
    /// From this day on.
    pub since: Option<String>,
    /// Up to and including this day.
    pub until: Option<String>,
    /// The words.
    pub words: String,
}

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct SearchView {
    /// `retro.search/1`.
    pub schema: &'static str,
    /// Turns, by session, best first.
    pub hits: Vec<HitView>,
    /// What was looked through.
    pub searched: Searched,
    /// Whether everything on this machine was looked through.
    pub complete: bool,
    /// Sessions with something new that was not read.
    pub unread_sessions: u64,
    /// Days that words of the query named.
    pub narrowed: Option<Narrowed>,
    /// Words that exist, near words that were not found.
    pub suggestions: Vec<String>,
    /// Whether there are more hits than are shown.
    pub truncated: bool,
    /// How long it took, from the question on.
    pub elapsed_ms: f64,
}

/// The model, the vectors it made, and the passages that have none yet.
type Vectored = (Box<dyn Embedder>, Vectors, Tail);

/// A session, or one of its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Which session.
    pub key: SessionKey,
    /// Which turn of its main thread; all of them if nothing is said.
    pub turn: Option<u32>,
}

/// What a search is answered from.
pub struct Searching {
    /// The store, and what is new beside it.
    pub news: News<Passages>,
    started: Instant,
    /// Passages that the text index lacked in the last answer.
    waiting: std::cell::Cell<usize>,
}

/// Reads what is new. Waits for no lock and writes nothing.
pub fn open_search(
    world: &World,
    config: &Config,
    patience: Patience,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Searching, Error> {
    let started = Instant::now();
    Ok(Searching {
        news: News::read(world, config, patience, progress)?,
        started,
        waiting: Default::default(),
    })
}

impl Searching {
    /// Keeps what was read, if nobody else is writing, and brings the indexes up to date if
    /// the last answer had to do much without them.
    pub fn keep(
        self,
        world: &World,
        config: &Config,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), retro_engine::Error> {
        let is_far_behind = self.waiting.get() > WAITING_MAX && self.news.store.is_some();
        self.news.keep(world, config, progress)?;
        if is_far_behind { consumers::catch_up(world, config) } else { Ok(()) }
    }

    /// The session that the words of a user mean, in the store or just read.
    pub fn session(&self, words: &[&str], now: Timestamp) -> Result<SessionKey, Error> {
        let mut rows = match &self.news.index {
            Some(index) => index.session_rows()?,
            None => Vec::new(),
        };
        rows.retain(|row| !self.news.read.contains_key(&row.key()));
        rows.extend(self.news.read.values().map(|read| read.session.clone()));
        session_among(rows, words, now)
    }

    /// Answers a question.
    pub fn search(
        &self,
        world: &World,
        config: &Config,
        question: &SearchQuestion,
    ) -> Result<SearchView, Error> {
        let today = world.now().to_jiff().to_zoned(question.tz.clone()).date();
        let query = Query::parse(&question.text, today);
        let answer = self.answer(world, config, question, &query)?;
        let has_found = !answer.0.sessions.is_empty();
        if has_found || query.date_words.is_none() {
            return self.view(question, &query, answer);
        }
        // The words may not have meant a time after all.
        let plain = query.without_dates(&question.text);
        let wider = self.answer(world, config, question, &plain)?;
        let query = if wider.0.sessions.is_empty() { &query } else { &plain };
        self.view(question, query, wider)
    }

    /// The session or turn that the words of a user mean.
    pub fn turn(&self, words: &[&str], now: Timestamp) -> Result<Target, Error> {
        let key = self.session(words, now)?;
        let (_, place) = without_place(words);
        Ok(Target { key, turn: place.and_then(|place| place.parse().ok()) })
    }

    /// What is most like a turn, or like a whole session. The session itself is left out.
    pub fn similar(
        &self,
        world: &World,
        config: &Config,
        question: &SearchQuestion,
        target: &Target,
    ) -> Result<SearchView, Error> {
        let mut query = Query::literal(&self.words_of(target)?);
        query.literals.clear();
        // One more, for the session itself.
        let wider = SearchQuestion { limit: question.limit + 1, ..question.clone() };
        let (mut found, shelf) = self.answer(world, config, &wider, &query)?;
        found.sessions.retain(|session| {
            shelf
                .session(session.session)
                .is_none_or(|row| row.key() != target.key && !is_child(&row, &target.key))
        });
        found.is_cut |= found.sessions.len() > question.limit;
        found.sessions.truncate(question.limit);
        found.suggestions.clear();
        self.view(question, &query, (found, shelf))
    }

    /// What people and models said in a turn, or in a session.
    fn words_of(&self, target: &Target) -> Result<String, Error> {
        let stored;
        let passages: Vec<&Passage> = match self.news.read.get(&target.key) {
            Some(read) => read.made.iter().collect(),
            None => {
                stored = match &self.news.index {
                    Some(index) => index.passages_of_session(&target.key)?,
                    None => Vec::new(),
                };
                stored.iter().map(|row| &row.passage).collect()
            }
        };
        let is_wanted = |passage: &&&Passage| {
            passage.live && target.turn.is_none_or(|turn| passage.turn == turn && passage.thread == "main")
        };
        let mut text = String::new();
        for piece in passages.iter().filter(is_wanted).flat_map(|passage| &passage.pieces) {
            if matches!(piece.kind, PieceKind::User | PieceKind::Assistant) && text.len() < WORDS_BYTES {
                text.push_str(&piece.text);
                text.push('\n');
            }
        }
        Ok(text)
    }

    /// The passages nearest to a vector.
    pub fn nearest(
        &self,
        config: &Config,
        vector: &[f32],
        question: &SearchQuestion,
    ) -> Result<Vec<Near>, Error> {
        let Some(store) = &self.news.store else { return Ok(Vec::new()) };
        let embedder = vectors::embedder(config)?;
        if vector.len() != embedder.dim() {
            return Err(Error::Dimension { found: vector.len(), wanted: embedder.dim() });
        }
        let kept = vectors::open(store, embedder.as_ref())?;
        let shelf = Shelf::open(&self.news)?;
        let fresh = shelf.tail(kept.mark())?.unwrap_or_default();
        let query = Embedding::new(vector.to_vec());
        let measured = Measured::by_vector(embedder.as_ref(), &kept, query, &fresh.passages, &fresh.hidden)
            .map_err(retro_search::Error::from)?;
        let scope = scope(&shelf, question, &Query::default())?;
        let within = retro_search::Library::within(&shelf, &scope);
        let keep = |number: u64| within.as_ref().is_none_or(|within| within.contains(&number));
        let found = measured.nearest(question.limit, &keep);
        let near = found.passages.into_iter().filter_map(|(number, cosine)| {
            let of_fresh = fresh.passages.iter().find(|numbered| numbered.number == number).cloned();
            let numbered = of_fresh.or_else(|| retro_search::Library::passage(&shelf, number))?;
            let row = shelf.session(numbered.session)?;
            Some(Near {
                agent: row.agent,
                session_id: row.id,
                thread: numbered.passage.thread.clone(),
                turn: numbered.passage.turn,
                event_id: numbered.passage.event().to_owned(),
                cosine,
            })
        });
        Ok(near.collect())
    }

    fn answer(
        &self,
        world: &World,
        config: &Config,
        question: &SearchQuestion,
        query: &Query,
    ) -> Result<(Found, Shelf<'_>), Error> {
        let shelf = Shelf::open(&self.news)?;
        let text = self.news.store.as_ref().and_then(|store| TextIndex::open(&store.text_folder()));
        let tail = match &text {
            Some(text) => shelf.tail(text.mark())?,
            None => None,
        };
        let (text, tail) = match tail {
            Some(tail) => (text, tail),
            // The index is of another time: everything is looked through as it is.
            None => (None, shelf.everything()?),
        };
        self.waiting.set(tail.passages.len());
        let scope = scope(&shelf, question, query)?;
        let meaning = match question.mode {
            Mode::Words => None,
            _ => self.meaning(config, &shelf, query)?,
        };
        let measured = meaning.as_ref().map(|(embedder, vectors, fresh)| {
            Measured::new(embedder.as_ref(), vectors, &query.text, &fresh.passages, &fresh.hidden)
        });
        let measured = measured.transpose().map_err(retro_search::Error::from)?;
        let is_here = |session: u32| is_here(&shelf, session, question.cwd.as_deref());
        let ask = Ask {
            query,
            scope: &scope,
            mode: question.mode,
            limit: question.limit,
            per_session: if question.session.is_some() { question.limit } else { 3 },
            exact: question.exact.then_some(question.text.as_str()),
            now_ms: world.now().as_millis(),
            is_here: &is_here,
        };
        let meaning = measured.as_ref().map(|measured| measured as &dyn Meaning);
        let found = find(text.as_ref(), &tail, &shelf, meaning, &ask)?;
        Ok((found, shelf))
    }

    /// The vectors, and the passages that have none yet; nothing if those are too many.
    fn meaning(&self, config: &Config, shelf: &Shelf<'_>, query: &Query) -> Result<Option<Vectored>, Error> {
        let Some(store) = self.news.store.as_ref().filter(|_| !query.text.is_empty()) else {
            return Ok(None);
        };
        let embedder = vectors::embedder(config)?;
        let vectors = vectors::open(store, embedder.as_ref())?;
        let fresh = shelf.tail(vectors.mark())?.filter(|tail| tail.passages.len() <= EMBEDDED_MAX);
        Ok(fresh.map(|fresh| (embedder, vectors, fresh)))
    }

    fn view(
        &self,
        question: &SearchQuestion,
        query: &Query,
        (found, shelf): (Found, Shelf<'_>),
    ) -> Result<SearchView, Error> {
        let terms: Vec<String> = query.wanted.iter().map(|wanted| wanted.term.clone()).collect();
        let mut hits = Vec::new();
        for session in &found.sessions {
            let Some(row) = shelf.session(session.session) else { continue };
            let resume = self.resume(&row);
            for piece in &session.pieces {
                hits.push(hit(&row, piece, &terms, found.is_weak, resume.clone()));
            }
        }
        let is_cut = question.budget_tokens.is_some_and(|budget| cut_to(&mut hits, budget));
        let narrowed = query.date_words.as_ref().map(|words| Narrowed {
            since: query.since.map(|day| day.to_string()),
            until: query.until.map(|day| day.to_string()),
            words: words.clone(),
        });
        let turns = match &self.news.index {
            Some(index) => index.turn_count()?,
            None => 0,
        };
        let unread = self.news.unread.len() as u64;
        Ok(SearchView {
            schema: "retro.search/1",
            hits,
            searched: Searched {
                sessions: retro_search::Library::sessions(&shelf),
                turns: turns + shelf.fresh_turns(),
            },
            complete: unread == 0 && self.news.unreadable.is_empty(),
            unread_sessions: unread,
            narrowed,
            suggestions: found.suggestions,
            truncated: found.is_cut || is_cut,
            elapsed_ms: self.started.elapsed().as_secs_f64() * 1000.0,
        })
    }

    /// The command that resumes a session, where the agent still has its log.
    fn resume(&self, row: &SessionRow) -> Option<String> {
        let key = row.key();
        let is_there = self.news.read.contains_key(&key) || {
            let index = self.news.index.as_ref()?;
            index.stamps_of(&key).ok()?.iter().any(|place| place.path.exists())
        };
        let agent = by_name(&row.agent).filter(|_| is_there)?;
        agent.resume(&row.id, row.cwd.as_deref())
    }
}

fn hit(
    row: &SessionRow,
    found: &FoundPiece,
    terms: &[String],
    weak: bool,
    resume: Option<String>,
) -> HitView {
    let passage = &found.passage.passage;
    let piece = passage.pieces.get(found.piece);
    let snippet = Snippet::of(piece.map_or("", |piece| piece.text.as_str()), terms);
    let mut why = found.words.clone();
    if let Some(cosine) = found.cosine.filter(|cosine| *cosine >= NEAR || why.is_empty()) {
        why.push(format!("meaning {cosine:.2}"));
    }
    HitView {
        agent: row.agent.clone(),
        session_id: row.id.clone(),
        turn: passage.turn,
        thread: passage.thread.clone(),
        event_id: piece.map_or_else(String::new, |piece| piece.event.clone()),
        kind: piece.map_or("output", |piece| piece.kind.place()),
        score: (found.score * 1e4).round() / 1e4,
        why,
        snippet: snippet.text,
        marks: snippet.marks,
        timestamp: piece.and_then(|piece| piece.at).or_else(|| passage.at()),
        project: row.project.clone(),
        title: row.title.as_deref().map(one_line),
        weak,
        live: passage.live,
        resume,
    }
}

/// A title on one line.
fn one_line(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Keeps as many hits as fit into a budget; true if some did not.
fn cut_to(hits: &mut Vec<HitView>, budget_tokens: usize) -> bool {
    let mut left = budget_tokens.saturating_mul(TOKEN_CHARS);
    let before = hits.len();
    let size = |hit: &HitView| {
        120 + hit.snippet.len() + hit.title.as_ref().map_or(0, String::len) + hit.session_id.len()
    };
    let mut fit = 0;
    for hit in hits.iter() {
        let Some(rest) = left.checked_sub(size(hit)) else { break };
        (left, fit) = (rest, fit + 1);
    }
    hits.truncate(fit);
    fit < before
}

fn is_here(shelf: &Shelf<'_>, session: u32, cwd: Option<&str>) -> bool {
    let Some(cwd) = cwd else { return false };
    let row = shelf.session(session);
    row.and_then(|row| row.cwd).is_some_and(|folder| is_below(cwd, &folder) || is_below(&folder, cwd))
}

/// Which sessions, and when.
fn scope(shelf: &Shelf<'_>, question: &SearchQuestion, query: &Query) -> Result<Scope, Error> {
    let start = |day: Date| day.to_zoned(question.tz.clone()).ok().map(|at| at.timestamp().as_millisecond());
    let since = question.since.into_iter().chain(query.since).max();
    let until = question.until.into_iter().chain(query.until).min();
    let agents: Vec<String> = question
        .agent
        .iter()
        .cloned()
        .chain(
            query
                .agents
                .iter()
                .map(|name| by_name(name).map_or_else(|| name.clone(), |agent| agent.name().to_owned())),
        )
        .collect();
    let projects: Vec<&String> = question.project.iter().chain(&query.projects).collect();
    let mut sessions = None;
    if !agents.is_empty() || !projects.is_empty() || question.session.is_some() {
        let is_wanted = |row: &SessionRow| {
            (agents.is_empty() || agents.contains(&row.agent))
                && (projects.is_empty() || projects.iter().any(|wanted| is_of_project(row, wanted)))
                && question.session.as_ref().is_none_or(|key| row.key() == *key || is_child(row, key))
        };
        let all = shelf.all()?.into_iter();
        sessions = Some(all.filter(|(_, row)| is_wanted(row)).map(|(number, _)| number).collect());
    }
    Ok(Scope {
        sessions,
        since_ms: since.and_then(start),
        until_ms: until.and_then(|day| day.tomorrow().ok()).and_then(start),
        kinds: question.kinds.clone(),
        rewound: question.rewound,
    })
}

fn is_child(row: &SessionRow, of: &SessionKey) -> bool {
    row.agent == of.agent && row.parent.as_ref() == Some(&of.id)
}

fn is_of_project(row: &SessionRow, wanted: &str) -> bool {
    let part = wanted.to_lowercase();
    row.project.as_deref().is_some_and(|name| name.to_lowercase().contains(&part))
        || row.cwd.as_deref().is_some_and(|cwd| is_below(cwd, wanted))
}
