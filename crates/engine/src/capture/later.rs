//! A source that was read and understood, and is written to raw later.
//!
//! To compress and write takes as long as to read and understand. Where somebody waits
//! for what the bytes say, that comes first; then the same bytes are read again, which
//! are still in the system's cache, and written.

use retro_agents::open_regular;
use retro_model::SourceKey;
use retro_store::{Slot, SourceRow, Store};
use std::io::{self, Read};
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_64;

use super::live::{LastBytes, give_back, lend};
use super::source::{Failure, REWRITTEN, source_error};

/// A new source whose bytes are not in the store yet.
pub(crate) struct Later {
    /// Where it lies.
    pub path: PathBuf,
    slot: Slot,
    pieces: Vec<Piece>,
}

/// Bytes that become one append.
struct Piece {
    length: usize,
    hash: u64,
    /// The source's whole lines up to their end.
    records: u64,
}

impl Later {
    pub(super) fn new(path: PathBuf, slot: Slot) -> Self {
        Later { path, slot, pieces: Vec::new() }
    }

    /// Remembers the next piece.
    pub(super) fn push(&mut self, bytes: &[u8], records: u64) {
        self.pieces.push(Piece { length: bytes.len(), hash: xxh3_64(bytes), records });
    }

    /// Bytes it has.
    fn end(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.length as u64).sum()
    }

    /// The source, and which line of growth of it.
    pub(super) fn is_of(&self, row: &SourceRow) -> bool {
        is_slot(&self.slot, &row.source, row.revision)
    }

    /// Writes it and says the hash of its last bytes. It fails if the source no longer
    /// begins with the bytes that were read.
    pub(super) fn write(&self, store: &Store) -> Result<blake3::Hash, Failure> {
        let archive = store.archive(&self.slot);
        let mut live = open_regular(&self.path).map_err(source_error)?;
        let mut last = LastBytes::default();
        let mut bytes = lend();
        for piece in &self.pieces {
            bytes.resize(piece.length, 0);
            match live.read_exact(&mut bytes) {
                Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                    return Err(source_error(error));
                }
                Ok(()) if xxh3_64(&bytes) == piece.hash => {}
                _ => return Err(Failure::Source(REWRITTEN.to_owned())),
            }
            archive.append(&bytes, piece.records)?;
            last.push(&bytes);
        }
        give_back(bytes);
        Ok(last.hash())
    }
}

/// How far a source will be captured that is written later; none if it is not among them.
pub(crate) fn end_of(all: &[Later], source: &SourceKey, revision: u32) -> Option<u64> {
    all.iter().find(|later| is_slot(&later.slot, source, revision)).map(Later::end)
}

fn is_slot(slot: &Slot, source: &SourceKey, revision: u32) -> bool {
    match slot {
        Slot::Session { source: own, revision: number, .. } => own == source && *number == revision,
        Slot::Shared { .. } => false,
    }
}
