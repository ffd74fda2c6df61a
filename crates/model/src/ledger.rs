//! One row a model answer: the unit of every cost figure.

use serde::{Deserialize, Serialize};

use crate::{EventId, Exactness, Thread, Timestamp, Tokens, Usage};

/// What kind of answer a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowKind {
    /// An answer in the conversation.
    #[default]
    Main,
    /// The summary of a compaction.
    Compaction,
    /// A call beside the conversation: a title, a helper.
    Side,
    /// A cumulative figure of the session: a check, never part of totals.
    Total,
    /// No answer: from here on the log has answers without figures.
    Unmeasured,
    /// No answer: the log stops here, in the middle of a turn.
    CutOff,
}

impl RowKind {
    /// Whether the row says that figures are missing, and has none itself.
    pub fn is_open(self) -> bool {
        matches!(self, RowKind::Unmeasured | RowKind::CutOff)
    }
}

/// One answer of a model, with its tokens. Says only what its own session's bytes
/// say; which row of a key counts is decided across sessions, by content, never
/// by arrival. Holds no dollars but those the log itself reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// Global identity of the answer, e.g. `claude:msg_…`.
    pub key: String,
    /// How sure this file is that the answer is its own and not a copy; larger is surer.
    pub own: u8,
    /// The usage event it was made from.
    pub event: EventId,
    /// Line of work.
    pub thread: Thread,
    /// When, if the log says so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ts: Option<Timestamp>,
    /// Working directory at that point, as far as the log says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cwd: Option<String>,
    /// Who answered, where the log says so: `anthropic`, `openai`, `xai`, …
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub provider: Option<String>,
    /// The model as logged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Service tier or speed, where it is not the standard one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tier: Option<String>,
    /// Its tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Model calls in this figure: 1, or more where the log only has sums.
    pub calls: u64,
    /// Sessions whose answers are contained in this figure.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub includes: Vec<String>,
    /// What kind of answer.
    pub kind: RowKind,
    /// How far the figures can be trusted.
    pub exactness: Exactness,
    /// Bytes of text this answer left in the log: what an estimate of an unknown
    /// output is made from.
    #[serde(default)]
    pub text_bytes: u64,
    /// Cost in billionths of a dollar, where the log reports one.
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
