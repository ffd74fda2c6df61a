//! Errors of building and serving the page.

use std::path::PathBuf;

/// Why a dashboard could not be built or served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store, or a query, failed.
    #[error(transparent)]
    Retro(#[from] retro::Error),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] retro::engine::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] retro::store::Error),
    /// A file of the folder cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file's path.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The folder contains other files.
    #[error("{path} is not empty and no dashboard; name another folder with --out")]
    NotOurs {
        /// The folder's path.
        path: PathBuf,
    },
    /// The dashboard does not contain the session.
    #[error("the dashboard has no chunks of {0}; run `retro dashboard build`")]
    Missing(PathBuf),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The value cannot be written as JSON.
    #[error("cannot write JSON: {0}")]
    Json(String),
    /// The server cannot start.
    #[error("cannot serve on 127.0.0.1:{port}: {source}")]
    Serve {
        /// The requested port.
        port: u16,
        /// The system's error.
        source: std::io::Error,
    },
}
