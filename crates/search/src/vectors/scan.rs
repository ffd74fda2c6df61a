//! The nearest rows to a query: every row that is kept is compared, so the answer is exact.

use super::format::{Batch, id};
use super::row::Row;
use super::state::State;
use rayon::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Rows that one thread compares at a time.
const ROWS_AT_ONCE: usize = 4096;

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
    query: &Row,
    count: usize,
    keep: &(impl Fn(u64) -> bool + Sync),
) -> Nearest {
    let parts = state.batches.iter().flat_map(|batch| {
        let starts = (0..batch.len()).step_by(ROWS_AT_ONCE);
        starts.map(move |start| (batch, start..batch.len().min(start + ROWS_AT_ONCE)))
    });
    let scan = |mut found: Found, (batch, rows): (&Batch, std::ops::Range<usize>)| {
        found.scan(state, batch, rows, query, keep);
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

    fn scan(
        &mut self,
        state: &State,
        batch: &Batch,
        rows: std::ops::Range<usize>,
        query: &Row,
        keep: &impl Fn(u64) -> bool,
    ) {
        let all_live = state.all_live(batch.first + rows.start..batch.first + rows.end);
        let column = |start| rows.clone().zip(start);
        let ids = batch.ids().get(rows.clone()).unwrap_or_default();
        let squares = batch.squares().get(rows.clone()).unwrap_or_default();
        let values = batch.values(rows.clone()).chunks_exact(query.values.len().max(1));
        let mut sum = Sum::default();
        for ((row, bytes), (squares, values)) in column(ids).zip(squares.iter().zip(values)) {
            let id = id(bytes);
            if (all_live || state.is_live(batch.first + row)) && keep(id) {
                let squares = u32::from_le_bytes(*squares);
                let cosine = query.cosine(squares, values);
                sum.add(cosine);
                if squares > 0 && query.squares > 0 {
                    self.offer(Candidate { cosine, id });
                }
            }
        }
        self.add(sum);
    }

    fn add(&mut self, sum: Sum) {
        self.rows += sum.rows;
        self.sum += sum.sum;
        self.squares += u128::from(sum.squares);
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

/// The sums over at most [`ROWS_AT_ONCE`] cosines, which fit into 64 bits.
#[derive(Default)]
struct Sum {
    rows: u64,
    sum: i64,
    squares: u64,
}

impl Sum {
    fn add(&mut self, cosine: f32) {
        let parts = (cosine * PARTS) as i64;
        self.rows += 1;
        self.sum += parts;
        self.squares += (parts * parts).unsigned_abs();
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
