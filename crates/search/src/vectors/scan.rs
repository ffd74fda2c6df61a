//! Finds the rows most similar to a query. Compares every accepted row, so the result is exact.

use super::format::{Batch, id};
use super::query::Query;
use super::state::State;
use rayon::prelude::*;
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;

/// Rows that one thread compares at a time. They go through each step together, and their data fits
/// into the innermost cache.
const ROWS_AT_ONCE: usize = 1024;

/// Minimum rows for a parallel comparison.
const PARALLEL_ROWS: usize = 1 << 17;

/// Integer sums do not depend on their order: cosines are added in fractions of this size.
const PARTS: f32 = (1 << 20) as f32;

/// The rows most similar to a query.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Nearest {
    /// The rows with the highest cosines, highest first. Ties are sorted by id. Never includes a
    /// row without a vector.
    pub hits: Vec<Hit>,
    /// The distribution of the cosines of all accepted rows.
    pub spread: Spread,
}

/// A row and its cosine with the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The row's id.
    pub id: u64,
    /// The cosine, from -1 to 1.
    pub cosine: f32,
}

/// Number, mean and standard deviation of some cosines. They do not depend on the order in which
/// rows were written.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// Number of rows. Those without a vector count as cosine zero.
    pub rows: u64,
    /// The mean of the cosines. Zero without rows.
    pub mean: f64,
    /// The standard deviation of the population, not of a sample.
    pub deviation: f64,
}

/// Compares all rows that `keep` accepts.
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

/// The result so far.
struct Found {
    best: Best,
    rows: u64,
    sum: i64,
    squares: u128,
    /// The rows under comparison.
    part: Part,
}

impl Found {
    fn new(count: usize) -> Found {
        let best = Best { count, heap: BinaryHeap::new() };
        Found { best, rows: 0, sum: 0, squares: 0, part: Part::default() }
    }

    /// Compares some rows of a batch.
    fn scan(&mut self, scan: &Scan<'_, impl Fn(u64) -> bool>, batch: &Batch, rows: Range<usize>) {
        self.part.fill(scan, batch, rows);
        let Part { ids, squares, cosines, .. } = &self.part;
        let (mut sum, mut sum_of_squares) = (0i64, 0i64);
        for cosine in cosines {
            let parts = i64::from((cosine * PARTS) as i32);
            sum += parts;
            sum_of_squares += parts * parts;
        }
        self.rows += ids.len() as u64;
        self.sum += sum;
        self.squares += u128::from(sum_of_squares.unsigned_abs());
        let has_direction = scan.query.squares > 0;
        for ((id, cosine), squares) in ids.iter().zip(cosines).zip(squares) {
            if *cosine >= self.best.least() && *squares > 0 && has_direction {
                self.best.offer(Candidate { cosine: *cosine, id: *id });
            }
        }
    }

    fn and(mut self, other: Found) -> Found {
        other.best.heap.into_iter().for_each(|Reverse(candidate)| self.best.offer(candidate));
        self.rows += other.rows;
        self.sum += other.sum;
        self.squares += other.squares;
        self
    }

    fn done(self) -> Nearest {
        let hits = self.best.heap.into_sorted_vec().into_iter();
        Nearest {
            hits: hits.map(|Reverse(Candidate { cosine, id })| Hit { id, cosine }).collect(),
            spread: spread(self.rows, self.sum, self.squares),
        }
    }
}

/// The best hits so far.
struct Best {
    count: usize,
    /// A heap with the worst hit at the top.
    heap: BinaryHeap<Reverse<Candidate>>,
}

impl Best {
    /// The cosine that a further hit must exceed.
    fn least(&self) -> f32 {
        match self.heap.peek() {
            Some(Reverse(worst)) if self.heap.len() == self.count => worst.cosine,
            _ => f32::NEG_INFINITY,
        }
    }

    fn offer(&mut self, candidate: Candidate) {
        if self.heap.len() < self.count {
            self.heap.push(Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate > worst.0
        {
            worst.0 = candidate;
        }
    }
}

fn spread(rows: u64, sum: i64, squares: u128) -> Spread {
    let (count, parts) = (rows.max(1) as f64, f64::from(PARTS));
    let mean = sum as f64 / count / parts;
    // n times the sum of squares minus the square of the sum: exact before it is rounded.
    let square_of_sum = u128::from(sum.unsigned_abs()).pow(2);
    let excess = (squares * u128::from(rows)).saturating_sub(square_of_sum);
    Spread { rows, mean, deviation: (excess as f64).sqrt() / count / parts }
}

/// The input of a comparison.
struct Scan<'a, Keep> {
    state: &'a State,
    query: &'a Query,
    keep: &'a Keep,
}

/// The accepted rows among several consecutive ones, as columns. Each step processes all of them
/// before the next one, so that the processor can vectorize it.
#[derive(Default)]
struct Part {
    rows: Vec<u32>,
    ids: Vec<u64>,
    squares: Vec<u32>,
    products: Vec<i32>,
    cosines: Vec<f32>,
}

impl Part {
    fn fill(&mut self, scan: &Scan<'_, impl Fn(u64) -> bool>, batch: &Batch, rows: Range<usize>) {
        self.rows.clear();
        self.ids.clear();
        self.squares.clear();
        let first = batch.first + rows.start;
        let all_live = scan.state.all_live(first..batch.first + rows.end);
        let ids = batch.ids().get(rows.clone()).unwrap_or_default();
        let squares = batch.squares().get(rows.clone()).unwrap_or_default();
        self.reserve(ids.len());
        for (number, (bytes, squares)) in (0..).zip(ids.iter().zip(squares)) {
            let id = id(bytes);
            if (all_live || scan.state.is_live(first + number as usize)) && (scan.keep)(id) {
                self.rows.push(number);
                self.ids.push(id);
                self.squares.push(u32::from_le_bytes(*squares));
            }
        }
        self.products.resize(self.rows.len(), 0);
        scan.query.products(batch.values(rows), &self.rows, &mut self.products);
        self.cosines.clear();
        let rows = self.products.iter().zip(&self.squares);
        self.cosines.extend(rows.map(|(product, squares)| scan.query.cosine_of(*product, *squares)));
    }

    fn reserve(&mut self, count: usize) {
        self.rows.reserve(count);
        self.ids.reserve(count);
        self.squares.reserve(count);
    }
}

/// A hit with its order: greater is better.
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
