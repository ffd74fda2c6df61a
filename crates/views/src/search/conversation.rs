//! Summarizes a session in one row: agent, project, time, prompts, amount of work.

use retro_model::{Passage, PieceKind, SessionKey, Timestamp};
use retro_store::SessionRow;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{HitView, Searching};
use crate::Error;

/// Characters shown of a prompt.
const PROMPT_CHARS: usize = 300;

/// A session in one row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConversationView {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// The agent's title, else the first real prompt.
    pub title: Option<String>,
    /// The project's name.
    pub project: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The first timestamp in the log.
    pub started_at: Option<Timestamp>,
    /// The last timestamp in the log.
    pub ended_at: Option<Timestamp>,
    /// The user's last question, else the last prompt.
    pub preview: Option<String>,
    /// The first prompt with a question mark.
    pub first_question: Option<String>,
    /// The last prompt with a question mark.
    pub last_question: Option<String>,
    /// The last prompt.
    pub last_prompt: Option<String>,
    /// Models that answered, sorted.
    pub models: Vec<String>,
    /// Turns of the main thread.
    pub turns: u64,
    /// Prompts by the user.
    pub prompts: u64,
    /// Answers by models.
    pub answers: u64,
    /// Commands, and other tool calls that touch no file.
    pub commands: u64,
    /// Files that were read or changed.
    pub files: u64,
    /// Failed calls, and errors of the agent.
    pub errors: u64,
}

impl Searching {
    /// Summarizes a session. `None` if it does not exist. Abandoned branches do not count.
    pub fn conversation(&self, key: &SessionKey) -> Result<Option<ConversationView>, Error> {
        let row = match (self.news.read.get(key), &self.news.index) {
            (Some(read), _) => Some(read.session.clone()),
            (None, Some(index)) => index.session_row(key)?,
            (None, None) => None,
        };
        let Some(row) = row else { return Ok(None) };
        Ok(Some(of_passages(row, &self.passages(key)?)))
    }

    /// Summarizes the sessions of these hits, each once.
    pub(super) fn conversations(&self, hits: &[HitView]) -> Result<Vec<ConversationView>, Error> {
        let mut rows = Vec::new();
        for hits in hits.chunk_by(|a, b| (&a.agent, &a.session_id) == (&b.agent, &b.session_id)) {
            let key = hits.first().map(|hit| SessionKey::new(hit.agent.clone(), hit.session_id.clone()));
            if let Some(key) = key {
                rows.extend(self.conversation(&key)?);
            }
        }
        Ok(rows)
    }

    /// The passages of a session, just read or from the store.
    pub(super) fn passages(&self, key: &SessionKey) -> Result<Cow<'_, [Passage]>, Error> {
        Ok(match (self.news.read.get(key), &self.news.index) {
            (Some(read), _) => Cow::Borrowed(read.made.as_slice()),
            (None, Some(index)) => {
                Cow::Owned(index.passages_of_session(key)?.into_iter().map(|row| row.passage).collect())
            }
            (None, None) => Cow::Borrowed(&[]),
        })
    }
}

fn of_passages(row: SessionRow, passages: &[Passage]) -> ConversationView {
    let live = || passages.iter().filter(|passage| passage.live);
    let prompts = prompts(live());
    let is_question = |prompt: &&String| prompt.contains('?');
    let (first, last) = (prompts.iter().find(is_question), prompts.iter().rfind(is_question));
    let last_prompt = prompts.last();
    let shown = |prompt: Option<&String>| prompt.map(|text| cut(text));
    // Count an event of several pieces once.
    let count = |kind: PieceKind| {
        let pieces = live().flat_map(|passage| &passage.pieces).filter(|piece| piece.kind == kind);
        pieces.map(|piece| &piece.event).collect::<BTreeSet<_>>().len() as u64
    };
    let labels = || live().flat_map(|passage| &passage.pieces).flat_map(|piece| &piece.labels);
    let models: BTreeSet<&str> = labels().filter_map(|label| label.strip_prefix("model:")).collect();
    let turns: BTreeSet<u32> = live()
        .filter(|passage| passage.thread == "main" && passage.turn > 0)
        .map(|passage| passage.turn)
        .collect();
    ConversationView {
        agent: row.agent,
        session_id: row.id,
        title: row.title,
        project: row.project,
        cwd: row.cwd,
        started_at: row.started_at,
        ended_at: row.ended_at,
        preview: shown(last.or(last_prompt)),
        first_question: shown(first),
        last_question: shown(last),
        last_prompt: shown(last_prompt),
        models: models.into_iter().map(str::to_owned).collect(),
        turns: turns.len() as u64,
        prompts: prompts.len() as u64,
        answers: count(PieceKind::Assistant),
        commands: count(PieceKind::Command),
        files: files(live()),
        errors: count(PieceKind::Error),
    }
}

/// The user's messages, in order.
fn prompts<'a>(passages: impl Iterator<Item = &'a Passage>) -> Vec<String> {
    let pieces: Vec<_> =
        passages.flat_map(|passage| &passage.pieces).filter(|piece| piece.kind == PieceKind::User).collect();
    let messages = pieces.chunk_by(|a, b| a.event == b.event);
    messages
        .map(|pieces| pieces.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>().join("\n"))
        .collect()
}

/// The number of files that pieces name. A piece has a label for each suffix of a path, and the
/// longest one identifies the file.
fn files<'a>(passages: impl Iterator<Item = &'a Passage>) -> u64 {
    let pieces = passages.flat_map(|passage| &passage.pieces).filter(|piece| piece.kind == PieceKind::File);
    let name = |piece: &'a retro_model::Piece| {
        let names = piece.labels.iter().filter(|label| label.starts_with("file:"));
        names.max_by_key(|label| label.len())
    };
    pieces.filter_map(name).collect::<BTreeSet<_>>().len() as u64
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(PROMPT_CHARS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
        None => text.to_owned(),
    }
}
