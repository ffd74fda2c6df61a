//! Places of people's memories and decisions: the names of their journals, and notes as Markdown.
//! They are plain files that people may read and change.

use std::path::{Path, PathBuf};

use crate::files::{Entry, Worth, entries, read_regular};
use crate::{Error, Lock, Store};

/// Memories that were added by command.
pub const ITEMS: &str = "memories/items.jsonl";
/// Decisions about memories, by people and by retro.
pub const EVENTS: &str = "memories/events.jsonl";
/// Memories that were shown, by session.
pub const EXPOSURES: &str = "exposures.jsonl";

/// Tokens that model runs used.
pub const SPENT: &str = "headless/tokens.jsonl";

/// The folder of notes.
pub(crate) const AUTHORED: &str = "memories/authored";
/// Bytes of a note that are read. A longer note only counts by its size.
const NOTE_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Levels of folders inside the folder of notes.
const DEPTH_MAX: usize = 8;

/// A note: its path, and its text or the reason why it is unreadable.
pub type Note = (PathBuf, Result<String, String>);

impl Store {
    /// Removes a note. The caller holds the lock.
    pub fn remove_note(&self, path: &Path) -> Result<(), Error> {
        self.files.remove(path, Worth::Truth).map(drop)
    }

    /// Names the present state of people's memories and decisions, because a memory that was made
    /// from something else may have been rejected since. Exposures are not part of it.
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

    /// Stores a note under an unused name.
    pub fn put_note(&self, _lock: &Lock, name: &str, text: &str) -> Result<PathBuf, Error> {
        let path = self.root().join(AUTHORED).join(format!("{}.md", crate::names::encode(name)));
        self.files.put(&path, text.as_bytes(), Worth::Truth)?;
        Ok(path)
    }

    /// The folder of notes, created if necessary.
    pub fn notes_folder(&self) -> Result<PathBuf, Error> {
        let path = self.root().join(AUTHORED);
        self.files.ensure_dir(&path)?;
        Ok(path)
    }
}
