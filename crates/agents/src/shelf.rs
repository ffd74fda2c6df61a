//! Storage for the large parts of drafts while a session is settled.

use std::io;

/// Stores the large parts of drafts until their events are complete.
pub trait Shelf {
    /// Stores some bytes and returns their position.
    fn put(&mut self, bytes: &[u8]) -> io::Result<Shelved>;
    /// Reads stored bytes back.
    fn get(&mut self, at: Shelved) -> io::Result<Vec<u8>>;
    /// Removes all stored bytes.
    fn clear(&mut self) -> io::Result<()>;
}

/// The position of bytes on a [`Shelf`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shelved {
    /// Offset of the first byte.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}
