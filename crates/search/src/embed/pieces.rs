//! Cuts words into the pieces that have a row in the built-in model, longest first.
//!
//! `assets/vocab.fst` maps each piece to its row. `cargo xtask embedding` generates it from
//! `assets/vocab.txt`, and it is read in place. A piece that continues a word begins with `##`.

use super::Error;
use fst::raw::{Fst, Node, Output};

/// The prefix of a piece inside a word. No word contains this character.
const CONTINUES: &[u8] = b"##";

/// The model's vocabulary.
pub(super) struct Pieces {
    fst: Fst<&'static [u8]>,
}

impl Pieces {
    /// Checks the header only.
    pub(super) fn new(bytes: &'static [u8]) -> Result<Pieces, Error> {
        Fst::new(bytes).map(|fst| Pieces { fst }).map_err(|_| Error::BuiltIn("the vocabulary is unreadable"))
    }

    /// Appends the rows of a word's pieces. Appends nothing if the word cannot be split completely.
    pub(super) fn cut(&self, word: &str, rows: &mut Vec<u16>) {
        let before = rows.len();
        let mut rest = word.as_bytes();
        while !rest.is_empty() {
            let prefix = if rest.len() == word.len() { &[][..] } else { CONTINUES };
            match self.longest(prefix, rest) {
                Some((length, row)) => {
                    rows.push(row);
                    rest = rest.get(length..).unwrap_or_default();
                }
                None => {
                    rows.truncate(before);
                    return;
                }
            }
        }
    }

    /// The longest piece at the start of `text`: its length in bytes, and its row. Both are UTF-8,
    /// so a piece ends at a character boundary.
    fn longest(&self, prefix: &[u8], text: &[u8]) -> Option<(usize, u16)> {
        let mut at = (self.fst.root(), Output::zero());
        for byte in prefix {
            at = self.next(at, *byte)?;
        }
        let mut found = None;
        for (length, byte) in (1..).zip(text) {
            match self.next(at, *byte) {
                Some(next) => at = next,
                None => break,
            }
            if at.0.is_final() {
                let row = at.1.cat(at.0.final_output()).value();
                found = u16::try_from(row).ok().map(|row| (length, row));
            }
        }
        found
    }

    fn next<'a>(&'a self, (node, output): (Node<'a>, Output), byte: u8) -> Option<(Node<'a>, Output)> {
        let transition = node.transition(node.find_input(byte)?);
        Some((self.fst.node(transition.addr), output.cat(transition.out)))
    }
}

impl std::fmt::Debug for Pieces {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pieces").field("count", &self.fst.len()).finish()
    }
}
