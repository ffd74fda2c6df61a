//! What rows are compared with.

use super::ahead::fetch;
use super::row::Row;
use multiversion::multiversion;

/// A vector that is looked for, rounded as rows are. Its numbers are twice as wide, which
/// saves every comparison the widening.
pub(super) struct Query {
    /// The sum of the squares of `values`.
    pub(super) squares: u32,
    pub(super) values: Vec<i16>,
}

impl Query {
    pub(super) fn of(row: &Row) -> Query {
        Query { squares: row.squares, values: row.values.iter().map(|value| i16::from(*value)).collect() }
    }

    /// The cosine with a row. Both are whole numbers, and every operation rounds alike on
    /// every machine. Zero if one of them is.
    pub(super) fn cosine(&self, squares: u32, values: &[i8]) -> f32 {
        self.cosine_of(self.product(values), squares)
    }

    /// The exact product with a row: it fits into a 32-bit integer up to 130,000 values.
    pub(super) fn product(&self, values: &[i8]) -> i32 {
        product(&self.values, values)
    }

    /// The products with some of the rows whose values follow each other, by their numbers.
    pub(super) fn products(&self, values: &[i8], rows: &[u32], into: &mut [i32]) {
        products(&self.values, values, rows, into);
    }

    /// The cosine with a row whose product with this one, and whose sum of squares, are
    /// known.
    pub(super) fn cosine_of(&self, product: i32, squares: u32) -> f32 {
        // The product of zero with anything is zero too.
        (f64::from(product) / (f64::from(self.squares) * f64::from(squares)).max(1.0).sqrt()) as f32
    }
}

/// Values that are multiplied together; rows have a multiple of them.
const STEP: usize = 32;

/// Rows that are on their way while one is multiplied. Without it a million rows take a
/// quarter longer: a row is a few lines of memory, and pages hold few rows.
const ROWS_AHEAD: usize = 16;

#[multiversion(targets("x86_64+avx2"))]
fn products(query: &[i16], values: &[i8], rows: &[u32], into: &mut [i32]) {
    let row = |number: &u32| {
        let start = *number as usize * query.len();
        values.get(start..start + query.len()).unwrap_or_default()
    };
    let ahead = rows.iter().skip(ROWS_AHEAD).map(Some).chain(std::iter::repeat(None));
    for ((number, next), product) in rows.iter().zip(ahead).zip(into) {
        if let Some(next) = next {
            fetch(row(next));
        }
        *product = sum_of_products(query, row(number));
    }
}

#[multiversion(targets("x86_64+avx2"))]
fn product(query: &[i16], values: &[i8]) -> i32 {
    sum_of_products(query, values)
}

/// Pairs of values that are half a step apart are added to one sum: compilers know an
/// instruction for that, which multiplies sixteen values at a time.
#[inline(always)]
fn sum_of_products(query: &[i16], values: &[i8]) -> i32 {
    let mut sums = [0; STEP / 2];
    for (a, b) in query.as_chunks::<STEP>().0.iter().zip(values.as_chunks::<STEP>().0) {
        let ((a, later_a), (b, later_b)) = (a.split_at(STEP / 2), b.split_at(STEP / 2));
        let pairs = a.iter().zip(b).zip(later_a.iter().zip(later_b));
        for (sum, ((a, b), (later_a, later_b))) in sums.iter_mut().zip(pairs) {
            *sum += i32::from(*a) * i32::from(*b) + i32::from(*later_a) * i32::from(*later_b);
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embed::Embedding;
    use proptest::prelude::*;

    fn row(values: Vec<i8>) -> Row {
        let squares = values.iter().map(|value| u32::from(value.unsigned_abs()).pow(2)).sum();
        Row { scale: 1.0, squares, values }
    }

    #[test]
    fn a_row_is_like_itself_and_unlike_nothing() {
        let some = Row::of(&Embedding::new(vec![0.5, -1.0, 0.0]));
        assert_eq!(Query::of(&some).cosine(some.squares, &some.values), 1.0);
        let none = Row::of(&Embedding::zero(3));
        assert_eq!(Query::of(&some).cosine(none.squares, &none.values), 0.0);
        assert_eq!(Query::of(&none).cosine(some.squares, &some.values), 0.0);
    }

    #[test]
    fn the_product_of_the_largest_values_is_exact() {
        let ends = row(vec![-127; 4096]);
        assert_eq!(Query::of(&ends).product(&ends.values), 127 * 127 * 4096);
    }

    proptest! {
        #[test]
        fn the_product_is_the_plain_sum(
            values in prop::collection::vec((any::<i8>(), any::<i8>()), 0..12 * STEP),
        ) {
            let whole = values.len() / STEP * STEP;
            let (a, b): (Vec<i8>, Vec<i8>) = values.into_iter().take(whole).unzip();
            let plain: i32 = a.iter().zip(&b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            prop_assert_eq!(Query::of(&row(a)).product(&b), plain);
        }

        #[test]
        fn many_products_are_those_of_each(
            rows in prop::collection::vec(prop::collection::vec(any::<i8>(), 2 * STEP), 1..60),
            wanted in prop::collection::vec(0..60_u32, 0..80),
        ) {
            let query = Query::of(&row(rows[0].clone()));
            let wanted: Vec<u32> = wanted.into_iter().filter(|number| (*number as usize) < rows.len()).collect();
            let mut products = vec![0; wanted.len()];
            query.products(&rows.concat(), &wanted, &mut products);
            let each: Vec<i32> = wanted.iter().map(|number| query.product(&rows[*number as usize])).collect();
            prop_assert_eq!(products, each);
        }
    }
}
