//! The screen: what makes a text unfit to be handed to an agent.
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

/// Bytes of one text that are looked at in every disguise; what is behind them is looked at
/// as well, part by part.
const PART_BYTES: usize = 16 * 1024;
/// Bytes that two parts share, so that nothing hides at a cut.
const OVERLAP_BYTES: usize = 512;

/// Why a person has to look at a text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It holds a secret; the name of the rule.
    Secret(&'static str),
    /// It holds a character that nobody sees.
    Hidden(char),
    /// It reads like an instruction to an agent; what it is known by.
    Instruction(&'static str),
    /// A word of it mixes alphabets.
    Mixed,
    /// It would hand on words of a tool or of the web as if they were ours.
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

/// Every reason why this text should not be handed on as it is; each once.
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

/// Every reason why a person has to look at a memory, over every text field of it and the
/// words that it would hand on; each once.
pub fn screen_memory(memory: &Memory) -> Vec<String> {
    reasons(memory).iter().map(Reason::to_string).collect()
}

/// The same as values.
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

/// The text with every hidden character and every control character shown as an escape
/// such as `\u{200b}`; line feeds and tabs stay.
pub fn escaped(text: &str) -> String {
    retro_text::terminal::safe(text).into_owned()
}

/// Hidden characters, with a byte order mark at the beginning counted as one: a memory is
/// never the beginning of a file.
fn hidden(text: &str) -> impl Iterator<Item = char> + '_ {
    let mark = text.starts_with('\u{feff}').then_some('\u{feff}');
    mark.into_iter().chain(retro_text::hidden::find(text).map(|found| found.character))
}

/// The text in parts that overlap; a text of ordinary length whole.
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
