//! Writes tantivy's files through a [`Disk`], like everything else in a store.
//!
//! tantivy itself reads and locks its files. Writes, removals and syncs go through the disk. Faults
//! can therefore be tested here too, and only the user can read the files.

use retro_disk::Disk;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tantivy::directory::error::{DeleteError, LockError, OpenDirectoryError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, Directory, DirectoryLock, FileHandle, Lock, MmapDirectory, TerminatingWrite,
    WatchCallback, WatchHandle, WritePtr,
};

/// Bytes buffered before they are written.
const GATHERED_BYTES_MAX: usize = 256 * 1024;

/// A folder that tantivy uses.
#[derive(Debug, Clone)]
pub(super) struct Written {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    reading: MmapDirectory,
    refused: Arc<Mutex<Option<(PathBuf, io::Error)>>>,
}

impl Written {
    pub(super) fn open(folder: &Path, disk: &Arc<dyn Disk>) -> Result<Written, OpenDirectoryError> {
        Ok(Written {
            folder: folder.to_owned(),
            disk: Arc::clone(disk),
            reading: MmapDirectory::open(folder)?,
            refused: Arc::default(),
        })
    }

    /// The first error of the disk, if any. tantivy writes in threads of its own, and may only
    /// report that one of them ended.
    pub(super) fn refused(&self) -> Option<(PathBuf, io::Error)> {
        self.remembered().take()
    }

    /// Remembers the disk's first error.
    fn said<T>(&self, path: &Path, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let copy = io::Error::new(error.kind(), error.to_string());
            self.remembered().get_or_insert((path.to_owned(), error));
            copy
        })
    }

    fn remembered(&self) -> MutexGuard<'_, Option<(PathBuf, io::Error)>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Directory for Written {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.reading.get_file_handle(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.reading.exists(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.reading.atomic_read(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let full = self.folder.join(path);
        match self.disk.remove(&full) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(DeleteError::FileDoesNotExist(path.to_owned()))
            }
            // A file that could not be removed does no harm. The next removal retries.
            result => result.map_err(|error| DeleteError::IoError {
                io_error: Arc::new(error),
                filepath: path.to_owned(),
            }),
        }
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let full = self.folder.join(path);
        if std::fs::symlink_metadata(&full).is_ok() {
            return Err(OpenWriteError::FileAlreadyExists(path.to_owned()));
        }
        let made = self.said(&full, self.disk.write(&full, &[]));
        made.map_err(|error| OpenWriteError::wrap_io_error(error, path.to_owned()))?;
        let file = Growing { of: self.clone(), path: full, gathered: Vec::new(), written: 0 };
        Ok(BufWriter::new(Box::new(file)))
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let full = self.folder.join(path);
        let beside = full.with_extension("new");
        self.said(&beside, self.disk.write(&beside, bytes))?;
        self.said(&beside, self.disk.sync_file(&beside))?;
        self.said(&full, self.disk.rename(&beside, &full))
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.said(&self.folder, self.disk.sync_dir(&self.folder))
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        // tantivy would create the file with default permissions.
        let full = self.folder.join(&lock.filepath);
        self.said(&full, self.disk.write_at(&full, 0, &[])).map_err(LockError::wrap_io_error)?;
        self.reading.acquire_lock(lock)
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.reading.watch(callback)
    }
}

/// A file under construction.
struct Growing {
    of: Written,
    path: PathBuf,
    gathered: Vec<u8>,
    /// Bytes in the file, without the buffered ones.
    written: u64,
}

impl Write for Growing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= GATHERED_BYTES_MAX {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.gathered.is_empty() {
            let Growing { of, path, gathered, written } = self;
            of.said(path, of.disk.write_at(path, *written, gathered))?;
            self.written += self.gathered.len() as u64;
            self.gathered.clear();
        }
        Ok(())
    }
}

impl TerminatingWrite for Growing {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.flush()?;
        self.of.said(&self.path, self.of.disk.sync_file(&self.path))
    }
}
