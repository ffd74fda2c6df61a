//! One vector for the meaning of each passage, kept for all sessions.

mod slowly;

use rayon::prelude::*;
use retro_search::embed::{BuiltIn, Embedder, Embedding, gguf};
use retro_search::vectors::Vectors;
use retro_search::{Error as SearchError, MEANING_VERSION, embed_passage};
use retro_store::{Changes, Follow, Index, Mark, PassageRow, Store};
use std::time::UNIX_EPOCH;

use super::{Consumer, Everything, Input, Seen, Stage, When, Work};
use crate::{Config, Error, Progress};

pub(crate) const STAGE: Stage = Stage {
    name: "vectors",
    version: MEANING_VERSION,
    when: When::Append,
    help: "what every turn means, as a vector",
    inputs: &[Input::Config(model_id), Input::Changes(Follow::Passages)],
    work: Work::Store(&Meanings),
    ..Stage::PLAIN
};

/// Passages that are read and embedded at a time.
const BATCH: usize = 2_000;

/// Fewer passages than this are embedded before other threads would even start.
const FEW: usize = 32;

/// Vectors that are held before they are written: those of a very large session would not fit in
/// memory.
const HELD_MAX: usize = 2 * BATCH;

struct Meanings;

/// The model that turns text into vectors: the configured one, else the built-in table.
pub fn embedder(config: &Config) -> Result<Box<dyn Embedder>, Error> {
    match config.embedding.value.options() {
        Some(options) => Ok(gguf::open(&options).map_err(SearchError::from)?),
        None => Ok(Box::new(BuiltIn::new().map_err(SearchError::from)?)),
    }
}

/// Opens the vectors of this model in a store.
pub fn open(store: &Store, embedder: &dyn Embedder) -> Result<Vectors, Error> {
    let vectors = Vectors::open_on(store.disk(), &store.vectors_folder(), embedder.id(), embedder.dim());
    Ok(vectors.map_err(SearchError::from)?)
}

/// Whether an earlier run left vectors to be made.
pub fn is_partial(seen: &Seen) -> bool {
    slowly::is_partial(seen)
}

/// Names the model: vectors of different models cannot be compared. A file is named by its path,
/// size and time, so that an unchanged model need not be loaded.
fn model_id(config: &Config) -> String {
    match &config.embedding.value.model {
        Some(path) => {
            let meta = std::fs::metadata(path).ok();
            let bytes = meta.as_ref().map_or(0, std::fs::Metadata::len);
            let time = meta.and_then(|meta| meta.modified().ok()?.duration_since(UNIX_EPOCH).ok());
            format!("{}:{bytes}:{}", path.display(), time.unwrap_or_default().as_nanos())
        }
        None => BuiltIn::new().map_or_else(|_| String::new(), |embedder| embedder.id().to_owned()),
    }
}

impl Consumer for Meanings {
    fn is_unfinished(&self, all: &Everything<'_>) -> Result<bool, Error> {
        Ok(is_partial(&self.seen(all)?))
    }

    fn seen(&self, all: &Everything<'_>) -> Result<Seen, Error> {
        let folder = all.store.vectors_folder();
        // The file that names the current vectors is written again with them.
        if Vectors::is_current_damaged(&folder) {
            return Ok(Seen::default());
        }
        let vectors = Vectors::there(&folder);
        Ok(vectors.and_then(|vectors| Seen::parse(vectors.mark())).unwrap_or_default())
    }

    fn follow(&self, all: &Everything<'_>, changes: Changes, stamp: &str) -> Result<(), Error> {
        let embedder = embedder(all.config)?;
        let mut vectors = open(all.store, embedder.as_ref())?;
        let changes = match changes.starts_over || !vectors.mark().is_empty() {
            true => changes,
            // The file was damaged after it was checked, or belongs to another model. Start over.
            false => all.index.changes_since(&Mark::default(), &[Follow::Passages])?,
        };
        let seen = Seen { mark: changes.mark.clone(), stamp: stamp.to_owned() }.text();
        if changes.starts_over && !embedder.is_quick() {
            return slowly::start_over(all, embedder.as_ref(), &mut vectors, &changes, stamp);
        }
        let batch = if embedder.is_quick() { BATCH } else { FEW };
        if changes.starts_over {
            let mut build = vectors.build().map_err(SearchError::from)?;
            let done = each_batch(all, embedder.as_ref(), &changes.passages, (batch, 0), |batch| {
                build.add(batch).map_err(SearchError::from)?;
                Ok(true)
            })?;
            if done {
                build.finish(&seen).map_err(SearchError::from)?;
            }
            return Ok(());
        }
        // Until all of them are there the old mark stays, so that the next run repeats this one.
        let before = vectors.mark().to_owned();
        let mut removed = changes.removed_passages.as_slice();
        let mut put: Vec<(u64, Embedding)> = Vec::new();
        let done = each_batch(all, embedder.as_ref(), &changes.passages, (batch, 0), |batch| {
            put.extend(batch.iter().map(|(number, embedding)| (*number, (*embedding).clone())));
            if put.len() >= HELD_MAX {
                write(&mut vectors, &before, &std::mem::take(&mut put), std::mem::take(&mut removed))?;
            }
            Ok(true)
        })?;
        if done {
            write(&mut vectors, &seen, &put, removed)?;
            vectors.compact().map_err(SearchError::from)?;
        }
        Ok(())
    }
}

fn write(vectors: &mut Vectors, mark: &str, put: &[(u64, Embedding)], removed: &[u64]) -> Result<(), Error> {
    let put: Vec<(u64, &Embedding)> = put.iter().map(|(number, embedding)| (*number, embedding)).collect();
    Ok(vectors.write(mark, &put, removed).map_err(SearchError::from)?)
}

/// Embeds passages in batches of this size, after those already done, as long as `take` returns
/// true. Returns false if some are left.
fn each_batch(
    all: &Everything<'_>,
    embedder: &dyn Embedder,
    passages: &[u64],
    (batch, mut done): (usize, u64),
    mut take: impl FnMut(&[(u64, &Embedding)]) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let total = done + passages.len() as u64;
    for numbers in passages.chunks(batch.max(1)) {
        if all.world.stopping() {
            return Ok(false);
        }
        let rows = read(all.index, numbers)?;
        let embed = |row: &PassageRow| embed_passage(embedder, &row.passage).map(|made| (row.number, made));
        let made: Result<Vec<(u64, Embedding)>, _> = match rows.len() {
            ..FEW => rows.iter().map(embed).collect(),
            FEW.. => rows.par_iter().map(embed).collect(),
        };
        let made = made.map_err(SearchError::from)?;
        let batch: Vec<(u64, &Embedding)> = made.iter().map(|(number, made)| (*number, made)).collect();
        let goes_on = take(&batch)?;
        done += numbers.len() as u64;
        (all.progress)(Progress { stage: STAGE.name, done, total, bytes: 0 });
        if !goes_on {
            return Ok(false);
        }
    }
    Ok(true)
}

fn read(index: &Index, numbers: &[u64]) -> Result<Vec<PassageRow>, Error> {
    let mut rows = Vec::with_capacity(numbers.len());
    for number in numbers {
        rows.extend(index.passage(*number)?);
    }
    Ok(rows)
}
