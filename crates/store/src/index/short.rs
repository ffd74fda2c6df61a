//! Texts that are mostly one number in hexadecimal digits, as bytes of half the length or less.
//! Any other text is kept as it is.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};

/// Bytes of the number.
const BYTES: usize = 16;
const DIGITS: usize = 2 * BYTES;

/// Where a UUID has hyphens.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// An id that an agent gave, mostly a UUID.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Id(pub String);

/// A text that mostly begins with 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hex(pub String);

/// The number that 32 digits in small letters say.
fn number(digits: &[u8]) -> Option<[u8; BYTES]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; BYTES];
    let pairs = digits.chunks_exact(2);
    if digits.len() != DIGITS {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(pairs) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The texts that bytes stand for if they are an [`Id`] or a [`Hex`].
pub(super) fn readings(bytes: &[u8]) -> Vec<String> {
    let value = ValueRef::Blob(bytes);
    let id = Id::column_result(value).map(|id| id.0);
    let hex = Hex::column_result(value).map(|hex| hex.0);
    id.into_iter().chain(hex).collect()
}

impl Id {
    fn short(&self) -> Option<[u8; BYTES]> {
        let is_hyphen = |at: usize| HYPHENS.contains(&at);
        let bytes = self.0.as_bytes();
        let fits = bytes.len() == DIGITS + HYPHENS.len()
            && bytes.iter().enumerate().all(|(at, byte)| is_hyphen(at) == (*byte == b'-'));
        let all: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != b'-').collect();
        fits.then(|| number(&all)).flatten()
    }
}

impl Hex {
    fn short(&self) -> Option<Vec<u8>> {
        let (digits, rest) = self.0.as_bytes().split_at_checked(DIGITS)?;
        Some([&number(digits)?[..], rest].concat())
    }
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.short() {
            Some(bytes) => Ok(bytes.to_vec().into()),
            None => self.0.to_sql(),
        }
    }
}

impl ToSql for Hex {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self.short() {
            Some(bytes) => Ok(bytes.into()),
            None => self.0.to_sql(),
        }
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let ValueRef::Blob(bytes) = value else { return Ok(Id(value.as_str()?.to_owned())) };
        if bytes.len() != BYTES {
            return Err(FromSqlError::InvalidType);
        }
        let mut text = digits(bytes);
        HYPHENS.iter().for_each(|at| text.insert(*at, '-'));
        Ok(Id(text))
    }
}

impl FromSql for Hex {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let ValueRef::Blob(bytes) = value else { return Ok(Hex(value.as_str()?.to_owned())) };
        let (number, rest) = bytes.split_at_checked(BYTES).ok_or(FromSqlError::InvalidType)?;
        let rest = std::str::from_utf8(rest).map_err(|error| FromSqlError::Other(Box::new(error)))?;
        Ok(Hex(digits(number) + rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    #[test]
    fn every_text_comes_back_and_numbers_are_short() {
        let connection = Connection::open_in_memory().unwrap();
        let uuid = format!("{}-{}-4{}-8{}-{}", "0a".repeat(4), "1b".repeat(2), "c2d", "e3f", "90".repeat(6));
        let hex = "0f1e".repeat(8);
        let texts = [
            (uuid.clone(), 16, 36),
            (uuid.to_uppercase(), 36, 36),
            (uuid.replace("-4", "4-"), 36, 36),
            (hex.clone(), 32, 16),
            (format!("{hex} success ü"), 43, 27),
            (format!("{hex}é"), 34, 18),
            ("msg_1".to_owned(), 5, 5),
            (String::new(), 0, 0),
            (hex.replace('f', "F"), 32, 32),
        ];
        for (text, as_id, as_hex) in texts {
            let stored = |value: &dyn ToSql| -> i64 {
                connection.query_row("SELECT length(CAST(?1 AS BLOB))", [value], |row| row.get(0)).unwrap()
            };
            assert_eq!((stored(&Id(text.clone())), stored(&Hex(text.clone()))), (as_id, as_hex), "{text}");
            let id: Id = connection.query_row("SELECT ?1", [Id(text.clone())], |row| row.get(0)).unwrap();
            let hex: Hex = connection.query_row("SELECT ?1", [Hex(text.clone())], |row| row.get(0)).unwrap();
            assert_eq!((id.0, hex.0), (text.clone(), text.clone()));
            let bytes = Hex(text.clone()).short().unwrap_or_default();
            assert!(bytes.is_empty() || readings(&bytes).contains(&text));
        }
    }
}
