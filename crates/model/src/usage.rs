//! Tokens of one model answer, in one meaning for all agents.

use serde::{Deserialize, Serialize};

/// How far a figure can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// As the provider billed it.
    #[default]
    Exact,
    /// The log stops before the answer did: at least this much.
    LowerBound,
    /// Derived by us.
    Estimated,
}

/// Tokens of one model answer as this log tells them. Counters do not overlap,
/// except that `output` includes `reasoning`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Uncached input.
    pub input: u64,
    /// Written to the five-minute cache.
    pub cache_write_5m: u64,
    /// Written to the one-hour cache.
    pub cache_write_1h: u64,
    /// Written to a cache whose life the log does not tell.
    pub cache_write_unsplit: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// The reasoning part of `output`, where the log tells.
    pub reasoning: u64,
    /// Searches the provider made and bills apart.
    pub web_searches: u64,
    /// Service tier or speed, where it is not the standard one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// How far the figures can be trusted.
    pub exactness: Exactness,
    /// A cumulative figure of the session: a check, never added.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub total: bool,
    /// Why this file may call the answer its own and not a copy; what counts as
    /// evidence is the adapter's matter, larger is surer.
    pub own: u8,
    /// Cost in billionths of a dollar, where the log reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_cost_nano: Option<i64>,
}
