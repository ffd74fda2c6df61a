//! The nearest of many vectors: every one is compared, on one thread and on all.

use retro::search::embed::Embedding;
use retro::search::vectors::Vectors;
use std::path::Path;

use super::times::Times;
use super::turns::Chance;
use crate::bench::shelves::said;
use crate::failure::Failure;

/// Vectors that are made at a time.
const AT_ONCE: usize = 10_000;

/// Questions that are asked.
const QUESTIONS: usize = 30;

/// How many of the nearest are wanted.
const WANTED: usize = 10;

/// Times of the ten nearest.
pub(super) struct Nearest {
    pub(super) one_thread: Times,
    pub(super) all_threads: Times,
    /// As many bytes, only read: nothing that compares all of them is quicker.
    pub(super) bytes_alone: Times,
}

/// Makes `count` vectors in a folder and measures the ten nearest to some others.
pub(super) fn measure(folder: &Path, count: usize, dim: usize) -> Result<Nearest, Failure> {
    let mut vectors = Vectors::open(folder, "bench", dim).map_err(said)?;
    let mut chance = Chance::new(count as u64);
    let mut build = vectors.build().map_err(said)?;
    for first in (0..count).step_by(AT_ONCE) {
        let made: Vec<(u64, Embedding)> =
            (first..count.min(first + AT_ONCE)).map(|id| (id as u64, any(&mut chance, dim))).collect();
        let made: Vec<(u64, &Embedding)> = made.iter().map(|(id, embedding)| (*id, embedding)).collect();
        build.add(&made).map_err(said)?;
    }
    build.finish("made").map_err(said)?;
    vectors.refresh().map_err(said)?;
    let questions: Vec<Embedding> = (0..QUESTIONS).map(|_| any(&mut chance, dim)).collect();
    let ask = |query: &Embedding| Ok(vectors.top(query, WANTED, |_| true).hits.len());
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(said)?;
    let one_thread = Times::of(&questions, |query| one.install(|| ask(query)))?;
    let all_threads = Times::of(&questions, ask)?;
    let bytes = vec![1_u8; count * dim];
    let bytes_alone = Times::of(&questions, |_| Ok(touched(&bytes)))?;
    Ok(Nearest { one_thread, all_threads, bytes_alone })
}

/// Reads one byte of each line of the cache.
fn touched(bytes: &[u8]) -> usize {
    std::hint::black_box(std::hint::black_box(bytes).iter().step_by(64).map(|byte| usize::from(*byte)).sum())
}

/// A vector in any direction.
fn any(chance: &mut Chance, dim: usize) -> Embedding {
    Embedding::new((0..dim).map(|_| chance.below(2_001) as f32 / 1_000.0 - 1.0).collect())
}
