//! What a turn is made of, as the page gets it.

use crate::{Attached, Question, Step};
use retro_model::{Kind, Origin, Outcome, ToolClass};
use serde::Serialize;
use serde_json::Value;

use crate::readable::{FileDiff, Output};

/// One thing in a turn.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Item {
    /// A message.
    Prompt {
        /// Its event.
        id: String,
        /// When, in milliseconds since 1970.
        ts: Option<i64>,
        /// Whose words.
        origin: Origin,
        /// How it came: `typed`, `queued`, `/name`, `shell`, `plan`.
        said: String,
        /// The words.
        text: String,
        /// Pictures and files given along.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        attached: Vec<Attached>,
        /// Files of the pictures among them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pictures: Vec<String>,
        /// What a typed command printed.
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<Output>,
        /// False on an abandoned branch.
        live: bool,
    },
    /// Words of the model, as a tree of markdown.
    Answer {
        /// Its event.
        id: String,
        /// When.
        ts: Option<i64>,
        /// The model.
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The tree.
        body: Vec<Value>,
        /// False on an abandoned branch.
        live: bool,
    },
    /// Thinking.
    Thought {
        /// Its event.
        id: String,
        /// The words.
        text: String,
        /// How many characters.
        chars: usize,
    },
    /// A call with its result.
    Call(Box<Call>),
    /// Calls next to each other that went well.
    Run {
        /// What they were: `12 reads, 3 searches`.
        label: String,
        /// How long they took together, where the log tells.
        ms: Option<u64>,
        /// The calls, and thoughts between them.
        items: Vec<Item>,
    },
    /// Something that the agent asked the user.
    Question {
        /// Its event.
        id: String,
        /// When.
        ts: Option<i64>,
        /// The questions with the answers given.
        questions: Vec<Question>,
        /// What the user said instead of choosing.
        reply: Option<String>,
        /// How it ended.
        outcome: Option<Outcome>,
    },
    /// A plan or a list of steps.
    Plan {
        /// Its event.
        id: String,
        /// The plan in words.
        body: Vec<Value>,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// What a sub-agent reported, where its work is not here.
    Report {
        /// Its event.
        id: String,
        /// Its words.
        body: Vec<Value>,
    },
    /// An interruption, a compaction, an error.
    Mark {
        /// Its event.
        id: String,
        /// When.
        ts: Option<i64>,
        /// What kind of thing.
        kind: Kind,
        /// What to say of it.
        text: String,
    },
    /// Text of the harness, bookkeeping, records nobody knows: shown in the depth `all`.
    Note {
        /// Its event.
        id: String,
        /// When.
        ts: Option<i64>,
        /// What kind of thing.
        kind: Kind,
        /// Whose words.
        origin: Origin,
        /// The words.
        text: String,
    },
}

/// A call with its result.
#[derive(Debug, Clone, Serialize)]
pub struct Call {
    /// Its event.
    pub id: String,
    /// Files of the pictures in its result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<String>,
    /// The event of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// When.
    pub ts: Option<i64>,
    /// The tool's name.
    pub name: String,
    /// Kind of work.
    pub class: ToolClass,
    /// What it was asked to do, on one line.
    pub what: String,
    /// All of it, where one line does not hold it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<String>,
    /// How it ended; none if the log has no result.
    pub outcome: Option<Outcome>,
    /// The exit code, if it is not zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// How long it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    /// Whether that is only an upper bound: the time until the log has the result.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ms_at_most: bool,
    /// Tokens that its result added to the context, estimated from its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Files changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edited>,
    /// The lines that say why it failed, or what the user said instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// What it printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// What an edit changed.
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
    /// The file, as the log writes it.
    pub path: String,
    /// What happened to it.
    pub kind: retro_model::EditKind,
    /// Lines added, where the log tells.
    pub added: Option<u64>,
    /// Lines removed, where the log tells.
    pub removed: Option<u64>,
}
