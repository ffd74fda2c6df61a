//! The rows of the built-in model, read in place from the bytes of the program.
//!
//! `assets/table.bin`: `RSTE`, then version, rows and dimension as u32, then one f32
//! scale a row, then the rows as i8; all little-endian. A row's vector is scale times row.

use super::Error;

/// Values of a row.
pub(super) const DIM: usize = 256;

/// Bytes before the scales.
const HEADER: usize = 16;

/// The table as it is in the file.
#[derive(Debug)]
pub(super) struct Table {
    scales: &'static [[u8; 4]],
    rows: &'static [[u8; DIM]],
}

impl Table {
    /// Checks the header and the length; reads nothing else.
    pub(super) fn new(bytes: &'static [u8]) -> Result<Table, Error> {
        let (header, rest) =
            bytes.split_first_chunk::<HEADER>().ok_or(Error::BuiltIn("the table has no header"))?;
        let number = |at: usize| {
            header.get(at..at + 4).and_then(|four| four.try_into().ok()).map_or(0, u32::from_le_bytes)
                as usize
        };
        if !header.starts_with(b"RSTE") || number(4) != 1 || number(12) != DIM {
            return Err(Error::BuiltIn("the table has an unknown format"));
        }
        let rows = number(8);
        match rest.split_at_checked(rows.saturating_mul(4)) {
            Some((scales, values)) if rows.checked_mul(DIM) == Some(values.len()) => {
                Ok(Table { scales: scales.as_chunks().0, rows: values.as_chunks().0 })
            }
            _ => Err(Error::BuiltIn("the table has the wrong length")),
        }
    }

    /// How many rows there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds the vectors of some rows to `sum`. A row that does not exist adds nothing.
    pub(super) fn add(&self, rows: &[u16], sum: &mut [f32; DIM]) {
        for row in rows {
            let at = usize::from(*row);
            if let (Some(scale), Some(values)) = (self.scales.get(at), self.rows.get(at)) {
                add_scaled(f32::from_le_bytes(*scale), values, sum);
            }
        }
    }
}

fn add_scaled(scale: f32, values: &[u8; DIM], sum: &mut [f32; DIM]) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += scale * f32::from(value.cast_signed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(rows: u32, length: usize) -> &'static [u8] {
        let mut bytes = b"RSTE".to_vec();
        for number in [1, rows, DIM as u32] {
            bytes.extend(u32::to_le_bytes(number));
        }
        bytes.resize(HEADER + length, 1);
        bytes.leak()
    }

    #[test]
    fn a_table_of_another_length_or_format_is_refused() {
        assert_eq!(Table::new(bytes(2, 2 * (4 + DIM))).unwrap().len(), 2);
        assert!(Table::new(bytes(2, 2 * (4 + DIM) - 1)).is_err());
        assert!(Table::new(bytes(u32::MAX, 2 * (4 + DIM))).is_err());
        assert!(Table::new(b"RSTE").is_err());
        let mut other = bytes(1, 4 + DIM).to_vec();
        other[0] = b'X';
        assert!(Table::new(other.leak()).is_err());
    }
}
