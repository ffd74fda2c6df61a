//! What a tool was asked to do and what came of it.

use retro_text::Redacted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What kind of work a tool does, the same for every agent.
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
    /// It did what it was asked.
    Ok,
    /// It ran and failed, or could not run.
    Failed,
    /// A person, a rule or a hook refused it.
    Denied,
    /// It was cut off.
    Interrupted,
    /// The log does not say.
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

/// A path that a call touched, as the log writes it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PathUse {
    /// The path.
    pub path: Redacted<String>,
    /// Read or written.
    pub access: Access,
}

/// What happened to a file.
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
    /// The file, as the log writes it.
    pub path: Redacted<String>,
    /// Where it went, for a move.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to: Option<Redacted<String>>,
    /// What happened to it.
    pub kind: EditKind,
    /// Lines added, where the log says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub added: Option<u64>,
    /// Lines removed, where the log says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub removed: Option<u64>,
}

/// A call: what the model asked for, and what we understood of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Joins call and result.
    pub call_id: String,
    /// The call that made this one, for nested calls.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent_call: Option<String>,
    /// Name as logged.
    pub name: String,
    /// Kind of work.
    pub class: ToolClass,
    /// Arguments as logged.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "crate::event::even_null")]
    pub args: Option<Redacted<Value>>,
    /// The command line of a shell call, on one line.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub command: Option<Redacted<String>>,
    /// Working directory of the call, where it names one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cwd: Option<Redacted<String>>,
    /// Paths it names.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub paths: Vec<PathUse>,
    /// Files it asks to change. What was really changed is on the result.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub edits: Vec<Edit>,
}

impl ToolCall {
    /// The script of a shell call as it was given, with its line ends; `command` has it on one
    /// line, where a here-document has lost its empty lines.
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

/// A result: how the call ended and what it changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Joins call and result.
    pub call_id: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Exit code of a command, where the log says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub exit_code: Option<i64>,
    /// How long it ran, where the log says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// Whether the agent cut the output before logging it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub truncated: bool,
    /// Size of the logged output.
    pub bytes: u64,
    /// Source that holds the whole output when it was spilled to a file.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub spilled_to: Option<String>,
    /// Files that were changed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub edits: Vec<Edit>,
}
