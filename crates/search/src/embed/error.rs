//! Errors of embedding models.

use std::path::PathBuf;

/// Why a text could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// This build cannot run models from files.
    #[error(
        "this retro cannot run embedding models from files\n\
         hint: build it with `--features embedding-runtime`, or leave `[embedding] model` out to use the \
         built-in one"
    )]
    Unavailable,
    /// The built-in model is malformed.
    #[error("the built-in embedding model is damaged: {0}\nhint: install retro again")]
    BuiltIn(&'static str),
    /// A model file cannot be used.
    #[error("cannot use the embedding model {}: {what}\nhint: name a GGUF file of an embedding model", path.display())]
    Model {
        /// The model file.
        path: PathBuf,
        /// The problem with it.
        what: String,
    },
    /// The model ran and failed.
    #[error("the embedding model failed: {0}")]
    Run(String),
}
