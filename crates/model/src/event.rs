//! Events: the meaning of records, in one schema for all agents.

use retro_text::Redacted;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use smol_str::SmolStr;

use crate::{EventId, SourceKey, Timestamp, ToolCall, ToolResult, Usage};

/// The kind of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A session began, or one of its lasting facts changed.
    Session,
    /// A message to the agent.
    User,
    /// A text of the model.
    Assistant,
    /// Reasoning of the model, if it is readable.
    Reasoning,
    /// A tool was called.
    ToolCall,
    /// A tool answered.
    ToolResult,
    /// A plan or task list was made or changed.
    Plan,
    /// The tokens of a model's response.
    Usage,
    /// The context was summarized.
    Compaction,
    /// The work was interrupted.
    Interruption,
    /// A call was refused.
    Denial,
    /// An error outside a tool.
    Error,
    /// The model changed.
    Model,
    /// A sub-agent started, reported or ended.
    Subagent,
    /// The user went back to an earlier point.
    Rewind,
    /// A file, an image or context that was sent along.
    Attachment,
    /// The agent's bookkeeping.
    Note,
    /// Not known to the adapter. The whole record is in `data`.
    Unknown,
}

/// The author of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Typed by a person.
    User,
    /// Made by the model.
    Model,
    /// Written by a parent agent for its child.
    Agent,
    /// Output of a local program.
    Tool,
    /// From the web, an MCP server, a fetched document.
    External,
    /// Injected by the agent program.
    Harness,
}

/// A thread inside a session: `main`, or a sub-agent's name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Thread(SmolStr);

impl Thread {
    /// The session's own thread.
    pub fn main() -> Self {
        Thread(SmolStr::new_static("main"))
    }

    /// The thread of a sub-agent.
    pub fn sub(name: impl Into<String>) -> Self {
        Thread(name.into().into())
    }

    /// True if it is the session's own thread.
    pub fn is_main(&self) -> bool {
        &*self.0 == "main"
    }

    /// The name of the thread.
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

/// The position of the bytes that an event was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawRef {
    /// The key of the source.
    pub source: SourceKey,
    /// The revision of the source.
    pub revision: u32,
    /// Record number, from 1.
    pub record: u64,
    /// Offset of the record's first byte.
    pub offset: u64,
    /// Its length without the line end.
    pub length: u64,
}

/// One event of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Address inside the session. Stable for ever.
    pub id: EventId,
    /// Position in the settled stream, from 1.
    pub seq: u64,
    /// Turn on its thread, from 1; 0 before the first message.
    pub turn: u32,
    /// The thread of the event.
    pub thread: Thread,
    /// False on a branch that was rewound or superseded.
    pub live: bool,
    /// Its time, if it is in the log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ts: Option<Timestamp>,
    /// The kind of event.
    pub kind: Kind,
    /// The author of the event.
    pub origin: Origin,
    /// Its text, complete.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub text: Option<Redacted<String>>,
    /// True if `text` is only a part.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub truncated: bool,
    /// The call, if `kind` is a tool call.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<Box<ToolCall>>,
    /// The result, if `kind` is a tool result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub result: Option<Box<ToolResult>>,
    /// The tokens, if `kind` is usage.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub usage: Option<Box<Usage>>,
    /// The session (and record) that this was copied from, if the log proves it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub copy_of: Option<String>,
    /// The parent of this event.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub parent: Option<EventId>,
    /// The agent's own ids.
    #[serde(skip_serializing_if = "Native::is_empty", default)]
    pub native: Native,
    /// Key of the model response that made it.
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
    /// Session or thread that this event started or reports on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub child: Option<String>,
    /// The bytes that it was read from.
    pub raw: RawRef,
    /// Data that is specific to the agent.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "even_null")]
    pub data: Option<Redacted<Value>>,
}

/// Reads a present value even if it is `null`, so that an event is the same whether it was just
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
