//! Journals: files of JSON lines that grow. They are truth, and plain: a person may read and
//! change them.
//!
//! Anything derived from a journal is a cache, refreshed after each append.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::marker::PhantomData;
use std::path::PathBuf;

use crate::files::{Worth, read_regular};
use crate::{Error, Lock, Store};

/// A journal with lines of one type.
pub struct Journal<T> {
    name: &'static str,
    lines: PhantomData<fn() -> T>,
}

/// The lines of a journal with their numbers, and the unreadable lines.
pub type Lines<T> = (Vec<(usize, T)>, Vec<BadLine>);

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Path of the journal.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The problem, for people.
    pub what: String,
    /// True for an incomplete line that a power cut left. It was never confirmed.
    pub is_torn: bool,
}

/// Whether a line begins and ends like a complete one, and has no hole.
fn is_whole(line: &[u8]) -> bool {
    line.starts_with(b"{") && line.ends_with(b"}") && !line.contains(&0)
}

impl<T> Journal<T> {
    /// The journal in this file below the root.
    pub const fn at(name: &'static str) -> Journal<T> {
        Journal { name, lines: PhantomData }
    }

    /// Path of its file.
    pub fn path(&self, store: &Store) -> PathBuf {
        store.root().join(self.name)
    }

    /// Whether its file exists.
    pub fn is_there(&self, store: &Store) -> bool {
        self.path(store).symlink_metadata().is_ok_and(|meta| meta.is_file())
    }

    fn bytes(&self, store: &Store) -> Result<Vec<u8>, Error> {
        let path = self.path(store);
        store.files.own(&path)?;
        Ok(read_regular(&path)?.unwrap_or_default())
    }
}

impl<T: DeserializeOwned> Journal<T> {
    /// Its lines, and the unreadable ones. Those include a last line torn by a power cut.
    pub fn read(&self, store: &Store) -> Result<(Vec<T>, Vec<BadLine>), Error> {
        let (lines, bad) = self.numbered(store)?;
        Ok((lines.into_iter().map(|(_, value)| value).collect(), bad))
    }

    /// Like [`Journal::read`], with the number of each line.
    pub fn numbered(&self, store: &Store) -> Result<Lines<T>, Error> {
        let path = self.path(store);
        let bytes = self.bytes(store)?;
        let (mut lines, mut bad) = (Vec::new(), Vec::new());
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(value) => lines.push((at + 1, value)),
                Err(error) => bad.push(BadLine {
                    path: path.clone(),
                    line: at + 1,
                    what: error.to_string(),
                    is_torn: error.is_eof() || !is_whole(line),
                }),
            }
        }
        Ok((lines, bad))
    }
}

impl<T: Serialize> Journal<T> {
    /// Appends lines. They are on the medium when it returns.
    pub fn append(&self, _lock: &Lock, store: &Store, lines: &[T]) -> Result<(), Error> {
        self.append_held(store, lines)
    }

    /// Like [`Journal::append`], for a caller that holds the lock.
    pub fn append_held(&self, store: &Store, lines: &[T]) -> Result<(), Error> {
        let path = self.path(store);
        store.files.ensure_dir(path.parent().unwrap_or(store.root()))?;
        let known = self.bytes(store)?;
        let mut bytes = Vec::new();
        // A line torn by a power cut stays a separate line.
        if known.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        for line in lines {
            serde_json::to_writer(&mut bytes, line)
                .map_err(|error| Error::io("write", &path)(error.into()))?;
            bytes.push(b'\n');
        }
        let disk = &store.files.disk;
        disk.write_at(&path, known.len() as u64, &bytes).map_err(Error::io("write", &path))?;
        disk.sync_file(&path).map_err(Error::io("sync", &path))
    }
}

impl<T: Serialize + DeserializeOwned + PartialEq> Journal<T> {
    /// Changes or drops lines. Unreadable lines stay as they are. The caller holds the lock.
    pub fn change(&self, store: &Store, change: impl Fn(&T) -> Option<T>) -> Result<(), Error> {
        let path = self.path(store);
        let known = self.bytes(store)?;
        let mut bytes = Vec::with_capacity(known.len());
        for line in known.split_inclusive(|byte| *byte == b'\n') {
            let Ok(value) = serde_json::from_slice::<T>(line) else {
                bytes.extend_from_slice(line);
                continue;
            };
            match change(&value) {
                Some(same) if same == value => bytes.extend_from_slice(line),
                Some(other) => {
                    serde_json::to_writer(&mut bytes, &other)
                        .map_err(|error| Error::io("write", &path)(error.into()))?;
                    bytes.push(b'\n');
                }
                None => {}
            }
        }
        if bytes == known {
            return Ok(());
        }
        store.files.put(&path, &bytes, Worth::Truth)
    }
}
