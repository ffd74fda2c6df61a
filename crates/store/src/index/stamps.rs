//! The stamps of all sources that were ever captured, by path.
//!
//! A sync without news looks up each file of the machine once, and needs only its stamp. The paths
//! and names of all rows are in two buffers, a path is found by the hash of its bytes, and a whole
//! row is made only on demand.

use hashbrown::HashTable;
use retro_model::Stamp;
use rusqlite::Row;
use rusqlite::types::Type;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

use super::PlaceRow;
use super::place::{Packed, PlaceRef, agent_and_session};
use super::rows::{path_bytes, path_from, text, unreadable};
use crate::layout::source_key;

/// Stamps of sources, one for each path.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    rows: Vec<Kept>,
    /// The number of each row, by the hash of its path.
    by_path: HashTable<u32>,
    /// The paths of all rows, as the index has them.
    paths: Vec<u8>,
    /// Owners and sources of all rows.
    texts: String,
}

/// A row. Its names end at these offsets, and begin at the ends of the row before it.
#[derive(Debug, Clone, Copy)]
struct Kept {
    path_end: u32,
    owner_end: u32,
    source_end: u32,
    revision: u32,
    stamp: Stamp,
}

/// Number of files with space from the start: untouched memory costs less than moving a buffer that
/// became too small.
const ROWS: usize = 4096;

impl Stamps {
    /// An empty set with space for the files of a machine.
    pub(super) fn roomy() -> Self {
        Stamps {
            rows: Vec::with_capacity(ROWS),
            by_path: HashTable::new(),
            paths: Vec::with_capacity(ROWS * 128),
            texts: String::with_capacity(ROWS * 64),
        }
    }

    /// The row of a source, if it was ever captured.
    pub fn place(&self, path: &Path) -> Option<PlaceRef<'_>> {
        self.place_at(self.number(path)?)
    }

    /// The number of a source's row, if it was ever captured.
    pub fn number(&self, path: &Path) -> Option<u32> {
        let path = path_bytes(path);
        self.by_path.find(xxh3_64(&path), |number| self.path(*number) == Some(&*path)).copied()
    }

    /// The row with this number.
    pub fn place_at(&self, number: u32) -> Option<PlaceRef<'_>> {
        let Kept { revision, stamp, .. } = *self.row(number)?;
        let (owner, source) = self.names(number)?;
        let (_, session) = agent_and_session(owner);
        Some(PlaceRef { session, source, revision, stamp })
    }

    /// A source's whole row, if it was ever captured.
    pub fn get(&self, path: &Path) -> Option<PlaceRow> {
        self.get_at(self.number(path)?)
    }

    /// The whole row with this number.
    pub fn get_at(&self, number: u32) -> Option<PlaceRow> {
        let Kept { revision, stamp, .. } = *self.row(number)?;
        let (owner, source) = self.names(number)?;
        let (agent, session) = agent_and_session(owner);
        Some(PlaceRow {
            path: path_from(self.path(number)?.to_vec()),
            agent: agent.to_owned(),
            session: session.map(str::to_owned),
            source: source_key(source)?,
            revision,
            stamp,
        })
    }

    /// The numbers of all rows whose path begins with these bytes and is longer.
    pub fn numbers_below(&self, path: &Path) -> impl Iterator<Item = u32> {
        let start = path_bytes(path).into_owned();
        let is_below = move |path: &[u8]| path.len() > start.len() && path.starts_with(&start);
        (0..).take(self.rows.len()).filter(move |number| self.path(*number).is_some_and(&is_below))
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of rows in it.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// All rows, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = PlaceRow> {
        (0..).take(self.rows.len()).filter_map(|number| self.get_at(number))
    }

    /// Adds a row of [`super::place::PLACE`].
    pub(super) fn read(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let path = row.get_ref(0)?.as_blob().map_err(|error| unreadable(0, error))?;
        let owner = text(row, 1)?;
        let stamp = row.get_ref(2)?.as_blob().map_err(|error| unreadable(2, error))?;
        let garbled = || rusqlite::Error::InvalidColumnType(2, "stamp".to_owned(), Type::Blob);
        let Packed { revision, stamp, source } = Packed::unpack(stamp).ok_or_else(garbled)?;
        let end = |end: usize| u32::try_from(end).map_err(|_| garbled());
        self.paths.extend_from_slice(path);
        self.texts.push_str(owner);
        let owner_end = end(self.texts.len())?;
        self.texts.push_str(source);
        let (path_end, source_end) = (end(self.paths.len())?, end(self.texts.len())?);
        self.rows.push(Kept { path_end, owner_end, source_end, revision, stamp });
        Ok(())
    }

    /// Builds the lookup by path, after the last row was added.
    pub(super) fn by_path(mut self) -> Self {
        let mut by_path = HashTable::with_capacity(self.rows.len());
        let hash = |number: u32| xxh3_64(self.path(number).unwrap_or_default());
        for number in (0..).take(self.rows.len()) {
            by_path.insert_unique(hash(number), number, |number| hash(*number));
        }
        self.by_path = by_path;
        self
    }

    fn row(&self, number: u32) -> Option<&Kept> {
        self.rows.get(number as usize)
    }

    /// Offsets at which the path and the texts of a row begin.
    fn starts(&self, number: u32) -> (usize, usize) {
        let before = number.checked_sub(1).and_then(|before| self.row(before));
        before.map_or((0, 0), |row| (row.path_end as usize, row.source_end as usize))
    }

    fn path(&self, number: u32) -> Option<&[u8]> {
        let (start, _) = self.starts(number);
        self.paths.get(start..self.row(number)?.path_end as usize)
    }

    /// Owner and source of the row with this number.
    fn names(&self, number: u32) -> Option<(&str, &str)> {
        let (_, start) = self.starts(number);
        let Kept { owner_end, source_end, .. } = *self.row(number)?;
        let names = self.texts.get(start..source_end as usize)?;
        names.split_at_checked((owner_end as usize).checked_sub(start)?)
    }
}
