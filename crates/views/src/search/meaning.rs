//! Semantic search: the model, its vectors, and the passages without a vector.

use retro_engine::Config;
use retro_engine::stages::vectors;
use retro_search::embed::{Embedder, Embedding};
use retro_search::vectors::Vectors;
use retro_search::{Meaning, Measured, Query, Tail};

use super::library::Shelf;
use super::scope::scope;
use super::{Near, SearchQuestion, Searching};
use crate::Error;

/// Maximum passages embedded for one query, by a fast model and by any other. Beyond this, semantic
/// search waits for a sync.
const EMBEDDED_MAX: usize = 5_000;
const EMBEDDED_SLOWLY_MAX: usize = 8;

/// The model, its vectors, and the passages without one.
pub(super) type Vectored = (Box<dyn Embedder>, Vectors, Tail);

impl Searching {
    /// The passages closest to a vector.
    pub fn nearest(
        &self,
        config: &Config,
        vector: &[f32],
        question: &SearchQuestion,
    ) -> Result<Vec<Near>, Error> {
        let Some(store) = &self.news.store else { return Ok(Vec::new()) };
        let embedder = vectors::embedder(config)?;
        if vector.len() != embedder.dim() {
            return Err(Error::Dimension { found: vector.len(), wanted: embedder.dim() });
        }
        let kept = vectors::open(store, embedder.as_ref())?;
        let shelf = Shelf::open(&self.news)?;
        let Some(fresh) = self.without_vector(&shelf, &kept)? else { return Ok(Vec::new()) };
        let query = Embedding::new(vector.to_vec());
        let measured = Measured::by_vector(embedder.as_ref(), &kept, query, &fresh.passages, &fresh.hidden)
            .map_err(retro_search::Error::from)?;
        let scope = scope(&shelf, question, &Query::default())?;
        let within = retro_search::Library::within(&shelf, &scope);
        let keep = |number: u64| within.as_ref().is_none_or(|within| within.contains(&number));
        let found = measured.nearest(question.limit, &keep);
        let near = found.passages.into_iter().filter_map(|(number, cosine)| {
            let of_fresh = fresh.passages.iter().find(|numbered| numbered.number == number).cloned();
            let numbered = of_fresh.or_else(|| retro_search::Library::passage(&shelf, number))?;
            let row = shelf.session(numbered.session)?;
            Some(Near {
                agent: row.agent,
                session_id: row.id,
                thread: numbered.passage.thread.clone(),
                turn: numbered.passage.turn,
                event_id: numbered.passage.event().to_owned(),
                cosine,
            })
        });
        Ok(near.collect())
    }

    /// The vectors, and the passages without one. `None` if there are too many of those.
    pub(super) fn meaning(
        &self,
        config: &Config,
        shelf: &Shelf<'_>,
        query: &Query,
    ) -> Result<Option<Vectored>, Error> {
        let Some(store) = self.news.store.as_ref().filter(|_| !query.text.is_empty()) else {
            return Ok(None);
        };
        let embedder = vectors::embedder(config)?;
        let vectors = vectors::open(store, embedder.as_ref())?;
        let fresh = self.without_vector(shelf, &vectors)?;
        let most = if embedder.is_quick() { EMBEDDED_MAX } else { EMBEDDED_SLOWLY_MAX };
        let fresh = fresh.filter(|tail| tail.passages.len() <= most);
        Ok(fresh.map(|fresh| (embedder, vectors, fresh)))
    }

    /// The passages without a vector. All passages if there are no vectors, or if the vectors are
    /// from another time. `None` if that would be too many.
    fn without_vector(&self, shelf: &Shelf<'_>, vectors: &Vectors) -> Result<Option<Tail>, Error> {
        if let Some(tail) = shelf.tail(vectors.mark())? {
            return Ok(Some(tail));
        }
        let turns = self.news.index.as_ref().map_or(Ok(0), |index| index.turn_count())?;
        if turns > EMBEDDED_MAX as u64 {
            return Ok(None);
        }
        Ok(Some(Tail { hidden: vectors.ids().collect(), ..shelf.everything()? }))
    }
}
