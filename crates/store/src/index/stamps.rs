//! The stamps of all files that were ever captured, by path.
//!
//! A sync without news asks for each file of the machine once and for nothing but its
//! stamp. So paths and ids of all rows lie in one piece of memory, a path is found by
//! the hash of its bytes, and a whole row is made only for who asks for it.

use retro_model::SourceKey;
use rusqlite::Row;
use rusqlite::types::ValueRef;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use xxhash_rust::xxh3::xxh3_64;

use super::PlaceRow;
use super::rows::{path_bytes, path_from, source_from, text, unreadable, unsigned};

/// What a file was like when it was last captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp<'a> {
    /// The session; nothing if it serves many.
    pub session: Option<&'a str>,
    /// Which part, or the name of a file that serves many.
    pub source: &'a SourceKey,
    /// Its size.
    pub size: u64,
    /// Its last change, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Its device, where there is such a thing.
    pub device: u64,
    /// Its inode, where there is such a thing.
    pub inode: u64,
}

/// Stamps of files, one for each path.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    rows: Vec<Kept>,
    /// The hash of each row's path and the row's number, in order.
    by_path: Vec<(u64, usize)>,
    /// The paths of all rows, as they stand in the index.
    paths: Vec<u8>,
    /// Agents and sessions of all rows.
    texts: String,
}

#[derive(Debug, Clone)]
struct Kept {
    path: Range<usize>,
    agent: Range<usize>,
    session: Option<Range<usize>>,
    source: SourceKey,
    revision: u32,
    size: u64,
    mtime_ns: i64,
    device: u64,
    inode: u64,
    whole: OnceLock<Box<PlaceRow>>,
}

/// Files for which there is room from the start: memory that is never touched costs
/// less than to move what outgrew its place.
const ROWS: usize = 4096;

impl Stamps {
    /// None yet, and room for the files of a machine.
    pub(super) fn roomy() -> Self {
        Stamps {
            rows: Vec::with_capacity(ROWS),
            by_path: Vec::with_capacity(ROWS),
            paths: Vec::with_capacity(ROWS * 128),
            texts: String::with_capacity(ROWS * 64),
        }
    }

    /// The stamp of a file, if it was ever captured.
    pub fn stamp(&self, path: &Path) -> Option<Stamp<'_>> {
        let row = self.find(path)?;
        let Kept { source, size, mtime_ns, device, inode, .. } = row;
        let session = row.session.clone().map(|session| self.text(session));
        Some(Stamp { session, source, size: *size, mtime_ns: *mtime_ns, device: *device, inode: *inode })
    }

    /// All that is known of a file, if it was ever captured.
    pub fn get(&self, path: &Path) -> Option<&PlaceRow> {
        self.find(path).map(|row| self.whole(row))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// All of them, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &PlaceRow> {
        self.rows.iter().map(|row| self.whole(row))
    }

    /// Takes up a row of [`super::rows::PLACE`].
    pub(super) fn read(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let path = row.get_ref(0)?.as_blob().map_err(|error| unreadable(0, error))?;
        self.by_path.push((xxh3_64(path), self.rows.len()));
        let kept = Kept {
            path: self.paths.len()..self.paths.len() + path.len(),
            agent: self.put(text(row, 1)?),
            session: match row.get_ref(2)? {
                ValueRef::Null => None,
                id => Some(self.put(id.as_str().map_err(|error| unreadable(2, error))?)),
            },
            source: source_from(row, 3)?,
            revision: row.get(4)?,
            size: unsigned(row, 5)?,
            mtime_ns: row.get(6)?,
            device: unsigned(row, 7)?,
            inode: unsigned(row, 8)?,
            whole: OnceLock::new(),
        };
        self.paths.extend_from_slice(path);
        self.rows.push(kept);
        Ok(())
    }

    /// After the last row.
    pub(super) fn sorted(mut self) -> Self {
        self.by_path.sort_unstable();
        self
    }

    fn find(&self, path: &Path) -> Option<&Kept> {
        let path = path_bytes(path);
        let hash = xxh3_64(&path);
        let from = self.by_path.partition_point(|(other, _)| *other < hash);
        let alike = self.by_path.get(from..)?.iter().take_while(|(other, _)| *other == hash);
        alike
            .filter_map(|(_, number)| self.rows.get(*number))
            .find(|row| self.paths.get(row.path.clone()) == Some(&*path))
    }

    fn whole<'a>(&'a self, row: &'a Kept) -> &'a PlaceRow {
        row.whole.get_or_init(|| {
            Box::new(PlaceRow {
                path: path_from(self.paths.get(row.path.clone()).unwrap_or_default().to_vec()),
                agent: self.text(row.agent.clone()).to_owned(),
                session: row.session.clone().map(|session| self.text(session).to_owned()),
                source: row.source.clone(),
                revision: row.revision,
                size: row.size,
                mtime_ns: row.mtime_ns,
                device: row.device,
                inode: row.inode,
            })
        })
    }

    fn put(&mut self, text: &str) -> Range<usize> {
        let start = self.texts.len();
        self.texts.push_str(text);
        start..self.texts.len()
    }

    fn text(&self, place: Range<usize>) -> &str {
        self.texts.get(place).unwrap_or_default()
    }
}
