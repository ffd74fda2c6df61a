//! Vectors on disk, and the nearest ones to a query.
//!
//! One file holds all vectors of one model as eight-bit numbers. It only grows: a batch of
//! rows at its end replaces or removes earlier ones by naming their positions. Each batch
//! carries a hash and the caller's *mark*, so rows and mark are kept or lost together.
//! When many rows are dead, a new file is built beside it and swapped in.
//!
//! - **Invariant:** bytes of a file never change once they are written, and a file is never
//!   truncated. A reader, even in another process, keeps the data it opened, and never waits.
//! - **Invariant:** data appended since a file was built is checked before it is read, so a batch
//!   that a crash left half written does not count. Earlier data was on the medium before the file
//!   was named. Only [`is_whole`](Vectors::is_whole) and a copy check it: an append to a million
//!   vectors should cost no more than one to ten. A file that is damaged from its start, or from
//!   another model, is an empty store with an empty mark.
//! - One process writes at a time. The caller ensures this.
//!
//! The files are a cache: an append is not synced to the medium, because the mark reveals a loss.
//! The layout is in `docs/formats/vectors.md`.

mod ahead;
mod build;
mod error;
mod folder;
mod format;
mod map;
mod query;
mod row;
mod scan;
mod state;
#[cfg(test)]
mod tests;

pub use build::Build;
pub use error::Error;
pub use scan::{Hit, Nearest, Spread};

use crate::embed::Embedding;
use folder::{Current, Folder, Synced};
use format::{Draft, id};
use query::Query;
use retro_disk::{Disk, RealDisk};
use row::Row;
use state::State;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Rows copied at a time into a new file.
const COPY_ROWS: usize = 1 << 14;

/// Up to this many dead rows or batches never cause a copy.
const DEAD_MIN: usize = 1024;
const BATCHES_MIN: usize = 256;

/// With more rows per batch on average, the number of batches never causes a copy.
const BATCH_ROWS_MIN: usize = 64;

/// Appended bytes cause a copy above this minimum plus the synced bytes divided by `TAIL_SHARE`.
const TAIL_MIN: u64 = 2 << 20;
const TAIL_SHARE: u64 = 4;

/// The vectors of a folder as of the last open or refresh. A clone is cheap and keeps its state.
///
/// ```
/// use retro_search::embed::Embedding;
/// use retro_search::vectors::Vectors;
///
/// let folder = tempfile::tempdir()?;
/// let (east, north) = (Embedding::new(vec![1.0, 0.0]), Embedding::new(vec![0.0, 1.0]));
/// let mut vectors = Vectors::open(&folder.path().join("vectors"), "model", 2)?;
/// vectors.write("change 7", &[(1, &east), (2, &north)], &[])?;
/// assert_eq!(vectors.mark(), "change 7");
///
/// let nearest = vectors.top(&Embedding::new(vec![2.0, 1.0]), 10, |_| true);
/// assert_eq!(nearest.hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [1, 2]);
/// assert_eq!(nearest.spread.rows, 2);
///
/// vectors.write("change 8", &[(1, &north)], &[2])?;
/// assert_eq!(vectors.cosines(&north, &[1, 2]), [Some(1.0), None]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Vectors {
    folder: Folder,
    model: Arc<str>,
    dim: usize,
    state: Arc<State>,
}

impl Vectors {
    /// Opens the vectors of this model in a folder, which need not exist. Writes nothing.
    pub fn open(folder: &Path, model: &str, dim: usize) -> Result<Vectors, Error> {
        Vectors::open_on(Arc::new(RealDisk), folder, model, dim)
    }

    /// Like [`open`](Vectors::open), but writes through the given disk.
    pub fn open_on(disk: Arc<dyn Disk>, folder: &Path, model: &str, dim: usize) -> Result<Vectors, Error> {
        let folder = Folder::new(folder, disk);
        let mut vectors = Vectors { folder, model: model.into(), dim, state: Arc::default() };
        vectors.refresh()?;
        Ok(vectors)
    }

    /// Opens the vectors in a folder, from any model. `None` if there are none.
    pub fn there(folder: &Path) -> Option<Vectors> {
        let files = Folder::new(folder, Arc::new(RealDisk));
        let (current, _) = files.current().ok()??;
        let (model, dim) = format::made_by(&files.file(current.number))?;
        Vectors::open(folder, &model, dim).ok()
    }

    /// True if the file that names the current vectors is damaged.
    pub fn is_current_damaged(folder: &Path) -> bool {
        Folder::new(folder, Arc::new(RealDisk)).is_current_damaged()
    }

    /// Reads changes since the last refresh, by this process or another. Costs next to nothing if
    /// there are none. True if anything changed.
    pub fn refresh(&mut self) -> Result<bool, Error> {
        let before = (self.state.number, self.state.end);
        match self.folder.current()? {
            None => self.state = Arc::default(),
            Some((current, file)) => self.read(current, &file)?,
        }
        Ok((self.state.number, self.state.end) != before)
    }

    fn read(&mut self, Current { number, synced }: Current, file: &File) -> Result<(), Error> {
        let path = self.folder.file(number);
        let length = file.metadata().map_err(Error::io("read", &path))?.len();
        let (header, hash) = format::header(&self.model, self.dim);
        let start = header.len() as u64;
        if self.state.number != Some(number) || length < self.state.end {
            self.state = Arc::default();
        }
        if length == self.state.end || length < start {
            return Ok(());
        }
        let is_new = self.state.number.is_none();
        let from = if is_new { 0 } else { self.state.end };
        let map = map::map(file, from, length).map_err(Error::io("map", &path))?;
        if !is_new {
            Arc::make_mut(&mut self.state).read_on(map, 0, self.dim, synced);
        } else if map.starts_with(&header) {
            let mut state = State::empty(number, start, hash);
            state.read_on(map, header.len(), self.dim, synced);
            self.state = Arc::new(state);
        }
        Ok(())
    }

    /// True if all current data is undamaged. Reads all of it. A batch left half written at the end
    /// is not damage.
    pub fn is_whole(&self) -> Result<bool, Error> {
        let Some((current, _)) = self.folder.current()? else { return Ok(true) };
        // The beginning of the file must match its description in `current`.
        let is_named_so = current.synced == Synced::default() || self.knows(current)?;
        Ok(is_named_so && self.whole_bytes()? >= self.state.end.max(current.synced.end))
    }

    /// True if a batch of the file ends at the place and with the hash in `current`.
    fn knows(&self, current: Current) -> Result<bool, Error> {
        let Some((_, file)) = self.folder.current()? else { return Ok(false) };
        let path = self.folder.file(current.number);
        let length = file.metadata().map_err(Error::io("read", &path))?.len();
        if length < current.synced.end {
            return Ok(false);
        }
        let (header, hash) = format::header(&self.model, self.dim);
        let map = map::map(&file, 0, current.synced.end).map_err(Error::io("map", &path))?;
        let mut state = State::empty(current.number, header.len() as u64, hash);
        state.read_on(map, header.len(), self.dim, Synced::default());
        Ok((state.end, state.hash) == (current.synced.end, current.synced.hash))
    }

    /// The length of the current file up to the first damaged byte.
    fn whole_bytes(&self) -> Result<u64, Error> {
        let Some((Current { number, .. }, file)) = self.folder.current()? else { return Ok(0) };
        let mut checked = Vectors { state: Arc::default(), ..self.clone() };
        checked.read(Current { number, synced: Synced::default() }, &file)?;
        Ok(checked.state.end)
    }

    /// The mark of the last write. Empty without usable vectors.
    pub fn mark(&self) -> &str {
        &self.state.mark
    }

    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.state.live()
    }

    /// True if there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// True if this id has a vector.
    pub fn contains(&self, id: u64) -> bool {
        self.state.find(id).is_some()
    }

    /// The ids of all vectors, in no particular order.
    pub fn ids(&self) -> impl Iterator<Item = u64> {
        self.state.batches.iter().flat_map(|batch| {
            let rows = batch.ids().iter().zip(batch.first..);
            rows.filter(|(_, position)| self.state.is_live(*position)).map(|(bytes, _)| id(bytes))
        })
    }

    /// Refreshes, then stores `put`, replacing vectors with the same ids. Drops those of `removed`
    /// that are not in `put`, and sets the mark. All of it is atomic.
    pub fn write(&mut self, mark: &str, put: &[(u64, &Embedding)], removed: &[u64]) -> Result<(), Error> {
        let rows = build::rows(put, self.dim)?;
        self.refresh()?;
        let ids = || rows.iter().map(|(id, _)| *id).chain(removed.iter().copied());
        if rows.is_empty() && mark == self.mark() && self.positions(ids())?.is_empty() {
            return Ok(());
        }
        let number = self.file_to_append()?;
        let dead = self.positions(ids())?;
        let draft = Draft { rows: &rows, dead: &dead, mark, is_commit: true };
        let (bytes, hash) = draft.bytes(self.dim, self.state.rows, self.state.hash)?;
        let path = self.folder.file(number);
        self.folder.disk.write_at(&path, self.state.end, &bytes).map_err(Error::io("write", &path))?;
        self.refresh()?;
        if self.state.number != Some(number) || self.state.hash != hash {
            return Err(Error::Disturbed(path));
        }
        Ok(())
    }

    /// The file to append to. A new one if there is none, or if garbage follows the last batch.
    fn file_to_append(&mut self) -> Result<u64, Error> {
        if let Some(number) = self.state.number {
            let path = self.folder.file(number);
            let length = std::fs::metadata(&path).map_err(Error::io("read", &path))?.len();
            if length == self.state.end {
                return Ok(number);
            }
        }
        let mark = self.mark().to_owned();
        self.copy()?;
        // If damage lost the old rows, the next caller that checks the mark starts over.
        let number = self.state.number.filter(|_| self.mark() == mark);
        number.ok_or_else(|| Error::Disturbed(self.folder.file(0)))
    }

    /// The positions of the rows with these ids.
    fn positions(&self, ids: impl Iterator<Item = u64>) -> Result<Vec<u32>, Error> {
        let found =
            ids.filter_map(|id| self.state.find(id)).map(|(batch, row)| u32::try_from(batch.first + row));
        let mut positions: Vec<u32> = found.collect::<Result<_, _>>().map_err(|_| Error::TooMuch("rows"))?;
        positions.sort_unstable();
        positions.dedup();
        Ok(positions)
    }

    /// Starts a new file for all vectors, beside this one.
    pub fn build(&self) -> Result<Build, Error> {
        Build::new(&self.folder, &self.model, self.dim)
    }

    /// Copies the live rows into a new file if many rows are dead, batches are many and small, or
    /// much was appended. True if it did.
    pub fn compact(&mut self) -> Result<bool, Error> {
        self.refresh()?;
        let state = &self.state;
        let is_due = state.dead() > DEAD_MIN + state.live() / 2
            || state.batches.len() > BATCHES_MIN + state.rows / BATCH_ROWS_MIN
            || state.end - state.synced > TAIL_MIN + state.synced / TAIL_SHARE;
        if is_due {
            self.copy()?;
        }
        Ok(is_due)
    }

    /// Copies the live rows into a new file. A damaged file has none.
    fn copy(&mut self) -> Result<(), Error> {
        let mut build = self.build()?;
        if self.whole_bytes()? < self.state.end {
            build.finish("")?;
            self.refresh()?;
            return Ok(());
        }
        let mut live: Vec<(u64, usize, usize)> = Vec::with_capacity(self.len());
        for (number, batch) in self.state.batches.iter().enumerate() {
            let rows =
                batch.ids().iter().enumerate().filter(|(row, _)| self.state.is_live(batch.first + row));
            live.extend(rows.map(|(row, bytes)| (id(bytes), number, row)));
        }
        live.sort_unstable();
        for part in live.chunks(COPY_ROWS) {
            let rows = part.iter().filter_map(|(_, batch, row)| self.state.batches.get(*batch)?.row(*row));
            build.add_rows(&rows.collect::<Vec<_>>())?;
        }
        build.finish(self.mark())?;
        self.refresh()?;
        Ok(())
    }

    /// The `count` rows most similar to `query` among those that `keep` accepts, and the
    /// distribution of the cosines of all of these. The query is rounded to eight bits like the
    /// rows, and the comparison is exact. A query with another dimension matches nothing.
    pub fn top(&self, query: &Embedding, count: usize, keep: impl Fn(u64) -> bool + Sync) -> Nearest {
        scan::nearest(&self.state, &self.query(query), count, &keep)
    }

    /// The cosines between `query` and the vectors of these ids, in order. `None` for an id without
    /// a vector. Equal to those of [`top`](Vectors::top).
    pub fn cosines(&self, query: &Embedding, ids: &[u64]) -> Vec<Option<f32>> {
        let query = self.query(query);
        let cosine = |id: &u64| {
            let (batch, row) = self.state.find(*id)?;
            let squares = u32::from_le_bytes(*batch.squares().get(row)?);
            Some(query.cosine(squares, batch.values(row..row + 1)))
        };
        ids.iter().map(cosine).collect()
    }

    /// The sum of the vectors of these ids: the vector of their texts combined. Ids without a
    /// vector add nothing, and order does not matter.
    pub fn sum(&self, ids: &[u64]) -> Embedding {
        let mut sum = vec![0.0f64; self.dim];
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        for (batch, row) in ids.iter().filter_map(|id| self.state.find(*id)) {
            let scale = batch.scales().get(row).map_or(0.0, |scale| f64::from(f32::from_le_bytes(*scale)));
            for (sum, value) in sum.iter_mut().zip(batch.values(row..row + 1)) {
                *sum += scale * f64::from(*value);
            }
        }
        Embedding::new(sum.into_iter().map(|value| value as f32).collect())
    }

    fn query(&self, query: &Embedding) -> Query {
        match query.dim() == self.dim {
            true => Query::of(&Row::of(query)),
            false => Query::of(&Row::of(&Embedding::zero(self.dim))),
        }
    }
}
