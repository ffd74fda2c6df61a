//! # What
//! The share of the lines a session committed that are still there after 7 and 30 days.
//! # Why
//! Code that is thrown away within a week was not worth its tokens.
//! # How
//! For every commit of the session that git still knows: the lines it added, looked for in
//! the same files of the branch as it was 7 (30) days later. The branch is the checked out
//! one, or else the newest that holds the commit. The value is the share after 30 days, or
//! after 7 where 30 have not passed; `metadata` has both, and how many commits were found.
//! Commits are tied to the session by the hash that git printed in it, or by the message of
//! a `git commit` that printed nothing, never by time alone.
//! # Limits
//! Lines without a letter or a digit are left out. A line that was moved to another file
//! counts as gone; one that is also elsewhere in the file counts as there. Commits in another
//! repository than that of the working directory are not found. Null with a reason where
//! there is no commit (`no_commits`), git was not asked yet (`not_observed`), the folder is
//! gone (`cwd_missing`), it is no repository (`not_a_git_repo`), git is not installed
//! (`git_missing`), failed or took too long (`git_error`, `git_timeout`), it does not know the
//! commits (`commits_gone`), they are too young (`too_young`) or added no lines (`no_lines`).

use super::Looked;
use crate::Reading;
use crate::facts::{AGES_DAYS, GitFacts};
use crate::reading::rounded;

pub(crate) const DOC: &str = include_str!("survival.rs");

pub(crate) fn git_survival(looked: &Looked<'_>) -> Reading {
    Reading::none(if looked.trace.commits.is_empty() { "no_commits" } else { "not_observed" })
}

/// The reading from git, for a session that made commits.
pub(crate) fn observed(facts: &GitFacts) -> Reading {
    if let Some(reason) = &facts.reason {
        return Reading::none(reason);
    }
    if facts.commits.is_empty() {
        return Reading::none("commits_gone");
    }
    let after = |days: u32| {
        let all = facts.commits.iter().flat_map(|commit| &commit.survival);
        let found = all.filter(|survival| survival.days == days);
        let (left, of) = found.fold((0, 0), |(left, of), survival| (left + survival.left, of + survival.of));
        (of > 0).then(|| rounded(left as f64 / of as f64))
    };
    let Some(value) = AGES_DAYS.into_iter().rev().find_map(after) else {
        let is_old = facts.commits.iter().any(|commit| !commit.survival.is_empty());
        return Reading::none(if is_old { "no_lines" } else { "too_young" });
    };
    let mut reading = Reading::of(value).with("commits", facts.commits.len());
    for days in AGES_DAYS {
        if let Some(share) = after(days) {
            reading = reading.with(&format!("after_{days}_days"), share);
        }
    }
    reading
}
