//! The types of a transcript: everything a reader sees in a session.

use retro_model::{Edit, Kind, Origin, Outcome, Timestamp};
use retro_text::diff::FileDiff;
use serde::Serialize;

/// One entry of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Entry {
    /// A message that opens a turn, or other text typed by a person.
    Prompt(Prompt),
    /// Text by the model.
    Answer {
        /// When it was logged.
        ts: Option<Timestamp>,
        /// The model, if the log names it.
        model: Option<String>,
        /// The requested reasoning effort, if the log says.
        #[serde(skip_serializing_if = "Option::is_none")]
        effort: Option<String>,
        /// The service tier, such as `fast`, unless standard.
        #[serde(skip_serializing_if = "Option::is_none")]
        tier: Option<String>,
        /// The answer's text.
        text: String,
    },
    /// Reasoning by the model.
    Thought {
        /// The reasoning text.
        text: String,
    },
    /// A call with its outcome.
    Call(Call),
    /// A question from the agent to the user.
    Question {
        /// The questions with the answers given.
        questions: Vec<Question>,
        /// The user's reply instead of an option, or the end of the call.
        reply: Option<String>,
        /// The outcome. `None` if the log has no result.
        outcome: Option<Outcome>,
    },
    /// A plan that was shown to the user, or a list of steps.
    Plan {
        /// The plan in words.
        text: String,
        /// The plan's steps.
        steps: Vec<Step>,
    },
    /// A picture or file that was attached outside of a message.
    Attached(Attached),
    /// A sub-agent's work.
    Subagent {
        /// The sub-agent's thread.
        thread: String,
        /// The sub-agent's entries.
        entries: Vec<Entry>,
    },
    /// The report of a sub-agent whose own work is not in the store.
    Report {
        /// The sub-agent, where the log names it.
        thread: Option<String>,
        /// The report's text.
        text: String,
    },
    /// The history of a fork or resumed session, from another session.
    History {
        /// The earlier session's name.
        session: String,
        /// Its entries up to the fork.
        entries: Vec<Entry>,
    },
    /// Anything else worth a line: an interruption, a compaction, an error.
    Mark {
        /// The kind of its event.
        kind: Kind,
        /// The text to show.
        text: String,
    },
}

/// How a message reached the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// Typed, or sent by a parent agent.
    Typed,
    /// Typed while the agent was working.
    Queued,
    /// A slash command with this name. The text is its arguments.
    Command(String),
    /// A shell command typed behind `!`.
    Shell,
    /// A plan that the user accepted, handed to a fresh context.
    Plan,
}

/// A message to the agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prompt {
    /// Turn number on its thread. 0 if it opens no turn.
    pub turn: u32,
    /// When it was logged.
    pub ts: Option<Timestamp>,
    /// The author of the words.
    pub origin: Origin,
    /// How it was entered.
    pub said: Said,
    /// The message text.
    pub text: String,
    /// Pictures and files attached to it.
    pub attached: Vec<Attached>,
    /// The output of a command.
    pub output: Option<String>,
    /// False on an abandoned branch.
    pub live: bool,
    /// The turn's figures, on the message that opens it.
    pub figures: Option<TurnFigures>,
}

/// The figures of a turn.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TurnFigures {
    /// Models that answered, in order.
    pub models: Vec<String>,
    /// From the message to the last work or word on it.
    pub duration_ms: Option<u64>,
    /// List price of its responses, without sub-agents. Null if unknown.
    pub cost_usd: Option<f64>,
    /// True if the cost covers everything.
    pub cost_complete: bool,
    /// Number of calls.
    pub calls: u64,
    /// Calls that failed.
    pub failed_calls: u64,
}

/// A call with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// The task, on one line.
    pub what: String,
    /// The outcome. `None` if the log has no result.
    pub outcome: Option<Outcome>,
    /// The exit code, if it is not zero.
    pub exit_code: Option<i64>,
    /// Duration in milliseconds, if the log says.
    pub duration_ms: Option<u64>,
    /// Files changed: path, lines added and removed.
    pub edits: Vec<Edit>,
    /// The changed lines of each file, if the log has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diffs: Vec<FileDiff>,
    /// The lines that explain a failure, or the user's reply to a refused call.
    pub trouble: Option<String>,
    /// The complete output or answer.
    pub output: Option<String>,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// The question's text.
    pub question: String,
    /// The answers offered.
    pub options: Vec<String>,
    /// The answer given, if the log says.
    pub answer: Option<String>,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The step's text.
    pub text: String,
    /// Whether it is done.
    pub done: bool,
}

/// A picture or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Attached {
    /// Its name, or the kind of thing it is.
    pub name: String,
    /// Its size, if the log says.
    pub bytes: Option<u64>,
}
