//! Answers about memories and the methods that find them.

use retro_memory::{Mined, Status};
use retro_model::SessionKey;
use serde::Serialize;
use std::path::Path;

use super::Schema;
use crate::memory::MemoryView;

/// Methods that find what the next session can reuse, and filters.
#[derive(Debug, Clone, Serialize)]
pub struct Methods {
    /// The methods.
    pub methods: Vec<MethodRow>,
    /// The filters.
    pub filters: Vec<FilterRow>,
}

/// A method.
#[derive(Debug, Clone, Serialize)]
pub struct MethodRow {
    /// Its name.
    pub name: String,
    /// What it finds.
    pub title: String,
    /// Whether it runs on this machine alone.
    pub local: bool,
    /// Whether a sync runs it.
    pub by_sync: bool,
}

/// A filter.
#[derive(Debug, Clone, Serialize)]
pub struct FilterRow {
    /// Its name.
    pub name: &'static str,
    /// What it drops.
    pub title: &'static str,
}

impl Schema for Methods {
    const NAME: &'static str = "retro.methods/1";
}

/// What `retro mine` found.
#[derive(Debug, Serialize)]
pub struct MinedSessions<'a> {
    /// What each method found in each session.
    pub results: Vec<&'a Mined>,
    /// Candidates in all of them.
    pub candidates: usize,
    /// Sessions that were no real work.
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
    /// The folder.
    pub notes: &'a Path,
}

impl Schema for NotesFolder<'_> {
    const NAME: &'static str = "retro.memory.init/1";
}

/// All memories were made again from their files.
#[derive(Debug, Clone, Serialize)]
pub struct MemoriesIndexed {
    /// Memories.
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

/// Notes were taken in.
#[derive(Debug, Clone, Serialize)]
pub struct NotesImported<'a> {
    /// Notes that are new.
    pub imported: usize,
    /// Notes that were known.
    pub known: usize,
    /// Notes without words.
    pub empty: usize,
    /// Notes that could not be read, and why.
    pub failed: &'a [String],
}

impl Schema for NotesImported<'_> {
    const NAME: &'static str = "retro.memory.import/1";
}

/// A memory was added.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryAdded<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its status.
    pub status: Status,
    /// Why a person should look at it.
    pub review_reasons: &'a [String],
    /// Rules whose secrets were taken out.
    pub redacted: &'a [&'static str],
}

impl Schema for MemoryAdded<'_> {
    const NAME: &'static str = "retro.memory.add/1";
}

/// The memories of a session were put into quarantine.
#[derive(Debug, Clone, Serialize)]
pub struct Quarantined<'a> {
    session_id: &'a str,
    memories: usize,
}

impl Schema for Quarantined<'_> {
    const NAME: &'static str = "retro.memory.quarantine/1";
}

impl<'a> Quarantined<'a> {
    /// So many memories of a session.
    pub fn of(key: &'a SessionKey, memories: usize) -> Quarantined<'a> {
        Quarantined { session_id: &key.id, memories }
    }
}

/// A memory was forgotten.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryForgotten<'a> {
    /// Its id.
    pub id: &'a str,
}

impl Schema for MemoryForgotten<'_> {
    const NAME: &'static str = "retro.memory.forget/1";
}

/// How useful a memory is now.
#[derive(Debug, Clone, Serialize)]
pub struct MemoryUtility<'a, U> {
    /// Its id.
    pub id: &'a str,
    /// What its rewards came to.
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
    /// What needs a decision first, then what was found, by repository and kind.
    pub memories: Vec<MemoryView>,
}

impl Schema for MemoriesToReview {
    const NAME: &'static str = "retro.memory.review/1";
}
