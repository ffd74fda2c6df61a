//! The layout of vectors in a file: a header, then batches, each with a hash. All numbers are
//! little-endian. `docs/formats/vectors.md` is the reference.
//!
//! The hash of a batch covers its bytes and the hash before it, so a batch is only valid at its own
//! place. Remains of an older file, or a batch half written, are not valid.

use super::Error;
use super::row::{ALIGNMENT, Row, stride};
use memmap2::Mmap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

const FILE_MAGIC: &[u8; 8] = b"RETROVEC";
const BATCH_MAGIC: &[u8; 8] = b"RETROBAT";
const FORMAT: u32 = 1;

/// Bytes of a batch before its columns.
const HEAD: usize = 64;

/// The offset of the hash in a batch's head.
const HASH_AT: usize = 56;

/// The header of a file for this model, and the hash that the first batch continues.
pub(super) fn header(model: &str, dim: usize) -> (Vec<u8>, u64) {
    let mut bytes = FILE_MAGIC.to_vec();
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend((dim as u64).to_le_bytes());
    bytes.extend((model.len() as u64).to_le_bytes());
    bytes.extend(model.as_bytes());
    bytes.resize((bytes.len() + 8).next_multiple_of(ALIGNMENT) - 8, 0);
    let hash = xxh3_64(&bytes);
    bytes.extend(hash.to_le_bytes());
    (bytes, hash)
}

/// Maximum length of a model's name.
const MODEL_BYTES_MAX: u64 = 4096;

/// The model of a file, and its dimension, from the file's header.
pub(super) fn made_by(path: &Path) -> Option<(String, usize)> {
    let mut file = super::folder::open_own(path).ok()??;
    let mut head = [0; 28];
    file.read_exact(&mut head).ok()?;
    let number =
        |at: usize| head.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map(u64::from_le_bytes);
    let (dim, length) = (number(12)?, number(20).filter(|length| *length <= MODEL_BYTES_MAX)?);
    let mut model = vec![0; length as usize];
    file.read_exact(&mut model).ok()?;
    Some((String::from_utf8(model).ok()?, usize::try_from(dim).ok()?))
}

/// The content of a new batch.
pub(super) struct Draft<'a> {
    /// Rows with ascending ids.
    pub(super) rows: &'a [(u64, Row)],
    /// Positions of earlier rows that no longer count.
    pub(super) dead: &'a [u32],
    /// The caller's mark.
    pub(super) mark: &'a str,
    /// True if the data up to here is complete and consistent.
    pub(super) is_commit: bool,
}

impl Draft<'_> {
    /// The bytes of the batch at position `first` after `hash`, and its own hash.
    pub(super) fn bytes(&self, dim: usize, first: usize, hash: u64) -> Result<(Vec<u8>, u64), Error> {
        let number = |count: usize, what| u32::try_from(count).map_err(|_| Error::TooMuch(what));
        number(first + self.rows.len(), "rows")?;
        let mut bytes = BATCH_MAGIC.to_vec();
        bytes.extend(u32::from(self.is_commit).to_le_bytes());
        bytes.extend(number(self.rows.len(), "rows")?.to_le_bytes());
        bytes.extend(number(self.dead.len(), "rows")?.to_le_bytes());
        bytes.extend(number(self.mark.len(), "the mark")?.to_le_bytes());
        bytes.extend((first as u64).to_le_bytes());
        bytes.resize(HEAD, 0);
        bytes.extend(self.rows.iter().flat_map(|(id, _)| id.to_le_bytes()));
        bytes.extend(self.rows.iter().flat_map(|(_, row)| row.scale.to_le_bytes()));
        bytes.extend(self.rows.iter().flat_map(|(_, row)| row.squares.to_le_bytes()));
        bytes.extend(self.dead.iter().flat_map(|position| position.to_le_bytes()));
        bytes.extend(self.mark.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
        bytes.reserve(self.rows.len() * stride(dim));
        for (_, row) in self.rows {
            bytes.extend_from_slice(bytemuck::cast_slice(&row.values));
        }
        let hash = hash_of(&bytes, hash);
        if let Some(place) = bytes.get_mut(HASH_AT..HEAD) {
            place.copy_from_slice(&hash.to_le_bytes());
        }
        Ok((bytes, hash))
    }
}

/// The hash of a batch's bytes, skipping the hash field itself.
fn hash_of(bytes: &[u8], before: u64) -> u64 {
    let (head, body) = bytes.split_at_checked(HEAD).unwrap_or((bytes, &[]));
    xxh3_64_with_seed(body, xxh3_64_with_seed(head.get(..HASH_AT).unwrap_or_default(), before))
}

/// A batch in a file.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    map: Arc<Mmap>,
    /// Its offset in the map.
    start: usize,
    rows: usize,
    dead: usize,
    mark: usize,
    stride: usize,
    /// Number of rows before it.
    pub(super) first: usize,
    pub(super) is_commit: bool,
    /// The hash stored in it.
    pub(super) hash: u64,
    /// Its smallest and largest ids. The first is greater than the second if it has no rows.
    range: (u64, u64),
}

impl Batch {
    /// The batch that begins at `start`, if its head is plausible. Its content is not checked.
    pub(super) fn at(map: &Arc<Mmap>, start: usize, dim: usize, first: usize) -> Option<Batch> {
        let head = map.get(start..start.checked_add(HEAD)?)?;
        let number = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_le_bytes(head.get(at..at + 8)?.try_into().ok()?));
        let is_known = head.starts_with(BATCH_MAGIC) && number(8)? <= 1 && long(24)? == first as u64;
        let mut batch = Batch {
            map: map.clone(),
            start,
            rows: number(12)? as usize,
            dead: number(16)? as usize,
            mark: number(20)? as usize,
            stride: stride(dim),
            first,
            is_commit: number(8)? == 1,
            hash: long(HASH_AT)?,
            range: (1, 0),
        };
        if !is_known || batch.start.checked_add(batch.length()?)? > map.len() {
            return None;
        }
        let ids = batch.ids();
        batch.range = ids.first().zip(ids.last()).map_or((1, 0), |(a, b)| (id(a), id(b)));
        Some(batch)
    }

    /// True if its content is undamaged and follows the batch with this hash.
    pub(super) fn is_whole(&self, before: u64) -> bool {
        let bytes = self.length().and_then(|length| self.part(0..length));
        bytes.is_some_and(|bytes| hash_of(bytes, before) == self.hash)
    }

    /// Its length in bytes.
    pub(super) fn length(&self) -> Option<usize> {
        self.values_at()?.checked_add(self.rows.checked_mul(self.stride)?)
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// The ids of its rows, ascending.
    pub(super) fn ids(&self) -> &[[u8; 8]] {
        self.column(HEAD, self.rows)
    }

    /// The scales of its rows.
    pub(super) fn scales(&self) -> &[[u8; 4]] {
        self.column(HEAD + self.rows * 8, self.rows)
    }

    /// The sums of the squares of its rows.
    pub(super) fn squares(&self) -> &[[u8; 4]] {
        self.column(HEAD + self.rows * 12, self.rows)
    }

    /// Positions of earlier rows that it replaces or removes.
    pub(super) fn dead(&self) -> impl Iterator<Item = usize> {
        self.column(HEAD + self.rows * 16, self.dead)
            .iter()
            .map(|position| u32::from_le_bytes(*position) as usize)
    }

    /// The caller's mark.
    pub(super) fn mark(&self) -> &str {
        let at = HEAD + self.rows * 16 + self.dead * 4;
        self.part(at..at + self.mark).and_then(|mark| std::str::from_utf8(mark).ok()).unwrap_or_default()
    }

    /// The values of these rows, one row after another.
    pub(super) fn values(&self, rows: Range<usize>) -> &[i8] {
        let at = self.values_at().unwrap_or(0);
        let part = self.part(at + rows.start * self.stride..at + rows.end * self.stride);
        bytemuck::cast_slice(part.unwrap_or_default())
    }

    /// A copy of one row.
    pub(super) fn row(&self, row: usize) -> Option<(u64, Row)> {
        let scale = f32::from_le_bytes(*self.scales().get(row)?);
        let squares = u32::from_le_bytes(*self.squares().get(row)?);
        Some((id(self.ids().get(row)?), Row { scale, squares, values: self.values(row..row + 1).to_vec() }))
    }

    /// The index of the row with this id.
    pub(super) fn find(&self, wanted: u64) -> Option<usize> {
        if wanted < self.range.0 || wanted > self.range.1 {
            return None;
        }
        self.ids().binary_search_by_key(&wanted, id).ok()
    }

    /// The offset of the values, after the columns.
    fn values_at(&self) -> Option<usize> {
        let columns = self.rows.checked_mul(16)?.checked_add(self.dead.checked_mul(4)?)?;
        HEAD.checked_add(columns)?.checked_add(self.mark)?.checked_next_multiple_of(ALIGNMENT)
    }

    fn column<const N: usize>(&self, at: usize, count: usize) -> &[[u8; N]] {
        self.part(at..at + count * N).unwrap_or_default().as_chunks().0
    }

    fn part(&self, range: Range<usize>) -> Option<&[u8]> {
        self.map.get(self.start + range.start..self.start + range.end)
    }
}

/// An id as a number.
pub(super) fn id(bytes: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*bytes)
}
