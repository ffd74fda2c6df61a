//! What can go wrong in a store, each with its place and what helps.

use rusqlite::ErrorCode;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("cannot {doing} {}: {source}; {}", path.display(), retro_disk::help(source))]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no store here.
    #[error("there is no store at {}; `retro sync` makes one, --root names another place", .0.display())]
    Missing(PathBuf),
    /// Somebody else's folder.
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
        /// The file that says so.
        path: PathBuf,
        /// Its number.
        found: u32,
        /// The highest number known here.
        known: u32,
    },
    /// Something inside the root leads elsewhere.
    #[error(
        "{} is a link, and retro follows none inside a store; put the file or folder itself in its place, \
         or name another store with --root",
        .0.display()
    )]
    Link(PathBuf),
    /// A file does not hold what was written into it.
    #[error("{} is damaged: {what}; {help}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
        /// What to do.
        help: &'static str,
    },
    /// More was asked of a raw file than it holds.
    #[error(
        "{} holds {end} bytes, not {length} from {offset} on; `retro sync` reads the source again",
        path.display()
    )]
    Range {
        /// Which file.
        path: PathBuf,
        /// First byte asked for.
        offset: u64,
        /// How many.
        length: u64,
        /// Bytes it holds.
        end: u64,
    },
    /// The live source that is compared with a raw file cannot be read.
    #[error("cannot read the source: {0}; it is looked at again by the next `retro sync`")]
    Source(#[source] io::Error),
    /// SQLite refused.
    #[error("cannot use the index {}: {source}; {}", path.display(), index_help(source))]
    Index {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// Help for anything that is only a cache.
pub(crate) const REBUILD: &str = "it is only a cache: `retro rebuild` makes it anew";

/// Help for ledgers.
pub(crate) const RESTORE_LEDGER: &str = "`retro rebuild ledger` makes it anew while the raw files are there";

/// Help for raw files.
pub(crate) const RESTORE: &str =
    "`retro verify --deep` shows how far it is good; put it back from a backup if you have one";

impl Error {
    /// For `map_err`: the file system refused to do this here.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { doing, path, source }
    }

    /// For `map_err` on raw files: bytes that make no sense are damage, anything
    /// else is the file system's.
    pub(crate) fn raw(path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_owned();
        move |source| match source.kind() {
            ErrorKind::InvalidData | ErrorKind::UnexpectedEof => {
                // A reader's error names the file, and so do we.
                let text = source.to_string();
                let what = text.strip_prefix(&format!("{}: ", path.display())).unwrap_or(&text).to_owned();
                Error::Damaged { path, what, help: RESTORE }
            }
            _ => Error::Io { doing: "read", path, source },
        }
    }

    /// For `map_err` on the database.
    pub(crate) fn index(path: &Path) -> impl FnOnce(rusqlite::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Index { path, source }
    }

    /// Whether there simply is no store here yet.
    pub fn is_absent(&self) -> bool {
        matches!(self, Error::Missing(_))
    }

    /// Whether nothing can be written there, though it may be read.
    pub fn is_unwritable(&self) -> bool {
        match self {
            Error::Io { source, .. } => {
                matches!(source.kind(), ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied)
            }
            Error::Index { source, .. } => is_unwritable(source),
            _ => false,
        }
    }

    /// Whether the index itself is broken, so that making it anew helps.
    pub fn is_broken_index(&self) -> bool {
        matches!(self, Error::Index { source, .. } if is_broken(source))
    }
}

/// Whether SQLite says that its file is none, or no whole one, or a value in it is none of ours.
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
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "free some space and run the command again; what was captured is safe",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another retro is writing to it; run the command again when it is done"
        }
        _ => REBUILD,
    }
}
