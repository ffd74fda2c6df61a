//! Memories in the index, read only as far as a query needs them.

use retro_engine::memory::{heads_of, is_current, postings_of};
use retro_memory::{Head, Library, Memory};
use retro_search::embed::Embedding;
use retro_store::{Index, Store};

use crate::Error;

/// Parallel sums, one per SIMD lane.
const LANES: usize = 16;

/// The memories in an index.
pub struct Kept<'a> {
    index: &'a Index,
    heads: Vec<Head>,
    vectors: Vec<u8>,
}

impl<'a> Kept<'a> {
    /// Opens the memories. `None` if the index has none yet, or was built from other decisions than
    /// the store's.
    pub fn open(store: &Store, index: &'a Index) -> Result<Option<Kept<'a>>, Error> {
        if !is_current(store, index)? {
            return Ok(None);
        }
        let Some(heads) = index.memory_value("heads")?.and_then(|bytes| heads_of(&bytes)) else {
            return Ok(None);
        };
        let vectors = index.memory_value("vectors")?.unwrap_or_default();
        Ok(Some(Kept { index, heads, vectors }))
    }

    /// Number of memories that await a person's decision.
    pub fn waiting(&self) -> usize {
        self.heads.iter().filter(|head| head.is_waiting()).count()
    }

    /// Reads a memory by its number.
    pub fn memory(&self, number: usize) -> Result<Option<Memory>, Error> {
        Ok(self.index.memory(number)?.and_then(|body| serde_json::from_str(&body).ok()))
    }

    /// Reads every memory.
    pub fn memories(&self) -> Result<Vec<Memory>, Error> {
        let bodies = self.index.memories()?;
        Ok(bodies.iter().filter_map(|body| serde_json::from_str(body).ok()).collect())
    }
}

impl Library for Kept<'_> {
    type Error = Error;

    fn heads(&self) -> &[Head] {
        &self.heads
    }

    fn postings(&self, term: &str) -> Result<Vec<u32>, Error> {
        Ok(self.index.memory_term(term)?.and_then(|bytes| postings_of(&bytes)).unwrap_or_default())
    }

    fn cosine(&self, number: usize, query: &Embedding) -> f32 {
        let dim = query.dim();
        let Some(row) = self.vectors.get(number * dim..(number + 1) * dim) else { return 0.0 };
        let ((rows, rest), (values, more)) = (row.as_chunks::<LANES>(), query.values().as_chunks::<LANES>());
        let (mut dots, mut squares) = ([0.0_f32; LANES], [0.0_f32; LANES]);
        let mut add = |bytes: &[u8], values: &[f32]| {
            for (((dot, square), byte), value) in dots.iter_mut().zip(&mut squares).zip(bytes).zip(values) {
                let kept = f32::from(byte.cast_signed());
                *dot += kept * value;
                *square += kept * kept;
            }
        };
        rows.iter().zip(values).for_each(|(bytes, values)| add(bytes, values));
        add(rest, more);
        let length = squares.iter().sum::<f32>().sqrt();
        if length > 0.0 { dots.iter().sum::<f32>() / length } else { 0.0 }
    }
}
