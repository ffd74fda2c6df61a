//! What a record means, in the one schema that all agents share.

use retro_text::Redacted;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use smol_str::SmolStr;

use crate::{EventId, SourceKey, Timestamp, ToolCall, ToolResult, Usage};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session began, or one of its lasting facts changed.
    Session,
    /// A message to the agent.
    User,
    /// Words of the model.
    Assistant,
    /// Thinking of the model, where it is readable at all.
    Reasoning,
    /// A tool was called.
    ToolCall,
    /// A tool answered.
    ToolResult,
    /// A plan or task list was made or changed.
    Plan,
    /// Tokens of a model answer became known.
    Usage,
    /// The context was summarized.
    Compaction,
    /// Work was cut off.
    Interruption,
    /// A call was refused.
    Denial,
    /// Something went wrong outside a tool.
    Error,
    /// The model changed.
    Model,
    /// A sub-agent started, reported or ended.
    Subagent,
    /// The user went back to an earlier point.
    Rewind,
    /// A file, an image or context given along.
    Attachment,
    /// The agent's bookkeeping.
    Note,
    /// Not known to the adapter; the whole record is in `data`.
    Unknown,
}

/// Whose words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Typed by a person.
    User,
    /// Made by the model.
    Model,
    /// A parent agent's words to a child.
    Agent,
    /// Output of a local program.
    Tool,
    /// From the web, an MCP server, a fetched document.
    External,
    /// Injected by the agent program.
    Harness,
}

/// A line of work inside a session: `main`, or a sub-agent's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Thread(SmolStr);

impl Thread {
    /// The session's own line of work.
    pub fn main() -> Self {
        Thread(SmolStr::new_static("main"))
    }

    /// A sub-agent's.
    pub fn sub(name: impl Into<String>) -> Self {
        Thread(name.into().into())
    }

    /// Whether it is the session's own.
    pub fn is_main(&self) -> bool {
        &*self.0 == "main"
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The agent's own ids of a record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[allow(missing_docs)]
pub struct Native {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
}

impl Native {
    fn is_empty(&self) -> bool {
        *self == Native::default()
    }
}

/// The bytes an event was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawRef {
    /// Which source.
    pub source: SourceKey,
    /// Which line of growth of it.
    pub revision: u32,
    /// Record number, from 1.
    pub record: u64,
    /// First byte of the record.
    pub offset: u64,
    /// Its length without the line end.
    pub length: u64,
}

/// One thing that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Address inside the session. Stable for ever.
    pub id: EventId,
    /// Place in the settled stream, from 1.
    pub seq: u64,
    /// Turn on its thread, from 1; 0 before the first message.
    pub turn: u32,
    /// Line of work.
    pub thread: Thread,
    /// False on a branch that was rewound or superseded.
    pub live: bool,
    /// When, if the log says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ts: Option<Timestamp>,
    /// What happened.
    pub kind: Kind,
    /// Whose words.
    pub origin: Origin,
    /// The words, whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<Redacted<String>>,
    /// Whether `text` is only a part.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub truncated: bool,
    /// On calls.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<Box<ToolCall>>,
    /// On results.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<Box<ToolResult>>,
    /// On usage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<Box<Usage>>,
    /// The session (and record) this was copied from, where the log proves it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub copy_of: Option<String>,
    /// The event this one hangs on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<EventId>,
    /// The agent's own ids.
    #[serde(skip_serializing_if = "Native::is_empty", default)]
    pub native: Native,
    /// Key of the model answer that made it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub response: Option<String>,
    /// The model, when it changes and on usage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// The working directory, when it changes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cwd: Option<Redacted<String>>,
    /// The branch, when it changes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub branch: Option<Redacted<String>>,
    /// Session or thread that this event started or reports of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub child: Option<String>,
    /// Where it was read.
    pub raw: RawRef,
    /// What only this agent has.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "even_null")]
    pub data: Option<Redacted<Value>>,
}

/// A value that is there, `null` too: an event is the same whether it was just
/// computed or read from its file.
pub(crate) fn even_null<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_null_is_something_and_comes_back() {
        let event = json!({ "id": "m:1", "seq": 1, "turn": 0, "thread": "main", "live": true, "kind": "unknown",
            "origin": "harness", "raw": { "source": "m", "revision": 1, "record": 1, "offset": 0, "length": 4 },
            "tool": { "call_id": "c1", "name": "x", "class": "other", "args": null }, "data": null });
        let read: Event = serde_json::from_value(event.clone()).unwrap();
        assert!(read.data.is_some() && read.tool.as_ref().unwrap().args.is_some());
        assert_eq!(serde_json::to_value(&read).unwrap(), event);
    }
}
