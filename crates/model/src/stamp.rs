//! The state of a source when it was last seen: enough to detect a change.

use serde::{Deserialize, Serialize};
use std::fs::Metadata;

/// The state of a source without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stamp {
    /// The metadata of a file.
    File(Stat),
    /// The rows of one session in a database, or a whole database.
    Rows(RowsStamp),
}

/// Metadata of a file from the file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Stat {
    /// Size on disk in bytes.
    pub size: u64,
    /// Last change, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Device number. 0 if the platform has none.
    pub device: u64,
    /// Inode number. 0 if the platform has none.
    pub inode: u64,
}

/// The state of a session's rows in a database. Excludes the database's own times: a checkpoint, or
/// a row of another session, changes the file but not these rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RowsStamp {
    /// Size of the rows in bytes, or another number that grows with them.
    pub size: u64,
    /// A hash of everything that shows a change.
    pub hash: u64,
    /// When the session last changed, in nanoseconds since 1970. 0 if the rows do not show it. Used
    /// to order sessions, and not compared.
    pub changed_ns: i64,
}

impl Stamp {
    /// True if a source that had the state `other` is unchanged. This is the only definition of an
    /// unchanged source.
    pub fn is_same(&self, other: &Stamp) -> bool {
        match (self, other) {
            (Stamp::File(now), Stamp::File(then)) => now == then,
            (Stamp::Rows(now), Stamp::Rows(then)) => (now.size, now.hash) == (then.size, then.hash),
            _ => false,
        }
    }

    /// Size in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Stamp::File(stat) => stat.size,
            Stamp::Rows(rows) => rows.size,
        }
    }

    /// The last change, in nanoseconds since 1970.
    pub fn changed_ns(&self) -> i64 {
        match self {
            Stamp::File(stat) => stat.mtime_ns,
            Stamp::Rows(rows) => rows.changed_ns,
        }
    }
}

impl Stat {
    /// Converts metadata that was just read.
    pub fn of(meta: &Metadata) -> Stat {
        #[cfg(unix)]
        let (mtime_ns, device, inode) = {
            use std::os::unix::fs::MetadataExt;
            let whole = meta.mtime().saturating_mul(1_000_000_000);
            (whole.saturating_add(meta.mtime_nsec()), meta.dev(), meta.ino())
        };
        #[cfg(not(unix))]
        let (mtime_ns, device, inode) = (modified_ns(meta), 0, 0);
        Stat { size: meta.len(), mtime_ns, device, inode }
    }
}

/// The last change of a file, in nanoseconds since 1970.
#[cfg(not(unix))]
fn modified_ns(meta: &Metadata) -> i64 {
    match meta.modified().map(|time| time.duration_since(std::time::UNIX_EPOCH)) {
        Ok(Ok(after)) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Ok(Err(before)) => -i64::try_from(before.duration().as_nanos()).unwrap_or(i64::MAX),
        Err(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_file_counts_and_no_time_of_rows_does() {
        let stat = Stat { size: 1, mtime_ns: 2, device: 3, inode: 4 };
        let file = Stamp::File(stat);
        assert!(file.is_same(&file));
        for other in [
            Stat { size: 9, ..stat },
            Stat { mtime_ns: 9, ..stat },
            Stat { device: 9, ..stat },
            Stat { inode: 9, ..stat },
        ] {
            assert!(!file.is_same(&Stamp::File(other)), "{other:?}");
        }
        let rows = RowsStamp { size: 1, hash: 4, changed_ns: 2 };
        assert!(Stamp::Rows(rows).is_same(&Stamp::Rows(RowsStamp { changed_ns: 9, ..rows })));
        assert!(!Stamp::Rows(rows).is_same(&Stamp::Rows(RowsStamp { size: 9, ..rows })));
        assert!(!Stamp::Rows(rows).is_same(&Stamp::Rows(RowsStamp { hash: 9, ..rows })));
        assert!(!Stamp::Rows(rows).is_same(&file));
    }
}
