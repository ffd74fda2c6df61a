//! # What
//! How many calls of any tool failed, and their share of all calls.
//! # Why
//! Failures cost time and tokens; a high share means that the agent does not know its tools
//! or the project.
//! # How
//! A call failed if its agent says so, or if the runner's own summary says so under an exit
//! state that hides it. A search that found nothing, a difference that was looked for and a
//! `test` that is false did not fail. Refused and interrupted calls have signals of their
//! own. The ratio's whole is every call that has a result.
//! # Limits
//! A red test before the fix is wanted in tests-first work, and counts here.

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("failures.rs");

pub(crate) fn failed_command_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.ids(|call| call.is_failed()))
}

pub(crate) fn failed_command_ratio(looked: &Looked<'_>) -> Reading {
    let total = looked.ids(|call| call.outcome.is_some()).count();
    let failed = looked.ids(|call| call.is_failed()).count();
    match total {
        0 => Reading::none("no_calls"),
        _ => Reading::share(failed, total, "").with("total", total).with("failed", failed),
    }
}
