//! The answer to a search: what `--json` prints, and the parts of texts that it shows.

use retro_model::Timestamp;
use retro_search::{FoundPiece, FoundSession, Words};
use retro_store::SessionRow;
use serde::Serialize;
use std::collections::HashSet;

use super::{ConversationView, Snippet};

/// From this cosine on, meaning is a reason.
const NEAR: f64 = 0.3;

/// Characters that make a token, roughly.
const TOKEN_CHARS: usize = 4;

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
    /// How well its session fits. Sessions are in the order of this score.
    pub session_score: f64,
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
    /// Whether this may be no answer: the same as `unsure` of the whole answer.
    pub weak: bool,
    /// False on a branch that was rewound.
    pub live: bool,
    /// Whether the raw bytes of the session were given up: only words of its digest are found.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub evicted: bool,
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
    /// The first instant that was looked at: when the first session began, or as it was asked.
    /// Null if something was found.
    pub since: Option<Timestamp>,
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
    /// What the sessions of these hits are about, in the same order, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<ConversationView>,
    /// Whether even the best of these hits may be no answer. There are only few of them then.
    pub unsure: bool,
    /// What was looked through.
    pub searched: Searched,
    /// Whether everything on this machine was looked through.
    pub complete: bool,
    /// Sessions with something new that was not read.
    pub unread_sessions: u64,
    /// The operators of the query that were used, as they are written there.
    pub operators: Vec<String>,
    /// Operators of the query with which nothing was found. They were looked for as text.
    pub dropped: Vec<String>,
    /// Days that words of the query named.
    pub narrowed: Option<Narrowed>,
    /// Words that exist, near words that were not found.
    pub suggestions: Vec<String>,
    /// Whether there are more hits than are shown.
    pub truncated: bool,
    /// What the user should hear.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// How long it took, from the question on.
    pub elapsed_ms: f64,
}

/// What is looked for in the texts that are shown.
pub(super) struct Looked<'a> {
    pub(super) terms: &'a [String],
    /// Remembers stems from one text to the next.
    pub(super) words: Words,
    /// Snippets that the answer has.
    pub(super) shown: HashSet<String>,
    /// Whether a piece needs no reason to be shown.
    pub(super) takes_all: bool,
}

/// The hits of a session: each text once, and only what shows why the session was found. Of a
/// copy of a session that is shown there are none.
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

/// A piece that was found, as it is shown.
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

/// A title on one line.
fn one_line(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Keeps as many hits as fit into a budget; true if some did not.
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
