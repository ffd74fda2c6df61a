//! Where the heavy parts of drafts wait while a large session is settled.

use std::io;

/// Keeps the heavy parts of drafts until their events are handed out.
pub trait Shelf {
    /// Keeps some bytes.
    fn put(&mut self, bytes: &[u8]) -> io::Result<Shelved>;
    /// Gives them back.
    fn get(&mut self, at: Shelved) -> io::Result<Vec<u8>>;
    /// Forgets all of them.
    fn clear(&mut self) -> io::Result<()>;
}

/// A place on a [`Shelf`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shelved {
    /// Where it begins.
    pub offset: u64,
    /// How long it is.
    pub length: u64,
}
