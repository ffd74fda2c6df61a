//! What people wrote and decided about memories: JSON lines that only grow, and notes as
//! Markdown. Plain files: they may be read and changed by hand.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

use crate::files::{Entry, Worth, entries, read_regular};
use crate::{Error, Lock, Store};

/// Memories that were added by command.
pub const ITEMS: &str = "memories/items.jsonl";
/// What was decided about memories.
pub const EVENTS: &str = "memories/events.jsonl";
/// What was shown to which session.
pub const EXPOSURES: &str = "exposures.jsonl";

/// What runs of models used.
pub const SPENT: &str = "headless/tokens.jsonl";

/// The folder of notes.
pub(crate) const AUTHORED: &str = "memories/authored";
/// Bytes of a note that are read; of a longer one only its size is known.
const NOTE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Folders inside folders of notes.
const DEPTH_MAX: usize = 8;

/// A note: its path, and its text or why it cannot be read.
pub type Note = (PathBuf, Result<String, String>);

/// The lines of a file with their numbers, and those that cannot be read.
pub type Lines<T> = (Vec<(usize, T)>, Vec<BadLine>);

/// A line that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// It is not a whole line: what a power cut left of one that was never reported.
    pub is_torn: bool,
}

/// Whether a line begins and ends as one that was written, and has no hole.
fn is_whole(line: &[u8]) -> bool {
    line.starts_with(b"{") && line.ends_with(b"}") && !line.contains(&0)
}

impl Store {
    /// The lines of a file, and those that cannot be read. A torn last line, as a power cut
    /// leaves it, is one of these.
    pub fn journal<T: DeserializeOwned>(&self, name: &str) -> Result<(Vec<T>, Vec<BadLine>), Error> {
        let (lines, bad) = self.journal_lines(name)?;
        Ok((lines.into_iter().map(|(_, value)| value).collect(), bad))
    }

    /// The same, with the number of each line.
    pub fn journal_lines<T: DeserializeOwned>(&self, name: &str) -> Result<Lines<T>, Error> {
        let path = self.root().join(name);
        self.files.own(&path)?;
        let bytes = read_regular(&path)?.unwrap_or_default();
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

    /// Adds lines to a file. They are on the medium when it returns.
    pub fn append(&self, _lock: &Lock, name: &str, lines: &[impl Serialize]) -> Result<(), Error> {
        self.append_held(name, lines)
    }

    /// The same, where the caller holds the lock.
    pub fn append_held(&self, name: &str, lines: &[impl Serialize]) -> Result<(), Error> {
        let path = self.root().join(name);
        self.files.ensure_dir(path.parent().unwrap_or(self.root()))?;
        self.files.own(&path)?;
        let known = read_regular(&path)?.unwrap_or_default();
        let mut bytes = Vec::new();
        // What a power cut left of a line stays a line of its own.
        if known.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        for line in lines {
            serde_json::to_writer(&mut bytes, line)
                .map_err(|error| Error::io("write", &path)(error.into()))?;
            bytes.push(b'\n');
        }
        let disk = &self.files.disk;
        disk.write_at(&path, known.len() as u64, &bytes).map_err(Error::io("write", &path))?;
        disk.sync_file(&path).map_err(Error::io("sync", &path))
    }

    /// Puts other lines in the place of all of a file.
    pub fn put_journal(&self, _lock: &Lock, name: &str, lines: &[impl Serialize]) -> Result<(), Error> {
        let path = self.root().join(name);
        let mut bytes = Vec::new();
        for line in lines {
            serde_json::to_writer(&mut bytes, line)
                .map_err(|error| Error::io("write", &path)(error.into()))?;
            bytes.push(b'\n');
        }
        self.files.put(&path, &bytes, Worth::Truth)
    }

    /// Changes or drops lines of a file; those that cannot be read stay as they are. The caller
    /// holds the lock.
    pub fn change_journal<T: Serialize + DeserializeOwned + PartialEq>(
        &self,
        name: &str,
        change: impl Fn(&T) -> Option<T>,
    ) -> Result<(), Error> {
        let path = self.root().join(name);
        self.files.own(&path)?;
        let known = read_regular(&path)?.unwrap_or_default();
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
        self.files.put(&path, &bytes, Worth::Truth)
    }

    /// Removes a note. The caller holds the lock.
    pub fn remove_note(&self, path: &Path) -> Result<(), Error> {
        self.files.remove(path, Worth::Truth).map(drop)
    }

    /// Names what people wrote and decided, as it is now: a memory that was made from something
    /// else may have been rejected since. What was shown is not part of it.
    pub fn memory_files(&self) -> Result<String, Error> {
        let mut hasher = blake3::Hasher::new();
        for name in [ITEMS, EVENTS] {
            let path = self.root().join(name);
            self.files.own(&path)?;
            let bytes = read_regular(&path)?.unwrap_or_default();
            hasher.update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
        }
        let mut notes = self.note_entries()?;
        notes.sort_by(|a, b| a.path.cmp(&b.path));
        for note in notes {
            let path = note.path.strip_prefix(self.root()).unwrap_or(&note.path);
            let modified = note.path.symlink_metadata().and_then(|meta| meta.modified()).ok();
            let stamp = format!("{}\0{}\0{modified:?}\n", path.display(), note.size);
            hasher.update(stamp.as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Every note below `memories/authored`: its path, and its text if it can be read.
    pub fn notes(&self) -> Result<Vec<Note>, Error> {
        let mut notes = Vec::new();
        for entry in self.note_entries()? {
            let text = if entry.size > NOTE_BYTES_MAX {
                Err("it is too long for a note".to_owned())
            } else {
                let bytes = read_regular(&entry.path)?.unwrap_or_default();
                String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
            };
            notes.push((entry.path, text));
        }
        notes.sort();
        Ok(notes)
    }

    fn note_entries(&self) -> Result<Vec<Entry>, Error> {
        let mut notes = Vec::new();
        let mut folders = vec![(self.root().join(AUTHORED), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for entry in entries(&folder)? {
                if entry.is_dir && depth < DEPTH_MAX {
                    folders.push((entry.path, depth + 1));
                } else if entry.is_file && entry.path.extension().is_some_and(|ending| ending == "md") {
                    notes.push(entry);
                }
            }
        }
        Ok(notes)
    }

    /// Keeps a note, under a name that it does not have yet.
    pub fn put_note(&self, _lock: &Lock, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.root().join(AUTHORED).join(format!("{}.md", crate::names::encode(name)));
        self.files.put(&path, text.as_bytes(), Worth::Truth)?;
        Ok(path)
    }

    /// The folder of notes, made if it is missing.
    pub fn notes_folder(&self) -> Result<PathBuf, Error> {
        let path = self.root().join(AUTHORED);
        self.files.ensure_dir(&path)?;
        Ok(path)
    }
}
