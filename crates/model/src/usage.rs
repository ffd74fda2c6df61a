//! Tokens of one model response, with one meaning for all agents.

use serde::{Deserialize, Serialize};

/// How reliable a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    /// As the provider billed it.
    #[default]
    Exact,
    /// A lower bound: the log stops before the end of the response, or has figures that cannot be
    /// read.
    LowerBound,
    /// Estimated by retro.
    Estimated,
}

/// Tokens by kind. `output` includes `reasoning`. No other kinds overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Tokens {
    /// Input without the cached part.
    pub input: u64,
    /// Writes to the five-minute cache.
    pub cache_write_5m: u64,
    /// Writes to the one-hour cache.
    pub cache_write_1h: u64,
    /// Writes to a cache with a lifetime that is not in the log.
    pub cache_write_unsplit: u64,
    /// Input that was read from the cache.
    pub cache_read: u64,
    /// Output, reasoning included.
    pub output: u64,
    /// The reasoning part of `output`, if the log has it.
    pub reasoning: u64,
    /// Searches that the provider made and bills separately.
    pub web_searches: u64,
}

impl Tokens {
    /// All cache writes.
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h).saturating_add(self.cache_write_unsplit)
    }

    /// Input and cache together: the length of the prompt.
    pub fn prompt(&self) -> u64 {
        self.input.saturating_add(self.cache_write()).saturating_add(self.cache_read)
    }

    /// Input, cache and output together.
    pub fn total(&self) -> u64 {
        self.prompt().saturating_add(self.output)
    }

    /// The sum. Saturates at the largest number, for absurd counters in a log.
    pub fn plus(&self, other: &Tokens) -> Tokens {
        self.with(other, |a, b| Some(a.saturating_add(b))).unwrap_or_default()
    }

    /// The difference, with every counter at least zero.
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

/// The log's facts about the tokens of one model response.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// The counters of the response.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Service tier or speed. `None` for the standard one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// How reliable the figures are.
    pub exactness: Exactness,
    /// A cumulative figure of the session, for checks only: never added.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub total: bool,
    /// How certain it is that the response belongs to this file and is not a copy. Each adapter
    /// defines its levels. Larger is more certain.
    pub own: u8,
    /// Cost in billionths of a dollar, if the log reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_cost_nano: Option<i64>,
}
