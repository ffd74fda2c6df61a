//! # What
//! Sequences of four steps that come again.
//! # Why
//! A sequence such as explore, edit, test, explore that repeats is the rhythm of a session,
//! or the loop it is stuck in.
//! # How
//! Windows of four neighbouring steps of one thread, by category.
//! `trajectory_4gram_repetition_ratio` is the share of windows whose sequence occurs more
//! than once. `trajectory_4gram_top` is the most frequent one, joined by ` -> `; of equally
//! frequent ones the first in the alphabet.
//! # Limits
//! Null (`too_few_steps`) with fewer than four steps.

use std::collections::BTreeMap;

use super::Looked;
use crate::Reading;
use crate::trajectory::Step;

pub(crate) const DOC: &str = include_str!("trajectory_ngrams.rs");

type Windows = BTreeMap<Vec<&'static str>, usize>;

fn windows(looked: &Looked<'_>) -> (Windows, usize) {
    let mut windows = Windows::new();
    let mut all = 0;
    let one_thread = |window: &[Step]| {
        window
            .windows(2)
            .all(|pair| pair.iter().all(|step| Some(step.thread) == pair.first().map(|first| first.thread)))
    };
    for window in looked.steps.windows(4).filter(|window| one_thread(window)) {
        *windows.entry(window.iter().map(|step| step.category.as_str()).collect()).or_default() += 1;
        all += 1;
    }
    (windows, all)
}

pub(crate) fn repetition_ratio(looked: &Looked<'_>) -> Reading {
    let (windows, all) = windows(looked);
    Reading::share(windows.values().filter(|count| **count > 1).sum(), all, "too_few_steps")
}

pub(crate) fn top(looked: &Looked<'_>) -> Reading {
    let (windows, all) = windows(looked);
    // The first of the most frequent: `max_by_key` would return the last.
    let Some((ngram, count)) = windows.iter().rev().max_by_key(|(_, count)| **count) else {
        return Reading::none("too_few_steps");
    };
    Reading::of(ngram.join(" -> ")).with("count", *count).with("windows", all)
}
