//! Turns text into vectors, so that a search finds texts with a similar meaning that share no word.
//!
//! An [`Embedder`] is one model. [`BuiltIn`] is a table of word pieces that is part of
//! the program: it needs no download, starts at once, and reads tens of megabytes a
//! second. [`gguf::open`] runs a larger model from a file, if the program was built
//! with `embedding-runtime`.
//!
//! Vectors of different models are not comparable. Each model therefore has an
//! [`id`](Embedder::id), which is stored beside its vectors.

mod built_in;
mod characters;
mod embedding;
mod error;
pub mod gguf;
mod pieces;
mod table;
mod word_cache;
mod words;

pub use built_in::BuiltIn;
pub(crate) use built_in::UNRELATED;
pub use embedding::Embedding;
pub use error::Error;

/// A model that turns texts into vectors.
///
/// ```
/// use retro_search::embed::{BuiltIn, Embedder};
///
/// let model = BuiltIn::new()?;
/// let texts = ["the connection timed out", "network timeout while connecting", "bake the bread"];
/// let vectors = model.embed(&texts)?;
/// assert_eq!(vectors[0].dim(), model.dim());
/// assert!(vectors[0].cosine(&vectors[1]) > 0.5);
/// assert!(vectors[0].cosine(&vectors[2]) < 0.3);
/// # Ok::<(), retro_search::embed::Error>(())
/// ```
pub trait Embedder: Send + Sync {
    /// Identifies the model and its content. Vectors with equal ids are comparable.
    fn id(&self) -> &str;

    /// The number of values of each vector.
    fn dim(&self) -> usize;

    /// One vector per text, in the same order. A text without meaning to the model, such as an
    /// empty one, gets the zero vector.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error>;

    /// Mean and deviation of the cosines between a query and unrelated texts, if known for this
    /// model. For other models they are measured.
    fn unrelated(&self) -> Option<(f64, f64)> {
        None
    }

    /// True if the model embeds thousands of texts per second.
    fn is_quick(&self) -> bool {
        false
    }
}
