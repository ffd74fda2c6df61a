//! The database for fast queries. If it is lost, a re-read restores it.
//!
//! One SQLite file, one writer (the holder of the store's lock), any number of readers that never
//! wait (`WAL`). All of it is derived: a file that is broken or has an older schema is moved aside
//! and rebuilt, and one with a newer schema is left alone. `schema.rs` holds the tables, `rows.rs`
//! their rows as values, and `writer.rs` changes sessions and sources. Turns, ledgers, stages and
//! the series of changes have a file each. No other module of the program has SQL for it.

mod bodies;
mod calls;
mod changes;
mod copied_turns;
mod family;
mod forget;
mod keys;
mod memories;
mod packed;
mod passages;
mod place;
mod progress;
mod responses;
mod rows;
mod schema;
mod sealed;
mod short;
mod shrunk;
mod stamps;
mod turns;
mod writer;

use retro_model::SessionKey;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Params, Row};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use bodies::BodyRow;
pub use calls::{RepairRow, TouchRow};
pub use changes::{Changes, Follow, Mark, Snapshot, TurnKey};
pub use copied_turns::{NameRow, OpenerRow};
pub use memories::MemoryTables;
pub use packed::{KnownPassages, PackedPassage};
pub use passages::PassageRow;
pub use place::PlaceRef;
pub use progress::Made;
pub use responses::Responses;
pub use rows::{FailureRow, PlaceRow, SessionRow, SourceRow, TurnRow};
pub use stamps::Stamps;
pub use writer::Writer;

use crate::error::is_broken;
use crate::layout::{INDEX, source_key};
use crate::{Error, Lock, Slot, Store};
use schema::{SCHEMA, TABLES};

/// How long a write waits for another one.
const BUSY: Duration = Duration::from_secs(5);

/// Number of prepared statements kept ready.
const STATEMENTS: usize = 64;

/// Pages that are cached while a table is scanned: no page is read twice, and memory that was never
/// used before costs most.
const SCAN_PAGES: i64 = 24;

/// Size of the cache otherwise, in SQLite's notation: kilobytes as a negative number.
const CACHE_PAGES: i64 = -2000;

/// Meta key: the id of the store that the index belongs to.
const STORE: &str = "store";

/// Meta key: size of the files of all sessions.
const DISK_BYTES: &str = "disk_bytes";

/// The open database.
#[derive(Debug)]
pub struct Index {
    connection: Connection,
    path: PathBuf,
}

impl Store {
    /// Opens the index or creates it.
    pub fn index(&self) -> Result<Index, Error> {
        let folder = self.root().join(INDEX);
        let path = folder.join(Index::FILE);
        self.files.ensure_dir(&folder)?;
        for own in [&path, &self.text_folder(), &self.vectors_folder()] {
            self.files.own(own)?;
        }
        refuse_odd(&path)?;
        // An empty file is still being created.
        if std::fs::metadata(&path).is_ok_and(|meta| meta.len() > 0) {
            match Index::open(&path, self.id()) {
                Ok(Some(index)) => return Ok(index),
                Ok(None) => {}
                Err(error) if error.is_broken_index() => {}
                Err(error) => return Err(error),
            }
        }
        // Only one process creates it: several that turn the same empty file into a database get in
        // each other's way.
        let making = self.lock_making()?;
        if !path.is_file() {
            // Created by us, so that only the user can read it. SQLite gives its other files the
            // same permissions.
            self.files.disk.write_at(&path, 0, &[]).map_err(Error::io("write", &path))?;
        }
        match Index::open(&path, self.id()) {
            Ok(Some(index)) => Ok(index),
            Ok(None) => self.make_anew(&making),
            Err(error) if error.is_broken_index() => self.make_anew(&making),
            Err(error) => Err(error),
        }
    }

    /// Opens the index and reads the stamps of all files.
    pub fn index_and_stamps(&self) -> Result<(Index, Stamps), Error> {
        self.stamps_of_index(self.index()?, Index::stamps)
    }

    /// Reads the stamps of an open index. If they are unreadable, the index is broken and rebuilt,
    /// and every file is read again.
    pub fn stamps_of_index(
        &self,
        index: Index,
        read: impl FnOnce(&Index) -> Result<Stamps, Error>,
    ) -> Result<(Index, Stamps), Error> {
        match read(&index) {
            Ok(stamps) => Ok((index, stamps)),
            Err(error) if error.is_broken_index() => {
                drop(index);
                Ok((self.index_anew()?, Stamps::default()))
            }
            Err(error) => Err(error),
        }
    }

    /// The index, if there is one, for queries that create nothing. On a read-only disk it is
    /// opened as it is.
    pub fn index_if_there(&self) -> Result<Option<Index>, Error> {
        let path = self.index_path();
        if !path.is_file() {
            return Ok(None);
        }
        match self.index() {
            Err(error) if error.is_unwritable() => Index::open_still(&path, self.id()).ok_or(error).map(Some),
            opened => opened.map(Some),
        }
    }

    /// The index in its present state, for queries that must change nothing and wait for nothing.
    /// `None` if there is none that this program can read.
    pub fn index_to_read(&self) -> Option<Index> {
        let path = self.root().join(INDEX).join(Index::FILE);
        refuse_odd(&path).ok()?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).ok()?;
        let found: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).ok()?;
        let index = Index { connection, path };
        (found == SCHEMA && !index.is_of_another(self.id()).ok()?).then_some(index)
    }

    /// Whether the index was made for another store and copied here.
    pub fn has_foreign_index(&self) -> bool {
        let path = self.root().join(INDEX).join(Index::FILE);
        if refuse_odd(&path).is_err() {
            return false;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let Ok(connection) = Connection::open_with_flags(&path, flags) else { return false };
        Index { connection, path }.is_of_another(self.id()).unwrap_or(false)
    }

    /// Moves the index aside and creates a new, empty one, after a query has shown that it is
    /// broken.
    pub fn index_anew(&self) -> Result<Index, Error> {
        self.make_anew(&self.lock_making()?)
    }

    fn make_anew(&self, _making: &Lock) -> Result<Index, Error> {
        let path = self.root().join(INDEX).join(Index::FILE);
        let disk = &self.files.disk;
        for ending in ["-wal", "-shm"] {
            let mut beside = path.clone().into_os_string();
            beside.push(ending);
            self.files.remove(Path::new(&beside), crate::files::Worth::Cache)?;
        }
        disk.rename(&path, &path.with_extension("sqlite.old")).map_err(Error::io("move aside", &path))?;
        disk.write_at(&path, 0, &[]).map_err(Error::io("write", &path))?;
        Index::open(&path, self.id())?.ok_or_else(|| Error::Damaged {
            path: path.clone(),
            what: "a new database is not readable".to_owned(),
            help: "check the disk",
        })
    }
}

/// Refuses a database if one of its files is not regular, because SQLite would wait for a pipe.
pub(crate) fn refuse_odd(path: &Path) -> Result<(), Error> {
    for ending in ["", "-journal", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        let path = PathBuf::from(name);
        if std::fs::symlink_metadata(&path).is_ok_and(|meta| !meta.is_file()) {
            let what = "it is not a regular file".to_owned();
            return Err(Error::Damaged {
                path,
                what,
                help: "move it away; `retro sync` makes the index again",
            });
        }
    }
    Ok(())
}

impl Index {
    /// Name of the database file.
    pub(crate) const FILE: &str = "retro.sqlite";

    /// Opens the database of the store with this id. `None` if it belongs to another store, has an
    /// older schema, or its tables do not match its schema.
    fn open(path: &Path, id: &str) -> Result<Option<Index>, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(Error::index(path))?;
        let index = Index { connection, path: path.to_owned() };
        index.prepare().map_err(Error::index(path))?;
        let mut found = index.version()?;
        if found == 0 && !index.is_empty()? {
            // Another process may have created it between the two queries.
            found = index.version()?;
        }
        if found > SCHEMA {
            return Err(Error::Newer { path: path.to_owned(), found, known: SCHEMA });
        }
        if found < SCHEMA && !index.is_empty()?
            || found == SCHEMA && !has_tables(&index.connection).map_err(Error::index(path))?
        {
            return Ok(None);
        }
        if found < SCHEMA {
            index.create()?;
        }
        if index.is_of_another(id)? {
            return Ok(None);
        }
        if index.meta(STORE)?.is_none() {
            // It was made before indexes had an id, or just now.
            index.set_meta(STORE, id)?;
        }
        Ok(Some(index))
    }

    /// Opens a database on a read-only disk, where no other process of this user can write either.
    /// `None` if it is incomplete, has another schema, or belongs to another store.
    fn open_still(path: &Path, id: &str) -> Option<Index> {
        let mut journal = path.to_owned().into_os_string();
        journal.push("-wal");
        if std::fs::metadata(&journal).is_ok_and(|meta| meta.len() > 0) {
            return None;
        }
        let mut uri = String::from("file:");
        for byte in path.to_str()?.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' | b':' => {
                    uri.push(char::from(byte));
                }
                byte => uri.push_str(&format!("%{byte:02x}")),
            }
        }
        let flags =
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(format!("{uri}?immutable=1"), flags).ok()?;
        let found: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0)).ok()?;
        let index = Index { connection, path: path.to_owned() };
        (found == SCHEMA && !index.is_of_another(id).ok()?).then_some(index)
    }

    /// Whether it has the id of another store.
    fn is_of_another(&self, id: &str) -> Result<bool, Error> {
        Ok(self.meta(STORE)?.is_some_and(|of| of != id))
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(BUSY)?;
        self.connection.set_prepared_statement_cache_capacity(STATEMENTS);
        self.connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        self.connection.pragma_update(None, "synchronous", "normal")
    }

    fn version(&self) -> Result<u32, Error> {
        Ok(self.one("PRAGMA user_version", [], |row| row.get(0))?.unwrap_or(0))
    }

    fn is_empty(&self) -> Result<bool, Error> {
        let tables: i64 = self.one("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?.unwrap_or(0);
        Ok(tables == 0)
    }

    /// Two processes may find the same empty file. The second one changes nothing.
    fn create(&self) -> Result<(), Error> {
        let series = changes::start_series();
        let text = format!("BEGIN IMMEDIATE; {TABLES} {series} PRAGMA user_version = {SCHEMA}; COMMIT;");
        self.connection.execute_batch(&text).map_err(Error::index(&self.path))
    }

    /// The problem with a database, for verify. `None` if it is good.
    pub(crate) fn check(path: &Path) -> Option<String> {
        let check = || {
            let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            connection.busy_timeout(BUSY)?;
            let said =
                connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get::<_, String>(0))?;
            let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
            Ok((said, version != SCHEMA || has_tables(&connection)?))
        };
        match check() {
            Ok((said, _)) if said != "ok" => Some(said),
            Ok((_, is_whole)) => (!is_whole).then(|| "its tables are not as they were made".to_owned()),
            Err(error) if is_broken(&error) => Some(error.to_string()),
            // Busy or gone: not damage.
            Err(_) => None,
        }
    }

    /// The stamps of all source files, by path.
    pub fn stamps(&self) -> Result<Stamps, Error> {
        let mut stamps = Stamps::roomy();
        self.cache(SCAN_PAGES)?;
        self.all(&format!("SELECT {} FROM places", place::PLACE), [], |row| stamps.read(row))?;
        self.cache(CACHE_PAGES)?;
        Ok(stamps.by_path())
    }

    /// The stamps of these files, and of all rows of these databases. The cost depends on their
    /// number, not on all files ever seen.
    pub fn stamps_at<'p>(
        &self,
        files: impl Iterator<Item = &'p Path>,
        databases: impl Iterator<Item = &'p Path>,
    ) -> Result<Stamps, Error> {
        let mut stamps = Stamps::default();
        let one = format!("SELECT {} FROM places WHERE path = ?1", place::PLACE);
        for path in files {
            self.all(&one, [rows::path_bytes(path)], |row| stamps.read(row))?;
        }
        // The path of a row is that of its database, then `#` and its session.
        let below = format!("SELECT {} FROM places WHERE path > ?1 AND path < ?2", place::PLACE);
        for path in databases {
            let path = rows::path_bytes(path).into_owned();
            self.all(&one, [&path], |row| stamps.read(row))?;
            let [from, to] = [b'#', b'#' + 1].map(|end| [path.as_slice(), &[end]].concat());
            self.all(&below, (from, to), |row| stamps.read(row))?;
        }
        Ok(stamps.by_path())
    }

    /// The stamps of one session's files.
    pub fn stamps_of(&self, key: &SessionKey) -> Result<Stamps, Error> {
        let text = format!("SELECT {} FROM places WHERE owner = ?1", place::PLACE);
        let mut stamps = Stamps::default();
        self.all(&text, [place::owner_of(key)], |row| stamps.read(row))?;
        Ok(stamps.by_path())
    }

    /// How far each source of a session was read, by source and revision. A row with an invalid
    /// seal counts as lost.
    pub fn sources_of(&self, key: &SessionKey) -> Result<Vec<SourceRow>, Error> {
        let text = format!("SELECT {} FROM sources WHERE agent = ?1 AND session = ?2", rows::SOURCE);
        let rows = self.all(&text, (&key.agent, &key.id), SourceRow::read_sealed)?;
        let mut rows: Vec<SourceRow> = rows.into_iter().flatten().collect();
        rows.sort_by(|a, b| (&a.source, a.revision).cmp(&(&b.source, b.revision)));
        Ok(rows)
    }

    /// Number of bytes read of each source of all sessions.
    pub fn source_ends(&self) -> Result<Vec<(Slot, u64)>, Error> {
        let read = |row: &Row<'_>| -> rusqlite::Result<Option<(Slot, u64)>> {
            let (agent, id): (String, String) = (row.get(0)?, row.get(1)?);
            let (source, revision, end): (String, u32, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
            let slot = |source| Slot::Session { key: SessionKey::new(agent, id), source, revision };
            Ok(source_key(&source).map(|source| (slot(source), end.cast_unsigned())))
        };
        let rows = self.all("SELECT agent, session, source, revision, end FROM sources", [], read)?;
        Ok(rows.into_iter().flatten().collect())
    }

    /// Whether it has a source of any session, or a session without any.
    pub fn has_any(&self) -> Result<bool, Error> {
        let is_there = |table| self.one(&format!("SELECT 1 FROM {table} LIMIT 1"), [], |_| Ok(()));
        Ok(is_there("sources")?.is_some() || is_there("sessions")?.is_some())
    }

    /// Every session, by agent and id.
    pub fn session_rows(&self) -> Result<Vec<SessionRow>, Error> {
        let text = format!("SELECT {} FROM sessions ORDER BY agent, id", rows::SESSION);
        self.entitle(self.all(&text, [], SessionRow::read)?)
    }

    /// One session, with its own title only.
    pub fn session_row(&self, key: &SessionKey) -> Result<Option<SessionRow>, Error> {
        let text = format!("SELECT {} FROM sessions WHERE agent = ?1 AND id = ?2", rows::SESSION);
        self.one(&text, (&key.agent, &key.id), SessionRow::read)
    }

    /// Size of the files of all sessions.
    pub fn disk_bytes(&self) -> Result<u64, Error> {
        Ok(self.meta(DISK_BYTES)?.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    /// Files that could not be read at the last attempt, by path.
    pub fn failures(&self) -> Result<Vec<FailureRow>, Error> {
        self.all(&format!("SELECT {} FROM failures ORDER BY path", rows::FAILURE), [], FailureRow::read)
    }

    /// A value stored under a name.
    pub fn meta(&self, key: &str) -> Result<Option<String>, Error> {
        self.one("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0))
    }

    /// Stores a value under a name.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), Error> {
        self.write(|writer| writer.set_meta(key, value))
    }

    fn cache(&self, pages: i64) -> Result<(), Error> {
        self.connection.pragma_update(None, "cache_size", pages).map_err(Error::index(&self.path))
    }

    fn all<T>(
        &self,
        text: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let rows = || -> rusqlite::Result<Vec<T>> {
            self.connection.prepare_cached(text)?.query_map(params, read)?.collect()
        };
        rows().map_err(Error::index(&self.path))
    }

    fn one<T>(
        &self,
        text: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Error> {
        let row = || self.connection.prepare_cached(text)?.query_row(params, read).optional();
        row().map_err(Error::index(&self.path))
    }
}

/// Whether the tables match this schema. A letter that changed on the disk shows only in a query of
/// that very table.
fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let mut found = connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let found: rusqlite::Result<HashSet<String>> = found.query_map([], |row| row.get(0))?.collect();
    let tables = TABLES.split(';').map(str::trim).filter(|table| !table.is_empty());
    // SQLite keeps the text that created a table, without these words.
    Ok(found? == tables.map(|table| table.replacen("IF NOT EXISTS ", "", 1)).collect())
}

/// The columns of every table, for the test of the register.
#[cfg(test)]
pub(crate) fn testing_columns() -> std::collections::BTreeMap<String, Vec<String>> {
    let connection = Connection::open_in_memory().unwrap_or_else(|error| panic!("{error}"));
    let read = || -> rusqlite::Result<_> {
        connection.execute_batch(TABLES)?;
        let mut tables = connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
        let tables: rusqlite::Result<Vec<String>> = tables.query_map([], |row| row.get(0))?.collect();
        let columns = |table: String| {
            let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
            let columns = columns.query_map([&table], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            Ok((table, columns))
        };
        tables?.into_iter().map(columns).collect()
    };
    read().unwrap_or_else(|error| panic!("{error}"))
}
