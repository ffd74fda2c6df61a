//! The stamps of all files that were ever captured, by path.
//!
//! A sync without news asks for each file of the machine once, so a path is found by
//! the hash of its bytes and not component by component.

use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

use super::PlaceRow;

/// Stamps of files, one for each path.
#[derive(Debug, Clone, Default)]
pub struct Stamps {
    rows: Vec<PlaceRow>,
    /// The hash of each row's path and the row's number, in order.
    by_path: Vec<(u64, usize)>,
}

impl Stamps {
    /// The stamp of a file, if it was ever captured.
    pub fn get(&self, path: &Path) -> Option<&PlaceRow> {
        let hash = hash(path);
        let from = self.by_path.partition_point(|(other, _)| *other < hash);
        let alike = self.by_path.get(from..)?.iter().take_while(|(other, _)| *other == hash);
        alike.filter_map(|(_, number)| self.rows.get(*number)).find(|row| same(&row.path, path))
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
        self.rows.iter()
    }
}

impl From<Vec<PlaceRow>> for Stamps {
    fn from(rows: Vec<PlaceRow>) -> Self {
        let mut by_path: Vec<_> =
            rows.iter().enumerate().map(|(number, row)| (hash(&row.path), number)).collect();
        by_path.sort_unstable();
        Stamps { rows, by_path }
    }
}

/// Paths are the user's own, so nobody chooses them to collide.
fn hash(path: &Path) -> u64 {
    xxh3_64(path.as_os_str().as_encoded_bytes())
}

fn same(a: &Path, b: &Path) -> bool {
    a.as_os_str() == b.as_os_str()
}
