//! The built-in model: a vector for each of 32,768 word pieces. A text's vector is the sum of its
//! pieces' vectors.
//!
//! Startup builds nothing: table, vocabulary and characters are used in place, inside the program's
//! bytes. `assets/README.md` lists their origin, and `cargo xtask embedding` generates the derived
//! ones.

use super::characters::Characters;
use super::pieces::Pieces;
use super::table::{DIM, Table};
use super::word_cache::WordCache;
use super::words::{Word, words};
use super::{Embedder, Embedding, Error};
use std::sync::{Mutex, PoisonError};

/// Maximum pieces read of a text.
const PIECES_MAX: usize = 1024;

/// Mean and deviation of the cosines between queries and sessions that do not answer them.
pub(crate) const UNRELATED: (f64, f64) = (0.16, 0.115);

/// The embedding model that is part of the program.
///
/// ```
/// use retro_search::embed::{BuiltIn, Embedder};
///
/// let model = BuiltIn::new()?;
/// assert_eq!(model.dim(), 256);
/// assert!(model.embed(&[""])?[0].is_zero());
/// // The order of words does not count, their case does only inside an identifier.
/// let two = model.embed(&["parse the config", "The config: parse!"])?;
/// assert!(two[0].cosine(&two[1]) > 0.9999);
/// # Ok::<(), retro_search::embed::Error>(())
/// ```
#[derive(Debug)]
pub struct BuiltIn {
    table: Table,
    pieces: Pieces,
    characters: Characters,
    /// Work buffers, one per active thread, reused by the next.
    desks: Mutex<Vec<Desk>>,
}

/// Buffers for reading a text.
#[derive(Debug)]
struct Desk {
    word: Word,
    cache: WordCache,
    rows: Vec<u16>,
}

impl BuiltIn {
    /// Opens the model. Takes microseconds.
    pub fn new() -> Result<BuiltIn, Error> {
        Ok(BuiltIn {
            table: Table::new(include_bytes!("../../assets/table.bin"))?,
            pieces: Pieces::new(include_bytes!("../../assets/vocab.fst"))?,
            characters: characters()?,
            desks: Mutex::default(),
        })
    }

    /// Whether a word is in the vocabulary as a whole: it is a common one.
    pub fn is_word(&self, word: &str) -> bool {
        let mut rows = Vec::new();
        self.pieces.cut(word, &mut rows);
        rows.len() == 1
    }

    fn embed_one(&self, text: &str, desk: &mut Desk) -> Embedding {
        self.cut(text, desk);
        let mut sum = [0.0; DIM];
        self.table.add(&desk.rows, &mut sum);
        Embedding::new(sum.to_vec())
    }

    /// Writes the rows of a text's pieces to `desk.rows`.
    fn cut(&self, text: &str, desk: &mut Desk) {
        let Desk { word, cache, rows } = desk;
        rows.clear();
        words(text, &self.characters, word, |word| {
            cache.rows(word, rows, |rows| self.pieces.cut(word, rows));
            rows.len() < PIECES_MAX
        });
        rows.truncate(PIECES_MAX);
    }

    /// Lends a set of buffers to `work`.
    fn at_desk<T>(&self, work: impl FnOnce(&mut Desk) -> T) -> T {
        let mut desk =
            self.desks.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_else(Desk::new);
        let result = work(&mut desk);
        self.desks.lock().unwrap_or_else(PoisonError::into_inner).push(desk);
        result
    }
}

impl Desk {
    fn new() -> Desk {
        Desk { word: Word::default(), cache: WordCache::new(), rows: Vec::with_capacity(PIECES_MAX) }
    }
}

impl Embedder for BuiltIn {
    fn id(&self) -> &str {
        include_str!("../../assets/model-id.txt").trim_ascii()
    }

    fn dim(&self) -> usize {
        DIM
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error> {
        Ok(self.at_desk(|desk| texts.iter().map(|text| self.embed_one(text, desk)).collect()))
    }

    fn unrelated(&self) -> Option<(f64, f64)> {
        Some(UNRELATED)
    }

    fn is_quick(&self) -> bool {
        true
    }
}

/// The model's table of characters beyond ASCII.
pub(super) fn characters() -> Result<Characters, Error> {
    Characters::new(include_bytes!("../../assets/chars.bin"))
}

#[cfg(test)]
mod tests;
