//! Why a command stopped.

use std::fmt;
use std::path::Path;

/// A whole sentence: what went wrong, where, and what helps.
#[derive(Debug)]
pub(crate) struct Failure(String);

impl Failure {
    /// A failure that says this.
    pub(crate) fn new(message: impl Into<String>) -> Failure {
        Failure(message.into())
    }

    /// A failure with a file or folder.
    pub(crate) fn at(path: &Path, error: impl fmt::Display) -> Failure {
        Failure(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failure {}
