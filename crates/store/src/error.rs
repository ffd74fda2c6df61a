//! Errors of a store, each with its place and with advice.

use rusqlite::ErrorCode;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The reason why the store could not do its work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system returned an error.
    #[error("cannot {doing} {}: {source}; {}", path.display(), retro_disk::help(source))]
    Io {
        /// Verb for the failed operation.
        doing: &'static str,
        /// File or folder of the operation.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The folder contains no store.
    #[error("there is no store at {}; `retro sync` makes one, --root names another place", .0.display())]
    Missing(PathBuf),
    /// A folder with foreign files and without a store.
    #[error("{} is not empty and holds no store; name an empty or new folder with --root", .0.display())]
    Foreign(PathBuf),
    /// The root is a link that leads nowhere.
    #[error("{} is a link to a place that is not there; make that folder, or name another with --root", .0.display())]
    Dangling(PathBuf),
    /// A store of the Python program.
    #[error(
        "{} is a store of the Python retro; `retro sync --from {}` brings its sessions into a new one",
        .0.display(), .0.display()
    )]
    Seed(PathBuf),
    /// Made by a later version of retro.
    #[error(
        "{} has format {found}, this retro reads up to {known}; update retro, nothing was changed",
        path.display()
    )]
    Newer {
        /// The file with the unknown format.
        path: PathBuf,
        /// Format number of the file.
        found: u32,
        /// The highest number that this retro can read.
        known: u32,
    },
    /// A link inside the root points to another place.
    #[error(
        "{} is a link, and retro follows none inside a store; put the file or folder itself in its place, \
         or name another store with --root",
        .0.display()
    )]
    Link(PathBuf),
    /// The contents of a file are not those that were written.
    #[error("{} is damaged: {what}; {help}", path.display())]
    Damaged {
        /// Path of the damaged file.
        path: PathBuf,
        /// The problem, for people.
        what: String,
        /// Advice for people.
        help: &'static str,
    },
    /// The requested range is beyond the end of a raw file.
    #[error(
        "{} holds {end} bytes, not {length} from {offset} on; `retro sync` reads the source again",
        path.display()
    )]
    Range {
        /// Path of the raw file.
        path: PathBuf,
        /// First byte of the requested range.
        offset: u64,
        /// Length of the range.
        length: u64,
        /// Bytes in the file.
        end: u64,
    },
    /// The live source that is compared with a raw file cannot be read.
    #[error("cannot read the source: {0}; it is looked at again by the next `retro sync`")]
    Source(#[source] io::Error),
    /// SQLite returned an error.
    #[error("cannot use the index {}: {source}; {}", path.display(), index_help(source))]
    Index {
        /// Path of the database.
        path: PathBuf,
        /// The error of SQLite.
        source: rusqlite::Error,
    },
}

/// Advice about any file that is only a cache.
pub(crate) const REBUILD: &str = "it is only a cache: `retro rebuild` makes it anew";

/// Advice about ledgers.
pub(crate) const RESTORE_LEDGER: &str = "`retro rebuild ledger` makes it anew while the raw files are there";

/// Advice about raw files.
pub(crate) const RESTORE: &str =
    "`retro verify --deep` shows how far it is good; put it back from a backup if you have one";

impl Error {
    /// For `map_err`: the file system failed to do this here.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    }

    /// For `map_err` on raw files: invalid bytes are damage, and any other error comes from the
    /// file system.
    pub(crate) fn raw(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| match source.kind() {
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                // The reader's error already names the file, as ours does.
                let text = source.to_string();
                let what = text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text).to_owned();
                Error::Damaged { path, what, help: RESTORE }
            }
            _ => Error::Io { doing: "read", path, source },
        }
    }

    /// For `map_err` on the database: makes an error with its path.
    pub(crate) fn index(path: &Path) -> impl FnOnce(rusqlite::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Index { path, source }
    }

    /// Whether no store exists here yet.
    pub fn is_absent(&self) -> bool {
        matches!(self, Error::Missing(_))
    }

    /// Whether the place cannot be written, though it may be readable.
    pub fn is_unwritable(&self) -> bool {
        match self {
            Error::Io { source, .. } => {
                matches!(source.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
            }
            Error::Index { source, .. } => is_unwritable(source),
            _ => false,
        }
    }

    /// Whether the index itself is broken, so that rebuilding it helps.
    pub fn is_broken_index(&self) -> bool {
        matches!(self, Error::Index { source, .. } if is_broken(source))
    }
}

/// Whether SQLite reports that its file is not a database, is damaged, or holds an invalid value.
pub(crate) fn is_broken(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
        || matches!(error, FromSqlConversionFailure(..) | InvalidColumnType(..) | IntegralValueOutOfRange(..))
}

fn is_unwritable(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    matches!(code, Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen))
}

fn index_help(error: &rusqlite::Error) -> &'static str {
    if is_unwritable(error) {
        return "make the folder yours again (owner and mode), mount it for writing, or name another with --root";
    }
    // Shared memory and pages that cannot be written: SQLite has no better word for a full disk.
    let is_unwritten = |error: &rusqlite::ffi::Error| {
        let written = [rusqlite::ffi::SQLITE_IOERR_SHMSIZE, rusqlite::ffi::SQLITE_IOERR_WRITE];
        written.contains(&error.extended_code)
    };
    if error.sqlite_error().is_some_and(is_unwritten) {
        return "the disk may be full: free some space and run the command again; what was captured is safe";
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "free some space and run the command again; what was captured is safe",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another retro is writing to it; run the command again when it is done"
        }
        _ => REBUILD,
    }
}
