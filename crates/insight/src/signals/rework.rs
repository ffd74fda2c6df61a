//! # What
//! How often a file was edited again after a test failed.
//! # Why
//! Many rounds on one file mean that the first edit was not understood.
//! # How
//! Counts edits of a file that was edited before on the same thread, with a failed test,
//! build, type check or lint in between.
//! # Limits
//! Tests-first work edits again by design; its first red test comes before the first edit
//! and does not count.

use hashbrown::HashMap;

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("rework.rs");

pub(crate) fn rework(looked: &Looked<'_>) -> Reading {
    // Failures so far by thread, and the number of failures at the last edit of each file.
    let mut failures: HashMap<u32, u64> = HashMap::new();
    let mut edited: HashMap<(u32, &str), u64> = HashMap::new();
    let mut again = Vec::new();
    for (beat, call) in looked.trace.calls() {
        let failed = failures.entry(beat.thread).or_default();
        if call.is_validation() && call.is_failed() {
            *failed += 1;
        }
        if !call.changed_files() {
            continue;
        }
        let mut counts = false;
        for edit in &call.edits {
            let before = edited.insert((beat.thread, edit.path.as_str()), *failed);
            counts |= before.is_some_and(|before| before < *failed);
        }
        if counts {
            again.push(beat.id.as_str());
        }
    }
    Reading::count(again)
}
