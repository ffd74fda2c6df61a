//! # What
//! How often the person corrected the agent.
//! # Why
//! A correction says what the agent did not know. The same one in many sessions belongs
//! into the project's instructions.
//! # How
//! A message after the agent acted is weighed. Its words can reject, redirect, undo or report a
//! wrong result; tables have such words of 18 languages. The log counts in any language: the
//! message follows a refusal or an interruption, asks again for what was asked before, names a
//! file that was just edited, or is followed by edits of the same files. Words given with a
//! refusal count, and words typed into the answer of a question that reject what was offered.
//! `metadata.first_match_snippets` quotes the first three. The confidence is that of the surest;
//! what only reports a wrong result stays below 0.6.
//! # Limits
//! Irony is not seen. A message that is sent more than once counts as a template. Where most
//! messages are in a script that no table has, and nothing was found, the value is null:
//! `language_not_known`.

use super::Looked;
use crate::{Reading, Trace};

pub(crate) const DOC: &str = include_str!("correction.rs");

pub(crate) fn user_correction_count(looked: &Looked<'_>) -> Reading {
    let found = looked.corrections;
    let reading = Reading::count(found.iter().map(|correction| correction.event_id.as_str()));
    if found.is_empty() && is_foreign(looked.trace) {
        return Reading::none("language_not_known");
    }
    if found.is_empty() {
        return reading.sure(0.8);
    }
    let sure = found.iter().map(|correction| correction.confidence).fold(0.0, f64::max);
    let snippets: Vec<&str> = found.iter().take(3).map(|correction| correction.text.as_str()).collect();
    reading.sure(sure).with("first_match_snippets", snippets)
}

/// True if most typed text is in a script that no table of words has.
fn is_foreign(trace: &Trace) -> bool {
    let typed =
        || trace.requests().map(|(beat, _)| beat.typed.as_str()).filter(|text| !text.trim().is_empty());
    let foreign = typed().filter(|text| !retro_text::tongue::is_known(text)).count();
    foreign > 0 && foreign * 2 >= typed().count()
}
