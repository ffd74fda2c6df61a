//! # What
//! The share of the lines a session committed that are still there after 7 and 30 days.
//! # Why
//! Code that is thrown away within a week was not worth its tokens.
//! # How
//! For every commit of the session that git still knows: the lines it added, looked for in
//! the same files of the newest commit of the branch at least 7 (30) days later. The value
//! is the share after 30 days, or after 7 where 30 have not passed; `metadata` has both.
//! Commits are tied to the session by the hash in its own output, never by time alone.
//! # Limits
//! A line that was moved to another file counts as gone; one that also stood elsewhere in
//! the file counts as there. Null with a reason where git was not asked (`not_observed`),
//! the folder is gone (`cwd_missing`), it is no repository (`not_a_git_repo`), there is no
//! commit (`no_commits`) or it is too young (`too_young`).

use super::Looked;
use crate::Reading;
use crate::reading::rounded;

pub(crate) const DOC: &str = include_str!("survival.rs");

pub(crate) fn git_survival(looked: &Looked<'_>) -> Reading {
    let Some(facts) = looked.facts else { return Reading::none("not_observed") };
    if let Some(reason) = &facts.reason {
        return Reading::none(reason);
    }
    if facts.commits.is_empty() {
        return Reading::none("no_commits");
    }
    let after = |days: u32| {
        let found =
            facts.commits.iter().flat_map(|commit| &commit.survival).filter(|survival| survival.days == days);
        let (left, of) = found.fold((0, 0), |(left, of), survival| (left + survival.left, of + survival.of));
        (of > 0).then(|| rounded(left as f64 / of as f64))
    };
    let Some(value) = after(30).or(after(7)) else { return Reading::none("too_young") };
    let mut reading = Reading::of(value);
    for days in [7, 30] {
        if let Some(share) = after(days) {
            reading = reading.with(&format!("after_{days}_days"), share);
        }
    }
    reading
}
