//! Reading raw files back, as a stream or one piece.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use super::commit::Commit;
use super::frame::Unpacker;
use super::{Archive, tail};
use crate::Error;

/// The committed bytes of a raw file, in order. Each frame is checked before its first byte is
/// returned. A difference is an error that names the file.
pub struct ArchiveReader {
    path: PathBuf,
    file: Option<File>,
    unpacker: Unpacker,
    before: Option<Commit>,
    ahead: std::vec::IntoIter<Commit>,
    piece: Vec<u8>,
    taken: usize,
}

impl Archive {
    /// The committed bytes as a stream, empty if the file does not exist.
    pub fn read(&self) -> Result<ArchiveReader, Error> {
        let (file, commits) = match self.view()? {
            Some((file, commits)) => (Some(file), commits),
            None => (None, Vec::new()),
        };
        Ok(ArchiveReader {
            path: self.path.clone(),
            file,
            unpacker: Unpacker::new().map_err(Error::io("decompress", &self.path))?,
            before: None,
            ahead: commits.into_iter(),
            piece: Vec::new(),
            taken: 0,
        })
    }

    /// A range of the committed bytes. Reads only the frames that hold it.
    pub fn read_range(&self, offset: u64, length: u64) -> Result<Vec<u8>, Error> {
        let outside = |end| Error::Range { path: self.path.clone(), offset, length, end };
        let Some((mut file, tip)) = self.glance()? else {
            return if (offset, length) == (0, 0) { Ok(Vec::new()) } else { Err(outside(0)) };
        };
        let stop =
            offset.checked_add(length).filter(|stop| *stop <= tip.end).ok_or_else(|| outside(tip.end))?;
        let trail = tail::trail(&mut file, tip, |commit| commit.end <= offset);
        let commits = trail.map_err(Error::raw(&self.path))?;
        let mut unpacker = Unpacker::new().map_err(Error::io("decompress", &self.path))?;
        let mut bytes = Vec::new();
        let mut before: Option<Commit> = None;
        for commit in &commits {
            let start = before.map_or(0, |before| before.end);
            let wanted = before.is_some() || commit.previous().is_none();
            if wanted && start < stop && offset < commit.end {
                let piece = unpacker.unpack(&mut file, before.as_ref(), commit);
                let piece = piece.map_err(Error::raw(&self.path))?;
                // Both ends are inside one frame, so they fit in memory.
                let from = offset.saturating_sub(start) as usize;
                let to = (stop.min(commit.end) - start) as usize;
                bytes.extend_from_slice(piece.get(from..to).unwrap_or_default());
            }
            before = Some(*commit);
        }
        Ok(bytes)
    }

    /// All commits, in ascending order.
    pub fn commits(&self) -> Result<Vec<Commit>, Error> {
        Ok(self.view()?.map_or_else(Vec::new, |(_, commits)| commits))
    }

    /// The open file with all its commits.
    pub(super) fn view(&self) -> Result<Option<(File, Vec<Commit>)>, Error> {
        let Some((mut file, tip)) = self.glance()? else { return Ok(None) };
        let commits = tail::trail(&mut file, tip, |_| false).map_err(Error::raw(&self.path))?;
        Ok(Some((file, commits)))
    }

    /// The open file with its last commit. Like [`Archive::tail`], but the frames before a torn end
    /// are not checked: the caller checks every frame that it reads.
    fn glance(&self) -> Result<Option<(File, Commit)>, Error> {
        let Some((mut file, length)) = self.open()? else { return Ok(None) };
        let tip = match self.known(&mut file, length)? {
            Some(standing) => standing.commit,
            None => match tail::last_before(&mut file, length).map_err(Error::raw(&self.path))? {
                // A power cut may have lost its data, so the commit is not trusted yet.
                Some(tip) if !tip.settled => self.standing(&mut file, length)?.commit,
                tip => tip,
            },
        };
        Ok(tip.map(|tip| (file, tip)))
    }
}

impl Read for ArchiveReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.piece.len() {
            let (Some(file), Some(commit)) = (&mut self.file, self.ahead.next()) else { return Ok(0) };
            let unpacked = self.unpacker.unpack(file, self.before.as_ref(), &commit);
            self.piece = unpacked
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.path.display())))?;
            self.taken = 0;
            self.before = Some(commit);
        }
        let rest = self.piece.get(self.taken..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        let (Some(from), Some(to)) = (rest.get(..count), buffer.get_mut(..count)) else { return Ok(0) };
        to.copy_from_slice(from);
        self.taken += count;
        Ok(count)
    }
}
