//! The stamps of all files that were ever captured, by path.
//!
//! A sync without news asks for each file of the machine once or twice, so paths are
//! compared and hashed as the bytes they are, not component by component.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::PlaceRow;

/// Stamps of files, one for each path.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    rows: HashSet<ByPath, BuildHasherDefault<PathHasher>>,
}

impl Stamps {
    /// The stamp of a file, if it was ever captured.
    pub fn get(&self, path: &Path) -> Option<&PlaceRow> {
        self.rows.get(path.as_os_str()).map(|row| &row.0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All of them, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &PlaceRow> {
        self.rows.iter().map(|row| &row.0)
    }
}

impl FromIterator<PlaceRow> for Stamps {
    fn from_iter<I: IntoIterator<Item = PlaceRow>>(rows: I) -> Self {
        Stamps { rows: rows.into_iter().map(ByPath).collect() }
    }
}

/// A row that is known by its path alone.
#[derive(Debug, Clone)]
struct ByPath(PlaceRow);

impl Borrow<OsStr> for ByPath {
    fn borrow(&self) -> &OsStr {
        self.0.path.as_os_str()
    }
}

impl Hash for ByPath {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.path.as_os_str().hash(state);
    }
}

impl PartialEq for ByPath {
    fn eq(&self, other: &Self) -> bool {
        self.0.path.as_os_str() == other.0.path.as_os_str()
    }
}

impl Eq for ByPath {}

/// Fast for one piece of some hundred bytes. Paths are the user's own, so nobody
/// chooses them to collide.
#[derive(Default)]
struct PathHasher(u64);

impl Hasher for PathHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = xxh3_64_with_seed(bytes, self.0);
    }

    fn write_usize(&mut self, number: usize) {
        self.0 = self.0.rotate_left(5) ^ number as u64;
    }

    fn write_u8(&mut self, number: u8) {
        self.0 = self.0.rotate_left(5) ^ u64::from(number);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
