//! What the files of vectors say: the batches of one file up to the last that is complete.

use super::folder::Synced;
use super::format::Batch;
use memmap2::Mmap;
use rayon::prelude::*;
use std::sync::Arc;

/// Bytes from which on several threads check what is read.
const PARALLEL_BYTES: usize = 4 << 20;

/// All rows of a file that count. Cheap to clone beside its bits.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The number of the file; none if there is no usable one.
    pub(super) number: Option<u64>,
    /// Bytes up to the end of the last complete batch.
    pub(super) end: u64,
    /// Bytes that were on the medium when the file was named.
    pub(super) synced: u64,
    /// The hash of the last complete batch, or of the header.
    pub(super) hash: u64,
    /// The mark that was written last.
    pub(super) mark: String,
    pub(super) batches: Vec<Batch>,
    /// Rows in all batches, dead ones included.
    pub(super) rows: usize,
    dead: Bits,
}

impl State {
    /// A file that has only its header so far.
    pub(super) fn empty(number: u64, header_length: u64, hash: u64) -> State {
        State { number: Some(number), end: header_length, hash, ..State::default() }
    }

    /// Rows that count.
    pub(super) fn live(&self) -> usize {
        self.rows - self.dead.count
    }

    /// Rows that were replaced or removed.
    pub(super) fn dead(&self) -> usize {
        self.dead.count
    }

    /// Takes up the batches of `map`, whose byte `start` is the byte `self.end` of the
    /// file, as far as they are whole and complete. Those up to `synced` are not checked.
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
        // A batch without rows has said all that it has to say.
        if batch.len() > 0 {
            self.batches.push(batch);
        }
    }

    /// Whether the row at this position counts.
    pub(super) fn is_live(&self, position: usize) -> bool {
        !self.dead.has(position)
    }

    /// Whether none of the rows counts less than the others: no need to ask for each.
    pub(super) fn all_live(&self, positions: std::ops::Range<usize>) -> bool {
        !self.dead.any(positions)
    }

    /// The batch and row with this id. Of several rows only the last can count.
    pub(super) fn find(&self, id: u64) -> Option<(&Batch, usize)> {
        let (batch, row) = self.batches.iter().rev().find_map(|batch| Some((batch, batch.find(id)?)))?;
        self.is_live(batch.first + row).then_some((batch, row))
    }
}

/// The batches that seem to follow each other from `start` on.
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

/// How many of the batches, of which the first begins at `start`, were synced.
fn known(batches: &[Batch], start: u64, synced: Synced) -> usize {
    let ends = batches.iter().scan(start, |end, batch| {
        *end += batch.length().unwrap_or(0) as u64;
        Some(*end)
    });
    let last = ends.zip(batches).position(|(end, batch)| end == synced.end && batch.hash == synced.hash);
    last.map_or(0, |last| last + 1)
}

/// How many of the batches hold what was written.
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

    /// Whether one of the words that hold these positions has a bit.
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
