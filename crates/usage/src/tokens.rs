//! The counters of a row, apart from everything else it says.

use retro_model::LedgerRow;
use serde::{Deserialize, Serialize};

/// Tokens by kind. `output` includes `reasoning`; nothing else overlaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tokens {
    /// Uncached input.
    pub input: u64,
    /// Written to a cache of five minutes.
    pub cache_write_5m: u64,
    /// Written to a cache of one hour.
    pub cache_write_1h: u64,
    /// Written to a cache whose life the log does not tell.
    pub cache_write_unsplit: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Output.
    pub output: u64,
    /// The reasoning part of output.
    pub reasoning: u64,
    /// Searches billed apart.
    pub web_searches: u64,
}

impl Tokens {
    /// Those of a row.
    pub fn of(row: &LedgerRow) -> Tokens {
        Tokens {
            input: row.input,
            cache_write_5m: row.cache_write_5m,
            cache_write_1h: row.cache_write_1h,
            cache_write_unsplit: row.cache_write_unsplit,
            cache_read: row.cache_read,
            output: row.output,
            reasoning: row.reasoning,
            web_searches: row.web_searches,
        }
    }

    /// Puts them into a row.
    pub(crate) fn put(&self, row: &mut LedgerRow) {
        row.input = self.input;
        row.cache_write_5m = self.cache_write_5m;
        row.cache_write_1h = self.cache_write_1h;
        row.cache_write_unsplit = self.cache_write_unsplit;
        row.cache_read = self.cache_read;
        row.output = self.output;
        row.reasoning = self.reasoning;
        row.web_searches = self.web_searches;
    }

    /// Everything written to a cache.
    pub fn cache_write(&self) -> u64 {
        self.cache_write_5m.saturating_add(self.cache_write_1h).saturating_add(self.cache_write_unsplit)
    }

    /// Input, cache and output together.
    pub fn total(&self) -> u64 {
        let prompt = self.input.saturating_add(self.cache_write()).saturating_add(self.cache_read);
        prompt.saturating_add(self.output)
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
