//! A nameless file for data that does not fit into memory while a large session is settled. It
//! holds redacted text only and is readable by the user alone. It disappears with the process in
//! every case, so it does not use the [`crate::Disk`].

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Bytes that are gathered before they are written to the file.
const GATHERED_BYTES_MAX: usize = 256 * 1024;

/// A buffer for bytes that continues in a temporary file.
#[derive(Debug)]
pub struct Scratch {
    file: File,
    gathered: Vec<u8>,
    /// Bytes in the file, without the gathered ones.
    written: u64,
}

impl Scratch {
    /// Makes a new scratch file in the folder of the store. Uses the system's folder for temporary
    /// files if there is no store or it cannot be written.
    pub fn new(folder: Option<&Path>) -> io::Result<Scratch> {
        let inside = folder.and_then(|folder| tempfile::tempfile_in(folder).ok());
        let file = inside.map_or_else(tempfile::tempfile, Ok)?;
        Ok(Scratch { file, gathered: Vec::new(), written: 0 })
    }

    /// Stores bytes. Returns their offset.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<u64> {
        if self.gathered.len() + bytes.len() > GATHERED_BYTES_MAX {
            self.write_out()?;
        }
        let offset = self.written + self.gathered.len() as u64;
        if bytes.len() > GATHERED_BYTES_MAX {
            self.write(bytes)?;
        } else {
            self.gathered.extend_from_slice(bytes);
        }
        Ok(offset)
    }

    /// Reads stored bytes back.
    pub fn get(&mut self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        self.write_out()?;
        self.file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        (&mut self.file).take(length).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Drops all stored bytes.
    pub fn clear(&mut self) {
        self.gathered.clear();
        self.written = 0;
    }

    fn write_out(&mut self) -> io::Result<()> {
        if !self.gathered.is_empty() {
            let mut gathered = std::mem::take(&mut self.gathered);
            self.write(&gathered)?;
            gathered.clear();
            self.gathered = gathered;
        }
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.written))?;
        self.file.write_all(bytes)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{RealDisk, Store};
    use std::sync::Arc;

    #[test]
    fn what_is_put_away_comes_back_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("store");
        let store = Store::open_or_create(&root, Arc::new(RealDisk)).unwrap();
        let names = || std::fs::read_dir(&root).unwrap().count();
        let before = names();
        let mut scratch = super::Scratch::new(Some(store.root())).unwrap();
        for round in 0..2u8 {
            let pieces: Vec<Vec<u8>> = (0..200u8).map(|n| vec![n ^ round; 10 * usize::from(n) * 7]).collect();
            let places: Vec<u64> = pieces.iter().map(|piece| scratch.put(piece).unwrap()).collect();
            for (piece, at) in pieces.iter().zip(places).rev() {
                assert_eq!(scratch.get(at, piece.len() as u64).unwrap(), *piece);
            }
            scratch.clear();
        }
        assert!(scratch.get(5, 10_000_000).is_err());
        assert_eq!(names(), before);
    }
}
