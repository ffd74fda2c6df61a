//! # What
//! What of the log was not understood: records of an unknown kind, events without a time.
//! # Why
//! Figures from a log that is half understood are to be read with care.
//! # How
//! `unknown_event_count` counts records that the adapter does not know.
//! `events_without_timestamps` counts events whose record has no time, for agents that write
//! times at all. `capture_gap_signal` is true if a record is unknown, or if more than a
//! tenth of the words and calls of such a log lack a time.
//! # Limits
//! Some agents never write a time on some records of their own; these make the second signal
//! larger, and the third one stays false.

use retro_model::Kind;

use super::Looked;
use crate::Reading;
use crate::trace::is_act;

pub(crate) const DOC: &str = include_str!("capture.rs");

pub(crate) fn unknown_event_count(looked: &Looked<'_>) -> Reading {
    let count = looked.trace.kinds.get(&Kind::Unknown).copied().unwrap_or(0);
    Reading::of(count).because(looked.trace.unknown.iter().map(String::as_str))
}

pub(crate) fn events_without_timestamps(looked: &Looked<'_>) -> Reading {
    Reading::of(looked.trace.untimed)
}

pub(crate) fn capture_gap_signal(looked: &Looked<'_>) -> Reading {
    let unknown = looked.trace.kinds.get(&Kind::Unknown).copied().unwrap_or(0);
    let acts = looked.trace.kinds.iter().filter(|(kind, _)| is_act(**kind));
    let all: u64 = acts.map(|(_, count)| count).sum();
    let untimed = looked.trace.untimed_acts;
    let timeless = untimed < all && untimed.saturating_mul(10) > all && untimed.saturating_mul(2) < all;
    Reading::of(unknown > 0 || timeless).because(looked.trace.unknown.iter().map(String::as_str))
}
