//! Another program's SQLite database, read without leaving a trace beside it.
//!
//! A [`Database`] is only a path until its rows are wanted. Then it is opened, and opened
//! again if it changed in between; how is decided in `snapshot.rs`. Reading has a limit of
//! steps, since a database of unknown origin may hold a view without end.

mod copy;
mod snapshot;

use retro_model::{RowsStamp, SourceKey};
use rusqlite::Connection;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::Xxh3Default;

use crate::Agent;
pub use copy::remove_left_copies;
use snapshot::{Looks, Snapshot};

/// How often a database is opened again because its program is writing.
const TRIES: usize = 3;

/// A database of an agent, which may be closed.
pub struct Database {
    agent: &'static dyn Agent,
    path: PathBuf,
    copies: Option<PathBuf>,
    open: Mutex<Option<Snapshot>>,
}

/// Why a database cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The file system returned an error.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// SQLite returned an error.
    #[error("the database cannot be read: {0}")]
    Sqlite(rusqlite::Error),
    /// The agent writes faster than retro can read.
    #[error("the database changed while it was read; the next sync tries again")]
    Busy,
    /// A query did not finish within the limit of steps.
    #[error("the database cannot be read: a question took more than {STEPS_MAX} steps")]
    Endless,
    /// The database lists more sessions than is plausible.
    #[error("the database cannot be read: it lists more than {0} sessions")]
    TooMany(usize),
}

/// Steps of SQLite's virtual machine for one query. A million rows of ten columns take about a
/// tenth of this.
const STEPS_MAX: u64 = 200_000_000;

impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => DatabaseError::Endless,
            _ => DatabaseError::Sqlite(error),
        }
    }
}

impl Database {
    /// A database that is not opened yet. If it cannot be read in place, it is copied to a private
    /// folder below `copies`, or below the system's temporary folder if that is `None`.
    pub fn new(agent: &'static dyn Agent, path: &Path, copies: Option<PathBuf>) -> Database {
        Database { agent, path: path.to_owned(), copies, open: Mutex::new(None) }
    }

    /// The path of its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path that identifies a session's rows: the database's path, `#`, the id.
    pub fn place_of(&self, session: &str) -> PathBuf {
        let mut place = self.path.as_os_str().to_owned();
        place.push("#");
        place.push(session);
        place.into()
    }

    /// The stamp of the whole database: its file, and the files that its program keeps beside it.
    pub fn stamp(path: &Path, beside: u64) -> std::io::Result<RowsStamp> {
        let looks = Looks::of(path)?;
        let mut hash = Xxh3Default::new();
        for stat in std::iter::once(Some(looks.own)).chain(looks.beside) {
            let stat = stat.unwrap_or_default();
            for number in [stat.size, stat.mtime_ns.cast_unsigned(), stat.device, stat.inode] {
                hash.update(&number.to_le_bytes());
            }
        }
        hash.update(&beside.to_le_bytes());
        Ok(RowsStamp { size: looks.own.size, hash: hash.digest(), changed_ns: looks.own.mtime_ns })
    }

    /// The rows of one part of a session, as its agent writes them.
    pub fn rows(&self, session: &str, source: &SourceKey) -> Result<Vec<u8>, DatabaseError> {
        self.agent.rows(self, session, source)
    }

    /// Runs `work` on one consistent state of the database. Starts again if the agent changed the
    /// database meanwhile.
    pub fn read<T>(
        &self,
        mut work: impl FnMut(&Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..TRIES {
            let snapshot = match open.take().filter(|snapshot| snapshot.holds(&self.path)) {
                Some(snapshot) => snapshot,
                None => Snapshot::open(&self.path, self.copies.as_deref())?,
            };
            let result = snapshot.read(&mut work);
            if snapshot.holds(&self.path) {
                *open = Some(snapshot);
                return result;
            }
        }
        Err(DatabaseError::Busy)
    }
}

/// The columns of a table, looked up by name because schemas grow. Empty if there is no such table.
pub(crate) fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, DatabaseError> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    let names = statement.query_map([table], |row| row.get::<_, String>(0))?;
    Ok(names.collect::<Result<_, _>>()?)
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Database").field(&self.path).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_name;
    use std::fs;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    fn database(path: &Path, copies: Option<&Path>) -> Database {
        Database::new(by_name("codex").unwrap(), path, copies.map(Path::to_owned))
    }

    fn count(database: &Database) -> Result<i64, DatabaseError> {
        database.read(|connection| Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))?))
    }

    /// A killed program leaves such files, and a backup may hold them.
    #[test]
    fn a_wal_without_its_program_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let live = Connection::open(&path).unwrap();
        live.pragma_update(None, "journal_mode", "wal").unwrap();
        live.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2);").unwrap();
        for (with_index, copied) in [(true, false), (false, true)] {
            let left = tempfile::tempdir().unwrap();
            for ending in ["", "-wal", "-shm"] {
                if ending != "-shm" || with_index {
                    let name = format!("a.sqlite{ending}");
                    fs::copy(folder.path().join(&name), left.path().join(&name)).unwrap();
                }
            }
            let bytes = || -> Vec<Vec<u8>> {
                ["", "-wal", "-shm"]
                    .map(|ending| fs::read(left.path().join(format!("a.sqlite{ending}"))).unwrap_or_default())
                    .into()
            };
            let (before, bytes_before) = (names(left.path()), bytes());
            let copies = left.path().join("copies");
            let read = database(&left.path().join("a.sqlite"), Some(&copies));
            assert_eq!(count(&read).unwrap(), 2, "with its index: {with_index}");
            assert_eq!(copies.exists(), copied, "with its index: {with_index}");
            drop(read);
            let after: Vec<String> = names(left.path()).into_iter().filter(|name| name != "copies").collect();
            assert_eq!(after, before);
            assert!(bytes() == bytes_before, "with its index: {with_index}");
            assert!(!copied || names(&copies).is_empty(), "{:?}", names(&copies));
        }
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
        assert_eq!(count(&database(&path, None)).unwrap(), 2);
        live.execute_batch("COMMIT").unwrap();
        assert_eq!(count(&database(&path, None)).unwrap(), 0);
        assert_eq!(names(folder.path()), ["a.sqlite"]);
    }

    #[test]
    fn a_database_that_changes_while_it_is_read_is_read_again_or_left_for_later() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let live = Connection::open(&path).unwrap();
        live.execute_batch("CREATE TABLE t(x); INSERT INTO t VALUES (1);").unwrap();
        let read = database(&path, None);
        let mut asked = 0;
        let seen = read.read(|connection| {
            asked += 1;
            if asked == 1 {
                live.execute_batch("INSERT INTO t VALUES (2)").unwrap();
            }
            Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0))?)
        });
        assert_eq!((seen.unwrap(), asked), (2, 2));
        let never: Result<(), _> = read.read(|_| {
            live.execute_batch("INSERT INTO t VALUES (3)").unwrap();
            Ok(())
        });
        assert!(matches!(never, Err(DatabaseError::Busy)));
    }

    #[test]
    fn a_question_without_end_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let endless = "CREATE VIEW t AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n";
        Connection::open(&path).unwrap().execute_batch(endless).unwrap();
        let error = count(&database(&path, None)).unwrap_err();
        assert!(matches!(error, DatabaseError::Endless), "{error}");
    }

    #[test]
    fn what_is_no_database_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.sqlite");
        fs::write(&path, "not a database, but long enough to be taken for a page of one").unwrap();
        assert!(count(&database(&path, None)).unwrap_err().to_string().contains("cannot be read"));
        assert!(count(&database(folder.path(), None)).is_err());
        assert!(count(&database(&folder.path().join("absent"), None)).is_err());
    }

    #[test]
    fn its_stamp_shows_every_change_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let live = Connection::open(&path).unwrap();
        live.pragma_update(None, "journal_mode", "wal").unwrap();
        let stamp = || Database::stamp(&path, 0).unwrap();
        let empty = stamp();
        assert_eq!(stamp(), empty);
        live.execute_batch("CREATE TABLE t(x)").unwrap();
        assert_ne!(stamp().hash, empty.hash, "only the WAL changed");
        assert_ne!(Database::stamp(&path, 1).unwrap().hash, stamp().hash);
        assert!(Database::stamp(&folder.path().join("absent"), 0).is_err());
    }
}
