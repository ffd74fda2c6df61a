//! One writer at a time: an advisory lock of the operating system.
//!
//! It belongs to an open file, so it is released when its holder ends, in whatever way. The mere
//! existence of the lock file means nothing.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::layout::{INDEX, LOCK, MAKING};
use crate::{Error, Store};

/// Interval between two attempts of a waiting program.
const POLL: Duration = Duration::from_millis(20);

/// The right to write, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _held: File,
}

impl Store {
    /// Takes the lock if it is free.
    pub fn try_lock(&self) -> Result<Option<Lock>, Error> {
        let path = self.root().join(LOCK);
        let file = self.lock_file(&path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _held: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(Error::io("lock", &path)(error)),
        }
    }

    /// Waits for the right to create the index, a right held only for moments. It is not the
    /// writers' lock, because a mere query may create an index too.
    pub(crate) fn lock_making(&self) -> Result<Lock, Error> {
        let path = self.root().join(INDEX).join(MAKING);
        let file = self.lock_file(&path)?;
        file.lock().map_err(Error::io("lock", &path))?;
        Ok(Lock { _held: file })
    }

    /// Opens a file to lock, and creates it if necessary.
    fn lock_file(&self, path: &Path) -> Result<File, Error> {
        self.files.own(path)?;
        let open = || OpenOptions::new().read(true).write(true).open(path);
        let file = match open() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.files.disk.write_at(path, 0, &[]).map_err(Error::io("write", path))?;
                open()
            }
            opened => opened,
        };
        file.map_err(Error::io("open", path))
    }

    /// Waits for the lock. `None` if `stop` returns true first.
    pub fn lock(&self, stop: &dyn Fn() -> bool) -> Result<Option<Lock>, Error> {
        loop {
            if let Some(lock) = self.try_lock()? {
                return Ok(Some(lock));
            }
            if stop() {
                return Ok(None);
            }
            thread::sleep(POLL);
        }
    }
}
