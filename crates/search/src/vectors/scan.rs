//! The nearest rows to a query: every row that is kept is compared, so the answer is exact.

use super::format::{Batch, id};
use super::query::Query;
use super::state::State;
use rayon::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows that one thread compares at a time.
const ROWS_AT_ONCE: usize = 4096;

/// Rows that go through each step of a comparison together.
const BLOCK_ROWS: usize = 64;

/// Rows from which on several threads compare.
const PARALLEL_ROWS: usize = 1 << 17;

/// Whole numbers have no order in which they must be added: a cosine counts as this many
/// parts of one.
const PARTS: f32 = (1 << 20) as f32;

/// What is nearest to a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Nearest {
    /// The rows with the highest cosines, highest first; of equal ones the lower id first.
    /// A row without a vector is never among them.
    pub hits: Vec<Hit>,
    /// How the cosines of all rows that were kept are spread.
    pub spread: Spread,
}

/// A row and its cosine with the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The row.
    pub id: u64,
    /// From -1 to 1.
    pub cosine: f32,
}

/// Number, mean and standard deviation of some cosines. The same rows give the same
/// spread in whatever order they were written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// How many rows; those without a vector count as cosine zero.
    pub rows: u64,
    /// Their mean; zero if there are none.
    pub mean: f64,
    /// Their standard deviation, that of all of them, not of a sample.
    pub deviation: f64,
}

/// Compares all rows that `keep` wants.
pub(super) fn nearest(
    state: &State,
    query: &Query,
    count: usize,
    keep: &(impl Fn(u64) -> bool + Sync),
) -> Nearest {
    let parts = state.batches.iter().flat_map(|batch| {
        let starts = (0..batch.len()).step_by(ROWS_AT_ONCE);
        starts.map(move |start| (batch, start..batch.len().min(start + ROWS_AT_ONCE)))
    });
    let scan = Scan { state, query, keep };
    let scan = |mut found: Found, (batch, rows): (&Batch, Range<usize>)| {
        found.scan(&scan, batch, rows);
        found
    };
    let found = match state.rows < PARALLEL_ROWS {
        true => parts.fold(Found::new(count), scan),
        false => {
            let parts: Vec<_> = parts.collect();
            parts.into_par_iter().fold(|| Found::new(count), scan).reduce(|| Found::new(count), Found::and)
        }
    };
    found.done()
}

/// What was found so far.
struct Found {
    count: usize,
    /// The worst of the best is at the top.
    best: BinaryHeap<Reverse<Candidate>>,
    rows: u64,
    sum: i64,
    squares: u128,
}

impl Found {
    fn new(count: usize) -> Found {
        Found { count, best: BinaryHeap::new(), rows: 0, sum: 0, squares: 0 }
    }

    /// Compares some rows of a batch, a block after the other.
    fn scan(&mut self, scan: &Scan<'_, impl Fn(u64) -> bool>, batch: &Batch, rows: Range<usize>) {
        let mut block = Block::default();
        for start in rows.clone().step_by(BLOCK_ROWS) {
            block.fill(scan, batch, start..rows.end.min(start + BLOCK_ROWS));
            self.take(&block, scan.query.squares > 0);
        }
    }

    fn take(&mut self, block: &Block, has_direction: bool) {
        let (ids, cosines, squares) = block.columns();
        let (mut sum, mut sum_of_squares) = (0i64, 0i64);
        for cosine in cosines {
            let parts = i64::from((cosine * PARTS) as i32);
            sum += parts;
            sum_of_squares += parts * parts;
        }
        self.rows += ids.len() as u64;
        self.sum += sum;
        self.squares += u128::from(sum_of_squares.unsigned_abs());
        for ((id, cosine), squares) in ids.iter().zip(cosines).zip(squares) {
            if *cosine >= self.least() && *squares > 0 && has_direction {
                self.offer(Candidate { cosine: *cosine, id: *id });
            }
        }
    }

    /// The cosine below which nothing is wanted.
    fn least(&self) -> f32 {
        match self.best.peek() {
            Some(Reverse(worst)) if self.best.len() == self.count => worst.cosine,
            _ => f32::NEG_INFINITY,
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.best.len() < self.count {
            self.best.push(Reverse(candidate));
        } else if let Some(mut worst) = self.best.peek_mut()
            && candidate > worst.0
        {
            worst.0 = candidate;
        }
    }

    fn and(mut self, other: Found) -> Found {
        other.best.into_iter().for_each(|Reverse(candidate)| self.offer(candidate));
        self.rows += other.rows;
        self.sum += other.sum;
        self.squares += other.squares;
        self
    }

    fn done(self) -> Nearest {
        let hits = self.best.into_sorted_vec().into_iter();
        Nearest {
            hits: hits.map(|Reverse(Candidate { cosine, id })| Hit { id, cosine }).collect(),
            spread: spread(self.rows, self.sum, self.squares),
        }
    }
}

fn spread(rows: u64, sum: i64, squares: u128) -> Spread {
    let (count, parts) = (rows.max(1) as f64, f64::from(PARTS));
    let mean = sum as f64 / count / parts;
    // n times the sum of squares less the square of the sum: exact before it is rounded.
    let square_of_sum = u128::from(sum.unsigned_abs()).pow(2);
    let excess = (squares * u128::from(rows)).saturating_sub(square_of_sum);
    Spread { rows, mean, deviation: (excess as f64).sqrt() / count / parts }
}

/// What is compared.
struct Scan<'a, Keep> {
    state: &'a State,
    query: &'a Query,
    keep: &'a Keep,
}

/// The kept rows of a few that follow each other. Each step goes over all of them before
/// the next does, which the processor can do several rows at a time.
struct Block {
    kept: usize,
    ids: [u64; BLOCK_ROWS],
    squares: [u32; BLOCK_ROWS],
    products: [i32; BLOCK_ROWS],
    cosines: [f32; BLOCK_ROWS],
}

impl Default for Block {
    fn default() -> Block {
        Block {
            kept: 0,
            ids: [0; BLOCK_ROWS],
            squares: [0; BLOCK_ROWS],
            products: [0; BLOCK_ROWS],
            cosines: [0.0; BLOCK_ROWS],
        }
    }
}

impl Block {
    fn fill(&mut self, scan: &Scan<'_, impl Fn(u64) -> bool>, batch: &Batch, rows: Range<usize>) {
        let first = batch.first + rows.start;
        let all_live = scan.state.all_live(first..batch.first + rows.end);
        let ids = batch.ids().get(rows.clone()).unwrap_or_default();
        let squares = batch.squares().get(rows.clone()).unwrap_or_default();
        let values = batch.values(rows).chunks_exact(scan.query.values.len().max(1));
        let mut places = self.ids.iter_mut().zip(&mut self.squares).zip(&mut self.products);
        self.kept = 0;
        for (((bytes, squares), values), position) in ids.iter().zip(squares).zip(values).zip(first..) {
            let row = id(bytes);
            if (all_live || scan.state.is_live(position)) && (scan.keep)(row) {
                let Some(((id, square), product)) = places.next() else { break };
                (*id, *square, *product) = (row, u32::from_le_bytes(*squares), scan.query.product(values));
                self.kept += 1;
            }
        }
        let rows = self.products.iter().zip(&self.squares).zip(&mut self.cosines).take(self.kept);
        for ((product, squares), cosine) in rows {
            *cosine = scan.query.cosine_of(*product, *squares);
        }
    }

    /// Ids, cosines and sums of squares of the kept rows.
    fn columns(&self) -> (&[u64], &[f32], &[u32]) {
        let kept = ..self.kept;
        (
            self.ids.get(kept).unwrap_or_default(),
            self.cosines.get(kept).unwrap_or_default(),
            self.squares.get(kept).unwrap_or_default(),
        )
    }
}

/// A hit in its order: greater is better.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Candidate {
    cosine: f32,
    id: u64,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Candidate) -> Ordering {
        self.cosine.total_cmp(&other.cosine).then(other.id.cmp(&self.id))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Candidate) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
