//! What git said of a session's repository, observed once and kept.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

/// One observation of a session's repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct GitFacts {
    /// When git was asked.
    pub observed_at: Option<Timestamp>,
    /// Why there is nothing: `cwd_missing`, `not_a_git_repo`, `git_timeout`, `git_error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The top folder of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Its remote, without credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// Commits of the session that are in the repository.
    pub commits: Vec<Commit>,
}

/// A commit that the session's own output names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Commit {
    /// Its hash.
    pub hash: String,
    /// When it was made.
    pub at: Option<Timestamp>,
    /// Its subject.
    pub subject: String,
    /// Lines it added.
    pub added: u64,
    /// What is left of these, by age in days.
    pub survival: Vec<Survival>,
}

/// Lines of a commit that are still there some days later.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Survival {
    /// 7 or 30.
    pub days: u32,
    /// Lines still in the files.
    pub left: u64,
    /// Lines that were looked for.
    pub of: u64,
}
