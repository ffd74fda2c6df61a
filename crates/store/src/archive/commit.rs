//! The commit frame: everything before it in a raw file is committed.
//!
//! It is a zstd skippable frame, so that every zstd program skips it, and it always has the same
//! size, so that the last one is found with a single read. Its check covers its own offset, so a
//! copy of it elsewhere, say inside a captured source, is invalid. The byte layout is a public
//! contract, documented in `docs/formats/store.md`.

use std::io::{self, Read, Seek, SeekFrom};

/// Size of a commit frame, its header included.
pub(crate) const COMMIT_BYTES: u64 = 112;

const FRAME_BYTES: usize = COMMIT_BYTES as usize;
const FRAME_MAGIC: u32 = 0x184D_2A52;
const PAYLOAD_BYTES: u32 = 104;
const MAGIC: &[u8; 8] = b"retrolog";
const VERSION: u32 = 1;
const PACKED: u32 = 1;
const NO_COMMIT: u64 = u64::MAX;
const CHECK_AT: usize = 88;
const CHECK_BYTES: usize = 16;
const SETTLED_AT: usize = 104;
const SETTLED: &[u8; 8] = b"settled.";

/// One commit of a raw file, decoded from its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Commit {
    /// Bytes of the source that are captured up to here.
    pub end: u64,
    /// Whole lines among them.
    pub records: u64,
    /// Chain value: the hash of the value before it and the bytes since then.
    pub hash: [u8; 32],
    /// Offset of the frame in the raw file.
    pub(crate) at: u64,
    /// Offset of its data frame, or of the commit frame itself if it has none.
    pub(crate) data: u64,
    /// Whether it was written by a repack.
    pub(crate) packed: bool,
    /// Whether all bytes before it are known to be on the medium.
    pub(crate) settled: bool,
}

impl Commit {
    /// First byte of the raw file after the frame.
    pub(crate) fn file_end(&self) -> u64 {
        self.at + COMMIT_BYTES
    }

    /// Offset of the previous commit frame.
    pub(crate) fn previous(&self) -> Option<u64> {
        self.data.checked_sub(COMMIT_BYTES)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FRAME_BYTES);
        bytes.extend(FRAME_MAGIC.to_le_bytes());
        bytes.extend(PAYLOAD_BYTES.to_le_bytes());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend(if self.packed { PACKED } else { 0 }.to_le_bytes());
        bytes.extend(self.end.to_le_bytes());
        bytes.extend(self.records.to_le_bytes());
        bytes.extend(self.data.to_le_bytes());
        bytes.extend(self.previous().unwrap_or(NO_COMMIT).to_le_bytes());
        bytes.extend(self.hash);
        bytes.extend(check(self.at, &bytes));
        bytes.extend(if self.settled { SETTLED } else { &[0; 8] });
        bytes
    }

    /// Decodes the commit frame at offset `at`. `None` if the bytes are not a valid one.
    pub(crate) fn decode(bytes: &[u8], at: u64) -> Option<Commit> {
        at.checked_add(COMMIT_BYTES)?;
        let bytes: &[u8; FRAME_BYTES] = bytes.try_into().ok()?;
        let checked = bytes.get(..CHECK_AT)?;
        if bytes.get(CHECK_AT..SETTLED_AT)? != check(at, checked) {
            return None;
        }
        let mut fields = Fields(checked);
        let known = fields.u32()? == FRAME_MAGIC
            && fields.u32()? == PAYLOAD_BYTES
            && fields.take::<8>()? == *MAGIC
            && fields.u32()? == VERSION;
        let packed = fields.u32()? & PACKED != 0;
        let (end, records, data) = (fields.u64()?, fields.u64()?, fields.u64()?);
        let previous = fields.u64()?;
        let hash = fields.take::<32>()?;
        let settled = bytes.get(SETTLED_AT..)? == SETTLED;
        let commit = Commit { end, records, hash, at, data, packed, settled };
        // A data frame directly follows the previous commit. The first one starts the file.
        let linked = data <= at
            && previous == commit.previous().unwrap_or(NO_COMMIT)
            && (previous != NO_COMMIT || data == 0);
        (known && linked).then_some(commit)
    }
}

/// The offset and the bytes that mark a commit as settled.
pub(crate) fn settled_mark(commit: &Commit) -> (u64, &'static [u8]) {
    (commit.at + SETTLED_AT as u64, SETTLED)
}

/// Whether a raw file ends like one whose last commit was settled, even if that commit is
/// unreadable.
pub(crate) fn ends_settled(tail: &[u8]) -> bool {
    tail.ends_with(SETTLED)
}

/// The bytes that a search for commit frames looks for.
pub(crate) fn needle() -> Vec<u8> {
    let mut bytes = FRAME_MAGIC.to_le_bytes().to_vec();
    bytes.extend(PAYLOAD_BYTES.to_le_bytes());
    bytes.extend(MAGIC);
    bytes
}

/// The next value of the chain.
pub(crate) fn chain(before: Option<&Commit>, bytes: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&before.map_or([0; 32], |commit| commit.hash));
    hasher.update(bytes);
    *hasher.finalize().as_bytes()
}

/// Reads the commit frame at an offset. `None` if there is none.
pub(crate) fn read_at(file: &mut (impl Read + Seek), at: u64) -> io::Result<Option<Commit>> {
    let mut bytes = [0; FRAME_BYTES];
    file.seek(SeekFrom::Start(at))?;
    match file.read_exact(&mut bytes) {
        Ok(()) => Ok(Commit::decode(&bytes, at)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn check(at: u64, bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&at.to_le_bytes());
    hasher.update(bytes);
    let mut check = [0; CHECK_BYTES];
    hasher.finalize_xof().fill(&mut check);
    check
}

/// Reads numbers from the front of a slice.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*field)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit() -> Commit {
        Commit { end: 7, records: 2, hash: [9; 32], at: 300, data: 200, packed: true, settled: false }
    }

    #[test]
    fn a_frame_reads_back_only_where_it_was_written() {
        let bytes = commit().encode();
        assert_eq!(bytes.len() as u64, COMMIT_BYTES);
        assert_eq!(Commit::decode(&bytes, 300), Some(commit()));
        assert_eq!(Commit::decode(&bytes, 301), None);
    }

    #[test]
    fn every_changed_byte_but_the_mark_breaks_it() {
        let good = commit().encode();
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x20;
            let read = Commit::decode(&bytes, 300);
            assert_eq!(read, (at >= SETTLED_AT).then(commit), "byte {at}");
        }
    }

    #[test]
    fn the_mark_settles_it_in_place() {
        let mut bytes = commit().encode();
        let (at, mark) = settled_mark(&commit());
        let at = (at - 300) as usize;
        bytes[at..at + mark.len()].copy_from_slice(mark);
        assert_eq!(Commit::decode(&bytes, 300), Some(Commit { settled: true, ..commit() }));
        assert!(ends_settled(&bytes));
    }
}
