//! Maps part of a file into memory.

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io;

/// Bytes `from..to` of a file, which the system reads on access.
///
/// Only for files whose content never changes: vector files grow at the end, and are replaced by
/// files with another name, never truncated or overwritten.
#[expect(unsafe_code, reason = "a map is only as constant as its file, which the type system cannot see")]
pub(super) fn map(file: &File, from: u64, to: u64) -> io::Result<Mmap> {
    let length = usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?;
    // SAFETY: retro's own writers never change or truncate written bytes, see above. The bytes are
    // read as plain numbers only, for which every pattern is valid.
    unsafe { MmapOptions::new().offset(from).len(length).map(file) }
}
