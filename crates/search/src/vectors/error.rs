//! Errors of vector files.

use std::io;
use std::path::{Path, PathBuf};

/// Why vectors could not be read or stored. Damaged files are not an error: they count as empty.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file system refused.
    #[error("cannot {doing} {}: {source}\nhint: {}", path.display(), retro_disk::help(source))]
    Io {
        /// The operation, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A vector has the wrong dimension for these files.
    #[error("a vector has {found} values, the files hold vectors of {expected}")]
    Dimension {
        /// Values of the vector.
        found: usize,
        /// Values of each vector in the files.
        expected: usize,
    },
    /// More rows, or a longer mark, than the format can count.
    #[error("too much for one file of vectors: {0}")]
    TooMuch(&'static str),
    /// Another process wrote to the files at the same time.
    #[error("{} was changed while vectors were written\nhint: run the command again", .0.display())]
    Disturbed(PathBuf),
}

impl Error {
    /// For `map_err`: adds the operation and the file.
    pub(super) fn io<'a>(doing: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + 'a {
        move |source| Error::Io { doing, path: path.to_owned(), source }
    }
}
