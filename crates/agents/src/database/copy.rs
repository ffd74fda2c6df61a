//! A private copy of a database, for as long as it takes to open it.
//!
//! A database holds prompts in plain text. The copy is in a folder that belongs to the user alone
//! (0700, its files 0600), inside the store where there is one. It is unlinked as soon as SQLite
//! has it open, where the platform allows that; a kill before that leaves it behind, and
//! [`remove_left_copies`] removes it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Locked as long as a copy is in use. The lock of a leftover copy is free.
const LOCK: &str = "lock";

/// A copy on disk. Dropping it removes it.
pub(super) struct Copy {
    path: PathBuf,
    folder: Option<tempfile::TempDir>,
    _lock: File,
}

impl Copy {
    /// Copies a database, and the files beside it that exist.
    pub(super) fn of(path: &Path, beside: &[PathBuf], copies: Option<&Path>) -> io::Result<Copy> {
        let folder = private_folder(copies)?;
        let lock = private().create_new(true).open(folder.path().join(LOCK))?;
        if lock.try_lock().is_err() {
            return Err(io::Error::other("another program took its copy for one that was left behind"));
        }
        let to = |from: &Path| folder.path().join(from.file_name().unwrap_or_default());
        copy_file(path, &to(path))?;
        for from in beside {
            match copy_file(from, &to(from)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(Copy { path: to(path), folder: Some(folder), _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Unlinks the copy after it was opened and read once: SQLite no longer needs the names.
    pub(super) fn opened(mut self) -> Copy {
        if cfg!(unix) {
            self.folder = None;
        }
        self
    }
}

/// Removes copies below this folder that are not in use: a kill left them.
pub fn remove_left_copies(copies: &Path) {
    let Ok(entries) = fs::read_dir(copies) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let lock = OpenOptions::new().write(true).open(entry.path().join(LOCK));
        let is_free = match &lock {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if is_free {
            // If it cannot be removed now, a later call tries again.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// A new folder with private permissions: below `copies`, or in the system's temporary folder if
/// `copies` cannot be written.
fn private_folder(copies: Option<&Path>) -> io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("database-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let below = |copies: &Path| {
        make_folder(copies)?;
        builder.tempdir_in(copies)
    };
    match copies.map(below) {
        Some(Ok(folder)) => Ok(folder),
        _ => builder.tempdir(),
    }
}

/// Makes a folder with private permissions, unless it exists.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // A link leads to a folder that is not ours.
        _ if path.symlink_metadata()?.is_dir() => Ok(()),
        _ => Err(io::Error::other("not a folder")),
    }
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = crate::open_regular(from)?;
    let mut copy = private().create_new(true).open(to)?;
    io::copy(&mut source, &mut copy).map(drop)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_the_users_alone_and_goes_with_its_value() {
        let folder = tempfile::tempdir().unwrap();
        let (source, copies) = (folder.path().join("a.sqlite"), folder.path().join("copies"));
        fs::write(&source, "bytes").unwrap();
        let copy = Copy::of(&source, &[folder.path().join("a.sqlite-wal")], Some(&copies)).unwrap();
        assert_eq!(fs::read(copy.path()).unwrap(), b"bytes");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&copies), 0o700);
            assert_eq!(mode(copy.path().parent().unwrap()), 0o700);
            assert_eq!(mode(copy.path()), 0o600);
        }
        remove_left_copies(&copies);
        assert!(copy.path().exists(), "it is in use");
        drop(copy);
        assert_eq!(fs::read_dir(&copies).unwrap().count(), 0);
    }

    #[test]
    fn what_a_kill_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let (source, copies) = (folder.path().join("a.sqlite"), folder.path().join("copies"));
        fs::write(&source, "bytes").unwrap();
        remove_left_copies(&copies);
        let mut copy = Copy::of(&source, &[], Some(&copies)).unwrap();
        let _left = copy.folder.take().unwrap().keep();
        drop(copy);
        fs::create_dir(copies.join("before-its-lock")).unwrap();
        assert_eq!(fs::read_dir(&copies).unwrap().count(), 2);
        remove_left_copies(&copies);
        assert_eq!(fs::read_dir(&copies).unwrap().count(), 0);
    }
}
