//! Passages in the packed form of the index.

use retro_model::{Passage, Piece, PieceKind, Timestamp};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, Decompressor};

/// Level of zstd. A passage is read far more often than it is written.
const LEVEL: i32 = 1;

/// Limit on the unpacked size of a passage, in bytes.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A packed passage. If it is packed while its session is read, it takes a quarter of the memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PackedPassage {
    pub(super) event: String,
    pub(super) thread: String,
    pub(super) turn: u32,
    pub(super) first: u32,
    pub(super) live: bool,
    pub(super) at_ms: Option<i64>,
    pub(super) pieces: i64,
    pub(super) text_bytes: i64,
    /// Hash of all fields: equal hash, equal passage.
    pub(super) hash: i64,
    /// The packed pieces. `None` if the index already has them.
    pub(super) body: Option<Vec<u8>>,
}

/// The passages of a session that are already in the index. They are not packed again while the
/// session grows, because packing takes longer than all other work on them.
#[derive(Debug, Clone, Default)]
pub struct KnownPassages {
    /// Numbers of the session's threads.
    pub(super) lines: HashMap<String, u32>,
    /// Number of the thread, first piece and hash of each passage. They are compared in the same
    /// way when passages are put, so that a known passage stays.
    pub(super) places: HashSet<(u32, u32, i64)>,
}

impl KnownPassages {
    fn has(&self, thread: &str, first: u32, hash: i64) -> bool {
        self.lines.get(thread).is_some_and(|line| self.places.contains(&(*line, first, hash)))
    }
}

impl PackedPassage {
    /// Packs a passage. Leaves out the body if the passage is known.
    pub fn pack(passage: &Passage, known: &KnownPassages) -> std::io::Result<PackedPassage> {
        let pieces: Vec<Packed<'_>> = passage.pieces.iter().map(Packed::of).collect();
        let whole = (passage.turn, passage.first, passage.live, pieces);
        let bytes = postcard::to_stdvec(&whole).map_err(std::io::Error::other)?;
        let hash = xxh3_64(&bytes).cast_signed();
        let is_known = known.has(&passage.thread, passage.first, hash);
        Ok(PackedPassage {
            event: passage.event().to_owned(),
            thread: passage.thread.clone(),
            turn: passage.turn,
            first: passage.first,
            live: passage.live,
            at_ms: passage.at().map(Timestamp::as_millis),
            pieces: passage.pieces.len() as i64,
            text_bytes: passage.pieces.iter().map(|piece| piece.text.len() as i64).sum(),
            hash,
            body: if is_known { None } else { Some(compress(&bytes)?) },
        })
    }
}

/// The packed form of a piece, with times as numbers.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    kind: PieceKind,
    #[serde(borrow)]
    event: &'a str,
    at_ms: Option<i64>,
    #[serde(borrow)]
    text: &'a str,
    #[serde(borrow)]
    labels: Vec<&'a str>,
}

/// The pieces of a packed passage.
pub(super) fn unpack(body: &[u8]) -> Result<Vec<Piece>, Unpacked> {
    let bytes = decompress(body).map_err(|error| Unpacked(error.to_string()))?;
    let read: (u32, u32, bool, Vec<Packed<'_>>) =
        postcard::from_bytes(&bytes).map_err(|error| Unpacked(error.to_string()))?;
    Ok(read.3.into_iter().map(Piece::from).collect())
}

thread_local! {
    /// Kept from one passage to the next, because making one takes longer than most passages.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(Compressor::new(LEVEL)?),
        };
        compressor.compress(bytes)
    })
}

fn decompress(body: &[u8]) -> std::io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|kept| {
        let decompressor = match kept {
            Some(decompressor) => decompressor,
            None => kept.insert(Decompressor::new()?),
        };
        decompressor.decompress(body, BODY_BYTES_MAX)
    })
}

/// A passage with invalid bytes.
#[derive(Debug, thiserror::Error)]
#[error("a passage cannot be read: {0}")]
pub(super) struct Unpacked(String);

impl<'a> Packed<'a> {
    fn of(piece: &'a Piece) -> Packed<'a> {
        Packed {
            kind: piece.kind,
            event: &piece.event,
            at_ms: piece.at.map(Timestamp::as_millis),
            text: &piece.text,
            labels: piece.labels.iter().map(String::as_str).collect(),
        }
    }
}

impl From<Packed<'_>> for Piece {
    fn from(packed: Packed<'_>) -> Piece {
        Piece {
            kind: packed.kind,
            event: packed.event.to_owned(),
            at: packed.at_ms.and_then(Timestamp::from_millis),
            text: packed.text.to_owned(),
            labels: packed.labels.into_iter().map(str::to_owned).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(thread: &str, text: &str) -> Passage {
        let piece = Piece {
            kind: PieceKind::User,
            event: "m:1".to_owned(),
            at: None,
            text: text.to_owned(),
            labels: Vec::new(),
        };
        Passage { thread: thread.to_owned(), turn: 1, first: 0, live: true, pieces: vec![piece] }
    }

    #[test]
    fn a_passage_that_is_known_is_not_packed_again() {
        let packed = |passage: &Passage, known: &KnownPassages| PackedPassage::pack(passage, known).unwrap();
        let first = packed(&passage("main", "fix the test"), &KnownPassages::default());
        assert!(first.body.is_some());
        let known = KnownPassages {
            lines: [("main".to_owned(), 0)].into(),
            places: [(0, first.first, first.hash)].into(),
        };
        let again = packed(&passage("main", "fix the test"), &known);
        assert_eq!(again, PackedPassage { body: None, ..first });
        assert!(packed(&passage("main", "fix the tests"), &known).body.is_some());
        assert!(packed(&passage("other", "fix the test"), &known).body.is_some());
    }
}
