//! The embedding model in use, and how many passages have vectors.

use retro_engine::Config;
use retro_engine::stages::{Seen, vectors};
use retro_store::{Follow, Mark, RealDisk, Store};
use serde::Serialize;
use std::sync::Arc;

use crate::Error;

/// The result of `retro embed`.
#[derive(Debug, Clone, Serialize)]
pub struct EmbedView {
    /// `retro.embed/1`.
    pub schema: &'static str,
    /// The model's name, with a hash of its content.
    pub model: String,
    /// Dimensions of each vector.
    pub dimensions: usize,
    /// Vectors that are kept.
    pub vectors: u64,
    /// Total size of their files.
    pub bytes: u64,
    /// Passages without a current vector.
    pub missing: u64,
}

/// Reads the state of a store's vectors.
pub fn embed_status(config: &Config) -> Result<EmbedView, Error> {
    let embedder = vectors::embedder(config)?;
    let mut view = EmbedView {
        schema: "retro.embed/1",
        model: embedder.id().to_owned(),
        dimensions: embedder.dim(),
        vectors: 0,
        bytes: 0,
        missing: 0,
    };
    let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store,
        Err(error) if error.is_absent() => return Ok(view),
        Err(error) => return Err(error.into()),
    };
    let kept = vectors::open(&store, embedder.as_ref())?;
    view.vectors = kept.len() as u64;
    let files = std::fs::read_dir(store.vectors_folder()).into_iter().flatten().flatten();
    view.bytes = files.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum();
    if let Some(index) = store.index_if_there()? {
        let seen = Seen::parse(kept.mark()).unwrap_or_default();
        let missing = |mark| {
            index.changes_since(mark, &[Follow::Passages]).map(|changes| changes.passages.len() as u64)
        };
        view.missing = match vectors::is_partial(&seen) {
            true => missing(&Mark::default())?.saturating_sub(view.vectors),
            false => missing(&seen.mark)?,
        };
    }
    Ok(view)
}
