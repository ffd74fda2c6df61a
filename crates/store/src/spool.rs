//! Rows of a session that go into the index later. A few are held in memory, more wait in a scratch
//! file, so that a session of any length needs little memory.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

use crate::{Error, Scratch};

/// Bytes of rows that are held. Sessions that are worked on together seldom have more, so
/// there are few scratch files.
const HELD_BYTES_MAX: usize = 512 * 1024;

/// Rows in the order of their arrival.
#[derive(Debug)]
pub struct Spool<T> {
    /// Folder of the scratch file.
    folder: Option<PathBuf>,
    held: Vec<u8>,
    scratch: Option<Scratch>,
    /// Offset and length of the pieces in the scratch file. Each holds whole rows.
    pieces: Vec<(u64, u64)>,
    row: PhantomData<fn() -> T>,
}

impl<T> Default for Spool<T> {
    fn default() -> Self {
        Spool { folder: None, held: Vec::new(), scratch: None, pieces: Vec::new(), row: PhantomData }
    }
}

impl<T: Serialize + DeserializeOwned> Spool<T> {
    /// Starts without rows. Large numbers of rows spill into this folder, which is that of the
    /// store.
    pub fn new(folder: &Path) -> Spool<T> {
        Spool { folder: Some(folder.to_owned()), ..Spool::default() }
    }

    /// Adds a row.
    pub fn push(&mut self, row: &T) -> Result<(), Error> {
        self.held = packed(row, std::mem::take(&mut self.held)).map_err(|error| self.error(error))?;
        if self.held.len() < HELD_BYTES_MAX {
            return Ok(());
        }
        let length = self.held.len() as u64;
        let put = || -> io::Result<u64> {
            let scratch = match &mut self.scratch {
                Some(scratch) => scratch,
                None => self.scratch.insert(Scratch::new(self.folder.as_deref())?),
            };
            scratch.put(&self.held)
        };
        let offset = { put }().map_err(|error| self.error(error))?;
        self.pieces.push((offset, length));
        self.held.clear();
        Ok(())
    }

    /// Passes every row to `take`, in order.
    pub fn each(&mut self, mut take: impl FnMut(T) -> Result<(), Error>) -> Result<(), Error> {
        self.each_piece(|spool, mut bytes| {
            while !bytes.is_empty() {
                let (row, rest) =
                    postcard::take_from_bytes(bytes).map_err(|error| spool.error(io::Error::other(error)))?;
                take(row)?;
                bytes = rest;
            }
            Ok(())
        })
    }

    /// All rows at once, if they are few or all of them are needed.
    pub fn all(mut self) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        self.each(|row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    fn each_piece(
        &mut self,
        mut take: impl FnMut(&Spool<T>, &[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for at in 0..self.pieces.len() {
            let (offset, length) = self.pieces.get(at).copied().unwrap_or_default();
            let bytes = match &mut self.scratch {
                Some(scratch) => scratch.get(offset, length),
                None => Err(io::ErrorKind::UnexpectedEof.into()),
            };
            take(self, &bytes.map_err(|error| self.error(error))?)?;
        }
        take(self, &self.held)
    }

    fn error(&self, source: io::Error) -> Error {
        let path = self.folder.clone().unwrap_or_default();
        Error::Io { doing: "put rows away for a while in", path, source }
    }
}

/// Names a row: equal rows have equal names.
pub(crate) fn name_of<T: Serialize>(row: &T) -> u64 {
    xxh3_64(&packed(row, Vec::new()).unwrap_or_default())
}

fn packed<T: Serialize>(row: &T, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    postcard::to_extend(row, bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::{HELD_BYTES_MAX, Spool};
    use crate::{RealDisk, Store};
    use std::sync::Arc;

    #[test]
    fn few_rows_and_many_come_back_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&folder.path().join("store"), Arc::new(RealDisk)).unwrap();
        for count in [0, 1, 10, 3 * HELD_BYTES_MAX / 1_000] {
            let rows: Vec<(u32, String)> =
                (0..count as u32).map(|n| (n, "x".repeat(n as usize % 2_000))).collect();
            let mut spool = Spool::new(store.root());
            rows.iter().for_each(|row| spool.push(row).unwrap());
            assert_eq!(spool.pieces.is_empty(), count <= 10);
            assert!(spool.held.len() < HELD_BYTES_MAX);
            spool.each(|_| Ok(())).unwrap();
            // Rows can be added after they were read.
            spool.push(&(7, String::new())).unwrap();
            let all = spool.all().unwrap();
            assert_eq!(all.split_last().unwrap(), (&(7, String::new()), &rows[..]));
        }
    }
}
