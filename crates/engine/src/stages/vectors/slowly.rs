//! Makes all vectors with a slow model. Each result is stored at once, so that a stop loses little
//! and the next run continues.

use hashbrown::HashSet;
use retro_search::Error as SearchError;
use retro_search::embed::Embedder;
use retro_search::vectors::Vectors;
use retro_store::{Changes, Follow};
use std::time::{Duration, Instant};

use super::{each_batch, write};
use crate::Error;
use crate::stages::{Everything, Seen};

/// Passages that are embedded between two checks for a stop request.
const BATCH: usize = 8;

/// Prefix of the stamp of an incomplete set of vectors.
const PARTIAL: &str = "partial ";

/// How long the lock is held before others get a turn.
const HELD: Duration = Duration::from_secs(10);

/// Whether an earlier run left vectors to be made.
pub(super) fn is_partial(seen: &Seen) -> bool {
    seen.stamp.starts_with(PARTIAL)
}

/// Makes a vector for every passage that has none from an earlier run. Until all are there, their
/// stamp says so. Returns early if the work takes long.
pub(super) fn start_over(
    all: &Everything<'_>,
    embedder: &dyn Embedder,
    vectors: &mut Vectors,
    changes: &Changes,
    stamp: &str,
) -> Result<(), Error> {
    let partial = Seen { mark: changes.mark.clone(), stamp: format!("{PARTIAL}{stamp}") };
    match Seen::parse(vectors.mark()).filter(|seen| seen.stamp == partial.stamp) {
        Some(seen) => {
            let since = all.index.changes_since(&seen.mark, &[Follow::Passages])?;
            let outdated: Vec<u64> = match since.starts_over {
                true => vectors.ids().collect(),
                false => [since.passages, since.removed_passages].concat(),
            };
            write(vectors, &partial.text(), &[], &outdated)?;
        }
        None => {
            let build = vectors.build().map_err(SearchError::from)?;
            build.finish(&partial.text()).map_err(SearchError::from)?;
            vectors.refresh().map_err(SearchError::from)?;
        }
    }
    let made: HashSet<u64> = vectors.ids().collect();
    let missing: Vec<u64> =
        changes.passages.iter().copied().filter(|number| !made.contains(number)).collect();
    let until = Instant::now() + HELD;
    let is_done = each_batch(all, embedder, &missing, (BATCH, made.len() as u64), |batch| {
        vectors.write(&partial.text(), batch, &[]).map_err(SearchError::from)?;
        Ok(Instant::now() < until)
    })?;
    if is_done {
        let seen = Seen { mark: changes.mark.clone(), stamp: stamp.to_owned() };
        write(vectors, &seen.text(), &[], &[])?;
        vectors.compact().map_err(SearchError::from)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, World};
    use retro_model::{Passage, Piece, PieceKind, SessionKey};
    use retro_search::embed::{self, Embedding};
    use retro_store::{KnownPassages, Mark, PackedPassage, RealDisk, SessionRow, Spool, Store};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Requests a stop after this many texts.
    struct Slow<'a> {
        world: &'a World,
        texts: AtomicUsize,
        stop_after: usize,
    }

    impl Embedder for Slow<'_> {
        fn id(&self) -> &str {
            "slow"
        }

        fn dim(&self) -> usize {
            2
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, embed::Error> {
            let done = self.texts.fetch_add(texts.len(), Ordering::Relaxed) + texts.len();
            self.world.stop.store(done >= self.stop_after, Ordering::Relaxed);
            Ok(texts.iter().map(|text| Embedding::new(vec![text.len() as f32, 1.0])).collect())
        }
    }

    fn put(store: &Store, session: &str, words: usize) {
        let row = SessionRow::new(&SessionKey::new("claude", session));
        let text = "word ".repeat(words);
        let piece = Piece {
            kind: PieceKind::User,
            event: "m:1".into(),
            at: None,
            text: text.trim().to_owned(),
            labels: Vec::new(),
        };
        let passage = Passage { thread: "main".into(), turn: 1, first: 0, live: true, pieces: vec![piece] };
        let packed = PackedPassage::pack(&passage, &KnownPassages::default()).unwrap();
        let mut spool = Spool::new(store.root());
        spool.push(&packed).unwrap();
        let index = store.index().unwrap();
        let written = index.write(|writer| {
            writer.put_session(&row)?;
            writer.put_passages(&row.key(), &mut spool)
        });
        written.unwrap();
    }

    #[test]
    fn a_stopped_run_goes_on_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let (world, config) = (World::at(folder.path()), Config::for_root(folder.path().join("root")));
        let store = Store::open_or_create(&config.root.value, Arc::new(RealDisk)).unwrap();
        (0..40).for_each(|number| put(&store, &format!("s{number:02}"), number + 1));
        let index = store.index().unwrap();
        let reported = std::sync::Mutex::new(Vec::new());
        let progress = |step: crate::Progress| reported.lock().unwrap().push((step.done, step.total));
        let run = |stop_after: usize| {
            world.stop.store(false, Ordering::Relaxed);
            let all = Everything {
                world: &world,
                config: &config,
                store: &store,
                index: &index,
                progress: &progress,
            };
            let slow = Slow { world: &world, texts: AtomicUsize::new(0), stop_after };
            let mut vectors = Vectors::open(&store.vectors_folder(), "slow", 2).unwrap();
            let changes = index.changes_since(&Mark::default(), &[Follow::Passages]).unwrap();
            start_over(&all, &slow, &mut vectors, &changes, "stamp").unwrap();
            (slow.texts.into_inner(), vectors)
        };
        let (texts, vectors) = run(10);
        assert_eq!((texts, vectors.len()), (2 * BATCH, 2 * BATCH), "the batch at work is kept");
        assert!(Seen::parse(vectors.mark()).unwrap().stamp.starts_with(PARTIAL));
        // Passages that changed meanwhile are made again, with or without a vector.
        put(&store, "s00", 90);
        put(&store, "s39", 91);
        let (texts, vectors) = run(usize::MAX);
        assert_eq!((texts, vectors.len()), (40 - 2 * BATCH + 1, 40));
        assert_eq!(Seen::parse(vectors.mark()).unwrap().stamp, "stamp");
        let changed = Embedding::new(vec![(90 * 5 - 1) as f32, 1.0]);
        let best = vectors.top(&changed, 1, |_| true).hits[0].cosine;
        assert!(best > 0.99, "{best}");
        assert_eq!(reported.lock().unwrap().last(), Some(&(40, 40)));
        // With nothing left to make, it starts from the beginning.
        assert_eq!(run(usize::MAX).0, 40);
    }
}
