//! The vectors of passages, compared with a query.

use hashbrown::{HashMap, HashSet};
use retro_model::{Passage, PieceKind};

use crate::embed::{self, Embedder, Embedding};
use crate::search::{Meaning, Nearest};
use crate::text::Numbered;
use crate::vectors::Vectors;

/// Version of the way in which a passage becomes one vector. Increment it when that changes.
pub const MEANING_VERSION: u32 = 1;

/// Bytes read of an error, whose head describes it.
const ERROR_BYTES: usize = 400;

/// Bytes read of a call, whose beginning describes it.
const CALL_BYTES: usize = 300;

/// The vector of a passage, from its prompts, answers and commands, and the heads of its errors.
pub fn embed_passage(embedder: &dyn Embedder, passage: &Passage) -> Result<Embedding, embed::Error> {
    let head = |text: &str, bytes: usize| text.floor_char_boundary(bytes);
    let mut last = "";
    let texts = passage.pieces.iter().filter_map(|piece| match piece.kind {
        PieceKind::User | PieceKind::Assistant => Some(piece.text.as_str()),
        // A long call has several pieces.
        PieceKind::Command | PieceKind::File => (std::mem::replace(&mut last, &piece.event) != piece.event)
            .then(|| &piece.text[..head(&piece.text, CALL_BYTES)]),
        PieceKind::Error => Some(&piece.text[..head(&piece.text, ERROR_BYTES)]),
        PieceKind::Output | PieceKind::Reasoning => None,
    });
    let texts: Vec<&str> = texts.collect();
    let mut sum = Embedding::zero(embedder.dim());
    embedder.embed(&texts)?.iter().for_each(|piece| sum.add(piece));
    Ok(sum)
}

/// Minimum number of vectors to measure a scale on.
const MEASURED_MIN: u64 = 50;

/// Vectors compared with one query, including passages without stored vectors.
pub struct Measured<'a> {
    vectors: &'a Vectors,
    query: Embedding,
    fresh: HashMap<u64, Embedding>,
    hidden: HashSet<u64>,
    /// True if the scale of this model's cosines is known.
    is_known: bool,
}

impl<'a> Measured<'a> {
    /// Embeds the query, and the passages that changed since the vectors were stored.
    pub fn new(
        embedder: &dyn Embedder,
        vectors: &'a Vectors,
        query: &str,
        changed: &[Numbered],
        hidden: &[u64],
    ) -> Result<Measured<'a>, embed::Error> {
        let query = embedder.embed(&[query])?.pop().unwrap_or_else(|| Embedding::zero(embedder.dim()));
        Measured::by_vector(embedder, vectors, query, changed, hidden)
    }

    /// Like [`Measured::new`], for a query that is already a vector.
    pub fn by_vector(
        embedder: &dyn Embedder,
        vectors: &'a Vectors,
        query: Embedding,
        changed: &[Numbered],
        hidden: &[u64],
    ) -> Result<Measured<'a>, embed::Error> {
        let mut fresh = HashMap::new();
        for numbered in changed {
            fresh.insert(numbered.number, embed_passage(embedder, &numbered.passage)?);
        }
        let hidden = hidden.iter().copied().chain(fresh.keys().copied()).collect();
        let is_known = embedder.unrelated().is_some();
        Ok(Measured { vectors, query, fresh, hidden, is_known })
    }

    /// Mean and deviation of the cosines of unrelated passages. Nearly all of a store are unrelated
    /// to a query.
    fn unrelated(&self) -> Option<(f64, f64)> {
        let spread = (!self.is_known).then(|| self.vectors.top(&self.query, 1, |_| true).spread)?;
        (spread.rows >= MEASURED_MIN).then_some((spread.mean, spread.deviation))
    }
}

impl Meaning for Measured<'_> {
    fn nearest(&self, count: usize, keep: &(dyn Fn(u64) -> bool + Sync)) -> Nearest {
        let kept = self.vectors.top(&self.query, count, |id| !self.hidden.contains(&id) && keep(id));
        let mut passages: Vec<(u64, f64)> =
            kept.hits.iter().map(|hit| (hit.id, f64::from(hit.cosine))).collect();
        let (mut rows, mut sum) = (kept.spread.rows as f64, kept.spread.mean * kept.spread.rows as f64);
        let mut squares = (kept.spread.deviation.powi(2) + kept.spread.mean.powi(2)) * rows;
        let mut fresh: Vec<(&u64, &Embedding)> =
            self.fresh.iter().filter(|(number, _)| keep(**number)).collect();
        fresh.sort_by_key(|(number, _)| **number);
        for (number, embedding) in fresh {
            let cosine = f64::from(embedding.cosine(&self.query));
            (rows, sum, squares) = (rows + 1.0, sum + cosine, squares + cosine * cosine);
            if !embedding.is_zero() {
                passages.push((*number, cosine));
            }
        }
        passages.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        passages.truncate(count);
        let mean = sum / rows.max(1.0);
        let deviation = (squares / rows.max(1.0) - mean * mean).max(0.0).sqrt();
        let hidden = self.hidden.iter().filter(|number| self.vectors.contains(**number)).count();
        let all = self.vectors.len() - hidden + self.fresh.len();
        let share = (rows / all.max(1) as f64).min(1.0);
        Nearest { passages, mean, deviation, share, unrelated: self.unrelated() }
    }

    fn cosine(&self, passages: &[u64]) -> Option<f64> {
        let kept: Vec<u64> =
            passages.iter().copied().filter(|number| !self.hidden.contains(number)).collect();
        let mut sum = self.vectors.sum(&kept);
        passages.iter().filter_map(|number| self.fresh.get(number)).for_each(|fresh| sum.add(fresh));
        (!sum.is_zero()).then(|| f64::from(sum.cosine(&self.query)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model whose cosines are all high.
    struct Narrow;

    impl Embedder for Narrow {
        fn id(&self) -> &str {
            "narrow"
        }

        fn dim(&self) -> usize {
            3
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, embed::Error> {
            let of = |text: &&str| {
                let turned = text.len() as f32;
                Embedding::new(vec![10.0, turned, if text.contains('!') { turned } else { 0.0 }])
            };
            Ok(texts.iter().map(of).collect())
        }
    }

    #[test]
    fn a_cosine_means_the_same_whichever_model_is_at_work() {
        let folder = tempfile::tempdir().unwrap();
        let mut vectors = Vectors::open(folder.path(), "narrow", 3).unwrap();
        let texts: Vec<String> = (0..200).map(|number| "x".repeat(number % 20)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let rows = Narrow.embed(&texts).unwrap();
        let put: Vec<(u64, &Embedding)> = (0..).zip(&rows).collect();
        let measured = |vectors: &Vectors| {
            Measured::new(&Narrow, vectors, "a question!", &[], &[]).unwrap().nearest(1, &|_| true)
        };
        vectors.write("few", &put[..20], &[]).unwrap();
        assert_eq!(measured(&vectors).unrelated, None, "too few to measure a scale");
        vectors.write("many", &put, &[]).unwrap();
        let nearest = measured(&vectors);
        let (mean, deviation) = nearest.unrelated.unwrap();
        assert!(mean > 0.5 && deviation < 0.3, "{mean} {deviation}");
        let (usual, far) = embed::UNRELATED;
        assert!((nearest.usual(mean) - usual).abs() < 1e-9);
        assert!((nearest.usual(mean + deviation) - usual - far).abs() < 1e-9);
        assert_eq!(nearest.usual(f64::MAX), 1.0);
    }
}
