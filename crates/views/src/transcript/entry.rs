//! What a reader meets in a session: the types of a transcript.

use retro_model::{Edit, Kind, Origin, Outcome, Timestamp};
use retro_text::diff::FileDiff;
use serde::Serialize;

/// One thing worth a line or more.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// A message that opens a turn, or something else that a person typed.
    Prompt(Prompt),
    /// Words of the model.
    Answer {
        /// When.
        ts: Option<Timestamp>,
        /// The model, where the log names it.
        model: Option<String>,
        /// How hard it was asked to think, where the log says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        effort: Option<String>,
        /// The service tier, such as `fast`, where it is not the usual one.
        #[serde(skip_serializing_if = "Option::is_none")]
        tier: Option<String>,
        /// The words.
        text: String,
    },
    /// Thinking of the model.
    Thought {
        /// The words.
        text: String,
    },
    /// A call with its outcome.
    Call(Call),
    /// Something that the agent asked the user.
    Question {
        /// The questions with the answers given.
        questions: Vec<Question>,
        /// What the user said instead of choosing, or how the call ended.
        reply: Option<String>,
        /// How it ended; none if the log has no result.
        outcome: Option<Outcome>,
    },
    /// A plan that was shown to the user, or a list of steps.
    Plan {
        /// The plan in words.
        text: String,
        /// Its steps.
        steps: Vec<Step>,
    },
    /// A picture or a file that was given along outside of a message.
    Attached(Attached),
    /// A sub-agent's work.
    Subagent {
        /// Its thread.
        thread: String,
        /// What it did.
        entries: Vec<Entry>,
    },
    /// What a sub-agent reported, where its own work is not in the store.
    Report {
        /// The sub-agent, where the log names it.
        thread: Option<String>,
        /// Its words.
        text: String,
    },
    /// What came before a fork or a resume, in another session.
    History {
        /// That session.
        session: String,
        /// What happened in it up to then.
        entries: Vec<Entry>,
    },
    /// Anything else worth a line: an interruption, a compaction, an error.
    Mark {
        /// What kind of thing.
        kind: Kind,
        /// What to say of it.
        text: String,
    },
}

/// How a message came to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Typed, or handed over by a parent agent.
    Typed,
    /// Typed while the agent was working.
    Queued,
    /// A slash command with this name; the text is what follows it.
    Command(String),
    /// A shell command typed behind `!`.
    Shell,
    /// A plan that the user accepted, handed to a fresh context.
    Plan,
}

/// A message to the agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prompt {
    /// Turn number on its thread; 0 where it opens none.
    pub turn: u32,
    /// When.
    pub ts: Option<Timestamp>,
    /// Whose words.
    pub origin: Origin,
    /// How it was said.
    pub said: Said,
    /// The words.
    pub text: String,
    /// Pictures and files given along.
    pub attached: Vec<Attached>,
    /// What a command printed.
    pub output: Option<String>,
    /// False on an abandoned branch.
    pub live: bool,
    /// What the turn came to, on the message that opens it.
    pub figures: Option<TurnFigures>,
}

/// What a turn came to.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TurnFigures {
    /// Models that answered, in order.
    pub models: Vec<String>,
    /// From the message to the last thing that was done or said for it.
    pub duration_ms: Option<u64>,
    /// List price of its answers, sub-agents not included; null where it is not known.
    pub cost_usd: Option<f64>,
    /// Whether that is all of it.
    pub cost_complete: bool,
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failed_calls: u64,
}

/// A call with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// What it was asked to do, on one line.
    pub what: String,
    /// How it ended; none if the log has no result.
    pub outcome: Option<Outcome>,
    /// The exit code, if it is not zero.
    pub exit_code: Option<i64>,
    /// How long it ran, where the log tells.
    pub duration_ms: Option<u64>,
    /// Files changed: path, lines added and removed.
    pub edits: Vec<Edit>,
    /// The changed lines of each file, where the log has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<FileDiff>,
    /// The lines of a result that say why it failed, or what the user said instead.
    pub trouble: Option<String>,
    /// All that it printed or answered.
    pub output: Option<String>,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// The question.
    pub question: String,
    /// The answers offered.
    pub options: Vec<String>,
    /// The answer given, where the log tells.
    pub answer: Option<String>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// What is to be done.
    pub text: String,
    /// Whether it is done.
    pub done: bool,
}

/// A picture or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attached {
    /// Its name, or what kind of thing it is.
    pub name: String,
    /// Its size, where the log tells.
    pub bytes: Option<u64>,
}
