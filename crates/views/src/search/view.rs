//! The result of a search as `--json` prints it, with its snippets.

use retro_model::Timestamp;
use retro_search::{FoundPiece, FoundSession, Words};
use retro_store::SessionRow;
use serde::Serialize;
use std::collections::HashSet;

use super::{ConversationView, Snippet};

/// Minimum cosine for meaning to count as a reason.
const NEAR: f64 = 0.3;

/// Approximate characters per token.
const TOKEN_CHARS: usize = 4;

/// A turn close to a vector.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Near {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// The thread's name.
    pub thread: String,
    /// The turn's number on its thread.
    pub turn: u32,
    /// The passage's first event.
    pub event_id: String,
    /// The cosine, from -1 to 1.
    pub cosine: f64,
}

/// A turn that matched.
#[derive(Debug, Clone, Serialize)]
pub struct HitView {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// The turn's number on its thread. 0 before the first message.
    pub turn: u32,
    /// The thread's name.
    pub thread: String,
    /// The event that matched.
    pub event_id: String,
    /// The kind of piece: user, assistant, command, file, output.
    pub kind: &'static str,
    /// Relevance, comparable within one result.
    pub score: f64,
    /// Relevance of its session. Sessions are sorted by it.
    pub session_score: f64,
    /// Query words in it or its neighbours, and its closeness in meaning.
    pub why: Vec<String>,
    /// The part of the text that matched.
    pub snippet: String,
    /// Byte ranges of query words in the snippet.
    pub marks: Vec<(usize, usize)>,
    /// When it was logged.
    pub timestamp: Option<Timestamp>,
    /// The session's project.
    pub project: Option<String>,
    /// The session's title.
    pub title: Option<String>,
    /// True if it may be irrelevant: the same as `unsure` of the whole result.
    pub weak: bool,
    /// False on an abandoned branch.
    pub live: bool,
    /// True if the session's raw bytes were given up: only words of its digest can match.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub evicted: bool,
    /// The command that resumes the session. Null if the agent's log is gone.
    pub resume: Option<String>,
}

/// The extent of a search.
#[derive(Debug, Clone, Serialize)]
pub struct Searched {
    /// Number of sessions searched.
    pub sessions: u64,
    /// Number of turns searched.
    pub turns: u64,
    /// Start of the period searched: as requested, else the start of the first session. Null if
    /// there are hits.
    pub since: Option<Timestamp>,
}

/// Days that words of the query named.
#[derive(Debug, Clone, Serialize)]
pub struct Narrowed {
    /// The first day of the range.
    pub since: Option<String>,
    /// The last day of the range.
    pub until: Option<String>,
    /// The words that named them.
    pub words: String,
}

/// The result of `retro search`.
#[derive(Debug, Clone, Serialize)]
pub struct SearchView {
    /// `retro.search/1`.
    pub schema: &'static str,
    /// Turns grouped by session, best first.
    pub hits: Vec<HitView>,
    /// Summaries of these hits' sessions, in the same order, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<ConversationView>,
    /// True if even the best hit may be irrelevant. Only a few hits are shown then.
    pub unsure: bool,
    /// The extent of the search.
    pub searched: Searched,
    /// True if the search covered everything on this machine.
    pub complete: bool,
    /// Sessions with changes that were not read.
    pub unread_sessions: u64,
    /// The operators in effect, as written in the query.
    pub operators: Vec<String>,
    /// Operators that matched nothing and were searched as text.
    pub dropped: Vec<String>,
    /// Days that words of the query named.
    pub narrowed: Option<Narrowed>,
    /// Existing words similar to those that did not match.
    pub suggestions: Vec<String>,
    /// True if there are more hits than shown.
    pub truncated: bool,
    /// Warnings for the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Elapsed time since the query.
    pub elapsed_ms: f64,
}

/// The query terms, and state shared by all snippets of a result.
pub(super) struct Looked<'a> {
    pub(super) terms: &'a [String],
    /// Caches stems across texts.
    pub(super) words: Words,
    /// Snippets already in the result.
    pub(super) shown: HashSet<String>,
    /// True if a piece is shown even without a reason.
    pub(super) takes_all: bool,
}

/// The hits of a session: each text once, and only those that show why the session matched. A copy
/// of a session that is already shown has no hits.
pub(super) fn hits_of(
    row: &SessionRow,
    found: &FoundSession,
    looked: &mut Looked<'_>,
    count: usize,
    weak: bool,
    resume: Option<String>,
) -> Vec<HitView> {
    let mut hits = Vec::new();
    for piece in &found.pieces {
        if hits.len() == count {
            break;
        }
        let is_near = piece.cosine.is_some_and(|cosine| cosine >= NEAR);
        if piece.held > 0.0 || is_near || looked.terms.is_empty() || looked.takes_all {
            let hit = hit(row, (found, piece), looked, weak, resume.clone());
            if looked.shown.insert(hit.snippet.clone()) {
                hits.push(hit);
            }
        }
    }
    hits
}

/// Describes a piece that matched.
fn hit(
    row: &SessionRow,
    (session, found): (&FoundSession, &FoundPiece),
    looked: &mut Looked<'_>,
    weak: bool,
    resume: Option<String>,
) -> HitView {
    let passage = &found.passage.passage;
    let piece = passage.pieces.get(found.piece);
    let snippet = Snippet::of(piece.map_or("", |piece| piece.text.as_str()), looked.terms, &mut looked.words);
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
        score: rounded(found.score),
        session_score: rounded(session.score),
        why,
        snippet: snippet.text,
        marks: snippet.marks,
        timestamp: piece.and_then(|piece| piece.at).or_else(|| passage.at()),
        project: row.project.clone(),
        title: row.title.as_deref().map(one_line),
        weak,
        live: passage.live,
        evicted: false,
        resume,
    }
}

fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}

/// The title on one line.
fn one_line(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Keeps as many hits as the budget allows. True if some were dropped.
pub(super) fn cut_to(hits: &mut Vec<HitView>, budget_tokens: usize) -> bool {
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
