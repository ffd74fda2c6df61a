//! How much of a session was understood.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

use crate::{Address, SourceKey};

/// The number of a session's records, by result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Coverage {
    /// All records: the sum of the five below. Blank lines do not count.
    pub records: u64,
    /// Records with at least one event that is more than a note.
    pub mapped: u64,
    /// Records without an event of their own, which complete another or repeat one.
    pub folded: u64,
    /// Records that gave only notes.
    pub noted: u64,
    /// Records unknown to the adapter, kept whole.
    pub unknown: u64,
    /// Records that could not be read.
    pub malformed: u64,
    /// Size of all sources in bytes.
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

/// The reason for a gap.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GapReason {
    /// The line is not JSON.
    Malformed,
    /// The last line has no end yet. It will be read again when it grows.
    Pending,
    /// The line has bytes that are not UTF-8, which were read as U+FFFD.
    InvalidUtf8,
    /// Zero bytes before or instead of the line, from a crash.
    NulBytes,
    /// The record is too large to hold, and only a part of it was read.
    Oversized,
    /// Another record or session names it, but it was not captured.
    Missing,
    /// The file could not be read.
    Unreadable,
    /// The record has a number that cannot be read.
    Figure,
}

/// A part of a source that could not be read, and its position.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gap {
    /// The key of the source.
    pub source: SourceKey,
    /// The revision of the source.
    pub revision: u32,
    /// Line number from 1, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub line: Option<u64>,
    /// Byte offset in the source, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub offset: Option<u64>,
    /// The kind of problem.
    pub reason: GapReason,
    /// A message for people.
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
