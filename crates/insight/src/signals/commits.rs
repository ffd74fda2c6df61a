//! # What
//! How many commits the session made.
//! # Why
//! A commit is the clearest sign that work was kept.
//! # How
//! Commits that git printed in the session's own output (`[main 1a2b3c4] Subject`), and calls
//! of `git commit -q` that passed (`metadata.quiet`). `metadata.commits` has hash and subject
//! of the first five. Where git was asked about the repository, `metadata.confirmed` is how
//! many of them it knows; `metadata.git` is the reason if it could not say.
//! # Limits
//! A commit whose output was cut away is not seen. Commits of other people in the same hours
//! never count. Null with `cwd_missing` where nothing is known of a working directory and no
//! commit was printed.
//! Null with `commands_unread` where nothing was found and a script of Codex could not be
//! read; `metadata.unread` and half the confidence where something was.

use serde_json::json;

use super::Looked;
use crate::Reading;
use crate::facts::GitFacts;

pub(crate) const DOC: &str = include_str!("commits.rs");

pub(crate) fn git_commits_made_during(looked: &Looked<'_>) -> Reading {
    let commits = &looked.trace.commits;
    if commits.is_empty() && looked.trace.cwd.is_none() {
        return Reading::none("cwd_missing");
    }
    let printed = commits.iter().filter(|commit| !commit.hash.is_empty());
    let shown: Vec<_> = printed
        .clone()
        .take(5)
        .map(|commit| json!({ "hash": commit.hash, "subject": commit.subject }))
        .collect();
    let quiet = commits.len() - printed.count();
    let mut reading = Reading::count(commits.iter().map(|commit| commit.event.as_str()));
    if !shown.is_empty() {
        reading = reading.with("commits", shown);
    }
    if quiet > 0 {
        reading = reading.with("quiet", quiet);
    }
    reading
}

/// Adds the facts from git.
pub(crate) fn observed(reading: &mut Reading, facts: &GitFacts) {
    reading.metadata.remove("confirmed");
    reading.metadata.remove("git");
    match &facts.reason {
        None => reading.metadata.insert("confirmed".to_owned(), facts.commits.len().into()),
        Some(reason) => reading.metadata.insert("git".to_owned(), reason.clone().into()),
    };
}
