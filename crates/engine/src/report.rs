//! What a sync is doing, and what it did.

use retro_model::SessionKey;
use retro_store::FailureRow;
use serde::Serialize;
use std::collections::HashSet;

use crate::Error;
use crate::discover::Skipped;

/// Something that could not be captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The agent.
    pub agent: String,
    /// The file.
    pub path: String,
    /// Why, and what helps.
    pub reason: String,
}

impl From<&Skipped> for Failure {
    fn from(skipped: &Skipped) -> Self {
        Failure {
            agent: skipped.agent.to_owned(),
            path: skipped.path.display().to_string(),
            reason: skipped.reason.clone(),
        }
    }
}

impl From<FailureRow> for Failure {
    fn from(row: FailureRow) -> Self {
        Failure { agent: row.agent, path: row.path.display().to_string(), reason: row.reason }
    }
}

impl Failure {
    /// A session that cannot be read.
    pub(crate) fn of(key: &SessionKey, error: &Error) -> Self {
        let path = match error {
            Error::Read { path, .. } => path.display().to_string(),
            _ => key.to_string(),
        };
        let reason = match error {
            Error::Read { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        Failure { agent: key.agent.clone(), path, reason }
    }
}

/// Counts of sessions, unless the name says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    /// Found on this machine.
    pub discovered: u64,
    /// New in the store.
    pub ingested: u64,
    /// In the store before, with new bytes now.
    pub appended: u64,
    /// Forgotten, with a log that is still there: not captured.
    pub forgotten: u64,
    /// Whose raw bytes had been given up, and which were captured again because they have grown.
    pub recaptured: u64,
    /// Not looked at: nothing changed.
    pub skipped_unchanged: u64,
    /// Whose cold stages became current.
    pub analyzed: u64,
    /// Hashes of their keys: a parent is analyzed again after its children, and counts once.
    #[serde(skip)]
    pub(crate) analyzed_keys: HashSet<u64>,
    /// Something was captured again of which the tree has more: sync looks once more.
    #[serde(skip)]
    pub(crate) is_unfinished: bool,
    /// With at least one source that could not be read.
    pub failed: u64,
    /// Gaps met in what was read.
    pub gaps: u64,
    /// Bytes of all files found.
    pub source_bytes: u64,
    /// Bytes of the store on disk.
    pub store_bytes: u64,
    /// How long it took.
    pub elapsed_ms: u64,
    /// Left out by the configuration.
    pub excluded: u64,
    /// Of these, the ones whose logs do not say which project they belong to.
    pub excluded_unknown: u64,
    /// Not reached: out of time, or interrupted.
    pub unread: u64,
    /// Files that serve many sessions and were kept.
    pub shared_files: u64,
    /// What failed.
    pub failures: Vec<Failure>,
    /// What was found and is not read: no regular files, unreadable folders.
    pub skipped_files: Vec<Failure>,
    /// Of these, what may hold sessions: logs, folders and databases that cannot be read.
    pub unreadable_files: Vec<Failure>,
    /// What a person should know.
    pub notes: Vec<String>,
    /// What retention did, or would do, where `raw/` is above a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<crate::retained::Retained>,
    /// Whether anything was written.
    #[serde(skip)]
    pub wrote: bool,
}

impl SyncReport {
    /// Counts a session that failed in a later stage.
    pub(crate) fn fail(&mut self, key: &SessionKey, error: &Error) {
        self.failed += 1;
        self.failures.push(Failure::of(key, error));
    }
}
