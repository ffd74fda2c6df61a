//! Changes the index, in one transaction at a time.

use retro_model::{SessionKey, Timestamp};
use retro_text::redact;
use rusqlite::{Connection, OptionalExtension, Params, Transaction, TransactionBehavior, params};
use serde::Serialize;
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::path::Path;

use super::rows::{self, path_bytes};
use super::{DISK_BYTES, place, shrunk};
use super::{Index, PlaceRow, SessionRow, SourceRow};
use crate::Error;
use crate::kept::{self, Rows};

/// An open transaction of the index.
pub struct Writer<'a> {
    pub(super) connection: &'a Connection,
    pub(super) path: &'a Path,
    /// The number of this transaction among all changes, once it has changed anything.
    pub(super) change: Cell<Option<i64>>,
    /// The session that was asked for last, with its number.
    pub(super) last: RefCell<Option<(SessionKey, i64)>>,
}

impl Index {
    /// Does `work` in one transaction, which is rolled back if it fails.
    pub fn write<T>(&self, work: impl FnOnce(&Writer<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.try_write(work)
    }

    /// Like [`Index::write`], for work that can fail in other ways too.
    pub fn try_write<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let writer = Writer {
            connection: &self.connection,
            path: &self.path,
            change: Cell::new(None),
            last: RefCell::new(None),
        };
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(Error::index(&self.path))?;
        let value = work(&writer)?;
        transaction.commit().map_err(Error::index(&self.path))?;
        Ok(value)
    }
}

impl Writer<'_> {
    /// Stores the stamp of a file, unless its path contains a secret, because secrets may be only
    /// in raw. Without a stamp the file is read in every sync.
    pub fn put_place(&self, row: &PlaceRow) -> Result<(), Error> {
        if matches!(without_secrets(&row.path), Cow::Owned(_)) {
            return Ok(());
        }
        self.run(
            &format!("REPLACE INTO places ({}) VALUES (?1, ?2, ?3)", place::PLACE),
            (
                path_bytes(&row.path),
                place::owner(&row.agent, row.session.as_deref()),
                place::Packed::of(row).pack(),
            ),
        )
    }

    /// Removes the stamp of a file.
    pub fn forget_place(&self, path: &Path) -> Result<(), Error> {
        self.run("DELETE FROM places WHERE path = ?1", [path_bytes(path)])
    }

    /// Stores how far a source was read.
    pub fn put_source(&self, row: &SourceRow) -> Result<(), Error> {
        let state = shrunk::shrink(&row.state).map_err(Error::index(self.path))?;
        let facts = shrunk::shrink(row.facts.as_bytes()).map_err(Error::index(self.path))?;
        self.run(
            &format!(
                "REPLACE INTO sources ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                rows::SOURCE
            ),
            params![
                row.agent,
                row.session,
                row.source.as_str(),
                row.revision,
                name(&row.kind),
                row.format,
                row.end.cast_signed(),
                row.line_end.cast_signed(),
                row.records.cast_signed(),
                row.parser_version,
                state,
                row.tail_hash,
                facts,
                row.seal(),
            ],
        )
    }

    /// Stores the row of a session for lists, and counts the session as changed.
    pub fn put_session(&self, row: &SessionRow) -> Result<(), Error> {
        let key = row.key();
        self.note_present(&key, "")?;
        let columns = rows::SESSION;
        self.run(
            &format!(
                "INSERT INTO sessions ({columns}, disk_bytes, changed, pieces, text_bytes)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, 0, ?16, 0, 0)
                 ON CONFLICT (agent, id) DO UPDATE SET {}, changed = excluded.changed",
                excluded(columns)
            ),
            params![
                row.agent,
                row.id,
                row.title,
                row.title_rank.as_ref().map(name),
                row.project,
                row.cwd,
                row.branch,
                row.started_at.map(Timestamp::as_millis),
                row.ended_at.map(Timestamp::as_millis),
                row.parent,
                row.bytes.cast_signed(),
                row.mtime_ns,
                serde_json::to_string(&row.links).unwrap_or_default(),
                (!row.limits.is_empty()).then(|| serde_json::to_string(&row.limits).ok()).flatten(),
                row.content,
                self.change()?,
            ],
        )
    }

    /// Stores the size of a session's files, and updates the total.
    pub fn put_disk_bytes(&self, key: &SessionKey, bytes: u64) -> Result<(), Error> {
        let of_session = "SELECT disk_bytes FROM sessions WHERE agent = ?1 AND id = ?2";
        let before = || {
            let mut statement = self.connection.prepare_cached(of_session)?;
            statement.query_row((&key.agent, &key.id), |row| row.get::<_, i64>(0)).optional()
        };
        let before = before().map_err(Error::index(self.path))?.unwrap_or(0);
        let bytes = bytes.cast_signed();
        self.run(
            "UPDATE sessions SET disk_bytes = ?3 WHERE agent = ?1 AND id = ?2",
            (&key.agent, &key.id, bytes),
        )?;
        self.add_meta(DISK_BYTES, bytes - before)
    }

    /// Removes all rows of a session, including the stamps of its files.
    pub fn forget_session(&self, key: &SessionKey) -> Result<(), Error> {
        self.put_disk_bytes(key, 0)?;
        self.bump_responses()?;
        // Passages are found by the number in the session's row, so they go first.
        self.clear_passages(key)?;
        for (_, table, rows) in kept::tables() {
            self.clear_rows(table, rows, key)?;
        }
        // Last: the rows of other tables are found by it.
        self.run("DELETE FROM keys WHERE agent = ?1 AND id = ?2", (&key.agent, &key.id))?;
        self.last.take();
        self.note_removed(key, "")
    }

    /// Removes the rows of a session from a table.
    pub(crate) fn clear_rows(&self, table: &str, rows: Rows, key: &SessionKey) -> Result<(), Error> {
        match rows {
            Rows::Session(column) => {
                let text = format!("DELETE FROM {table} WHERE agent = ?1 AND {column} = ?2");
                self.run(&text, (&key.agent, &key.id))
            }
            Rows::Key => {
                let text = format!(
                    "DELETE FROM {table} WHERE session = (SELECT session FROM keys WHERE agent = ?1 AND id = ?2)"
                );
                self.run(&text, (&key.agent, &key.id))
            }
            Rows::Owner => self.run(&format!("DELETE FROM {table} WHERE owner = ?1"), [place::owner_of(key)]),
            Rows::Number | Rows::Many | Rows::Last => Ok(()),
        }
    }

    /// Records that a file could not be read.
    pub fn put_failure(&self, path: &Path, agent: &str, reason: &str, at: Timestamp) -> Result<(), Error> {
        self.run(
            "REPLACE INTO failures (path, agent, reason, at) VALUES (?1, ?2, ?3, ?4)",
            (path_bytes(&without_secrets(path)), agent, redact(reason).as_str(), at.as_millis()),
        )
    }

    /// Clears the record that a file could not be read.
    pub fn clear_failure(&self, path: &Path) -> Result<(), Error> {
        self.run("DELETE FROM failures WHERE path = ?1", [path_bytes(&without_secrets(path))])
    }

    /// Stores a value under a name.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), Error> {
        self.run("REPLACE INTO meta (key, value) VALUES (?1, ?2)", (key, value))
    }

    /// Adds to a number stored under a name.
    pub(super) fn add_meta(&self, key: &str, more: i64) -> Result<(), Error> {
        self.run(
            "INSERT INTO meta (key, value) VALUES (?1, ?2) \
             ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + ?2",
            (key, more),
        )
    }

    pub(super) fn run(&self, text: &str, params: impl Params) -> Result<(), Error> {
        let run = || self.connection.prepare_cached(text)?.execute(params).map(drop);
        run().map_err(Error::index(self.path))
    }
}

/// Assignments that take each column from the row that failed to insert.
fn excluded(columns: &str) -> String {
    let columns = columns.split(',').map(str::trim);
    columns.map(|column| format!("{column} = excluded.{column}")).collect::<Vec<_>>().join(", ")
}

/// A path without secrets, unchanged if it contains none.
fn without_secrets(path: &Path) -> Cow<'_, Path> {
    let text = path.to_string_lossy();
    let clean = redact(&text);
    if *clean == text { Cow::Borrowed(path) } else { Cow::Owned(clean.into_inner().into()) }
}

/// The name of a value in our JSON.
pub(super) fn name(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned))
}
