//! # What
//! How often the person corrected the agent.
//! # Why
//! A correction says what the agent did not know. The same one in many sessions belongs
//! into the project's instructions.
//! # How
//! A message after the agent acted that negates, redirects, undoes or complains; words given
//! with a refusal; the first words after an interruption; words typed into the answer of a
//! question that reject what was offered. `metadata.first_match_snippets` quotes the first
//! three. The confidence is that of the surest.
//! # Limits
//! The words are English; other languages are seen by structure alone (refusals,
//! interruptions). A message that is sent more than once counts as a template.

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("correction.rs");

pub(crate) fn user_correction_count(looked: &Looked<'_>) -> Reading {
    let found = looked.corrections;
    let reading = Reading::count(found.iter().map(|correction| correction.event_id.as_str()));
    if found.is_empty() {
        return reading.sure(0.8);
    }
    let sure = found.iter().map(|correction| correction.confidence).fold(0.0, f64::max);
    let snippets: Vec<&str> = found.iter().take(3).map(|correction| correction.text.as_str()).collect();
    reading.sure(sure).with("first_match_snippets", snippets)
}
