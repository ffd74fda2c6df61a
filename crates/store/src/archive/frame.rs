//! Data frames: a piece of a source as one zstd frame, with its chain value.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use zstd::bulk::{Compressor, Decompressor};

use super::commit::{Commit, chain};

/// Source bytes of the largest frame. Reading holds at most one in memory.
pub(crate) const FRAME_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Levels of zstd: for bytes captured while a user waits, and for files that are packed for good.
/// The first one makes files an eighth larger than level 3 does, in half the time, and they are
/// packed a day later.
const FAST: i32 = 1;
const SMALL: i32 = 9;

/// Makes the frames of one raw file.
pub(crate) struct Packer {
    compressor: Compressor<'static>,
    packed: bool,
    /// Marks commits as settled: the file is synced before any reader can see it.
    settled: bool,
    last: Option<Commit>,
}

impl Packer {
    /// For frames after `last`: fast, as they are captured.
    pub(crate) fn growing(last: Option<Commit>) -> io::Result<Packer> {
        Packer::new(FAST, false, false, last)
    }

    /// For frames after `last`: small, for a source that is already old when it is captured.
    pub(crate) fn growing_small(last: Option<Commit>) -> io::Result<Packer> {
        Packer::new(SMALL, true, false, last)
    }

    /// For a whole file that replaces the old one at once.
    pub(crate) fn replacing() -> io::Result<Packer> {
        Packer::new(FAST, false, true, None)
    }

    /// For a whole file that is packed for good.
    pub(crate) fn packing() -> io::Result<Packer> {
        Packer::new(SMALL, true, true, None)
    }

    fn new(level: i32, packed: bool, settled: bool, last: Option<Commit>) -> io::Result<Packer> {
        let mut compressor = Compressor::new(level)?;
        compressor.include_checksum(true)?;
        compressor.include_contentsize(true)?;
        Ok(Packer { compressor, packed, settled, last })
    }

    /// The last commit, made here or passed in.
    pub(crate) fn last(&self) -> Option<Commit> {
        self.last
    }

    /// Offset of the next bytes in the raw file.
    pub(crate) fn offset(&self) -> u64 {
        self.last.map_or(0, |commit| commit.file_end())
    }

    /// Makes a data frame and its commit frame. Without bytes it makes only a commit.
    pub(crate) fn pack(&mut self, piece: &[u8], records: u64) -> io::Result<Vec<u8>> {
        let data = self.offset();
        let mut bytes = if piece.is_empty() { Vec::new() } else { self.compressor.compress(piece)? };
        let commit = Commit {
            end: self.last.map_or(0, |commit| commit.end) + piece.len() as u64,
            records,
            hash: chain(self.last.as_ref(), piece),
            at: data + bytes.len() as u64,
            data,
            packed: self.packed,
            settled: self.settled,
        };
        bytes.extend(commit.encode());
        self.last = Some(commit);
        Ok(bytes)
    }
}

/// Reads frames back. A frame that does not match its commit is [`io::ErrorKind::InvalidData`].
pub(crate) struct Unpacker {
    decompressor: Decompressor<'static>,
    frame: Vec<u8>,
}

impl Unpacker {
    pub(crate) fn new() -> io::Result<Unpacker> {
        Ok(Unpacker { decompressor: Decompressor::new()?, frame: Vec::new() })
    }

    /// The source bytes between two adjacent commits, checked by the chain.
    pub(crate) fn unpack(
        &mut self,
        file: &mut File,
        before: Option<&Commit>,
        commit: &Commit,
    ) -> io::Result<Vec<u8>> {
        let start = before.map_or(0, |before| before.end);
        let bad = |what: &str| {
            let place = format!("source bytes {start} to {}", commit.end);
            io::Error::new(io::ErrorKind::InvalidData, format!("{place} {what}"))
        };
        let length = piece_length(before, commit).ok_or_else(|| bad("are more than a frame may hold"))?;
        let frame_length = usize::try_from(commit.at.saturating_sub(commit.data)).unwrap_or(usize::MAX);
        if frame_length > zstd::zstd_safe::compress_bound(FRAME_BYTES_MAX) {
            return Err(bad("take more room than a frame may"));
        }
        self.frame.resize(frame_length, 0);
        file.seek(SeekFrom::Start(commit.data))?;
        file.read_exact(&mut self.frame)?;
        let mut piece = Vec::with_capacity(length);
        if frame_length > 0 {
            self.decompressor
                .decompress_to_buffer(&self.frame, &mut piece)
                .map_err(|error| bad(&format!("do not decompress ({error})")))?;
        }
        if piece.len() != length || chain(before, &piece) != commit.hash {
            return Err(bad("do not have the hash of their commit"));
        }
        Ok(piece)
    }
}

/// Number of source bytes between two adjacent commits, if it is within the limit.
pub(crate) fn piece_length(before: Option<&Commit>, commit: &Commit) -> Option<usize> {
    let length = commit.end.checked_sub(before.map_or(0, |before| before.end))?;
    usize::try_from(length).ok().filter(|length| *length <= FRAME_BYTES_MAX)
}
