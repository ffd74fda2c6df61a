//! What can go wrong while text becomes vectors.

use std::path::PathBuf;

/// Why there is no vector.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The program was built without what it needs to run a model from a file.
    #[error(
        "this retro cannot run embedding models from files\n\
         hint: build it with `--features embedding-runtime`, or leave `[embedding] model` out to use the \
         built-in one"
    )]
    Unavailable,
    /// The model that is part of the program is not what its format says.
    #[error("the built-in embedding model is damaged: {0}\nhint: install retro again")]
    BuiltIn(&'static str),
    /// A model file cannot be used.
    #[error("cannot use the embedding model {}: {what}\nhint: name a GGUF file of an embedding model", path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The model ran and failed.
    #[error("the embedding model failed: {0}")]
    Run(String),
}
