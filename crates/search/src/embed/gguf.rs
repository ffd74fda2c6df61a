//! Embedding models from GGUF files, run by llama.cpp.
//!
//! Only in a program that was built with the feature `embedding-runtime`; any other
//! says so ([`Error::Unavailable`]).

use super::{Embedder, Error};
use std::path::PathBuf;

#[cfg(feature = "embedding-runtime")]
mod runtime;

/// Which model to run, and with what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// The GGUF file.
    pub model: PathBuf,
    /// Layers that a graphics processor computes; 0 = none.
    pub gpu_layers: u32,
    /// Texts that are embedded at once, each by one thread; `None` = one for each processor.
    pub threads: Option<usize>,
    /// The same; it wins if both are set.
    pub threads_batch: Option<usize>,
}

/// Loads a model.
///
/// ```
/// use retro_search::embed::{Error, gguf};
///
/// let options = gguf::Options { model: "missing.gguf".into(), ..Default::default() };
/// let error = gguf::open(&options).err();
/// # #[cfg(not(feature = "embedding-runtime"))]
/// assert!(matches!(error, Some(Error::Unavailable)));
/// # #[cfg(feature = "embedding-runtime")]
/// # assert!(matches!(error, Some(Error::Model { .. })));
/// ```
pub fn open(options: &Options) -> Result<Box<dyn Embedder>, Error> {
    load(options)
}

#[cfg(feature = "embedding-runtime")]
fn load(options: &Options) -> Result<Box<dyn Embedder>, Error> {
    Ok(Box::new(runtime::Model::load(options)?))
}

#[cfg(not(feature = "embedding-runtime"))]
fn load(_: &Options) -> Result<Box<dyn Embedder>, Error> {
    Err(Error::Unavailable)
}
