//! The folder of vectors: numbered files, and `current`, which names the current one.
//!
//! A file is built under a new number, and only then named in `current`, with its length and last
//! hash. Everything up to there was on the medium, so readers need not check it again. Readers of
//! the previous file keep it.

use super::Error;
use retro_disk::Disk;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file that names the current vectors.
const CURRENT: &str = "current";

/// The temporary name of `current` before it is moved into place.
const CURRENT_NEW: &str = "current.new";

/// The extension of files with vectors.
const SUFFIX: &str = ".vectors";

/// How often a reader retries when the named file has just been removed.
const TRIES: usize = 16;

/// Maximum length of the file.
const CURRENT_BYTES_MAX: u64 = 1024;

/// Opens a regular file. `None` if there is none. A link, a pipe or a device counts as none:
/// everything here can be rebuilt.
pub(super) fn open_own(path: &Path) -> io::Result<Option<File>> {
    let opened =
        fs::symlink_metadata(path).and_then(|meta| meta.is_file().then(|| File::open(path)).transpose());
    match opened {
        // The file may disappear between the check and the open.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened,
    }
}

/// The content of `current`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Current {
    pub(super) number: u64,
    /// The data that was on the medium before the file was named.
    pub(super) synced: Synced,
}

/// The complete beginning of a file: its length, and the hash of its last batch. Empty by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Synced {
    pub(super) end: u64,
    pub(super) hash: u64,
}

impl Current {
    fn text(self) -> String {
        let Current { number, synced: Synced { end, hash } } = self;
        format!("{number:08}{SUFFIX} {end} {hash:016x}\n")
    }

    fn parse(text: &str) -> Option<Current> {
        let mut words = text.split_ascii_whitespace();
        let number = number(words.next()?)?;
        let (end, hash) = (words.next(), words.next());
        let end = end.and_then(|end| end.parse().ok()).zip(hash);
        let synced =
            end.and_then(|(end, hash)| Some(Synced { end, hash: u64::from_str_radix(hash, 16).ok()? }));
        Some(Current { number, synced: synced.unwrap_or_default() })
    }
}

/// The path of the files, and the disk that writes them.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    path: PathBuf,
    pub(super) disk: Arc<dyn Disk>,
}

impl Folder {
    pub(super) fn new(path: &Path, disk: Arc<dyn Disk>) -> Folder {
        Folder { path: path.to_owned(), disk }
    }

    /// The path of the file with this number.
    pub(super) fn file(&self, number: u64) -> PathBuf {
        self.path.join(format!("{number:08}{SUFFIX}"))
    }

    /// Opens the current file. `None` if there is none, or if `current` names a missing file.
    pub(super) fn current(&self) -> Result<Option<(Current, File)>, Error> {
        let mut missing = None;
        for _ in 0..TRIES {
            let Some(current) = self.named()? else { return Ok(None) };
            if missing == Some(current.number) {
                break;
            }
            let path = self.file(current.number);
            match open_own(&path) {
                Ok(Some(file)) => return Ok(Some((current, file))),
                Ok(None) => missing = Some(current.number),
                Err(error) => return Err(Error::io("open", &path)(error)),
            }
        }
        Ok(None)
    }

    /// True if `current` exists but is damaged or names a missing file. A crash before the first
    /// naming leaves no `current` at all.
    pub(super) fn is_current_damaged(&self) -> bool {
        let Ok(Some(text)) = self.current_text() else { return false };
        let is_as_written = |current: Current| {
            let name = current.text().split(' ').next().map(str::to_owned);
            text == current.text() || Some(text.trim_end()) == name.as_deref()
        };
        !Current::parse(&text).is_some_and(is_as_written) || !matches!(self.current(), Ok(Some(_)))
    }

    /// The raw text of `current`. `None` if the file is missing.
    fn current_text(&self) -> io::Result<Option<String>> {
        let Some(file) = open_own(&self.path.join(CURRENT))? else { return Ok(None) };
        let mut text = Vec::new();
        file.take(CURRENT_BYTES_MAX).read_to_end(&mut text)?;
        Ok(Some(String::from_utf8_lossy(&text).into_owned()))
    }

    fn named(&self) -> Result<Option<Current>, Error> {
        let text = self.current_text().map_err(Error::io("read", &self.path.join(CURRENT)))?;
        Ok(text.as_deref().and_then(Current::parse))
    }

    /// A number above all numbers in use. Creates the folder if needed.
    pub(super) fn next_number(&self) -> Result<u64, Error> {
        self.disk.create_dir(&self.path).map_err(Error::io("make", &self.path))?;
        let highest = self.numbers()?.into_iter().chain(self.named()?.map(|named| named.number)).max();
        Ok(highest.unwrap_or(0) + 1)
    }

    /// Makes this file the current one. It reaches the medium before its name does.
    pub(super) fn make_current(&self, made: Current) -> Result<(), Error> {
        let file = self.file(made.number);
        let (new, current) = (self.path.join(CURRENT_NEW), self.path.join(CURRENT));
        self.disk.sync_file(&file).map_err(Error::io("sync", &file))?;
        self.disk.write(&new, made.text().as_bytes()).map_err(Error::io("write", &new))?;
        self.disk.sync_file(&new).map_err(Error::io("sync", &new))?;
        self.disk.rename(&new, &current).map_err(Error::io("replace", &current))?;
        self.disk.sync_dir(&self.path).map_err(Error::io("sync", &self.path))
    }

    /// Removes the files before this one. A file that a reader on Windows has open is removed the
    /// next time.
    pub(super) fn remove_before(&self, number: u64) -> Result<(), Error> {
        for old in self.numbers()?.into_iter().filter(|old| *old < number) {
            let _ = self.disk.remove(&self.file(old));
        }
        Ok(())
    }

    fn numbers(&self) -> Result<Vec<u64>, Error> {
        let entries = fs::read_dir(&self.path).map_err(Error::io("list", &self.path))?;
        Ok(entries.flatten().filter_map(|entry| number(entry.file_name().to_str()?)).collect())
    }
}

/// The number in a file's name.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(SUFFIX)?;
    // Leaves room for further numbers.
    let is_number =
        !digits.is_empty() && digits.len() < 19 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}
