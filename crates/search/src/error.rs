//! Errors of this crate.

use std::path::{Path, PathBuf};

/// Why searching or indexing failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot use {}: {source}\nhint: {}", path.display(), retro_disk::help(source))]
    Io {
        /// The file's path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The text index reported an error.
    #[error("the text index in {} failed: {source}\nhint: retro rebuild text", path.display())]
    Text {
        /// The index folder.
        path: PathBuf,
        /// tantivy's own error.
        source: Box<tantivy::TantivyError>,
    },
    /// The built-in ranking parameters cannot be parsed.
    #[error("the numbers of the ranking cannot be read: {0}")]
    Ranking(serde_json::Error),
    /// A text could not be turned into a vector.
    #[error(transparent)]
    Embed(#[from] crate::embed::Error),
    /// The vectors could not be read or written.
    #[error(transparent)]
    Vectors(#[from] crate::vectors::Error),
    /// Another problem with the index.
    #[error("the index in {}: {what}\nhint: retro rebuild text", path.display())]
    Other {
        /// The index folder.
        path: PathBuf,
        /// A description of the problem.
        what: String,
    },
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Error {
        let path = path.to_owned();
        move |source| Error::Io { path, source }
    }

    pub(crate) fn text<E: Into<tantivy::TantivyError>>(path: &Path) -> impl Fn(E) -> Error {
        let path = path.to_owned();
        move |source| Error::Text { path: path.clone(), source: Box::new(source.into()) }
    }
}
