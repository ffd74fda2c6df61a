//! # What
//! What a session teaches by how it went: a pattern that worked, failures with what helped
//! and without, forms of a command that work where another does not, and what the person
//! refused to have destroyed.
//! # Why
//! Failures carry the sharpest lessons, and the difference between a failed and a passed
//! attempt says more than either.
//! # How
//! Each kind of lesson has its own rule, in a file of its own. Everything said is assembled
//! from quotations. The best three are kept: refused danger first, then repairs, then forms
//! of commands, then the pattern, then failures without an end.
//! # Limits
//! What helped is what was changed between the last failure and the pass. Where several
//! files were changed, not each of them mattered.

mod failures;
mod lessons;
mod risks;
mod success;

use retro_insight::{Beat, Call};

use super::Method;
use crate::candidate::{Candidate, by_worth};
use crate::episode::Episode;

pub(super) const METHOD: Method = Method {
    name: "reme_refine_poc",
    title: "patterns that worked, failures and repairs, forms of commands, refused danger",
    mine,
};

/// Maximum candidates of a session.
const LESSONS_MAX: usize = 3;
/// Maximum candidates of the same kind.
const SAME_KIND_MAX: usize = 2;

fn mine(episode: &Episode) -> Vec<Candidate> {
    let mut found = risks::rules(episode);
    found.extend(failures::triggers(episode));
    found.extend(lessons::lessons(episode));
    found.extend(success::pattern(episode));
    // There are no ids yet: the sort keeps the order of the session among equals.
    found.sort_by(by_worth);
    let mut kept: Vec<Candidate> = Vec::new();
    for candidate in found {
        let of_kind = kept.iter().filter(|other| other.kind == candidate.kind).count();
        let is_known = kept.iter().any(|other| other.subject == candidate.subject);
        if kept.len() < LESSONS_MAX && of_kind < SAME_KIND_MAX && !is_known {
            kept.push(candidate);
        }
    }
    kept
}

/// The calls of one thread, in order.
fn thread_of(episode: &Episode, thread: u32) -> Vec<(&Beat, &Call)> {
    episode.trace.calls().filter(|(beat, _)| beat.thread == thread).collect()
}
