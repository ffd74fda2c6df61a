//! # What
//! Whether and how often the person cut the agent off, and how often a call was refused.
//! # Why
//! Interruptions and refusals mark the places where the agent went somewhere nobody wanted.
//! # How
//! `interruption_count` counts the interruptions that the log records as such, and one for each
//! turn without such a record in which a call was cut off; `interrupted_signal` says whether
//! there is one. `permission_denials` counts calls that a
//! person, a rule or a hook refused.
//! # Limits
//! A prompt that talks about interrupts is none. A program that was killed leaves no record
//! in some agents' logs.

use hashbrown::HashSet;
use retro_model::Outcome;

use super::Looked;
use crate::Reading;
use crate::trace::What;

pub(crate) const DOC: &str = include_str!("interruptions.rs");

fn interruptions<'a>(looked: &Looked<'a>) -> impl Iterator<Item = &'a str> {
    let beats = looked.trace.beats.iter();
    let noted: HashSet<(u32, u32)> = beats
        .clone()
        .filter(|beat| matches!(beat.what, What::Interruption))
        .map(|beat| (beat.thread, beat.turn))
        .collect();
    let mut cut_off = HashSet::new();
    let found = beats.filter(move |beat| match &beat.what {
        What::Interruption => true,
        What::Call(call) if call.outcome == Some(Outcome::Interrupted) && !call.has_nested => {
            let turn = (beat.thread, beat.turn);
            !noted.contains(&turn) && cut_off.insert(turn)
        }
        _ => false,
    });
    found.map(|beat| beat.id.as_str())
}

pub(crate) fn interrupted_signal(looked: &Looked<'_>) -> Reading {
    Reading::of(interruptions(looked).next().is_some()).because(interruptions(looked))
}

pub(crate) fn interruption_count(looked: &Looked<'_>) -> Reading {
    Reading::count(interruptions(looked))
}

pub(crate) fn permission_denials(looked: &Looked<'_>) -> Reading {
    let calls: Vec<&str> = looked.ids(|call| call.outcome == Some(Outcome::Denied)).collect();
    if !calls.is_empty() {
        return Reading::count(calls);
    }
    // Some logs record the refusal separately from its call.
    let beats = looked.trace.beats.iter().filter(|beat| matches!(beat.what, What::Denial { .. }));
    Reading::count(beats.map(|beat| beat.id.as_str()))
}
