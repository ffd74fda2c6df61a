//! Tokens of one model answer, in one meaning for all agents.

use serde::{Deserialize, Serialize};

/// How far a figure can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// As the provider billed it.
    #[default]
    Exact,
    /// At least this much: the log stops before the answer did, or has figures that
    /// cannot be read.
    LowerBound,
    /// Derived by us.
    Estimated,
}

/// Tokens by kind. `output` includes `reasoning`; nothing else overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Uncached input.
    pub input: u64,
    /// Written to the five-minute cache.
    pub cache_write_5m: u64,
    /// Written to the one-hour cache.
    pub cache_write_1h: u64,
    /// Written to a cache whose life the log does not say.
    pub cache_write_unsplit: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// The reasoning part of `output`, where the log has it.
    pub reasoning: u64,
    /// Searches the provider made and bills apart.
    pub web_searches: u64,
}

impl Tokens {
    /// Everything written to a cache.
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h).saturating_add(self.cache_write_unsplit)
    }

    /// Input and cache together: how long the prompt was.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_write()).saturating_add(self.cache_read)
    }

    /// Input, cache and output together.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// The sum. Counters that a log made absurd stop at the largest number.
    pub fn plus(&self, other: &Tokens) -> Tokens {
        self.with(other, |a, b| Some(a.saturating_add(b))).unwrap_or_default()
    }

    /// The difference, none of it below zero.
    pub fn minus_or_zero(&self, other: &Tokens) -> Tokens {
        self.with(other, |a, b| Some(a.saturating_sub(b))).unwrap_or_default()
    }

    /// The difference, if no counter falls below zero.
    pub fn minus(&self, other: &Tokens) -> Option<Tokens> {
        self.with(other, u64::checked_sub)
    }

    fn with(&self, other: &Tokens, each: impl Fn(u64, u64) -> Option<u64>) -> Option<Tokens> {
        Some(Tokens {
            input: each(self.input, other.input)?,
            cache_write_5m: each(self.cache_write_5m, other.cache_write_5m)?,
            cache_write_1h: each(self.cache_write_1h, other.cache_write_1h)?,
            cache_write_unsplit: each(self.cache_write_unsplit, other.cache_write_unsplit)?,
            cache_read: each(self.cache_read, other.cache_read)?,
            output: each(self.output, other.output)?,
            reasoning: each(self.reasoning, other.reasoning)?,
            web_searches: each(self.web_searches, other.web_searches)?,
        })
    }
}

/// What this log says of the tokens of one model answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// The counters.
    #[serde(flatten)]
    pub tokens: Tokens,
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
