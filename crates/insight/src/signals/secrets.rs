//! # What
//! Whether and how often a secret is in the session's texts.
//! # Why
//! A key in a transcript was sent to a model's provider and is on disk in clear.
//! # How
//! Counts what the shared scanner took out of prompts, answers, commands and outputs; each
//! place counts once. `metadata.types` has the rules that matched. Values are never shown.
//! # Limits
//! As good as the scanner's rules: `retro secrets` lists the records. A key that is printed
//! three times counts three times.

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("secrets.rs");

pub(crate) fn secret_exposure_count(looked: &Looked<'_>) -> Reading {
    let count: u64 = looked.trace.secrets.values().sum();
    let reading = Reading::of(count).because(looked.trace.secret_events.iter().map(String::as_str));
    match count {
        0 => reading,
        _ => reading.sure(0.9).with("types", looked.trace.secrets.keys().cloned().collect::<Vec<_>>()),
    }
}

pub(crate) fn secret_exposure_signal(looked: &Looked<'_>) -> Reading {
    let found = !looked.trace.secrets.is_empty();
    let reading = Reading::of(found).because(looked.trace.secret_events.iter().map(String::as_str).take(1));
    if found { reading.sure(0.9) } else { reading }
}
