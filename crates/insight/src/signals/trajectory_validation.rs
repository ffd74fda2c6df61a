//! # What
//! Whether and how soon edits are followed by a check.
//! # Why
//! The sooner a check follows an edit, the less has to be thrown away.
//! # How
//! An edit is a step of category `generate_fix`, a check one of `run_tests`, on the same
//! thread. `trajectory_validation_presence`: a check after the first edit.
//! `trajectory_fix_without_validation_count`: edits without a check in the next four steps.
//! `trajectory_fix_validation_latency_steps`: the median of steps from an edit to the next
//! check. `trajectory_premature_finish_without_validation`: no check after the last edit.
//! `trajectory_test_fix_loop_count`: windows edit, check, edit, check in which a check
//! failed.
//! # Limits
//! Steps are counted, not minutes. Edits of documents count as well.

use super::Looked;
use crate::Reading;
use crate::trajectory::{Category, Step};

pub(crate) const DOC: &str = include_str!("trajectory_validation.rs");

/// The number of steps after an edit that may be its check.
const SOON: usize = 4;

/// Each edit, with the number of steps to the next check on its thread.
fn latencies<'a>(looked: &Looked<'a>) -> Vec<(&'a Step, Option<usize>)> {
    let steps = looked.steps;
    let edits = steps.iter().enumerate().filter(|(_, step)| step.category == Category::GenerateFix);
    edits
        .map(|(at, edit)| {
            let rest =
                steps.get(at + 1..).unwrap_or_default().iter().take_while(|step| step.thread == edit.thread);
            (
                edit,
                rest.into_iter().position(|step| step.category == Category::RunTests).map(|found| found + 1),
            )
        })
        .collect()
}

pub(crate) fn validation_presence(looked: &Looked<'_>) -> Reading {
    let latencies = latencies(looked);
    match latencies.iter().find(|(_, latency)| latency.is_some()) {
        Some((edit, _)) => Reading::of(true).because([edit.id.as_str()]),
        None if latencies.is_empty() => Reading::of(false).with("reason", "no_fix"),
        None => Reading::of(false),
    }
}

pub(crate) fn fix_without_validation_count(looked: &Looked<'_>) -> Reading {
    let late = |latency: &Option<usize>| latency.is_none_or(|steps| steps > SOON);
    let found = latencies(looked);
    Reading::count(found.iter().filter(|(_, latency)| late(latency)).map(|(edit, _)| edit.id.as_str()))
}

pub(crate) fn fix_validation_latency_steps(looked: &Looked<'_>) -> Reading {
    median(latencies(looked).into_iter().filter_map(|(_, latency)| latency).collect())
        .map_or(Reading::none("never_validated"), Reading::ratio)
}

/// The median. For an even number, the mean of the middle two.
pub(crate) fn median(mut values: Vec<usize>) -> Option<f64> {
    values.sort_unstable();
    let middle = values.len() / 2;
    let upper = *values.get(middle)? as f64;
    let lower = middle.checked_sub(1).and_then(|at| values.get(at)).map_or(upper, |value| *value as f64);
    Some(if values.len() % 2 == 1 { upper } else { (lower + upper) / 2.0 })
}

pub(crate) fn premature_finish_without_validation(looked: &Looked<'_>) -> Reading {
    match latencies(looked).last() {
        Some((edit, None)) => Reading::of(true).because([edit.id.as_str()]),
        _ => Reading::of(false),
    }
}

pub(crate) fn test_fix_loop_count(looked: &Looked<'_>) -> Reading {
    use Category::{GenerateFix, RunTests};
    let relevant: Vec<&Step> =
        looked.steps.iter().filter(|step| matches!(step.category, GenerateFix | RunTests)).collect();
    let loops = relevant.windows(4).filter(|window| match window {
        [a, b, c, d] => {
            let kinds = [a.category, b.category, c.category, d.category];
            kinds == [GenerateFix, RunTests, GenerateFix, RunTests]
                && a.thread == d.thread
                && (b.failed || d.failed)
        }
        _ => false,
    });
    Reading::count(loops.filter_map(|window| window.first().map(|step| step.id.as_str())))
}
