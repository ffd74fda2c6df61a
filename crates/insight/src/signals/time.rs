//! # What
//! How long the session lasted, how much of that somebody was at work, and how long it took
//! to the first edit.
//! # Why
//! A session that is left open over night is not nine hours of work.
//! # How
//! `session_duration_seconds` is the last time minus the first. The time between two events of
//! the main thread belongs to what was going on: the model, a call, a sub-agent. These make
//! `active_seconds`. The time until a person answered, allowed a call or wrote again, pauses of
//! more than half an hour, and calls of more than ten minutes without a logged duration make
//! `idle_seconds`. `time_to_first_edit_seconds` runs from the first request to the first call
//! that changes a file.
//! # Limits
//! Without two times the value is null (`insufficient_timestamps`).

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("time.rs");

const NO_TIMES: &str = "insufficient_timestamps";

pub(crate) fn session_duration_seconds(looked: &Looked<'_>) -> Reading {
    duration_ms(looked).map_or(Reading::none(NO_TIMES), |ms| Reading::of(ms / 1000))
}

fn duration_ms(looked: &Looked<'_>) -> Option<i64> {
    let (first, last) = looked.trace.first.zip(looked.trace.last)?;
    (looked.trace.events() > looked.trace.untimed + 1).then(|| last.as_millis() - first.as_millis())
}

pub(crate) fn idle_seconds(looked: &Looked<'_>) -> Reading {
    looked.trace.clock.read().map_or(Reading::none(NO_TIMES), |(_, other)| Reading::of(other / 1000))
}

pub(crate) fn active_seconds(looked: &Looked<'_>) -> Reading {
    looked.trace.clock.read().map_or(Reading::none(NO_TIMES), |(active, _)| Reading::of(active / 1000))
}

pub(crate) fn time_to_first_edit_seconds(looked: &Looked<'_>) -> Reading {
    let edit = looked.trace.calls().find(|(_, call)| call.changed_files()).map(|(beat, _)| beat);
    let prompt = looked.trace.requests().next().map(|(beat, _)| beat);
    let (Some(edit), Some(prompt)) = (edit, prompt) else { return Reading::none("no_edit") };
    let Some((from, to)) = prompt.ts.zip(edit.ts) else { return Reading::none(NO_TIMES) };
    match to.as_millis() - from.as_millis() {
        ms if ms < 0 => Reading::none("edit_before_prompt"),
        ms => Reading::of(ms / 1000).because([prompt.id.as_str(), edit.id.as_str()]),
    }
}
