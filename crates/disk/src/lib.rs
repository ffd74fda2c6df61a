//! The one layer through which every write of ours goes, SQLite's own apart.
//!
//! Each method of [`Disk`] is one operation that can fail, be counted, or be lost: writes
//! and syncs are kept apart, so that a test can stop after any of them, and a
//! simulated power cut can drop what was written and not yet synced. Reading
//! needs no such layer and uses the standard library directly.
//!
//! **Invariant.** Whatever is made here belongs to the user alone: folders 0700, files 0600.
//!
//! A leaf: it knows no store, no index and no format.
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

/// Where a store, its index included, is written.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Makes one folder; it may exist already.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Makes a file with these bytes, or puts them in place of what it held.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Writes into a file at an offset; makes the file if there is none.
    fn write_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file.
    fn truncate(&self, path: &Path, length: u64) -> io::Result<()>;
    /// Moves a file over another, or to a new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Removes an empty folder.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// Takes a folder's rights from everybody but its owner.
    fn restrict_dir(&self, path: &Path) -> io::Result<()>;
    /// Waits until a file's bytes are on the medium.
    fn sync_file(&self, path: &Path) -> io::Result<()>;
    /// Waits until a folder's names are on the medium.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Waits until everything that was written to the file system of `root` is on the
    /// medium, names too; false if the system has no such call.
    fn sync_everything(&self, root: &Path) -> io::Result<bool>;
}
