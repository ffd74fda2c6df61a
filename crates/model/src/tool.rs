//! Calls of tools and their results.

use retro_text::Redacted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of work that a tool does, the same for every agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum ToolClass {
    Shell,
    Read,
    Search,
    Edit,
    Web,
    Mcp,
    Subagent,
    Plan,
    Ask,
    Other,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The call succeeded.
    Ok,
    /// The call ran and failed, or could not run.
    Failed,
    /// A person, a rule or a hook refused the call.
    Denied,
    /// The call was interrupted.
    Interrupted,
    /// The log does not show the outcome.
    Unknown,
}

/// Whether a call read or wrote a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Access {
    Read,
    Write,
}

/// A path that a call used, as logged.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PathUse {
    /// The path as logged.
    pub path: Redacted<String>,
    /// Whether it was read or written.
    pub access: Access,
}

/// The kind of change to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum EditKind {
    Create,
    Update,
    Delete,
    Move,
}

/// One file changed by a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Edit {
    /// The path as logged.
    pub path: Redacted<String>,
    /// The new path, for a move.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<Redacted<String>>,
    /// The kind of change.
    pub kind: EditKind,
    /// Lines added, if the log has the number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub added: Option<u64>,
    /// Lines removed, if the log has the number.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removed: Option<u64>,
}

/// A call: the model's request, and its parsed parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that joins call and result.
    pub call_id: String,
    /// The call that made this one, for nested calls.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent_call: Option<String>,
    /// Name of the tool as logged.
    pub name: String,
    /// The kind of work.
    pub class: ToolClass,
    /// Arguments as logged.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "crate::event::even_null")]
    pub args: Option<Redacted<Value>>,
    /// The command line of a shell call, on one line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<Redacted<String>>,
    /// Working directory of the call, if it names one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cwd: Option<Redacted<String>>,
    /// Paths that the call names.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<PathUse>,
    /// Edits that the call requests. The actual edits are in the result.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub edits: Vec<Edit>,
}

impl ToolCall {
    /// The original script of a shell call, with its line ends. `command` has it on one line, where
    /// a here-document has lost its empty lines.
    pub fn script(&self) -> Option<String> {
        let args = self.args.as_ref()?;
        match args.get("command").or_else(|| args.get("cmd"))? {
            Value::String(script) => Some(script.clone()),
            Value::Array(words) => {
                let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                match words.as_slice() {
                    [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => {
                        Some((*script).to_owned())
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// A result: how the call ended and which files changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id that joins call and result.
    pub call_id: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Exit code of a command, if it is in the log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<i64>,
    /// Duration in milliseconds, if it is in the log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// True if the agent cut the output before logging it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub truncated: bool,
    /// Size of the logged output in bytes.
    pub bytes: u64,
    /// Source with the whole output, if it was saved to a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spilled_to: Option<String>,
    /// The files that changed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub edits: Vec<Edit>,
}
