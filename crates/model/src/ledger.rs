//! One row per model response: the unit of every cost figure.

use serde::{Deserialize, Serialize};

use crate::{EventId, Exactness, Thread, Timestamp, Tokens, Usage};

/// The kind of response in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// A response in the conversation.
    #[default]
    Main,
    /// The summary of a compaction.
    Compaction,
    /// A call outside the conversation: a title, a helper.
    Side,
    /// A cumulative figure of the session, for checks only: never part of totals.
    Total,
    /// Not a response: after this position the log has responses without figures.
    Unmeasured,
    /// Not a response: the log stops here, in the middle of a turn.
    CutOff,
}

impl RowKind {
    /// True if the row marks missing figures, and has none itself.
    pub fn is_open(self) -> bool {
        matches!(self, RowKind::Unmeasured | RowKind::CutOff)
    }
}

/// One response of a model, with its tokens. Depends only on the bytes of its own session. Which
/// row of a key counts is decided across sessions, by content, never by order of arrival. Contains
/// no dollars except those that the log itself reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// Global identity of the response, such as `claude:msg_…`.
    pub key: String,
    /// How certain it is that the response belongs to this file and is not a copy. Larger is more
    /// certain.
    pub own: u8,
    /// The usage event it was made from.
    pub event: EventId,
    /// The thread of the response.
    pub thread: Thread,
    /// Its time, if it is in the log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ts: Option<Timestamp>,
    /// Working directory at that point, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cwd: Option<String>,
    /// The provider, if it is in the log: `anthropic`, `openai`, `xai`, …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    /// The model as logged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Service tier or speed. `None` for the standard one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier: Option<String>,
    /// The tokens of the response.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Model calls in this figure: 1, or more if the log only has sums.
    pub calls: u64,
    /// Sessions whose responses are included in this figure.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub includes: Vec<String>,
    /// The kind of response.
    pub kind: RowKind,
    /// How reliable the figures are.
    pub exactness: Exactness,
    /// Bytes of text that this response left in the log: the basis for an estimate of an unknown
    /// output.
    #[serde(default)]
    pub text_bytes: u64,
    /// Cost in billionths of a dollar, if the log reports one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reported_cost_nano: Option<i64>,
}

impl LedgerRow {
    /// A row with the counters of a usage event and nothing else.
    pub fn of(key: String, event: EventId, thread: Thread, usage: &Usage) -> LedgerRow {
        LedgerRow {
            key,
            own: usage.own,
            event,
            thread,
            ts: None,
            cwd: None,
            provider: None,
            model: None,
            tier: usage.tier.clone(),
            tokens: usage.tokens,
            calls: 1,
            includes: Vec::new(),
            kind: if usage.total { RowKind::Total } else { RowKind::Main },
            exactness: usage.exactness,
            text_bytes: 0,
            reported_cost_nano: usage.reported_cost_nano,
        }
    }
}
