//! Builds a new file of vectors beside the current one.

use super::Error;
use super::folder::{Current, Folder, Synced};
use super::format::{Draft, header};
use super::row::Row;
use crate::embed::Embedding;
use std::collections::HashMap;

/// A new file for all vectors, invisible to readers until [`finish`](Build::finish).
///
/// ```
/// use retro_search::embed::Embedding;
/// use retro_search::vectors::Vectors;
///
/// let folder = tempfile::tempdir()?;
/// let mut vectors = Vectors::open(folder.path(), "model", 2)?;
/// vectors.write("1", &[(1, &Embedding::new(vec![1.0, 0.0]))], &[])?;
///
/// let mut build = vectors.build()?;
/// build.add(&[(2, &Embedding::new(vec![0.0, 1.0]))])?;
/// assert_eq!(vectors.ids().collect::<Vec<_>>(), [1]);
/// build.finish("2")?;
/// vectors.refresh()?;
/// assert_eq!(vectors.ids().collect::<Vec<_>>(), [2]);
/// assert_eq!(vectors.mark(), "2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "without finish() nothing comes of it"]
pub struct Build {
    folder: Folder,
    number: u64,
    dim: usize,
    /// Bytes, rows and hash so far.
    end: u64,
    rows: usize,
    hash: u64,
    /// The position of each id, so that a later vector replaces an earlier one.
    positions: HashMap<u64, u32>,
}

impl Build {
    pub(super) fn new(folder: &Folder, model: &str, dim: usize) -> Result<Build, Error> {
        let number = folder.next_number()?;
        let (bytes, hash) = header(model, dim);
        let mut build =
            Build { folder: folder.clone(), number, dim, end: 0, rows: 0, hash, positions: HashMap::new() };
        build.append(&bytes)?;
        Ok(build)
    }

    /// Adds vectors. A vector replaces an earlier one with the same id.
    pub fn add(&mut self, put: &[(u64, &Embedding)]) -> Result<(), Error> {
        let rows = rows(put, self.dim)?;
        self.add_rows(&rows)
    }

    /// Adds rows with ascending ids.
    pub(super) fn add_rows(&mut self, rows: &[(u64, Row)]) -> Result<(), Error> {
        let mut dead = Vec::new();
        for ((id, _), position) in rows.iter().zip(self.rows..) {
            let position = u32::try_from(position).map_err(|_| Error::TooMuch("rows"))?;
            dead.extend(self.positions.insert(*id, position));
        }
        dead.sort_unstable();
        self.batch(&Draft { rows, dead: &dead, mark: "", is_commit: false })
    }

    /// Makes the new file the current one, with this mark. Readers of the old one keep it until
    /// they [refresh](super::Vectors::refresh).
    pub fn finish(mut self, mark: &str) -> Result<(), Error> {
        self.batch(&Draft { rows: &[], dead: &[], mark, is_commit: true })?;
        let synced = Synced { end: self.end, hash: self.hash };
        self.folder.make_current(Current { number: self.number, synced })?;
        self.folder.remove_before(self.number)
    }

    fn batch(&mut self, draft: &Draft<'_>) -> Result<(), Error> {
        let (bytes, hash) = draft.bytes(self.dim, self.rows, self.hash)?;
        self.append(&bytes)?;
        self.rows += draft.rows.len();
        self.hash = hash;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let path = self.folder.file(self.number);
        self.folder.disk.write_at(&path, self.end, bytes).map_err(Error::io("write", &path))?;
        self.end += bytes.len() as u64;
        Ok(())
    }
}

/// Vectors as rows with ascending ids. If an id occurs several times, the last vector counts.
pub(super) fn rows(put: &[(u64, &Embedding)], dim: usize) -> Result<Vec<(u64, Row)>, Error> {
    if let Some((_, other)) = put.iter().find(|(_, embedding)| embedding.dim() != dim) {
        return Err(Error::Dimension { found: other.dim(), expected: dim });
    }
    let mut order: Vec<(u64, &Embedding)> = put.iter().rev().copied().collect();
    order.sort_by_key(|(id, _)| *id);
    order.dedup_by_key(|(id, _)| *id);
    Ok(order.into_iter().map(|(id, embedding)| (id, Row::of(embedding))).collect())
}
