//! # What
//! The shape of the session as a sequence of steps: how many, how many phases of work it
//! touches, how often it changes between them, and how even the mix is.
//! # Why
//! A session that only reads, or only edits, differs from one that goes through all phases.
//! # How
//! `trajectory_step_count` counts steps. `trajectory_unknown_action_ratio` is the share of
//! steps of category `other` or `error`. `trajectory_phase_coverage` is the number of
//! different categories that are phases of work, over eight.
//! `trajectory_phase_transition_count` counts neighbouring steps of one thread whose
//! categories differ. `trajectory_sequence_entropy` is Shannon's entropy of the categories
//! in bits.
//! # Limits
//! Ratios are null (`no_steps`) for a session without calls.

use std::collections::BTreeMap;

use super::Looked;
use crate::Reading;
use crate::trajectory::Category;

pub(crate) const DOC: &str = include_str!("trajectory_shape.rs");

pub(crate) fn step_count(looked: &Looked<'_>) -> Reading {
    Reading::of(looked.steps.len())
}

pub(crate) fn unknown_action_ratio(looked: &Looked<'_>) -> Reading {
    let unknown =
        looked.steps.iter().filter(|step| matches!(step.category, Category::Other | Category::Error));
    Reading::share(unknown.count(), looked.steps.len(), "no_steps")
}

pub(crate) fn phase_coverage(looked: &Looked<'_>) -> Reading {
    let counts = counts(looked);
    Reading::ratio(counts.keys().filter(|category| category.is_core()).count() as f64 / 8.0)
}

pub(crate) fn phase_transition_count(looked: &Looked<'_>) -> Reading {
    Reading::of(looked.pairs().filter(|(a, b)| a.category != b.category).count())
}

pub(crate) fn sequence_entropy(looked: &Looked<'_>) -> Reading {
    if looked.steps.is_empty() {
        return Reading::none("no_steps");
    }
    let all = looked.steps.len() as f64;
    let bits = counts(looked)
        .values()
        .map(|count| *count as f64 / all)
        .map(|share| -share * share.log2())
        .sum::<f64>();
    // A single category gives minus zero.
    Reading::ratio(bits.max(0.0) + 0.0)
}

fn counts(looked: &Looked<'_>) -> BTreeMap<Category, usize> {
    let mut counts = BTreeMap::new();
    for step in looked.steps {
        *counts.entry(step.category).or_default() += 1;
    }
    counts
}
