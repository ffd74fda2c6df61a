//! Packed texts of the index, compressed with a dictionary of common words.
//!
//! The text that stages leave of a small session is a few kilobytes of JSON, whose names and
//! phrases are the same in every session. The dictionary stores them once, so that a text takes a
//! quarter of its size or less. A change of the dictionary needs a new schema number.

use rusqlite::Row;
use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::get_frame_content_size;

use super::rows::unreadable;

const DICTIONARY: &[u8] = include_bytes!("dictionary.txt");

/// Level of zstd. Each text is read a few times for every write, and a first sync writes all of
/// them.
const LEVEL: i32 = 3;

/// Limit on the unpacked size of a text, in bytes.
const BYTES_MAX: u64 = 1 << 30;

thread_local! {
    /// Kept from one text to the next, because making them takes longer than most texts.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// A text with invalid bytes.
#[derive(Debug, thiserror::Error)]
#[error("a text cannot be read: {0}")]
pub(super) struct Garbled(String);

/// Packs a text.
pub(super) fn shrink(text: &[u8]) -> rusqlite::Result<Vec<u8>> {
    let packed = COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => {
                let mut compressor = Compressor::with_dictionary(LEVEL, DICTIONARY)?;
                compressor.include_checksum(true)?;
                kept.insert(compressor)
            }
        };
        compressor.compress(text)
    });
    packed.map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// Unpacks a text.
pub(super) fn grow(packed: &[u8]) -> Result<Vec<u8>, Garbled> {
    let size = get_frame_content_size(packed).ok().flatten().filter(|size| *size <= BYTES_MAX);
    let size = size.ok_or_else(|| Garbled("its length is not known".to_owned()))?;
    let text = DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::with_dictionary(DICTIONARY)?),
        };
        decompressor.decompress(packed, usize::try_from(size).unwrap_or(usize::MAX))
    });
    text.map_err(|error| Garbled(error.to_string()))
}

/// A column that holds packed bytes.
pub(super) fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    let packed = row.get_ref(column)?.as_blob().map_err(|error| unreadable(column, error))?;
    grow(packed).map_err(|error| unreadable(column, error))
}

/// A column that holds a packed text.
pub(super) fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    String::from_utf8(bytes(row, column)?).map_err(|error| unreadable(column, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_garbled_ones_do_not() {
        let body = r#"{"fingerprint":"0a1b2c3d4e5f","at":"2026-01-02T03:04:05.000Z","failing":{"event_id":"m:1",
            "command":"make","snippet":"no rule"},"steps":[],"passing":null,"limits":{},"entrypoint":null}"#;
        for text in ["", "x", body, &body.repeat(10_000)] {
            let packed = shrink(text.as_bytes()).unwrap();
            assert_eq!(grow(&packed).unwrap(), text.as_bytes());
            for at in 0..packed.len().min(300) {
                let mut flipped = packed.clone();
                flipped[at] ^= 1;
                assert!(grow(&flipped).map_or(true, |found| found == text.as_bytes()), "byte {at}");
            }
        }
        assert!(shrink(body.as_bytes()).unwrap().len() < body.len() / 2, "the dictionary knows its words");
    }

    /// Rows with another dictionary are unreadable: raise the schema number with it.
    #[test]
    fn the_dictionary_is_that_of_the_schema() {
        let known = (super::super::schema::SCHEMA, xxhash_rust::xxh3::xxh3_64(DICTIONARY));
        assert_eq!(known, (16, 0xb11f_13d5_6bdd_3464));
    }
}
