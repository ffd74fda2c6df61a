//! Places of patterns: the candidates (made of signs, a cache), the review log, the queue of
//! decisions that no sink has accepted yet, and the catalog, which may be in a folder elsewhere.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::files::{Worth, entries, open_regular, read_regular};
use crate::{Error, Lock, Store};

/// Decisions about candidates.
pub const REVIEW_LOG: &str = "patterns/review_log.jsonl";
/// Decisions that wait for their sink.
pub const DECISION_QUEUE: &str = "patterns/decisions.queue.jsonl";

/// Candidates for patterns, ready for queries.
pub(crate) const CANDIDATES: &str = "patterns/candidates.json";
/// The folder of the catalog.
pub(crate) const CATALOG: &str = "patterns/catalog";

/// Endings of a pattern and of its history.
const PATTERN: &str = ".json";
const HISTORY: &str = ".history.jsonl";
/// Number of bytes that contain the head of a file.
const HEAD_BYTES: u64 = 512;

/// A file of the catalog: its path, and its bytes or the reason why it is unreadable.
pub type CatalogFile = (PathBuf, Result<Vec<u8>, String>);

impl Store {
    /// The bytes of the file of candidates.
    pub fn candidates(&self) -> Result<Option<Vec<u8>>, Error> {
        let path = self.root().join(CANDIDATES);
        self.files.own(&path)?;
        read_regular(&path)
    }

    /// The first bytes of the file of candidates.
    pub fn candidates_head(&self) -> Result<Vec<u8>, Error> {
        let path = self.root().join(CANDIDATES);
        self.files.own(&path)?;
        let mut head = Vec::new();
        if let Some(file) = open_regular(&path)? {
            file.take(HEAD_BYTES).read_to_end(&mut head).map_err(Error::io("read", &path))?;
        }
        Ok(head)
    }

    /// Stores the candidates. The caller holds the lock.
    pub fn put_candidates(&self, bytes: &[u8]) -> Result<(), Error> {
        self.files.put(&self.root().join(CANDIDATES), bytes, Worth::Cache)
    }

    /// The folder of the catalog: the store's own, or this one.
    pub fn catalog_folder(&self, elsewhere: Option<&Path>) -> PathBuf {
        elsewhere.map_or_else(|| self.root().join(CATALOG), Path::to_owned)
    }

    /// Every pattern in a catalog, by name.
    pub fn catalog_files(&self, folder: &Path) -> Result<Vec<CatalogFile>, Error> {
        self.files.own(folder)?;
        let mut files = Vec::new();
        for entry in entries(folder)? {
            let name =
                entry.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if !entry.is_file || !name.ends_with(PATTERN) {
                continue;
            }
            let bytes = match read_regular(&entry.path) {
                Ok(Some(bytes)) => Ok(bytes),
                Ok(None) => continue,
                Err(error) => Err(error.to_string()),
            };
            files.push((entry.path, bytes));
        }
        files.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(files)
    }

    /// The earlier versions of a pattern, one on each line.
    pub fn catalog_history(&self, folder: &Path, id: &str) -> Result<Vec<u8>, Error> {
        let path = in_catalog(folder, id, HISTORY);
        self.files.own(&path)?;
        Ok(read_regular(&path)?.unwrap_or_default())
    }

    /// Where the earlier versions of a pattern are.
    pub fn catalog_history_path(&self, folder: &Path, id: &str) -> PathBuf {
        in_catalog(folder, id, HISTORY)
    }

    /// Path of a pattern's file.
    pub fn catalog_path(&self, folder: &Path, id: &str) -> PathBuf {
        in_catalog(folder, id, PATTERN)
    }

    /// Writes a pattern to a catalog. Its earlier version, as one line, is written to the history
    /// first. After a stop in between it is in both.
    pub fn put_catalog(
        &self,
        _lock: &Lock,
        folder: &Path,
        id: &str,
        bytes: &[u8],
        before: Option<&[u8]>,
    ) -> Result<(), Error> {
        self.files.ensure_dir(folder)?;
        if let Some(line) = before {
            let path = in_catalog(folder, id, HISTORY);
            let mut known = self.catalog_history(folder, id)?;
            let is_there = known.split(|byte| *byte == b'\n').any(|known| known == line);
            if !is_there {
                let start = known.len() as u64;
                let is_torn = known.last().is_some_and(|last| *last != b'\n');
                known.clear();
                known.extend(is_torn.then_some(b'\n'));
                known.extend_from_slice(line);
                known.push(b'\n');
                let disk = &self.files.disk;
                disk.write_at(&path, start, &known).map_err(Error::io("write", &path))?;
                disk.sync_file(&path).map_err(Error::io("sync", &path))?;
            }
        }
        self.files.put(&in_catalog(folder, id, PATTERN), bytes, Worth::Truth)?;
        self.files.disk.sync_dir(folder).map_err(Error::io("sync", folder))
    }

    /// Removes a pattern from a catalog. Its history stays.
    pub fn remove_catalog(&self, _lock: &Lock, folder: &Path, id: &str) -> Result<bool, Error> {
        self.files.remove(&in_catalog(folder, id, PATTERN), Worth::Truth)
    }

    /// The ids of all patterns with earlier versions.
    pub fn catalog_histories(&self, folder: &Path) -> Result<Vec<String>, Error> {
        self.files.own(folder)?;
        let names = entries(folder)?.into_iter().filter(|entry| entry.is_file).filter_map(|entry| entry.name);
        let encoded = names.filter_map(|name| name.strip_suffix(HISTORY).map(str::to_owned));
        let decoded = encoded.filter_map(|name| crate::names::decode(&name));
        let whole = decoded.filter_map(|name| match name {
            crate::names::Decoded::Id(id) => Some(id),
            crate::names::Decoded::Cut => None,
        });
        Ok(whole.collect())
    }

    /// Drops lines from the history of a pattern, and the file with its last line. Returns the
    /// number of lines dropped.
    pub fn change_catalog_history(
        &self,
        _lock: &Lock,
        folder: &Path,
        id: &str,
        drops: &dyn Fn(&[u8]) -> bool,
    ) -> Result<u64, Error> {
        let known = self.catalog_history(folder, id)?;
        let path = in_catalog(folder, id, HISTORY);
        let (mut kept, mut dropped) = (Vec::with_capacity(known.len()), 0);
        for line in known.split_inclusive(|byte| *byte == b'\n') {
            match drops(line) {
                true => dropped += 1,
                false => kept.extend_from_slice(line),
            }
        }
        match (dropped, kept.is_empty()) {
            (0, _) => {}
            (_, true) => drop(self.files.remove(&path, Worth::Truth)?),
            _ => self.files.put(&path, &kept, Worth::Truth)?,
        }
        Ok(dropped)
    }

    /// Writes a file to a folder outside the store, at the request of a command.
    pub fn export_pattern(&self, folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = folder.join(name);
        self.files.put(&path, bytes, Worth::Truth)?;
        Ok(path)
    }
}

fn in_catalog(folder: &Path, id: &str, ending: &str) -> PathBuf {
    folder.join(format!("{}{ending}", crate::names::encode(id)))
}
