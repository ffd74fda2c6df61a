//! How much of a session was understood, and what was not.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

use crate::{Address, SourceKey};

/// Every record of a session by what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// Records seen: the sum of the five below. Blank lines are none.
    pub records: u64,
    /// Gave at least one event that is more than a note.
    pub mapped: u64,
    /// Gave no event of its own: completed another, or repeats one.
    pub folded: u64,
    /// Gave only notes.
    pub noted: u64,
    /// Not known to the adapter; kept whole.
    pub unknown: u64,
    /// Not readable.
    pub malformed: u64,
    /// Bytes of all sources.
    pub bytes: u64,
}

impl AddAssign for Coverage {
    fn add_assign(&mut self, other: Self) {
        self.records += other.records;
        self.mapped += other.mapped;
        self.folded += other.folded;
        self.noted += other.noted;
        self.unknown += other.unknown;
        self.malformed += other.malformed;
        self.bytes += other.bytes;
    }
}

/// Why something is a gap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// The line is not JSON.
    Malformed,
    /// The last line has no end yet; it will be read again when it grows.
    Pending,
    /// The line holds bytes that are not UTF-8; they were read as U+FFFD.
    InvalidUtf8,
    /// Zero bytes before or instead of the line, as a crash leaves them.
    NulBytes,
    /// The record is too large to hold; only a part of it was read.
    Oversized,
    /// Named by another record or session, and not captured.
    Missing,
    /// The file could not be read.
    Unreadable,
    /// The record has a figure that cannot be read.
    Figure,
}

/// Something in a source that could not be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    /// Which source.
    pub source: SourceKey,
    /// Which line of growth of it.
    pub revision: u32,
    /// Line number from 1, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// Byte offset in the source, where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// Why.
    pub reason: GapReason,
    /// What a person wants to know of it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub detail: Option<String>,
}

impl Gap {
    /// A gap at a record.
    pub fn at(address: &Address, offset: u64, reason: GapReason) -> Self {
        Gap {
            source: address.source.clone(),
            revision: address.revision,
            line: Some(address.record),
            offset: Some(offset),
            reason,
            detail: None,
        }
    }
}
