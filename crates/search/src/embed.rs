//! Text becomes a vector, so that texts of like meaning are found without a common word.
//!
//! An [`Embedder`] is one model. [`BuiltIn`] is a table of word pieces that is part of
//! the program: it needs no download, starts at once, and reads tens of megabytes a
//! second. [`gguf::open`] runs a larger model from a file, if the program was built
//! with `embedding-runtime`.
//!
//! Vectors of different models say nothing about each other, so each model has an
//! [`id`](Embedder::id), and whoever keeps vectors keeps the id beside them.

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
    /// Names the model and its content: vectors with equal ids can be compared.
    fn id(&self) -> &str;

    /// The number of values of each vector.
    fn dim(&self) -> usize;

    /// One vector for each text, in their order. A text that means nothing to the
    /// model, such as an empty one, has the zero vector.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, Error>;

    /// The cosines of a question with texts that have nothing in common with it, where they
    /// are known: mean and deviation. Of other models they are measured.
    fn unrelated(&self) -> Option<(f64, f64)> {
        None
    }

    /// Whether thousands of texts take it less than a second.
    fn is_quick(&self) -> bool {
        false
    }
}
