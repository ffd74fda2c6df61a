//! A disk with a limited capacity.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::{Disk, RealDisk};

/// A [`RealDisk`] with a limited number of free bytes. A write that is too large writes as much as
/// fits, as file systems do. Removing a file frees its space. Names and folders take no space.
#[derive(Debug)]
pub struct FullDisk {
    room: Mutex<Room>,
}

#[derive(Debug)]
struct Room {
    free_bytes: u64,
    least_free_bytes: u64,
}

impl FullDisk {
    /// A disk with this many free bytes.
    pub fn with_room(free_bytes: u64) -> FullDisk {
        FullDisk { room: Mutex::new(Room { free_bytes, least_free_bytes: free_bytes }) }
    }

    /// The lowest number of free bytes so far.
    pub fn least_free_bytes(&self) -> u64 {
        self.room().least_free_bytes
    }

    fn room(&self) -> MutexGuard<'_, Room> {
        self.room.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |meta| meta.len())
}

impl Room {
    /// The part of `bytes` that fits if the file grows by `grows`, and the system's result.
    fn take<'b>(&mut self, grows: u64, bytes: &'b [u8]) -> (&'b [u8], io::Result<()>) {
        let short = grows.saturating_sub(self.free_bytes);
        self.free_bytes -= grows - short;
        self.least_free_bytes = self.least_free_bytes.min(self.free_bytes);
        let fits = bytes.len().saturating_sub(usize::try_from(short).unwrap_or(usize::MAX));
        let result = if short == 0 { Ok(()) } else { Err(io::Error::from(io::ErrorKind::StorageFull)) };
        (bytes.get(..fits).unwrap_or_default(), result)
    }
}

impl Disk for FullDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.create_dir(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut room = self.room();
        room.free_bytes += size(path);
        let (fits, result) = room.take(bytes.len() as u64, bytes);
        RealDisk.write(path, fits)?;
        result
    }

    fn write_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let grows = (offset + bytes.len() as u64).saturating_sub(size(path));
        let (fits, result) = self.room().take(grows, bytes);
        RealDisk.write_at(path, offset, fits)?;
        result
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        self.room().free_bytes += size(path).saturating_sub(length);
        RealDisk.truncate(path, length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let replaced = size(to);
        RealDisk.rename(from, to)?;
        self.room().free_bytes += replaced;
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let gone = size(path);
        RealDisk.remove(path)?;
        self.room().free_bytes += gone;
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_dir(path)
    }

    fn restrict_dir(&self, path: &Path) -> io::Result<()> {
        RealDisk.restrict_dir(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        std::fs::metadata(path).map(drop)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::metadata(path).map(drop)
    }

    fn sync_everything(&self, _root: &Path) -> io::Result<bool> {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut_and_what_is_removed_makes_room() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one"), folder.path().join("two"));
        let disk = FullDisk::with_room(10);
        disk.write(&one, b"12345678").unwrap();
        let error = disk.write(&two, b"12345").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(std::fs::read(&two).unwrap(), b"12");
        disk.write_at(&one, 0, b"abcd").unwrap();
        disk.remove(&one).unwrap();
        disk.write(&two, b"12345").unwrap();
        disk.write_at(&two, 5, b"67890").unwrap();
        assert!(disk.write_at(&two, 10, b"!").is_err());
    }
}
