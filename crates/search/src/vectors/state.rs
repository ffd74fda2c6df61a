//! The content of a vector file: its batches up to the last complete one.

use super::folder::Synced;
use super::format::Batch;
use memmap2::Mmap;
use rayon::prelude::*;
use std::sync::Arc;

/// Minimum bytes for a parallel check.
const PARALLEL_BYTES: usize = 4 << 20;

/// All live rows of a file. Cheap to clone apart from its bit set.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The number of the file. `None` if there is no usable one.
    pub(super) number: Option<u64>,
    /// Bytes up to the end of the last complete batch.
    pub(super) end: u64,
    /// Bytes on the medium when the file was named.
    pub(super) synced: u64,
    /// The hash of the last complete batch, or of the header.
    pub(super) hash: u64,
    /// The mark of the last write.
    pub(super) mark: String,
    pub(super) batches: Vec<Batch>,
    /// Rows in all batches, including dead ones.
    pub(super) rows: usize,
    dead: Bits,
}

impl State {
    /// A file that has only its header.
    pub(super) fn empty(number: u64, header_length: u64, hash: u64) -> State {
        State { number: Some(number), end: header_length, hash, ..State::default() }
    }

    /// The number of live rows.
    pub(super) fn live(&self) -> usize {
        self.rows - self.dead.count
    }

    /// The number of rows that were replaced or removed.
    pub(super) fn dead(&self) -> usize {
        self.dead.count
    }

    /// Adds the batches in `map`, whose byte `start` is the byte `self.end` of the file, as far as
    /// they are undamaged and complete. Those up to `synced` are not checked.
    pub(super) fn read_on(&mut self, map: Mmap, start: usize, dim: usize, synced: Synced) {
        let map = Arc::new(map);
        let found = heads(&map, start, dim, self.rows);
        let known = known(&found, self.end, synced);
        if known > 0 {
            self.synced = synced.end;
        }
        let before =
            known.checked_sub(1).and_then(|last| found.get(last)).map_or(self.hash, |last| last.hash);
        let whole = known + whole(found.get(known..).unwrap_or_default(), before);
        let complete = found.iter().take(whole).rposition(|batch| batch.is_commit).map_or(0, |last| last + 1);
        for batch in found.into_iter().take(complete) {
            self.take(batch);
        }
    }

    fn take(&mut self, batch: Batch) {
        self.end += batch.length().unwrap_or(0) as u64;
        self.hash = batch.hash;
        self.rows += batch.len();
        batch.dead().filter(|position| *position < batch.first).for_each(|position| self.dead.set(position));
        if batch.is_commit {
            batch.mark().clone_into(&mut self.mark);
        }
        // A batch without rows needs no further storage.
        if batch.len() > 0 {
            self.batches.push(batch);
        }
    }

    /// True if the row at this position is live.
    pub(super) fn is_live(&self, position: usize) -> bool {
        !self.dead.has(position)
    }

    /// True if all these rows are live, so that single checks can be skipped.
    pub(super) fn all_live(&self, positions: std::ops::Range<usize>) -> bool {
        !self.dead.any(positions)
    }

    /// The batch and row with this id. If there are several rows, only the last can be live.
    pub(super) fn find(&self, id: u64) -> Option<(&Batch, usize)> {
        let (batch, row) = self.batches.iter().rev().find_map(|batch| Some((batch, batch.find(id)?)))?;
        self.is_live(batch.first + row).then_some((batch, row))
    }
}

/// The consecutive batches from `start` on, judged by their heads.
fn heads(map: &Arc<Mmap>, mut start: usize, dim: usize, mut rows: usize) -> Vec<Batch> {
    let mut found = Vec::new();
    while let Some(batch) = Batch::at(map, start, dim, rows) {
        let Some(length) = batch.length() else { break };
        start += length;
        rows += batch.len();
        found.push(batch);
    }
    found
}

/// How many of the batches were synced. The first begins at `start`.
fn known(batches: &[Batch], start: u64, synced: Synced) -> usize {
    let ends = batches.iter().scan(start, |end, batch| {
        *end += batch.length().unwrap_or(0) as u64;
        Some(*end)
    });
    let last = ends.zip(batches).position(|(end, batch)| end == synced.end && batch.hash == synced.hash);
    last.map_or(0, |last| last + 1)
}

/// How many of the batches are undamaged, counted from the first.
fn whole(batches: &[Batch], before: u64) -> usize {
    let hashes: Vec<u64> = [before].into_iter().chain(batches.iter().map(|batch| batch.hash)).collect();
    let bytes: usize = batches.iter().filter_map(Batch::length).sum();
    let bad = |(batch, before): (&Batch, &u64)| !batch.is_whole(*before);
    let first_bad = match bytes < PARALLEL_BYTES {
        true => batches.iter().zip(&hashes).position(bad),
        false => batches.par_iter().zip(&hashes).position_first(bad),
    };
    first_bad.unwrap_or(batches.len())
}

/// A set of positions.
#[derive(Debug, Clone, Default)]
struct Bits {
    words: Vec<u64>,
    count: usize,
}

impl Bits {
    fn set(&mut self, position: usize) {
        let (word, bit) = (position / 64, 1u64 << (position % 64));
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        if let Some(word) = self.words.get_mut(word) {
            self.count += usize::from(*word & bit == 0);
            *word |= bit;
        }
    }

    fn has(&self, position: usize) -> bool {
        self.words.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
    }

    /// True if one of the machine words that contain these positions has a bit.
    fn any(&self, positions: std::ops::Range<usize>) -> bool {
        let end = positions.end.div_ceil(64).min(self.words.len());
        self.words.get(positions.start / 64..end).is_some_and(|words| words.iter().any(|word| *word != 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_counted_once() {
        let mut bits = Bits::default();
        for position in [3, 64, 3, 200] {
            bits.set(position);
        }
        assert_eq!(bits.count, 3);
        assert!(bits.has(64) && bits.has(200) && !bits.has(65) && !bits.has(10_000));
        assert!(bits.any(0..10) && bits.any(64..65) && !bits.any(128..192) && !bits.any(256..900));
    }
}
