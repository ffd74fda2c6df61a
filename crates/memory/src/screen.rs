//! The screen: finds reasons not to pass a text to an agent.
//!
//! Every text field of a memory passes here when it is written, whatever its status, and the
//! words of tools pass again when they are shown. Four things are looked for: secrets, hidden
//! characters, words that mix alphabets, and text that reads like an instruction to an agent.
//! The last is a table of general rules (`rules`), tried on the text as written and on its
//! disguises taken off (`views`): odd letters, digits for letters, spaced letters, encodings.
//!
//! A finding never deletes anything. It sends the memory to a person, with the reason.

pub(crate) mod risk;
mod rules;
mod taint;
mod views;

use std::fmt;

use crate::candidate::Voice;
use crate::memory::Memory;

pub(crate) use taint::{Piece, pieces, quotations};

/// Bytes of a text that are searched at once in every disguise. Longer texts are searched part by
/// part.
const PART_BYTES: usize = 16 * 1024;
/// Overlap of two parts, so that nothing can hide at a cut.
const OVERLAP_BYTES: usize = 512;

/// Why a person must review a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It contains a secret. The value names the rule.
    Secret(&'static str),
    /// It contains an invisible character.
    Hidden(char),
    /// It reads like an instruction to an agent. The value names the sign.
    Instruction(&'static str),
    /// One of its words mixes alphabets.
    Mixed,
    /// It would pass on words of a tool or of the web as if they were retro's own.
    Tainted(Voice),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Secret(rule) => write!(f, "holds a secret ({rule})"),
            Reason::Hidden(character) => {
                write!(f, "holds hidden characters (U+{:04X})", u32::from(*character))
            }
            Reason::Instruction(marker) => write!(f, "reads like an instruction to an agent ({marker})"),
            Reason::Mixed => f.write_str("mixes alphabets in one word"),
            Reason::Tainted(Voice::External) => {
                f.write_str("hands on words from outside without quoting them")
            }
            Reason::Tainted(_) => f.write_str("hands on words of a tool without quoting them"),
        }
    }
}

/// Every reason not to pass on this text unchanged, each once.
pub fn screen(text: &str) -> Vec<Reason> {
    let mut reasons = Vec::new();
    for part in parts(text) {
        reasons.extend(retro_text::secrets::find(part).into_iter().map(|found| Reason::Secret(found.rule)));
        reasons.extend(hidden(part).map(Reason::Hidden));
        if views::mixes_alphabets(part) {
            reasons.push(Reason::Mixed);
        }
        reasons.extend(rules::markers(part).into_iter().map(Reason::Instruction));
    }
    reasons.sort();
    reasons.dedup();
    reasons
}

/// Every reason to review a memory, from all its text fields and the words that it would pass on.
/// Each once.
pub fn screen_memory(memory: &Memory) -> Vec<String> {
    reasons(memory).iter().map(Reason::to_string).collect()
}

/// Like [`screen_memory`], as values.
pub fn reasons(memory: &Memory) -> Vec<Reason> {
    let mut texts = memory.texts();
    texts.extend([memory.id.clone(), memory.subject.clone(), memory.stance.clone()]);
    texts.extend(memory.files.iter().cloned());
    texts.extend(memory.spans.iter().map(|span| span.text.clone()));
    let mut reasons: Vec<Reason> = texts.iter().flat_map(|text| screen(text)).collect();
    reasons.extend(taint::tainted(memory).map(Reason::Tainted));
    reasons.sort();
    reasons.dedup();
    reasons
}

/// The text with hidden and control characters as escapes such as `\u{200b}`. Keeps line feeds and
/// tabs.
pub fn escaped(text: &str) -> String {
    retro_text::terminal::safe(text).into_owned()
}

/// Hidden characters, including a leading byte order mark, since a memory never begins a file.
fn hidden(text: &str) -> impl Iterator<Item = char> + '_ {
    let mark = text.starts_with('\u{feff}').then_some('\u{feff}');
    mark.into_iter().chain(retro_text::hidden::find(text).map(|found| found.character))
}

/// The text in overlapping parts. A text of ordinary length stays whole.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut start = 0_usize;
    let mut done = false;
    std::iter::from_fn(move || {
        if done {
            return None;
        }
        let end = text.ceil_char_boundary(start.saturating_add(PART_BYTES).min(text.len()));
        let part = text.get(start..end)?;
        done = end == text.len();
        start = text.floor_char_boundary(end.saturating_sub(OVERLAP_BYTES));
        Some(part)
    })
}

#[cfg(test)]
mod tests;
