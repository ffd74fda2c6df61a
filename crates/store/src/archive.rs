//! One raw file: the bytes of one revision of a source, as zstd frames.
//!
//! Each data frame is followed by a commit frame (`commit.rs`) with the end of the captured bytes.
//! The last valid commit is the truth (`tail.rs`). Bytes after it belong to an unfinished write and
//! are cut by the next append. Reading (`read.rs`) returns only bytes whose chain was checked;
//! `compare.rs` compares a live source with them; `repack.rs` makes a quiet file small.
//!
//! **Invariant:** a committed byte is never changed, except by a mask over a text that was forgotten
//! (`crate::masks`). Only a state source is replaced as a whole, and a repack puts the same bytes
//! into other frames.
//!
//! Writing needs the store's lock, and one writer for each file.

pub(crate) mod commit;
mod compare;
mod frame;
mod read;
mod repack;
pub(crate) mod tail;

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use commit::Commit;
pub use compare::Comparison;
pub use read::ArchiveReader;

use crate::Error;
use crate::files::{Files, Worth, open_regular};
use crate::layout::part_of;
pub(crate) use frame::FRAME_BYTES_MAX;
use frame::Packer;
use tail::Depth;

/// One raw file of a store, which may not exist yet.
#[derive(Debug, Clone)]
pub struct Archive {
    files: Arc<Files>,
    standings: Arc<Standings>,
    path: PathBuf,
}

/// Valid ends of raw files that this process has checked, so that each tail is checked once.
#[derive(Debug, Default)]
pub(crate) struct Standings(Mutex<HashMap<PathBuf, Standing>>);

/// The valid end of a file of this length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    length: u64,
    commit: Option<Commit>,
}

impl Archive {
    pub(crate) fn new(files: Arc<Files>, standings: Arc<Standings>, path: PathBuf) -> Archive {
        Archive { files, standings, path }
    }

    /// Path of the raw file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The last commit. `None` if the file does not exist or has none.
    ///
    /// Reads only the last bytes if they are a settled commit. Otherwise everything since the last
    /// settled commit is checked, once in each process.
    pub fn tail(&self) -> Result<Option<Commit>, Error> {
        let Some((mut file, length)) = self.open()? else { return Ok(None) };
        Ok(self.standing(&mut file, length)?.commit)
    }

    /// Appends bytes of the source. `records` counts its whole lines up to the end of the chunk. An
    /// unfinished end of an earlier append is cut first. The bytes are durable after
    /// [`crate::Store::sync_all`].
    ///
    /// A large chunk gives several commits, so after an error call [`Archive::tail`] to find the
    /// end.
    pub fn append(&self, chunk: &[u8], records: u64) -> Result<Commit, Error> {
        self.append_packed(chunk, records, false)
    }

    /// Like [`Archive::append`]. With `small`, a new file, or one that was written only in this
    /// way, is compressed like a repacked one. Use it for a source that is already old.
    pub fn append_packed(&self, chunk: &[u8], records: u64, small: bool) -> Result<Commit, Error> {
        let standing = match self.standings.of(&self.path) {
            Some(absent @ Standing { length: 0, .. }) => {
                self.files.own(&self.path)?;
                absent
            }
            _ => match self.open()? {
                Some((mut file, length)) => self.standing(&mut file, length)?,
                None => Standing { length: 0, commit: None },
            },
        };
        if let (true, Some(commit)) = (chunk.is_empty(), standing.commit) {
            return Ok(commit);
        }
        self.grow(standing, chunk, records, small).inspect_err(|_| self.standings.forget(&self.path))
    }

    /// Records that the file does not exist, because its folder was just listed.
    pub fn note_absent(&self) {
        self.standings.learn(&self.path, Standing { length: 0, commit: None });
    }

    fn grow(&self, standing: Standing, chunk: &[u8], records: u64, small: bool) -> Result<Commit, Error> {
        let disk = &self.files.disk;
        let is_small = small && standing.commit.is_none_or(|commit| commit.packed);
        let packer = if is_small { Packer::growing_small } else { Packer::growing };
        let mut packer = packer(standing.commit).map_err(Error::io("compress for", &self.path))?;
        if let Some(folder) = self.path.parent()
            && standing.length == 0
        {
            self.files.ensure_dir(folder)?;
            self.files.touch_names(&self.path);
        }
        self.files.touch(&self.path);
        if standing.length > packer.offset() {
            disk.truncate(&self.path, packer.offset())
                .map_err(Error::io("cut the unfinished end of", &self.path))?;
        }
        let counted = standing.commit.map_or(0, |commit| commit.records);
        self.write_frames(&self.path, &mut packer, chunk, counted, records)
    }

    /// Replaces all of its bytes, for sources of kind state.
    pub fn replace(&self, bytes: &[u8], records: u64) -> Result<Commit, Error> {
        let mut packer = Packer::replacing().map_err(Error::io("compress for", &self.path))?;
        self.start_part()?;
        let part = part_of(&self.path);
        let commit = self.write_frames(&part, &mut packer, bytes, 0, records)?;
        self.settle_part(commit)?;
        Ok(commit)
    }

    /// Removes the file. Returns false if it did not exist.
    pub fn remove(&self) -> Result<bool, Error> {
        self.standings.forget(&self.path);
        self.files.remove(&part_of(&self.path), Worth::Cache)?;
        self.files.remove(&self.path, Worth::Truth)
    }

    /// Forgets the checked end of the file, because another file may replace it.
    pub(crate) fn forget_standing(&self) {
        self.standings.forget(&self.path);
    }

    /// Starts a new file beside this one, to replace it later.
    fn start_part(&self) -> Result<(), Error> {
        if let Some(folder) = self.path.parent() {
            self.files.ensure_dir(folder)?;
        }
        let part = part_of(&self.path);
        self.files.own(&part)?;
        self.files.disk.write(&part, &[]).map_err(Error::io("write", &part))
    }

    /// Replaces this file by the new one.
    fn settle_part(&self, commit: Commit) -> Result<(), Error> {
        self.standings.forget(&self.path);
        self.files.settle_part(&self.path, Worth::Truth)?;
        self.standings.learn(&self.path, Standing { length: commit.file_end(), commit: Some(commit) });
        Ok(())
    }

    /// Writes a chunk as frames at the packer's offset. `counted` lines came before the chunk, and
    /// `records` lines are before its end. Commits in between count line ends.
    fn write_frames(
        &self,
        path: &Path,
        packer: &mut Packer,
        chunk: &[u8],
        mut counted: u64,
        records: u64,
    ) -> Result<Commit, Error> {
        let mut rest = chunk;
        loop {
            let (piece, after) = rest.split_at(rest.len().min(FRAME_BYTES_MAX));
            rest = after;
            let here = if rest.is_empty() {
                records
            } else {
                counted += memchr::memchr_iter(b'\n', piece).count() as u64;
                counted.min(records)
            };
            let offset = packer.offset();
            let bytes = packer.pack(piece, here).map_err(Error::io("compress for", path))?;
            self.files.disk.write_at(path, offset, &bytes).map_err(Error::io("write", path))?;
            if let (true, Some(commit)) = (rest.is_empty(), packer.last()) {
                if path == self.path {
                    let standing = Standing { length: commit.file_end(), commit: Some(commit) };
                    self.standings.learn(path, standing);
                }
                return Ok(commit);
            }
        }
    }

    /// The valid end of the file, checked unless this process already has.
    fn standing(&self, file: &mut File, length: u64) -> Result<Standing, Error> {
        if let Some(standing) = self.known(file, length)? {
            return Ok(standing);
        }
        let commit = tail::standing(file, length, Depth::Unsettled).map_err(Error::raw(&self.path))?;
        let standing = Standing { length, commit };
        if commit.is_some_and(|commit| !commit.settled) {
            // Its writer was stopped before it could sync.
            self.files.touch(&self.path);
            self.files.touch_names(&self.path);
        }
        self.standings.learn_if_there(&self.path, standing);
        Ok(standing)
    }

    /// The checked end of the file, if this process has one for its present state.
    fn known(&self, file: &mut File, length: u64) -> Result<Option<Standing>, Error> {
        let Some(standing) = self.standings.of(&self.path).filter(|standing| standing.length == length)
        else {
            return Ok(None);
        };
        let Some(commit) = standing.commit.filter(|commit| commit.file_end() == length) else {
            return Ok(Some(standing));
        };
        // Another process may have replaced it by a file of the same length.
        let there = commit::read_at(file, commit.at).map_err(Error::io("read", &self.path))?;
        Ok(there.is_some_and(|there| there.hash == commit.hash).then_some(standing))
    }

    fn open(&self) -> Result<Option<(File, u64)>, Error> {
        self.files.own(&self.path)?;
        let Some(file) = open_regular(&self.path)? else { return Ok(None) };
        let length = file.metadata().map_err(Error::io("look at", &self.path))?.len();
        Ok(Some((file, length)))
    }
}

impl Standings {
    /// Files whose last known commit is not settled.
    pub(crate) fn unsettled(&self) -> HashMap<PathBuf, Commit> {
        let known = self.lock();
        let commits = known.iter().filter_map(|(path, standing)| Some((path.clone(), standing.commit?)));
        commits.filter(|(_, commit)| !commit.settled).collect()
    }

    /// Marks the last commit of a newly synced file as settled, unless the file has grown since
    /// `commit` or has an unfinished end.
    pub(crate) fn settle(&self, files: &Files, path: &Path, commit: &Commit) -> Result<(), Error> {
        let whole = Standing { length: commit.file_end(), commit: Some(*commit) };
        // Held until the mark is written. A repack that replaces the file by a shorter one forgets
        // it first, and so runs before this check or after this write.
        let mut standings = self.lock();
        if standings.get(path) != Some(&whole) {
            return Ok(());
        }
        let (offset, mark) = commit::settled_mark(commit);
        files.disk.write_at(path, offset, mark).map_err(Error::io("write", path))?;
        standings
            .insert(path.to_owned(), Standing { commit: Some(Commit { settled: true, ..*commit }), ..whole });
        Ok(())
    }

    /// Forgets the checked ends of the files in a folder.
    pub(crate) fn forget_folder(&self, folder: &Path) {
        self.lock().retain(|path, _| !path.starts_with(folder));
    }

    fn of(&self, path: &Path) -> Option<Standing> {
        self.lock().get(path).copied()
    }

    fn learn(&self, path: &Path, standing: Standing) {
        self.lock().insert(path.to_owned(), standing);
    }

    /// Remembers the end that was read from a file, unless the file was replaced meanwhile. A
    /// replacement forgets the old end first and learns the new one afterwards, so that no entry
    /// outlives its file.
    fn learn_if_there(&self, path: &Path, standing: Standing) {
        let mut standings = self.lock();
        if std::fs::metadata(path).is_ok_and(|meta| meta.len() == standing.length) {
            standings.insert(path.to_owned(), standing);
        }
    }

    pub(crate) fn forget(&self, path: &Path) {
        self.lock().remove(path);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Standing>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
