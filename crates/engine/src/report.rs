//! The report of a sync.

use retro_model::SessionKey;
use retro_store::FailureRow;
use serde::Serialize;
use std::collections::HashSet;

use crate::Error;
use crate::discover::Skipped;

/// A file or session that could not be captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Name of the agent.
    pub agent: String,
    /// Path of the file.
    pub path: String,
    /// The reason, and advice.
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

/// Numbers of sessions, unless the name says otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SyncReport {
    /// Found on this machine.
    pub discovered: u64,
    /// New in the store.
    pub ingested: u64,
    /// In the store before, with new bytes now.
    pub appended: u64,
    /// Forgotten sessions whose log still exists. They are not captured.
    pub forgotten: u64,
    /// Evicted sessions that were captured again because they have grown.
    pub recaptured: u64,
    /// Skipped because they have not changed.
    pub skipped_unchanged: u64,
    /// Sessions whose cold stages became current.
    pub analyzed: u64,
    /// Hashes of the keys of analyzed sessions, because a parent is analyzed again after its
    /// children and counts once.
    #[serde(skip)]
    pub(crate) analyzed_keys: HashSet<u64>,
    /// A session was captured again whose tree has more evicted members, so the sync looks once
    /// more.
    #[serde(skip)]
    pub(crate) is_unfinished: bool,
    /// Sessions with at least one source that could not be read.
    pub failed: u64,
    /// Gaps in the records that were read.
    pub gaps: u64,
    /// Bytes of all files found.
    pub source_bytes: u64,
    /// Bytes of the store on disk.
    pub store_bytes: u64,
    /// Duration of the sync in milliseconds.
    pub elapsed_ms: u64,
    /// Left out by the configuration.
    pub excluded: u64,
    /// The excluded sessions whose logs name no project.
    pub excluded_unknown: u64,
    /// Sessions that the sync did not reach in time.
    pub unread: u64,
    /// Captured files that serve many sessions.
    pub shared_files: u64,
    /// Sessions and files that failed.
    pub failures: Vec<Failure>,
    /// Found files and folders that are not read: special files, unreadable folders.
    pub skipped_files: Vec<Failure>,
    /// The skipped ones that may hold sessions: logs, folders and databases that cannot be read.
    pub unreadable_files: Vec<Failure>,
    /// Notes for people.
    pub notes: Vec<String>,
    /// The actions of retention, or those it would take, if `raw/` is above a limit.
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
