//! A live file, read in pieces from an offset, with a check of the bytes before it.
//!
//! A log may be rewritten while it is read. The last bytes read are remembered, and the file must
//! still contain them before the next piece is accepted.

use retro_agents::{Encoding, Found, Held};
use std::cell::RefCell;
use std::io::{self, Read};

use crate::discover::Cut;
use crate::door::{Door, LiveFile};

/// Bytes before the captured end that must still be there before an append is trusted.
pub(crate) const TAIL_BYTES: u64 = 64 * 1024;

/// Bytes of one frame.
pub(super) const CHUNK_BYTES: usize = 4 * 1024 * 1024;

thread_local! {
    /// The buffer for the next piece, reused from file to file.
    static PIECE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Lends this thread's buffer for pieces of a source.
pub(super) fn lend() -> Vec<u8> {
    PIECE.take()
}

/// Returns a buffer that [`lend`] gave out.
pub(super) fn give_back(piece: Vec<u8>) {
    PIECE.replace(piece);
}

/// A live source opened at an offset.
pub(super) struct Live {
    rest: Rest,
    /// The last bytes before the offset.
    pub before: Vec<u8>,
    /// Bytes that the file had after the offset when it was opened. `None` if compressed.
    length: u64,
}

/// The bytes after the offset, by how they can be read.
enum Rest {
    /// A plain file, read up to `at`. The same handle can read earlier bytes.
    File { file: LiveFile, at: u64 },
    /// A stream that can only be read forward.
    Stream(Box<dyn Read>),
}

impl Live {
    /// Reads the next piece into `chunk`; it is empty at the end.
    pub(super) fn next(&mut self, chunk: &mut Vec<u8>) -> io::Result<()> {
        chunk.clear();
        chunk.reserve(self.length.min(CHUNK_BYTES as u64) as usize + 1);
        match &mut self.rest {
            Rest::Stream(rest) => rest.take(CHUNK_BYTES as u64).read_to_end(chunk).map(drop),
            Rest::File { file, at } => {
                file.read_at(*at, CHUNK_BYTES as u64, chunk)?;
                *at += chunk.len() as u64;
                Ok(())
            }
        }
    }

    /// Whether the bytes before `end` are still those that were read. At the start of the file,
    /// compares the beginning of the first chunk instead: a rewrite starts there, so a new version
    /// shows.
    pub(super) fn still(&mut self, end: u64, last: &LastBytes, chunk: &[u8]) -> io::Result<bool> {
        let Rest::File { file, .. } = &mut self.rest else { return Ok(true) };
        if end > 0 {
            return Ok(file.before(end, TAIL_BYTES)? == last.0);
        }
        let head = chunk.get(..TAIL_BYTES as usize).unwrap_or(chunk);
        Ok(file.before(head.len() as u64, TAIL_BYTES)? == head)
    }
}

/// Opens a source at an offset. `rows` holds its bytes if they come from a database.
pub(super) fn open_at(
    door: &Door,
    found: &Found,
    rows: Option<&[u8]>,
    offset: u64,
    cut: &Cut,
) -> io::Result<Live> {
    if let Some(rows) = rows {
        let (before, rest) = rows.split_at_checked(offset as usize).unwrap_or((rows, &[]));
        let mut last = LastBytes::default();
        last.push(before);
        let length = rest.len() as u64;
        let rest = Rest::Stream(Box::new(io::Cursor::new(rest.to_vec())));
        return Ok(Live { rest, before: last.0, length });
    }
    match &found.held {
        Held::File { encoding: Encoding::Plain, .. } => {
            let mut file = door.file(&found.path)?;
            let before = if offset > 0 { file.before(offset, TAIL_BYTES)? } else { Vec::new() };
            let length = file.length()?.saturating_sub(offset);
            Ok(Live { rest: Rest::File { file, at: offset }, before, length })
        }
        Held::File { encoding: Encoding::Zstd, .. } | Held::Rows { .. } | Held::Files { .. } => {
            let mut rest = door.open(found, cut)?;
            let mut last = LastBytes::default();
            let mut buffer = vec![0; 256 * 1024];
            let mut left = offset;
            while left > 0 {
                let want = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                let count = rest.read(&mut buffer[..want])?;
                if count == 0 {
                    return Err(io::Error::other("it became shorter while it was read"));
                }
                last.push(&buffer[..count]);
                left -= count as u64;
            }
            Ok(Live { rest: Rest::Stream(rest), before: last.0, length: 0 })
        }
    }
}

/// The last bytes that were read.
#[derive(Default)]
pub(super) struct LastBytes(pub Vec<u8>);

impl LastBytes {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let keep = TAIL_BYTES as usize;
        if bytes.len() >= keep {
            self.0.clear();
            self.0.extend_from_slice(&bytes[bytes.len() - keep..]);
            return;
        }
        let excess = (self.0.len() + bytes.len()).saturating_sub(keep);
        self.0.drain(..excess);
        self.0.extend_from_slice(bytes);
    }

    pub(super) fn hash(&self) -> blake3::Hash {
        blake3::hash(&self.0)
    }
}

/// Lines that end in these bytes.
pub(super) fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
