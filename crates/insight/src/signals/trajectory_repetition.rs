//! # What
//! How often the same action was done again, in all and in a row.
//! # Why
//! An agent that repeats itself without a change in between is stuck.
//! # How
//! Two actions are the same if command, or tool and files, are equal.
//! `trajectory_action_redundancy` counts, for each action, how often it was done again.
//! `trajectory_consecutive_repetition_count` counts neighbouring steps of one thread that
//! are the same, `trajectory_max_repetition_run` is the longest run of these.
//! `trajectory_repeated_action_without_progress` is true if the same action comes again
//! within three steps and nothing was edited in between.
//! # Limits
//! Reading the same file twice is a repetition, even for a good reason.

use std::collections::BTreeMap;

use super::Looked;
use crate::Reading;
use crate::trajectory::{Category, Step};

pub(crate) const DOC: &str = include_str!("trajectory_repetition.rs");

/// How many earlier steps are compared with a step.
const WITHIN: usize = 3;

pub(crate) fn action_redundancy(looked: &Looked<'_>) -> Reading {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for step in looked.steps {
        *counts.entry(&step.key).or_default() += 1;
    }
    Reading::of(counts.values().map(|count| count - 1).sum::<usize>())
}

fn same(a: &Step, b: &Step) -> bool {
    a.key == b.key
}

pub(crate) fn consecutive_repetition_count(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.pairs().filter(|(a, b)| same(a, b)).map(|(_, b)| b.id.as_str()))
}

pub(crate) fn max_repetition_run(looked: &Looked<'_>) -> Reading {
    let (mut longest, mut run) = (0_usize, 0_usize);
    for pair in looked.steps.windows(2) {
        run = match pair {
            [a, b] if a.thread == b.thread && same(a, b) => run + 1,
            _ => 0,
        };
        longest = longest.max(run);
    }
    Reading::of(if longest == 0 { 0 } else { longest + 1 })
}

pub(crate) fn repeated_action_without_progress(looked: &Looked<'_>) -> Reading {
    let found = looked.steps.iter().enumerate().find(|(at, step)| {
        let before = looked.steps.get(at.saturating_sub(WITHIN)..*at).unwrap_or_default();
        let Some(same) = before.iter().rposition(|other| other.thread == step.thread && same(other, step))
        else {
            return false;
        };
        let edits = |step: &Step| matches!(step.category, Category::GenerateFix | Category::Refactor);
        !edits(step) && !before.get(same..).unwrap_or_default().iter().any(edits)
    });
    match found {
        Some((_, step)) => Reading::of(true).sure(0.75).because([step.id.as_str()]),
        None => Reading::of(false),
    }
}
