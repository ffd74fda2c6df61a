//! What can go wrong while the page is made or served.

use std::path::PathBuf;

/// Why a dashboard could not be made or served.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store or a question about it.
    #[error(transparent)]
    Retro(#[from] retro::Error),
    /// The engine.
    #[error(transparent)]
    Engine(#[from] retro::engine::Error),
    /// The store.
    #[error(transparent)]
    Store(#[from] retro::store::Error),
    /// A file of the folder.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A folder that holds something else.
    #[error("{path} is not empty and no dashboard; name another folder with --out")]
    NotOurs {
        /// Which folder.
        path: PathBuf,
    },
    /// A session that the dashboard does not hold.
    #[error("the dashboard has no chunks of {0}; run `retro dashboard build`")]
    Missing(PathBuf),
    /// Reading or writing.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A value that is no JSON.
    #[error("cannot write JSON: {0}")]
    Json(String),
    /// The server.
    #[error("cannot serve on 127.0.0.1:{port}: {source}")]
    Serve {
        /// Which port.
        port: u16,
        /// Why.
        source: std::io::Error,
    },
}
