//! # What
//! How long the session lasted, how much of that somebody was at work, and how long it took
//! to the first edit.
//! # Why
//! A session that is left open over night is not nine hours of work.
//! # How
//! `session_duration_seconds` is the last time minus the first. `idle_seconds` sums the
//! pauses between neighbouring events of the main thread that are longer than five minutes;
//! `active_seconds` sums the shorter ones. `time_to_first_edit_seconds` runs from the first request to
//! the first call that changes a file.
//! # Limits
//! A command that runs longer than five minutes looks like a pause. Without two times the
//! value is null (`insufficient_timestamps`).

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("time.rs");

/// A longer pause is idle.
const PAUSE_MS: i64 = 5 * 60 * 1000;
const NO_TIMES: &str = "insufficient_timestamps";

pub(crate) fn session_duration_seconds(looked: &Looked<'_>) -> Reading {
    duration_ms(looked).map_or(Reading::none(NO_TIMES), |ms| Reading::of(ms / 1000))
}

fn duration_ms(looked: &Looked<'_>) -> Option<i64> {
    let (first, last) = looked.trace.first.zip(looked.trace.last)?;
    (looked.trace.events() > looked.trace.untimed + 1).then(|| last.as_millis() - first.as_millis())
}

pub(crate) fn idle_seconds(looked: &Looked<'_>) -> Reading {
    gaps_ms(looked, |gap| gap > PAUSE_MS).map_or(Reading::none(NO_TIMES), |ms| Reading::of(ms / 1000))
}

pub(crate) fn active_seconds(looked: &Looked<'_>) -> Reading {
    gaps_ms(looked, |gap| gap <= PAUSE_MS).map_or(Reading::none(NO_TIMES), |ms| Reading::of(ms / 1000))
}

/// The sum of the gaps between neighbouring events of the main thread that are wanted.
fn gaps_ms(looked: &Looked<'_>, wanted: fn(i64) -> bool) -> Option<i64> {
    let mut times = looked.trace.times.clone();
    times.sort_unstable();
    if times.len() < 2 {
        return None;
    }
    let gaps = times.windows(2).map(|pair| pair.iter().copied().reduce(|a, b| b - a).unwrap_or(0));
    Some(gaps.filter(|gap| wanted(*gap)).sum())
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
