//! # What
//! How often the agent found another way after a failure.
//! # Why
//! Trying the same thing again is a loop; trying another thing until it works is skill.
//! # How
//! Failed calls that are followed, on the same thread, first by a different action and then
//! by a call that passes: the same command again, or any check for a failed check.
//! # Limits
//! Looks at the next twenty actions. Whether the other action was the cause is not known.

use retro_text::calls::Verdict;

use super::Looked;
use crate::Reading;
use crate::trace::{Beat, Call};

pub(crate) const DOC: &str = include_str!("recovery.rs");

/// The number of actions after a failure that are searched for its end.
const WITHIN: usize = 20;

pub(crate) fn adaptive_recovery(looked: &Looked<'_>) -> Reading {
    let calls: Vec<(&Beat, &Call)> = looked.trace.calls().collect();
    let recovered = calls.iter().enumerate().filter(|(at, (beat, call))| {
        let rest = calls.get(at + 1..).unwrap_or_default();
        call.is_failed() && is_recovered(beat.thread, call, rest)
    });
    Reading::count(recovered.map(|(_, (beat, _))| beat.id.as_str()))
}

fn is_recovered(thread: u32, failed: &Call, rest: &[(&Beat, &Call)]) -> bool {
    let mut tried_other = false;
    for (_, call) in rest.iter().filter(|(beat, _)| beat.thread == thread).take(WITHIN) {
        let same = call.runner == failed.runner && call.name == failed.name && call.purpose == failed.purpose;
        let answers = same || (failed.is_validation() && call.is_validation());
        if answers && call.verdict == Verdict::Passed {
            return tried_other || call.command != failed.command;
        }
        tried_other |= call.command != failed.command || call.name != failed.name;
    }
    false
}
