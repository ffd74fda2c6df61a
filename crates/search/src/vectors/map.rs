//! A part of a file as memory.

use memmap2::{Mmap, MmapOptions};
use std::fs::File;
use std::io;

/// Bytes `from..to` of a file, read by the system when they are looked at.
///
/// Only for files that keep what they hold: vector files grow at their end, and are
/// replaced by files of another name, never cut or overwritten.
#[expect(unsafe_code, reason = "a map is only as constant as its file, which the type system cannot see")]
pub(super) fn map(file: &File, from: u64, to: u64) -> io::Result<Mmap> {
    let length = usize::try_from(to.saturating_sub(from)).map_err(io::Error::other)?;
    // SAFETY: our own writers never change or cut bytes that were written, see above. The
    // bytes are read as plain numbers only, for which every pattern is valid.
    unsafe { MmapOptions::new().offset(from).len(length).map(file) }
}
