//! # What
//! How many steps were of one category, and their share of all steps.
//! # Why
//! The mix of reading, searching, editing and testing tells how an agent works.
//! # How
//! A step is one call. Its category: `permission` if it was refused; `generate_fix` if it
//! changes files, `refactor` instead if the thought before it speaks of renaming or
//! refactoring, or if it is a formatter; `run_tests` for tests, builds, type checks and
//! lints; `locate` for `git blame`, definitions and references; `reproduce` for runs of the
//! program; `search` for searches in files and in the web; `explore` for reading; `explain`
//! for questions and plans put to the person; `error` for errors of the agent itself; else
//! `other`.
//! # Limits
//! One category a step: a command that reads and tests counts as `run_tests`.

use super::Looked;
use crate::Reading;
use crate::trajectory::Category;

pub(crate) const DOC: &str = include_str!("trajectory_categories.rs");

/// The most events that are listed for a category.
const SHOWN: usize = 3;

fn of<'a>(looked: &Looked<'a>, category: Category) -> impl Iterator<Item = &'a str> {
    let steps = looked.steps.iter();
    steps.filter(move |step| step.category == category).map(|step| step.id.as_str())
}

pub(crate) fn action_count(looked: &Looked<'_>, category: Category) -> Reading {
    Reading::of(of(looked, category).count()).because(of(looked, category).take(SHOWN))
}

pub(crate) fn action_ratio(looked: &Looked<'_>, category: Category) -> Reading {
    Reading::share(of(looked, category).count(), looked.steps.len(), "no_steps")
}
