//! Bytes that wait in memory until the store is synced.
//!
//! To compress and write takes as long as to read and understand. Whoever has to
//! answer first holds the bytes back and writes them after the answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes that a store holds at most.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What is held, by raw file.
#[derive(Debug, Default)]
pub(crate) struct Held(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    files: BTreeMap<PathBuf, Vec<Chunk>>,
    /// Bytes that are held or for which there is room kept.
    bytes: u64,
}

/// Bytes that are to be appended, and the source's whole lines up to their end.
#[derive(Debug)]
pub(crate) struct Chunk {
    pub bytes: Vec<u8>,
    pub records: u64,
}

impl Held {
    /// Keeps room for a source of this size; false if there is none.
    pub(super) fn reserve(&self, bytes: u64) -> bool {
        let mut held = self.lock();
        let fits = held.bytes.saturating_add(bytes) <= BYTES_MAX;
        if fits {
            held.bytes += bytes;
        }
        fits
    }

    pub(super) fn put(&self, path: &Path, chunk: Chunk) {
        self.lock().files.entry(path.to_owned()).or_default().push(chunk);
    }

    /// How many bytes of a source are held; nothing if it is not held.
    pub(super) fn end(&self, path: &Path) -> Option<u64> {
        let held = self.lock();
        Some(held.files.get(path)?.iter().map(|chunk| chunk.bytes.len() as u64).sum())
    }

    /// Everything that is held, from now on the caller's.
    pub(crate) fn take(&self) -> BTreeMap<PathBuf, Vec<Chunk>> {
        std::mem::take(&mut *self.lock()).files
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
