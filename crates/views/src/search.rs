//! Finds past sessions and turns that answer a query.

mod conversation;
mod library;
mod meaning;
mod scope;
mod snippet;
mod view;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use retro_agents::by_name;
use retro_engine::news::{News, Patience};
use retro_engine::{Config, Progress, World, consumers};
use retro_model::{Passage, PieceKind, SessionKey, Timestamp};
use retro_search::{
    Ask, Found, Meaning, Measured, Mode, Passages, Query, Ranker, TextIndex, Use, Words, search as find,
};
use retro_store::SessionRow;
use std::collections::HashSet;
use std::time::Instant;

use crate::Error;
use crate::resolve::{session_among, without_place};
pub use conversation::ConversationView;
use library::Shelf;
use scope::{is_child, is_here, scope, since_ms};
pub use snippet::Snippet;
pub use view::{HitView, Narrowed, Near, SearchView, Searched};
use view::{Looked, cut_to, hits_of};

/// If the text index lacks more passages, it is updated after the answer.
const WAITING_MAX: usize = 1_000;

/// Pieces shown per session, and for a query that is restricted to a few sessions.
const PIECES: usize = 3;
const PIECES_NARROW: usize = 10;

/// Spare pieces, which replace duplicates.
const PIECES_SPARE: usize = 3;

/// Sessions shown if even the best may be irrelevant.
const UNSURE_MAX: usize = 3;

/// The message if no session matches the filters, whatever the words.
const NO_SESSION: &str = "no session is of that agent and project, `retro list` shows all";

/// Bytes of a session's text that represent it in a search for similar ones.
const WORDS_BYTES: usize = 8_000;

/// A search query and its filters.
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
    /// Only from this day on.
    pub since: Option<Date>,
    /// Only up to and including this day.
    pub until: Option<Date>,
    /// Only pieces of these kinds.
    pub kinds: Option<Vec<PieceKind>>,
    /// By words, by meaning, or both.
    pub mode: Mode,
    /// Maximum number of sessions.
    pub limit: usize,
    /// Cut the result to about this many tokens.
    pub budget_tokens: Option<usize>,
    /// Match the text verbatim. It then has no operators.
    pub exact: bool,
    /// Treat operators in the text as plain words.
    pub literal: bool,
    /// Include abandoned branches.
    pub rewound: bool,
    /// Also summarize each session that was found. See [`SearchView::sessions`].
    pub with_sessions: bool,
    /// The folder that the query is asked from.
    pub cwd: Option<String>,
    /// The time zone for days.
    pub tz: TimeZone,
}

impl SearchQuestion {
    /// Searches everything for a text, in this machine's time zone.
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
            literal: false,
            rewound: false,
            with_sessions: false,
            cwd: None,
            tz: TimeZone::system(),
        }
    }
}

/// The pieces found, the passages they come from, and the sessions searched.
struct Answer<'a> {
    found: Found,
    shelf: Shelf<'a>,
    /// The sessions that were searched. `None`: all.
    sessions: Option<hashbrown::HashSet<u32>>,
    warning: Option<String>,
}

/// A session, or one of its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The session's key.
    pub key: SessionKey,
    /// A turn of its main thread. `None`: the whole session.
    pub turn: Option<u32>,
}

/// The data that a search reads.
pub struct Searching {
    /// The store, and changes that it lacks.
    pub news: News<Passages>,
    started: Instant,
    /// Passages that the text index lacked in the last answer.
    waiting: std::cell::Cell<usize>,
}

/// Reads changed sessions. Waits for no lock and writes nothing.
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
    /// Stores the changes unless another process is writing. Updates the indexes if the last answer
    /// had to scan many passages without them.
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

    /// The session that the user's words name, in the store or just read.
    pub fn session(&self, words: &[&str], now: Timestamp) -> Result<SessionKey, Error> {
        let mut rows = match &self.news.index {
            Some(index) => index.session_rows()?,
            None => Vec::new(),
        };
        rows.retain(|row| !self.news.read.contains_key(&row.key()));
        rows.extend(self.news.read.values().map(|read| read.session.clone()));
        session_among(rows, words, now)
    }

    /// Answers a query. If operators exclude every result and the same text without operators finds
    /// some, treats them as plain words.
    pub fn search(
        &self,
        world: &World,
        config: &Config,
        question: &SearchQuestion,
    ) -> Result<SearchView, Error> {
        let today = world.now().to_jiff().to_zoned(question.tz.clone()).date();
        let query = match question.literal || question.exact {
            true => Query::literal(&question.text),
            false => Query::parse(&question.text, today),
        };
        let ask = |query: &Query| self.answer(world, config, question, query);
        let answer = ask(&query)?;
        let only = |kept: &[&String], others: Use| {
            let is_kept = |text: &str| kept.iter().any(|known| *known == text);
            Query::parse_with(&question.text, today, &|text| {
                if is_kept(text) { Use::Operator } else { others }
            })
        };
        let has_nothing = |query: &Query| ask(query).map(|answer| answer.found.sessions.is_empty());
        let is_decided = !answer.found.sessions.is_empty() || query.operators.is_empty();
        if is_decided || has_nothing(&only(&[], Use::Nothing))? {
            return self.view(question, &query, answer, Vec::new());
        }
        let mut kept: Vec<&String> = Vec::new();
        for operator in &query.operators {
            kept.push(operator);
            if has_nothing(&only(&kept, Use::Nothing))? {
                kept.pop();
            }
        }
        let rest = only(&kept, Use::Text);
        let dropped = query.operators.iter().filter(|operator| !kept.contains(operator)).cloned().collect();
        self.view(question, &rest, ask(&rest)?, dropped)
    }

    /// The session or turn that the user's words name.
    pub fn turn(&self, words: &[&str], now: Timestamp) -> Result<Target, Error> {
        let key = self.session(words, now)?;
        let (_, place) = without_place(words);
        Ok(Target { key, turn: place.and_then(|place| place.parse().ok()) })
    }

    /// Turns similar to a turn or a whole session. Leaves out the session itself.
    pub fn similar(
        &self,
        world: &World,
        config: &Config,
        question: &SearchQuestion,
        target: &Target,
    ) -> Result<SearchView, Error> {
        let mut query = Query::literal(&self.words_of(target)?);
        query.literals.clear();
        query.is_kept = true;
        // One more, since the session itself is left out.
        let wider = SearchQuestion { limit: question.limit + 1, ..question.clone() };
        let mut answer = self.answer(world, config, &wider, &query)?;
        let Answer { found, shelf, .. } = &mut answer;
        found.sessions.retain(|session| {
            shelf
                .session(session.session)
                .is_none_or(|row| row.key() != target.key && !is_child(&row, &target.key))
        });
        found.is_cut |= found.sessions.len() > question.limit;
        found.sessions.truncate(question.limit);
        found.suggestions.clear();
        self.view(question, &query, answer, Vec::new())
    }

    /// The best pieces for the words of a text: session, event, and the share of the words that
    /// each piece holds, weighted by rarity.
    pub(crate) fn pieces_with(
        &self,
        world: &World,
        config: &Config,
        text: &str,
        question: &SearchQuestion,
    ) -> Result<Vec<(SessionKey, String, f64, String)>, Error> {
        let Answer { found, shelf, .. } = self.answer(world, config, question, &Query::literal(text))?;
        let mut pieces = Vec::new();
        for session in &found.sessions {
            let Some(row) = shelf.session(session.session) else { continue };
            let of_session = session
                .pieces
                .iter()
                .map(|piece| (row.key(), piece.event().to_owned(), piece.held, piece.text().to_owned()));
            pieces.extend(of_session);
        }
        Ok(pieces)
    }

    /// The text of a turn or session by people and models.
    fn words_of(&self, target: &Target) -> Result<String, Error> {
        let passages = self.passages(&target.key)?;
        let is_wanted = |passage: &&Passage| {
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

    fn answer(
        &self,
        world: &World,
        config: &Config,
        question: &SearchQuestion,
        query: &Query,
    ) -> Result<Answer<'_>, Error> {
        let shelf = Shelf::open(&self.news)?;
        let text = self.news.store.as_ref().and_then(|store| TextIndex::open(&store.text_folder()));
        let tail = match &text {
            Some(text) => shelf.tail(text.mark())?,
            None => None,
        };
        let (text, tail) = match tail {
            Some(tail) => (text, tail),
            // The index is from another time, so every passage is scanned.
            None => (None, shelf.everything()?),
        };
        self.waiting.set(tail.passages.len());
        let scope = scope(&shelf, question, query)?;
        let (meaning, warning) = match question.mode {
            Mode::Words => (None, None),
            mode => match self.meaning(config, &shelf, query) {
                // If the model cannot run, the words still count.
                Err(error) if mode == Mode::Hybrid && error.is_of_model() => (None, Some(error.to_string())),
                result => (result?, None),
            },
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
            ranker: &Ranker::new()?,
            limit: question.limit,
            per_session: pieces_shown(question, query) + PIECES_SPARE,
            exact: question.exact.then_some(question.text.trim()),
            now_ms: world.now().as_millis(),
            is_here: &is_here,
        };
        let meaning = measured.as_ref().map(|measured| measured as &dyn Meaning);
        let found = find(text.as_ref(), &tail, &shelf, meaning, &ask)?;
        let is_nowhere = scope.sessions.as_ref().is_some_and(|sessions| sessions.is_empty());
        let warning = warning.or_else(|| is_nowhere.then(|| NO_SESSION.to_owned()));
        Ok(Answer { found, shelf, sessions: scope.sessions, warning })
    }

    fn view(
        &self,
        question: &SearchQuestion,
        query: &Query,
        Answer { mut found, shelf, sessions, warning }: Answer<'_>,
        dropped: Vec<String>,
    ) -> Result<SearchView, Error> {
        let wanted = query.wanted.iter().map(|wanted| wanted.term.clone());
        let terms: Vec<String> = wanted.chain(found.forms.iter().cloned()).collect();
        let mut looked =
            Looked { terms: &terms, words: Words::default(), shown: HashSet::new(), takes_all: false };
        if found.is_unsure && found.sessions.len() > UNSURE_MAX {
            found.sessions.truncate(UNSURE_MAX);
            found.is_cut = true;
        }
        let (mut hits, count) = (Vec::new(), pieces_shown(question, query));
        for takes_all in [false, true] {
            // Without words and without a vector, show the best pieces anyway.
            looked.takes_all = takes_all;
            for session in &found.sessions {
                if takes_all && !hits.is_empty() {
                    break;
                }
                let Some(row) = shelf.session(session.session) else { continue };
                let resume = self.resume(&row);
                let evicted = self.is_evicted(&row.key());
                let of_session = hits_of(&row, session, &mut looked, count, found.is_unsure, resume);
                hits.extend(of_session.into_iter().map(|hit| HitView { evicted, ..hit }));
            }
            if !hits.is_empty() {
                break;
            }
        }
        let is_cut = question.budget_tokens.is_some_and(|budget| cut_to(&mut hits, budget));
        let narrowed = query.date_words.as_ref().map(|words| Narrowed {
            since: query.since.map(|day| day.to_string()),
            until: query.until.map(|day| day.to_string()),
            words: words.clone(),
        });
        let since = match hits.is_empty() {
            true => shelf.first_start()?.max(since_ms(question, query).and_then(Timestamp::from_millis)),
            false => None,
        };
        let unread = self.news.unread.len() as u64;
        let searched = Searched { since, ..shelf.searched(sessions.as_ref())? };
        let sessions = if question.with_sessions { self.conversations(&hits)? } else { Vec::new() };
        Ok(SearchView {
            schema: "retro.search/1",
            hits,
            sessions,
            unsure: found.is_unsure,
            searched,
            complete: unread == 0 && self.news.unreadable.is_empty(),
            unread_sessions: unread,
            operators: query.operators.clone(),
            dropped,
            narrowed,
            suggestions: found.suggestions,
            truncated: found.is_cut || is_cut,
            warnings: warning.into_iter().collect(),
            elapsed_ms: self.started.elapsed().as_secs_f64() * 1000.0,
        })
    }

    /// True if the raw bytes of a session were given up.
    fn is_evicted(&self, key: &SessionKey) -> bool {
        let store = self.news.store.as_ref().filter(|_| !self.news.read.contains_key(key));
        let file = store.and_then(|store| store.session(key).ok().flatten());
        file.is_some_and(|file| file.evicted_at.is_some())
    }

    /// The command that resumes a session, if the agent still has its log.
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

/// Pieces shown per session: more for a query that is restricted to few sessions.
fn pieces_shown(question: &SearchQuestion, query: &Query) -> usize {
    let is_of_project = question.project.is_some() || !query.projects.is_empty();
    match question.session {
        Some(_) => question.limit.max(PIECES_NARROW),
        None if is_of_project => PIECES_NARROW,
        None => PIECES,
    }
}
