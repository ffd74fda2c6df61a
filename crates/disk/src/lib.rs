//! The one layer for all writes of retro, except SQLite's own.
//!
//! Each method of [`Disk`] is one operation that can fail, be counted, or be lost: writes and syncs
//! are separate, so that a test can stop after any of them, and a simulated power cut can drop
//! writes that are not yet synced. Reading needs no such layer and uses the standard library
//! directly.
//!
//! **Invariant.** Everything that is created here belongs to the user alone: folders 0700, files
//! 0600.
//!
//! A leaf: it does not depend on the store, the index or any format.
#![deny(missing_docs)]

mod help;
mod real;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use help::help;
pub use real::RealDisk;

use std::fmt;
use std::io;
use std::path::Path;

/// Writes the files of a store and its index.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Creates one folder. It may exist already.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates a file with these bytes, or replaces its content.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Writes into a file at an offset. Creates the file if it does not exist.
    fn write_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Truncates a file to a length.
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()>;
    /// Moves a file over another, or to a new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes all permissions of a folder except its owner's.
    fn restrict_dir(&self, path: &Path) -> io::Result<()>;
    /// Waits until a file's bytes are on the medium.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Waits until a folder's entries are on the medium.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Waits until all earlier writes to the file system of `root` are on the medium, including
    /// names. Returns false if the system has no such call.
    fn sync_everything(&self, root: &Path) -> io::Result<bool>;
}
