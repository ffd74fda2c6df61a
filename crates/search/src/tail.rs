//! Passages that the text index lacks, searched directly.
//!
//! An append changes one or two passages. They wait here until a commit of the index is worthwhile.
//! Until then they are searched with the same scores.

use hashbrown::HashSet;
use retro_model::{Piece, PieceKind};

use crate::best::{Best, Seen, Sought};
use crate::passages::time_ms;
use crate::query::Phrase;
use crate::rank::Counts;
use crate::text::{Info, Numbered};
use crate::words::Words;

/// Changes since the text index was written.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    /// New or changed passages.
    pub passages: Vec<Numbered>,
    /// Numbers of passages in the index that were changed or removed.
    pub hidden: Vec<u64>,
}

impl Tail {
    /// Adds the number of pieces that contain each term.
    pub(crate) fn count(&self, terms: &[&str], counts: &mut [u64]) {
        let mut words = Words::default();
        let mut seen = vec![false; terms.len()];
        for piece in self.passages.iter().flat_map(|numbered| &numbered.passage.pieces) {
            seen.fill(false);
            words.each(&piece.text, |term| {
                if let Some(at) = terms.iter().position(|wanted| *wanted == term.text) {
                    seen[at] = true;
                }
            });
            counts.iter_mut().zip(&seen).filter(|(_, seen)| **seen).for_each(|(count, _)| *count += 1);
        }
    }

    /// Adds the terms with this prefix.
    pub(crate) fn starting_with(&self, start: &str, into: &mut HashSet<String>) {
        let mut words = Words::default();
        for piece in self.passages.iter().flat_map(|numbered| &numbered.passage.pieces) {
            words.each(&piece.text, |term| {
                if term.text.starts_with(start) && !into.contains(term.text) {
                    into.insert(term.text.to_owned());
                }
            });
        }
    }

    /// Every piece that contains one of the essential terms.
    pub(crate) fn hits(&self, sought: &Sought<'_>, best: &mut Best<'_>) {
        let mut words = Words::default();
        for numbered in &self.passages {
            for (at, piece) in numbered.passage.pieces.iter().enumerate() {
                let known = Seen {
                    place: numbered.place(at),
                    passage: numbered.number,
                    info: info(numbered, at, piece),
                    at_ms: time_ms(piece.at),
                };
                if !(sought.keep)(&known) {
                    continue;
                }
                let mut held = Counts::default();
                let mut is_hit = false;
                words.each(&piece.text, |term| {
                    if let Some(at) = sought.terms.iter().position(|wanted| *wanted == term.text) {
                        held.add(at as u8, 1);
                        is_hit |= at < sought.essential;
                    }
                });
                best.extend(is_hit.then(|| known.hit(held)));
            }
        }
    }

    /// Numbers of the passages with a piece that has this label.
    pub(crate) fn labelled(&self, label: &str, into: &mut HashSet<u64>) {
        self.with(into, |piece| piece.labels.iter().any(|known| known == label));
    }

    /// Numbers of the passages with a piece that has these words in this order.
    pub(crate) fn with_phrase(&self, phrase: &Phrase, into: &mut HashSet<u64>) {
        let mut words = Words::default();
        self.with(into, |piece| {
            (!phrase.only_commands || piece.kind == PieceKind::Command)
                && has_phrase(&mut words, &piece.text, phrase)
        });
    }

    fn with(&self, into: &mut HashSet<u64>, mut is_wanted: impl FnMut(&Piece) -> bool) {
        for numbered in &self.passages {
            if numbered.passage.pieces.iter().any(&mut is_wanted) {
                into.insert(numbered.number);
            }
        }
    }
}

fn info(numbered: &Numbered, at: usize, piece: &Piece) -> Info {
    Info { kind: piece.kind, live: numbered.passage.live, piece: at as u8, len: piece.text.len() as u32 }
}

/// True if a text has these words in this order.
fn has_phrase(words: &mut Words, text: &str, phrase: &Phrase) -> bool {
    let mut places: Vec<HashSet<u32>> = vec![HashSet::new(); phrase.terms.len()];
    words.each(text, |term| {
        for (found, (offset, wanted)) in places.iter_mut().zip(&phrase.terms) {
            if wanted == term.text && term.position >= *offset {
                found.insert(term.position - offset);
            }
        }
    });
    let Some((first, others)) = places.split_first() else { return false };
    first.iter().any(|place| others.iter().all(|found| found.contains(place)))
}
