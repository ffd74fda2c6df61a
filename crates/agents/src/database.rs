//! A look into another program's SQLite database, leaving no trace.
//!
//! A program in WAL mode may have its newest rows only in the `-wal` file, and
//! whoever opens a database with one writes to the `-shm` file beside it. A
//! program with a rollback journal may have written half of a transaction into
//! the database, and only the `-journal` file tells how to take it back. So a
//! database that has either is copied, with what belongs to it, to a folder of
//! our own, and opened there; one with neither is opened in place as immutable,
//! which takes no lock and makes no file. Nobody is waited for, and a database
//! that changed under our eyes is left for the next sync.

use rusqlite::{Connection, OpenFlags};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Stat;

/// How often a copy is tried while the program writes.
const TRIES: usize = 3;

/// An open snapshot.
pub(crate) struct Snapshot {
    connection: Connection,
    /// The database itself and how it looked, where it is read in place.
    in_place: Option<(PathBuf, Stamps)>,
    /// Removed, with the copy in it, when the snapshot is dropped.
    _folder: Option<tempfile::TempDir>,
}

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    /// The file system says no.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// SQLite says no.
    #[error("the database cannot be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// It is being written faster than it can be copied.
    #[error("the database changed while it was copied; the next sync tries again")]
    Busy,
}

impl Snapshot {
    /// The database as it is now.
    pub(crate) fn open(path: &Path) -> Result<Snapshot, Unreadable> {
        let meta = fs::metadata(path)?;
        if !meta.is_file() {
            return Err(std::io::Error::other("not a regular file").into());
        }
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let before = stamps(path);
        let is_there = |stat: &Option<Stat>| stat.is_some_and(|stat| stat.size > 0);
        if !before.beside.iter().any(is_there) {
            let connection = Connection::open_with_flags(uri(path), flags)?;
            return Ok(Snapshot { connection, in_place: Some((path.to_owned(), before)), _folder: None });
        }
        for _ in 0..TRIES {
            let before = stamps(path);
            let folder = tempfile::tempdir()?;
            let copy = folder.path().join("copy.sqlite");
            fs::copy(path, &copy)?;
            for suffix in BESIDE {
                match fs::copy(beside(path, suffix), beside(&copy, suffix)) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
                    _ => {}
                }
            }
            if stamps(path) == before {
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                return Ok(Snapshot {
                    connection: Connection::open_with_flags(&copy, flags)?,
                    in_place: None,
                    _folder: Some(folder),
                });
            }
        }
        Err(Unreadable::Busy)
    }

    /// Whether what was read until now is all of one state of the database.
    pub(crate) fn holds(&self) -> Result<(), Unreadable> {
        match &self.in_place {
            Some((path, before)) if stamps(path) != *before => Err(Unreadable::Busy),
            _ => Ok(()),
        }
    }

    /// Its rows, through SQL.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The columns of a table; none if there is no such table.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<String>, Unreadable> {
        let mut statement = self.connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get::<_, String>(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }
}

/// What may hold a part of a database: its WAL, and the journal of a transaction
/// that is not done. Not the `-shm`: it is an index of the WAL, which SQLite makes
/// anew.
const BESIDE: [&str; 2] = ["-wal", "-journal"];

/// How a database and the files beside it look.
#[derive(Debug, PartialEq, Eq)]
struct Stamps {
    own: Option<Stat>,
    beside: [Option<Stat>; 2],
}

/// The file of this suffix that belongs to a database.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn stat(path: &Path) -> Option<Stat> {
    fs::metadata(path).ok().map(|meta| Stat::of(&meta))
}

fn stamps(path: &Path) -> Stamps {
    Stamps { own: stat(path), beside: BESIDE.map(|suffix| stat(&beside(path, suffix))) }
}

/// A path as a URI that SQLite opens without locks and without making files.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file:");
    for c in path.to_string_lossy().chars() {
        match c {
            '%' => uri.push_str("%25"),
            '?' => uri.push_str("%3f"),
            '#' => uri.push_str("%23"),
            '\\' => uri.push('/'),
            c => uri.push(c),
        }
    }
    uri.push_str("?immutable=1");
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn count(path: &Path) -> i64 {
        let snapshot = Snapshot::open(path).unwrap();
        snapshot.connection().query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn rows_that_are_only_in_the_wal_are_seen_and_nothing_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a #1?.sqlite");
        let live = Connection::open(&path).unwrap();
        live.pragma_update(None, "journal_mode", "wal").unwrap();
        live.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2);").unwrap();
        let before: Vec<(String, Vec<u8>)> = names(folder.path())
            .into_iter()
            .map(|name| (name.clone(), fs::read(folder.path().join(name)).unwrap()))
            .collect();
        assert_eq!(before.len(), 3);
        assert_eq!(count(&path), 2);
        for (name, bytes) in before {
            assert_eq!(fs::read(folder.path().join(&name)).unwrap(), bytes, "{name}");
        }
        assert_eq!(names(folder.path()).len(), 3);
        drop(live);
        assert_eq!(count(&path), 2);
        assert_eq!(names(folder.path()).len(), 1);
    }

    #[test]
    fn half_a_transaction_is_taken_back_from_its_journal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let live = Connection::open(&path).unwrap();
        live.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2);").unwrap();
        live.pragma_update(None, "cache_size", 2).unwrap();
        live.execute_batch("BEGIN EXCLUSIVE; DELETE FROM t; CREATE TABLE big(x);").unwrap();
        for _ in 0..50 {
            live.execute("INSERT INTO big VALUES (randomblob(4000))", []).unwrap();
        }
        assert_eq!(names(folder.path()), ["a.sqlite", "a.sqlite-journal"]);
        assert_eq!(count(&path), 2);
        live.execute_batch("COMMIT").unwrap();
        assert_eq!(count(&path), 0);
        assert_eq!(names(folder.path()), ["a.sqlite"]);
    }

    #[test]
    fn a_database_that_changes_while_it_is_read_is_left_for_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let live = Connection::open(&path).unwrap();
        live.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (1);").unwrap();
        let snapshot = Snapshot::open(&path).unwrap();
        snapshot.holds().unwrap();
        live.execute_batch("CREATE TABLE u(x);").unwrap();
        assert!(matches!(snapshot.holds(), Err(Unreadable::Busy)));
    }

    #[test]
    fn what_is_no_database_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.sqlite");
        fs::write(&path, "not a database, but long enough to be taken for a page of one").unwrap();
        let read = Snapshot::open(&path).and_then(|snapshot| snapshot.columns("t"));
        assert!(read.unwrap_err().to_string().contains("cannot be read"));
        assert!(Snapshot::open(folder.path()).is_err());
        assert!(Snapshot::open(&folder.path().join("absent")).is_err());
    }
}
