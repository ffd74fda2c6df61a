//! Git observations of a session's repository, and when the next one can be useful. The engine runs
//! git.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

/// Ages in days at which the lines of a commit are counted.
pub const AGES_DAYS: [u32; 2] = [7, 30];
/// The most observations that are kept of one session.
const OBSERVATIONS_MAX: usize = 8;
/// A day in milliseconds. No repository is queried more often.
pub const DAY_MS: i64 = 86_400_000;

/// One observation of a session's repository.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct GitFacts {
    /// When git was queried.
    pub observed_at: Option<Timestamp>,
    /// Why there is no result: `cwd_missing`, `not_a_git_repo`, `git_missing`, `git_timeout`,
    /// `git_error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The top folder of the repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Its remote, without credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The number of commits that were looked up.
    pub asked: u64,
    /// The commits among these that are in the repository.
    pub commits: Vec<Commit>,
}

/// A commit that the session's own output names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Commit {
    /// The full hash.
    pub hash: String,
    /// When it was made.
    pub at: Option<Timestamp>,
    /// The link to the session: `hash` or `message`.
    pub tied_by: String,
    /// Lines that it added and that contain a letter or a digit.
    pub added: u64,
    /// How many of these lines remain, by age in days.
    pub survival: Vec<Survival>,
}

/// Lines of a commit that remain after some days.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Survival {
    /// The age: 7 or 30.
    pub days: u32,
    /// Lines that are still in the files.
    pub left: u64,
    /// Lines that were searched.
    pub of: u64,
}

impl GitFacts {
    /// The current observation: the newest one with a repository, or else the newest.
    pub fn of(observations: &[GitFacts]) -> Option<&GitFacts> {
        let good = observations.iter().rev().find(|facts| facts.reason.is_none());
        good.or(observations.last())
    }

    /// Adds an observation. It replaces one without a repository, or an equal newest one.
    pub fn add(observations: &mut Vec<GitFacts>, new: GitFacts) {
        observations.retain(|facts| facts.reason.is_none());
        let undated = |facts: &GitFacts| GitFacts { observed_at: None, ..facts.clone() };
        if observations.last().is_some_and(|last| undated(last) == undated(&new)) {
            observations.pop();
        }
        observations.push(new);
        let over = observations.len().saturating_sub(OBSERVATIONS_MAX);
        observations.drain(..over);
    }

    /// When git may have new facts about a session with this many commits. `None`: never. If the
    /// repository was missing, git is queried again for as long as the result could matter.
    pub fn next_ms(observations: &[GitFacts], asked: u64, ended: Option<Timestamp>) -> Option<i64> {
        let Some(last) = observations.last() else { return Some(0) };
        let seen_ms = last.observed_at.map_or(0, Timestamp::as_millis);
        let tomorrow_ms = seen_ms.saturating_add(DAY_MS);
        if last.asked != asked {
            return Some(tomorrow_ms);
        }
        if last.reason.is_some() {
            let days = i64::from(AGES_DAYS.into_iter().max().unwrap_or(0)) + 1;
            let until_ms = ended.map_or(0, Timestamp::as_millis).saturating_add(days * DAY_MS);
            return (asked > 0 && tomorrow_ms <= until_ms).then_some(tomorrow_ms);
        }
        let ages = last.commits.iter().flat_map(|commit| {
            let known = |days: u32| commit.survival.iter().any(|survival| survival.days == days);
            let open = AGES_DAYS.into_iter().filter(move |days| !known(*days));
            open.filter_map(|days| Some(commit.at?.as_millis() + i64::from(days) * DAY_MS))
        });
        ages.map(|at_ms| at_ms.max(tomorrow_ms)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(days: i64) -> Option<Timestamp> {
        Timestamp::from_millis(1_700_000_000_000 + days * DAY_MS)
    }

    fn ms(days: i64) -> Option<i64> {
        at(days).map(Timestamp::as_millis)
    }

    #[test]
    fn git_is_asked_again_when_a_commit_comes_of_age() {
        let survival = |days| Survival { days, left: 1, of: 2 };
        let commit = |survival| Commit { at: at(0), survival, ..Commit::default() };
        let facts = |day, commits: Vec<Commit>| GitFacts {
            observed_at: at(day),
            asked: commits.len() as u64,
            commits,
            ..GitFacts::default()
        };
        assert_eq!(GitFacts::next_ms(&[], 1, at(0)), Some(0));
        let young = facts(1, vec![commit(vec![])]);
        assert_eq!(GitFacts::next_ms(&[young], 1, at(0)), ms(7));
        let week = facts(9, vec![commit(vec![survival(7)])]);
        assert_eq!(GitFacts::next_ms(std::slice::from_ref(&week), 1, at(0)), ms(30));
        assert_eq!(GitFacts::next_ms(&[week], 2, at(0)), ms(10), "the session has made another one");
        let month = facts(31, vec![commit(vec![survival(7), survival(30)])]);
        assert_eq!(GitFacts::next_ms(&[month], 1, at(0)), None);
        let gone = |day| GitFacts { reason: Some("cwd_missing".into()), ..facts(day, vec![]) };
        let asked = |day| GitFacts { asked: 1, ..gone(day) };
        assert_eq!(GitFacts::next_ms(&[asked(3)], 1, at(0)), ms(4));
        assert_eq!(GitFacts::next_ms(&[asked(40)], 1, at(0)), None);
        assert_eq!(GitFacts::next_ms(&[gone(3)], 0, at(0)), None);
    }

    #[test]
    fn what_was_seen_outlives_the_folder() {
        let good = GitFacts { observed_at: at(1), root: Some("/shop".into()), ..GitFacts::default() };
        let gone = |day| GitFacts {
            observed_at: at(day),
            reason: Some("cwd_missing".into()),
            ..GitFacts::default()
        };
        let mut all = Vec::new();
        for facts in [gone(0), good.clone(), gone(2), gone(3)] {
            GitFacts::add(&mut all, facts);
        }
        assert_eq!(all, [good.clone(), gone(3)]);
        assert_eq!(GitFacts::of(&all), Some(&good));
        GitFacts::add(&mut all, GitFacts { observed_at: at(4), ..good.clone() });
        assert_eq!(all.len(), 1, "the same again takes its place");
    }
}
