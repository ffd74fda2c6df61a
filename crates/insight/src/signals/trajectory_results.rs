//! # What
//! What the agent makes of results: whether it takes up what they say, and what it does
//! after a failure.
//! # Why
//! A result that is not used was not worth its tokens; a failure that is ignored comes back.
//! # How
//! `trajectory_result_token_reuse_ratio`: of the results that hold names (paths,
//! identifiers, errors; the first twenty), the share whose next step on the thread repeats
//! one in thought or action. `trajectory_error_to_search_or_edit_ratio`: of the failed
//! steps with a next one, the share followed by searching, reading, locating, editing or
//! testing. `trajectory_failed_result_recovery_steps`: the median of steps from a failure to
//! an action that differs. `trajectory_failure_ignored_count`: failures followed by the same
//! action again, or by a question, a plan or something unknown.
//! # Limits
//! The words of a thought are only seen where the agent logs them.

use super::Looked;
use super::trajectory_validation::median;
use crate::Reading;
use crate::trajectory::Category;

pub(crate) const DOC: &str = include_str!("trajectory_results.rs");

pub(crate) fn result_token_reuse_ratio(looked: &Looked<'_>) -> Reading {
    let pairs: Vec<_> = looked.pairs().filter(|(result, _)| !result.terms.is_empty()).collect();
    let used =
        pairs.iter().filter(|(result, next)| result.terms.lines().any(|term| next.words.contains(term)));
    Reading::share(used.count(), pairs.len(), "no_terms")
}

pub(crate) fn error_to_search_or_edit_ratio(looked: &Looked<'_>) -> Reading {
    use Category::{Explore, GenerateFix, Locate, RunTests, Search};
    let failed: Vec<_> = looked.pairs().filter(|(result, _)| result.failed).collect();
    let acted = failed
        .iter()
        .filter(|(_, next)| matches!(next.category, Search | Explore | Locate | GenerateFix | RunTests));
    Reading::share(acted.count(), failed.len(), "no_failure")
}

pub(crate) fn failed_result_recovery_steps(looked: &Looked<'_>) -> Reading {
    let steps = looked.steps;
    let distances = steps.iter().enumerate().filter(|(_, step)| step.failed).filter_map(|(at, failed)| {
        let rest = steps.get(at + 1..)?.iter().take_while(|step| step.thread == failed.thread);
        let other =
            rest.into_iter().position(|step| step.category != failed.category || step.key != failed.key);
        other.map(|found| found + 1)
    });
    median(distances.collect()).map_or(Reading::none("no_failure"), Reading::ratio)
}

pub(crate) fn failure_ignored_count(looked: &Looked<'_>) -> Reading {
    let ignored = looked.pairs().filter(|(result, next)| {
        result.failed
            && (result.key == next.key || matches!(next.category, Category::Explain | Category::Other))
    });
    Reading::count(ignored.map(|(result, _)| result.id.as_str()))
}
