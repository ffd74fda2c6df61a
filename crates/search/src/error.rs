//! What can go wrong in this crate.

use std::path::{Path, PathBuf};

/// Why searching or indexing failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot use {}: {source}\nhint: {}", path.display(), retro_disk::help(source))]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text index said no.
    #[error("the text index in {} failed: {source}\nhint: retro rebuild text", path.display())]
    Text {
        /// Which folder.
        path: PathBuf,
        /// Why.
        source: Box<tantivy::TantivyError>,
    },
    /// The numbers of the ranking, which are part of the program, cannot be read.
    #[error("the numbers of the ranking cannot be read: {0}")]
    Ranking(serde_json::Error),
    /// A text could not be turned into a vector.
    #[error(transparent)]
    Embed(#[from] crate::embed::Error),
    /// The vectors could not be read or written.
    #[error(transparent)]
    Vectors(#[from] crate::vectors::Error),
    /// Something else about the index.
    #[error("the index in {}: {what}\nhint: retro rebuild text", path.display())]
    Other {
        /// Which folder.
        path: PathBuf,
        /// What.
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
