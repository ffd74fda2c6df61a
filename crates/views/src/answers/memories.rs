//! Results of commands on memories and on the methods that find them.

use retro_memory::{Mined, Status};
use retro_model::SessionKey;
use serde::Serialize;
use std::path::Path;

use super::Schema;
use crate::memory::MemoryView;

/// The result of `retro methods`: mining methods and filters.
#[derive(Debug, Clone, Serialize)]
pub struct Methods {
    /// Every mining method.
    pub methods: Vec<MethodRow>,
    /// Every filter of candidates.
    pub filters: Vec<FilterRow>,
}

/// A mining method.
#[derive(Debug, Clone, Serialize)]
pub struct MethodRow {
    /// The method's name.
    pub name: String,
    /// A short title.
    pub title: String,
    /// True if it runs on this machine alone.
    pub local: bool,
    /// True if `retro sync` runs it.
    pub by_sync: bool,
}

/// A filter of candidates.
#[derive(Debug, Clone, Serialize)]
pub struct FilterRow {
    /// The filter's name.
    pub name: &'static str,
    /// Describes the candidates it drops.
    pub title: &'static str,
}

impl Schema for Methods {
    const NAME: &'static str = "retro.methods/1";
}

/// The result of `retro mine`.
#[derive(Debug, Serialize)]
pub struct MinedSessions<'a> {
    /// The findings of each method in each session.
    pub results: Vec<&'a Mined>,
    /// The total number of candidates.
    pub candidates: usize,
    /// Sessions without real work, which were skipped.
    pub passed_over: u64,
    /// Sessions that could not be read.
    pub unread: u64,
}

impl Schema for MinedSessions<'_> {
    const NAME: &'static str = "retro.mine/1";
}

/// The folder of notes.
#[derive(Debug, Clone, Serialize)]
pub struct NotesFolder<'a> {
    /// The path of the folder.
    pub notes: &'a Path,
}

impl Schema for NotesFolder<'_> {
    const NAME: &'static str = "retro.memory.init/1";
}

/// The result of rebuilding all memories from their files.
#[derive(Debug, Clone, Serialize)]
pub struct MemoriesIndexed {
    /// Memories that were indexed.
    pub indexed: usize,
    /// Records that people wrote.
    pub source_records: usize,
    /// Records that were mined.
    pub mined_records: usize,
    /// Events that are named as evidence.
    pub evidence_refs: usize,
    /// Links between memories.
    pub links: usize,
    /// Lines and files that cannot be read.
    pub unreadable: usize,
}

impl Schema for MemoriesIndexed {
    const NAME: &'static str = "retro.memory.reindex/1";
}

/// The result of importing notes.
#[derive(Debug, Clone, Serialize)]
pub struct NotesImported<'a> {
    /// Number of new notes.
    pub imported: usize,
    /// Notes that the store already had.
    pub known: usize,
    /// Notes without words.
    pub empty: usize,
    /// Notes that could not be read, and why.
    pub failed: &'a [String],
}

impl Schema for NotesImported<'_> {
    const NAME: &'static str = "retro.memory.import/1";
}

/// The result of adding a memory.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryAdded<'a> {
    /// The memory's id.
    pub id: &'a str,
    /// Its status now.
    pub status: Status,
    /// Why a person should review it.
    pub review_reasons: &'a [String],
    /// Names of the rules whose secrets were redacted.
    pub redacted: &'a [&'static str],
}

impl Schema for MemoryAdded<'_> {
    const NAME: &'static str = "retro.memory.add/1";
}

/// The result of putting a session's memories into quarantine.
#[derive(Debug, Clone, Serialize)]
pub struct Quarantined<'a> {
    session_id: &'a str,
    memories: usize,
}

impl Schema for Quarantined<'_> {
    const NAME: &'static str = "retro.memory.quarantine/1";
}

impl<'a> Quarantined<'a> {
    /// Reports the number of quarantined memories.
    pub fn of(key: &'a SessionKey, memories: usize) -> Quarantined<'a> {
        Quarantined { session_id: &key.id, memories }
    }
}

/// The result of forgetting a memory.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryForgotten<'a> {
    /// The memory's id.
    pub id: &'a str,
}

impl Schema for MemoryForgotten<'_> {
    const NAME: &'static str = "retro.memory.forget/1";
}

/// The current utility of a memory.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryUtility<'a, U> {
    /// The memory's id.
    pub id: &'a str,
    /// The sum of its rewards.
    pub utility: U,
}

impl<U: Serialize> Schema for MemoryUtility<'_, U> {
    const NAME: &'static str = "retro.memory.utility/1";
}

/// Memories that wait for a decision.
#[derive(Debug, Clone, Serialize)]
pub struct MemoriesToReview {
    /// How many wait.
    pub waiting: usize,
    /// The memories: those that need a decision first, then found ones by repository and kind.
    pub memories: Vec<MemoryView>,
}

impl Schema for MemoriesToReview {
    const NAME: &'static str = "retro.memory.review/1";
}
