//! The items of a turn, as the page receives them.

use crate::{Attached, Question, Step};
use retro_model::{Kind, Origin, Outcome, ToolClass};
use serde::Serialize;
use serde_json::Value;

use crate::readable::{FileDiff, Output};

/// One item of a turn.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    /// A message to the agent.
    Prompt {
        /// The event's name.
        id: String,
        /// When, in milliseconds since 1970.
        ts: Option<i64>,
        /// The author of the words.
        origin: Origin,
        /// How it was entered: `typed`, `queued`, `/name`, `shell`, `plan`.
        said: String,
        /// The message text.
        text: String,
        /// Pictures and files attached to it.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attached: Vec<Attached>,
        /// File names of the pictures among them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<String>,
        /// The output of a typed command.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Output>,
        /// False on an abandoned branch.
        live: bool,
    },
    /// Text by the model, as a tree of markdown.
    Answer {
        /// The event's name.
        id: String,
        /// In milliseconds since 1970.
        ts: Option<i64>,
        /// The model, if known.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The markdown tree.
        body: Vec<Value>,
        /// False on an abandoned branch.
        live: bool,
    },
    /// Reasoning by the model.
    Thought {
        /// The event's name.
        id: String,
        /// The reasoning text.
        text: String,
        /// Number of characters.
        chars: usize,
    },
    /// A call with its result.
    Call(Box<Call>),
    /// Consecutive successful calls.
    Run {
        /// A summary: `12 reads, 3 searches`.
        label: String,
        /// Their total time, if the log says.
        ms: Option<u64>,
        /// The calls, and thoughts between them.
        items: Vec<Item>,
    },
    /// A question from the agent to the user.
    Question {
        /// The event's name.
        id: String,
        /// In milliseconds since 1970.
        ts: Option<i64>,
        /// The questions with the answers given.
        questions: Vec<Question>,
        /// The user's reply, if none of the options was chosen.
        reply: Option<String>,
        /// The outcome of the call.
        outcome: Option<Outcome>,
    },
    /// A plan or a list of steps.
    Plan {
        /// The event's name.
        id: String,
        /// The plan in words.
        body: Vec<Value>,
        /// The plan's steps.
        steps: Vec<Step>,
    },
    /// The report of a sub-agent whose work is not here.
    Report {
        /// The event's name.
        id: String,
        /// The report as a markdown tree.
        body: Vec<Value>,
    },
    /// An interruption, a compaction, an error.
    Mark {
        /// The event's name.
        id: String,
        /// In milliseconds since 1970.
        ts: Option<i64>,
        /// The kind of its event.
        kind: Kind,
        /// The text to show.
        text: String,
    },
    /// Text of the harness, bookkeeping, unknown records: shown at depth `all`.
    Note {
        /// The event's name.
        id: String,
        /// In milliseconds since 1970.
        ts: Option<i64>,
        /// The kind of its event.
        kind: Kind,
        /// The author of the words.
        origin: Origin,
        /// The text to show.
        text: String,
    },
}

/// A call with its result.
#[derive(Debug, Clone, Serialize)]
pub struct Call {
    /// The call event's name.
    pub id: String,
    /// File names of the pictures in its result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<String>,
    /// The event of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// In milliseconds since 1970.
    pub ts: Option<i64>,
    /// The tool's name.
    pub name: String,
    /// The kind of work.
    pub class: ToolClass,
    /// The task, on one line.
    pub what: String,
    /// The full task, if one line is too short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<String>,
    /// The outcome. `None` if the log has no result.
    pub outcome: Option<Outcome>,
    /// The exit code, unless zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// True if the duration is only an upper bound: the time until the result was logged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ms_at_most: bool,
    /// Tokens that its result added to the context, estimated from its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Files that it changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edited>,
    /// The lines that explain a failure, or the user's reply to a refused call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The call's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// The changes made by an edit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<FileDiff>,
    /// The line of work that it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<usize>,
    /// False on an abandoned branch.
    pub live: bool,
}

/// A file that a call changed.
#[derive(Debug, Clone, Serialize)]
pub struct Edited {
    /// The path in the log.
    pub path: String,
    /// The kind of change.
    pub kind: retro_model::EditKind,
    /// Lines added, if the log says.
    pub added: Option<u64>,
    /// Lines removed, if the log says.
    pub removed: Option<u64>,
}
