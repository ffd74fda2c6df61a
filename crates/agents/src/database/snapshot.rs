//! One state of a database, and the ways to open it.
//!
//! - No other file is beside it: it is opened in place as *immutable*, which takes no lock and
//!   makes no file. If the file changes meanwhile, the result is discarded.
//! - A write-ahead log and its index (`-wal`, `-shm`) are beside it, as while its program runs and
//!   after it was killed: it is opened in place, read-only down to the index. Readers of a
//!   write-ahead log do not block writers.
//! - A write-ahead log without its index, or the journal of half a transaction: SQLite
//!   would have to write beside the file. Only such a database is copied, with what belongs to
//!   it, and the copy is brought to a consistent state.

use retro_model::Stat;
use rusqlite::{Connection, OpenFlags, Transaction};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::copy::Copy;
use super::{DatabaseError, STEPS_MAX, TRIES};

/// An open database.
pub(super) struct Snapshot {
    connection: Connection,
    way: Way,
    /// Steps taken for the current query.
    steps: Arc<AtomicU64>,
}

/// How it was opened.
enum Way {
    /// In place, ignoring every file beside it. Valid while the files look like this.
    Immutable(Looks),
    /// In place with its write-ahead log. Valid while it is the same file.
    WithLog { device: u64, inode: u64 },
    /// As a copy, which does not change.
    Copied { _copy: Copy },
}

/// Steps between two checks of the limit.
const STEPS_AT_ONCE: i32 = 100_000;

impl Snapshot {
    pub(super) fn open(path: &Path, copies: Option<&Path>) -> Result<Snapshot, DatabaseError> {
        // SQLite resolves links before it looks for files beside the database.
        let path = &fs::canonicalize(path)?;
        let looks = Looks::of(path)?;
        let [log, journal] = looks.beside.map(|stat| stat.is_some_and(|stat| stat.size > 0));
        if !log && !journal {
            let connection = open_in_place(path, "immutable=1")?;
            return Snapshot::over(connection, Way::Immutable(looks));
        }
        if log && !journal && is_file(&beside(path, "-shm")) {
            let Stat { device, inode, .. } = looks.own;
            let opened = open_in_place(path, "mode=ro&readonly_shm=1")
                .and_then(|connection| Snapshot::over(connection, Way::WithLog { device, inode }));
            // Some states of the index need a writer to repair them.
            if let Ok(snapshot) = opened {
                return Ok(snapshot);
            }
        }
        for _ in 0..TRIES {
            let before = Looks::of(path)?;
            let copy = Copy::of(path, &BESIDE.map(|ending| beside(path, ending)), copies)?;
            if Looks::of(path)? == before {
                let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                let connection = Connection::open_with_flags(copy.path(), flags)?;
                // The copy has no other user, so it needs no index on disk.
                connection.pragma_update(None, "locking_mode", "exclusive")?;
                let mut snapshot = Snapshot::over(connection, Way::Immutable(before))?;
                snapshot.way = Way::Copied { _copy: copy.opened() };
                return Ok(snapshot);
            }
        }
        Err(DatabaseError::Busy)
    }

    /// Sets the limit, and reads once so that any error shows here.
    fn over(mut connection: Connection, way: Way) -> Result<Snapshot, DatabaseError> {
        let steps = Arc::new(AtomicU64::new(0));
        let taken = steps.clone();
        let is_too_much = move || {
            taken.fetch_add(STEPS_AT_ONCE as u64, Ordering::Relaxed) + STEPS_AT_ONCE as u64 > STEPS_MAX
        };
        connection.progress_handler(STEPS_AT_ONCE, Some(is_too_much))?;
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(Snapshot { connection, way, steps })
    }

    /// Runs `work` in one read transaction.
    pub(super) fn read<T>(
        &self,
        work: &mut dyn FnMut(&Connection) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        self.steps.store(0, Ordering::Relaxed);
        let _transaction: Transaction<'_> = self.connection.unchecked_transaction()?;
        work(&self.connection)
    }

    /// True if everything read so far is from one state of the database at `path`.
    pub(super) fn holds(&self, path: &Path) -> bool {
        match &self.way {
            Way::Immutable(before) => Looks::of(path).is_ok_and(|now| now == *before),
            Way::WithLog { device, inode } => {
                Looks::of(path).is_ok_and(|Looks { own, .. }| (own.device, own.inode) == (*device, *inode))
            }
            Way::Copied { .. } => true,
        }
    }
}

/// Files that may hold a part of a database: its write-ahead log, and the journal of an unfinished
/// transaction.
const BESIDE: [&str; 2] = ["-wal", "-journal"];

/// The metadata of a database and of the files beside it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Looks {
    pub own: Stat,
    pub beside: [Option<Stat>; 2],
}

impl Looks {
    pub(super) fn of(path: &Path) -> io::Result<Looks> {
        let meta = fs::metadata(path)?;
        if !meta.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        // Resolve links first, as SQLite does.
        let is_link = path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        let end = if is_link { fs::canonicalize(path)? } else { path.to_owned() };
        let stat = |path: PathBuf| fs::metadata(path).ok().map(|meta| Stat::of(&meta));
        Ok(Looks { own: Stat::of(&meta), beside: BESIDE.map(|ending| stat(beside(&end, ending))) })
    }
}

/// The path of the file with this suffix beside a database.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file())
}

/// Opens a database where it is. Nothing is written or created beside it.
fn open_in_place(path: &Path, how: &str) -> Result<Connection, DatabaseError> {
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
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(format!("{uri}?{how}"), flags)?)
}
