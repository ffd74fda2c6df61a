//! Whether the index belongs to the files beside it.
//!
//! Each folder of truth holds a small file, its *mark*, with a random text that is new
//! whenever something in the folder was changed. The index remembers the marks it was
//! written with. If they differ, the index is of another time: somebody put a backup
//! back, or a program was stopped before it could write the index. Then the files are
//! believed, and the index is held against each of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::documents::KINDS;
use crate::error::RESTORE;
use crate::layout::{INDEX, MARK, RAW};
use crate::{Error, Index, Store, Writer, head};

/// The marks of all folders of truth, by folder. A folder without a mark has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks(BTreeMap<&'static str, String>);

/// The folders that have one.
fn marked() -> impl Iterator<Item = &'static str> {
    // What was mined is read from its files whenever the index is new.
    let mut folders: Vec<&'static str> =
        KINDS.iter().filter(|kind| kind.is_truth()).map(|kind| kind.folder()).chain([RAW]).collect();
    folders.dedup();
    folders.into_iter()
}

impl Store {
    /// The marks as they are on the disk.
    pub fn marks(&self) -> Marks {
        let read = |folder| {
            let path = self.root().join(folder).join(MARK);
            // A pipe would make us wait.
            let is_ours = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() < 1024);
            Some((folder, is_ours.then(|| fs::read_to_string(path).ok()).flatten()?))
        };
        Marks(marked().filter_map(read).collect())
    }

    /// Size and time of the files of the index: while these are the same, so is what it says.
    pub fn index_looks(&self) -> String {
        let path = self.root().join(INDEX).join(Index::FILE);
        let look = |path: &Path| {
            // A log of changes without any comes and goes with its readers.
            let meta = fs::symlink_metadata(path).ok().filter(|meta| meta.len() > 0)?;
            Some((meta.len(), meta.modified().ok()?))
        };
        format!("{:?} {:?}", look(&path), look(&path.with_extension("sqlite-wal")))
    }

    /// Gives the folders new marks in which something was changed.
    pub(crate) fn renew_marks(&self) -> Result<(), Error> {
        let changed = self.files.take_changed();
        if changed.is_empty() {
            return Ok(());
        }
        let mark = head::random_hex(8);
        for folder in marked().filter(|folder| changed.contains(*folder)) {
            let path = self.root().join(folder).join(MARK);
            self.files.ensure_dir(&self.root().join(folder))?;
            self.files.own(&path)?;
            if fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) {
                let what = "it is not a regular file".to_owned();
                return Err(Error::Damaged { path, what, help: RESTORE });
            }
            // Torn or lost it differs from what the index has, which is all it says.
            self.files.disk.write(&path, mark.as_bytes()).map_err(Error::io("write", &path))?;
        }
        Ok(())
    }
}

impl Index {
    /// The marks that it was last written with.
    pub fn marks(&self) -> Result<Marks, Error> {
        let mut marks = BTreeMap::new();
        for folder in marked() {
            marks.extend(self.meta(&key(folder))?.map(|mark| (folder, mark)));
        }
        Ok(Marks(marks))
    }
}

impl Writer<'_> {
    /// Says that the index belongs to files with these marks.
    pub fn put_marks(&self, marks: &Marks) -> Result<(), Error> {
        marks.0.iter().try_for_each(|(folder, mark)| self.set_meta(&key(folder), mark))
    }
}

fn key(folder: &str) -> String {
    format!("mark:{folder}")
}
