//! A disk that stops working.
//!
//! Every operation has a number from 1, and a store can be stopped after any of them. A test counts
//! the operations of an undisturbed run, then stops after each in turn.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Disk, RealDisk};

/// How long the failure lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fails {
    /// One operation fails, the ones after it work.
    Once,
    /// That operation and all after it fail.
    ForEver,
}

/// A [`RealDisk`] that works for some operations and then fails. A write that fails leaves half of
/// its bytes, as a kill during the write would, or the part set with
/// [`leaving`](FailingDisk::leaving).
#[derive(Debug)]
pub struct FailingDisk {
    works: u64,
    fails: Fails,
    kind: io::ErrorKind,
    tenths: usize,
    asked: Mutex<Vec<(&'static str, PathBuf)>>,
}

impl FailingDisk {
    /// A disk on which this many operations work.
    pub fn after(works: u64, fails: Fails) -> Self {
        FailingDisk { works, fails, kind: io::ErrorKind::Other, tenths: 5, asked: Mutex::default() }
    }

    /// The same disk with this reason for failing.
    pub fn because(mut self, kind: io::ErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same disk, but a failed write leaves this many tenths of its bytes: 0 for none, 10 for
    /// all.
    pub fn leaving(mut self, tenths: usize) -> Self {
        self.tenths = tenths.min(10);
        self
    }

    /// A disk that only counts operations.
    pub fn counting() -> Self {
        Self::after(u64::MAX, Fails::ForEver)
    }

    /// The number of operations so far.
    pub fn operations(&self) -> u64 {
        self.asked().len() as u64
    }

    /// The operations so far: the name of each, and its file or folder. For a rename, the new name.
    pub fn log(&self) -> Vec<(&'static str, PathBuf)> {
        self.asked().clone()
    }

    /// True if it has failed at least once.
    pub fn has_failed(&self) -> bool {
        self.operations() > self.works
    }

    fn step(&self, operation: &'static str, path: &Path) -> io::Result<()> {
        let mut asked = self.asked();
        asked.push((operation, path.to_owned()));
        let number = asked.len() as u64;
        let fails = match self.fails {
            Fails::Once => self.works.checked_add(1) == Some(number),
            Fails::ForEver => number > self.works,
        };
        if fails { Err(io::Error::new(self.kind, format!("stopped at operation {number}"))) } else { Ok(()) }
    }

    fn left<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        bytes.get(..bytes.len() * self.tenths / 10).unwrap_or_default()
    }

    fn asked(&self) -> MutexGuard<'_, Vec<(&'static str, PathBuf)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for FailingDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step("create_dir", path)?;
        RealDisk.create_dir(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.step("write", path)
            .inspect_err(|_| RealDisk.write(path, self.left(bytes)).unwrap_or_default())?;
        RealDisk.write(path, bytes)
    }

    fn write_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.step("write_at", path)
            .inspect_err(|_| RealDisk.write_at(path, offset, self.left(bytes)).unwrap_or_default())?;
        RealDisk.write_at(path, offset, bytes)
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        self.step("truncate", path)?;
        RealDisk.truncate(path, length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step("rename", to)?;
        RealDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step("remove", path)?;
        RealDisk.remove(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.step("remove_dir", path)?;
        RealDisk.remove_dir(path)
    }

    fn restrict_dir(&self, path: &Path) -> io::Result<()> {
        self.step("restrict_dir", path)?;
        RealDisk.restrict_dir(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.step("sync_file", path)?;
        std::fs::metadata(path).map(drop)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step("sync_dir", path)?;
        std::fs::metadata(path).map(drop)
    }

    fn sync_everything(&self, root: &Path) -> io::Result<bool> {
        self.step("sync_everything", root)?;
        Ok(true)
    }
}
