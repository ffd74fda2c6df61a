//! A vector as eight-bit numbers.

use crate::embed::Embedding;

/// The largest number of a row.
const LARGEST: f32 = 127.0;

/// Rows begin at multiples of this many bytes: a cache line, and the widest register.
pub(super) const ALIGNMENT: usize = 64;

/// Bytes of a row of `dim` values.
pub(super) const fn stride(dim: usize) -> usize {
    dim.next_multiple_of(ALIGNMENT)
}

/// A vector as a row holds it: `scale * values`, padded with zeros to the stride.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) scale: f32,
    /// The sum of the squares of `values`.
    pub(super) squares: u32,
    pub(super) values: Vec<i8>,
}

impl Row {
    /// The nearest row to a vector. The largest value becomes 127 or -127.
    pub(super) fn of(embedding: &Embedding) -> Row {
        let values = embedding.values();
        let largest = values.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        let mut row = Row { scale: largest / LARGEST, squares: 0, values: vec![0; stride(values.len())] };
        // A vector so short that its scale is zero has no direction that can be kept.
        if row.scale > 0.0 && row.scale.is_finite() {
            for (number, value) in row.values.iter_mut().zip(values) {
                *number = (value / largest * LARGEST).round() as i8;
                row.squares += u32::from(number.unsigned_abs()).pow(2);
            }
        } else {
            row.scale = 0.0;
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_keeps_direction_and_length() {
        let row = Row::of(&Embedding::new(vec![0.5, -1.0, 0.0]));
        assert_eq!(row.values[..3], [64, -127, 0]);
        assert_eq!(row.values.len(), 64);
        assert_eq!(row.squares, 64 * 64 + 127 * 127);
        assert!((row.scale * 127.0 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn vectors_without_a_direction_are_rows_of_zeros() {
        for vector in
            [Embedding::zero(2), Embedding::new(vec![f32::NAN, 1.0]), Embedding::new(vec![1e-45, 0.0])]
        {
            let none = Row::of(&vector);
            assert_eq!((none.scale, none.squares), (0.0, 0));
        }
        let huge = Row::of(&Embedding::new(vec![f32::MAX, f32::MIN]));
        assert_eq!(huge.values[..2], [127, -127]);
    }
}
