//! The folder of a text index, for writers.

use retro_disk::Disk;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directory::Written;
use super::writer::failed;
use super::{TextWriter, create_index, numbered, open_index, seal};
use crate::Error;

/// The path of a text index, and the disk for writing it.
#[derive(Debug, Clone)]
pub struct TextFolder {
    pub(super) path: PathBuf,
    pub(super) disk: Arc<dyn Disk>,
}

impl TextFolder {
    /// The index in this folder, which need not exist.
    pub fn new(path: &Path, disk: Arc<dyn Disk>) -> TextFolder {
        TextFolder { path: path.to_owned(), disk }
    }

    /// The mark of the index. `None` if there is no trustworthy one.
    pub fn mark(&self) -> Option<String> {
        let current = seal::current(&self.path)?;
        if let Some(mark) = seal::check(&current) {
            return Some(mark);
        }
        // A process was killed between a commit and its seal, or the files were touched. The
        // checksums decide.
        if !seal::is_openable(&current) {
            return None;
        }
        let index = open_index(Written::open(&current, &self.disk).ok()?).ok()?;
        let is_whole = index.validate_checksum().is_ok_and(|bad| bad.is_empty());
        let mark = index.load_metas().ok()?.payload.filter(|_| is_whole)?;
        seal::seal(self.disk.as_ref(), &current, &mark).ok()?;
        Some(mark)
    }

    /// Continues the index after its [mark](TextFolder::mark). `None` if there is no trustworthy
    /// one. `passages` is the expected number of writes.
    pub fn resume(&self, passages: usize) -> Result<Option<TextWriter>, Error> {
        if self.mark().is_none() {
            return Ok(None);
        }
        let Some(number) = seal::current_number(&self.path) else { return Ok(None) };
        let current = numbered(&self.path, number);
        let Ok(directory) = Written::open(&current, &self.disk) else { return Ok(None) };
        let index = open_index(directory.clone()).map_err(|error| failed(self, &directory, error))?;
        TextWriter::of(self, number, (directory, index), passages, false).map(Some)
    }

    /// Starts an empty index beside the existing one, which stays in use until the first commit.
    pub fn start_over(&self, passages: usize) -> Result<TextWriter, Error> {
        if std::fs::symlink_metadata(&self.path).is_ok() && !seal::is_own(&self.path) {
            let what = "it is no folder, and links are not followed".to_owned();
            return Err(Error::Other { path: self.path.clone(), what });
        }
        let number = seal::current_number(&self.path).unwrap_or(0) + 1;
        let beside = numbered(&self.path, number);
        self.remove(&beside).map_err(Error::io(&beside))?;
        for folder in [&self.path, &beside] {
            self.disk.create_dir(folder).map_err(Error::io(folder))?;
        }
        let directory = Written::open(&beside, &self.disk).map_err(Error::text(&self.path))?;
        let index = create_index(directory.clone()).map_err(|error| failed(self, &directory, error))?;
        TextWriter::of(self, number, (directory, index), passages, true)
    }

    /// Removes folders no longer in use. Readers that have one open keep its files if the system
    /// allows it. A folder that cannot be removed now is removed the next time.
    pub(super) fn remove_others(&self, number: u64) {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let other = entry.file_name().to_str().and_then(|name| name.parse::<u64>().ok());
            if other.is_some_and(|other| other != number) {
                let _ = self.remove(&entry.path());
            }
        }
    }

    /// Removes a file, a link, or a folder with its contents, if it exists.
    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.is_dir() => {
                for entry in std::fs::read_dir(path)? {
                    self.remove(&entry?.path())?;
                }
                self.disk.remove_dir(path)
            }
            Ok(_) => self.disk.remove(path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }
}
