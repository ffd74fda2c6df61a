//! # What
//! How many commits the session made.
//! # Why
//! A commit is the clearest sign that work was kept.
//! # How
//! Commits that git printed in the session's own output (`[main 1a2b3c4] Subject`). Where
//! git was asked about the repository, only those that are still known to it count as
//! confirmed (`metadata.confirmed`). `metadata.commits` has hash and subject of the first
//! five.
//! # Limits
//! A commit made with `-q`, or whose output was cut away, is not seen unless the call passed
//! (`metadata.quiet`). Commits of other people in the same hours never count. Null with
//! `no_cwd` where nothing is known of a working directory and no commit was printed.

use serde_json::json;

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("commits.rs");

pub(crate) fn git_commits_made_during(looked: &Looked<'_>) -> Reading {
    let trace = looked.trace;
    let quiet: Vec<&str> = quiet_commits(looked);
    let count = trace.commits.len() + quiet.len();
    if count == 0 && trace.cwd.is_none() {
        return Reading::none("cwd_missing");
    }
    let shown: Vec<_> = trace
        .commits
        .iter()
        .take(5)
        .map(|commit| json!({ "hash": commit.hash, "subject": commit.subject }))
        .collect();
    let ids = trace.commits.iter().map(|commit| commit.event.as_str()).chain(quiet.iter().copied());
    let mut reading = Reading::count(ids);
    if !shown.is_empty() {
        reading = reading.with("commits", shown);
    }
    if !quiet.is_empty() {
        reading = reading.with("quiet", quiet.len());
    }
    match looked.facts {
        Some(facts) if facts.reason.is_none() => reading.with("confirmed", facts.commits.len()),
        Some(facts) => reading.with("git", facts.reason.clone().unwrap_or_default()),
        None => reading,
    }
}

/// Calls that committed without printing it.
fn quiet_commits<'a>(looked: &Looked<'a>) -> Vec<&'a str> {
    let trace = looked.trace;
    let printed = |result: Option<&String>| {
        result.is_some_and(|id| trace.commits.iter().any(|commit| commit.event.ends_with(id.as_str())))
    };
    trace
        .calls()
        .filter(|(_, call)| call.commits && call.runner.starts_with("git"))
        .filter(|(_, call)| {
            call.verdict == retro_text::calls::Verdict::Passed && !printed(call.result_id.as_ref())
        })
        .filter(|(_, call)| {
            call.command
                .as_deref()
                .is_some_and(|line| line.contains("git commit -q") || line.contains("--quiet"))
        })
        .map(|(beat, _)| beat.id.as_str())
        .collect()
}
