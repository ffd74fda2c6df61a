//! Changing the index: one transaction at a time, all of it or nothing.

use retro_model::{SessionKey, Timestamp};
use retro_text::redact;
use rusqlite::{Connection, Params, Transaction, TransactionBehavior};
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;

use super::place;
use super::rows::{self, path_bytes};
use super::{Index, PlaceRow, SessionRow, SourceRow, TurnRow};
use crate::Error;

/// A transaction that is open.
pub struct Writer<'a> {
    connection: &'a Connection,
    path: &'a Path,
}

impl Index {
    /// Does `work` in one transaction; if it fails, nothing of it stays.
    pub fn write<T>(&self, work: impl FnOnce(&Writer<'_>) -> Result<T, Error>) -> Result<T, Error> {
        self.try_write(work)
    }

    /// Like [`Index::write`], for work that can fail in other ways too.
    pub fn try_write<T, E: From<Error>>(
        &self,
        work: impl FnOnce(&Writer<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let writer = Writer { connection: &self.connection, path: &self.path };
        if !self.connection.is_autocommit() {
            return writer.nested(work);
        }
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
            .map_err(Error::index(&self.path))?;
        let value = work(&writer)?;
        transaction.commit().map_err(Error::index(&self.path))?;
        Ok(value)
    }
}

impl Writer<'_> {
    /// Does `work` inside a transaction that is open already: if it fails, nothing of
    /// it stays, but what the others did before does.
    fn nested<T, E: From<Error>>(&self, work: impl FnOnce(&Self) -> Result<T, E>) -> Result<T, E> {
        let run = |text| self.connection.execute_batch(text).map_err(Error::index(self.path));
        run("SAVEPOINT nested")?;
        let result = work(self);
        if result.is_err() {
            run("ROLLBACK TO nested")?;
        }
        run("RELEASE nested")?;
        result
    }

    /// Keeps the stamp of a file, unless its path holds a secret, which may stand
    /// nowhere but in raw: without a stamp the file is looked at in every sync.
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

    /// Drops the stamp of a file.
    pub fn forget_place(&self, path: &Path) -> Result<(), Error> {
        self.run("DELETE FROM places WHERE path = ?1", [path_bytes(path)])
    }

    /// Keeps how far a source was read.
    pub fn put_source(&self, row: &SourceRow) -> Result<(), Error> {
        self.run(
            &format!(
                "REPLACE INTO sources ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
                rows::SOURCE
            ),
            (
                &row.agent,
                &row.session,
                row.source.as_str(),
                row.revision,
                name(&row.kind),
                &row.format,
                row.end.cast_signed(),
                row.line_end.cast_signed(),
                row.records.cast_signed(),
                row.parser_version,
                &row.state,
                &row.tail_hash,
                &row.facts,
            ),
        )
    }

    /// Keeps what lists show of a session.
    pub fn put_session(&self, row: &SessionRow) -> Result<(), Error> {
        self.run(
            &format!(
                "REPLACE INTO sessions ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                rows::SESSION
            ),
            (
                &row.agent,
                &row.id,
                &row.title,
                row.title_rank.as_ref().map(name),
                &row.project,
                &row.cwd,
                &row.branch,
                row.started_at.map(Timestamp::as_millis),
                row.ended_at.map(Timestamp::as_millis),
                &row.parent,
                row.bytes.cast_signed(),
                row.mtime_ns,
                serde_json::to_string(&row.links).unwrap_or_default(),
                (!row.limits.is_empty()).then(|| serde_json::to_string(&row.limits).ok()).flatten(),
            ),
        )
    }

    /// Drops everything that stands here of a session, its files' stamps too.
    pub fn forget_session(&self, key: &SessionKey) -> Result<(), Error> {
        self.run("DELETE FROM places WHERE owner = ?1", [place::owner_of(key)])?;
        for text in [
            "DELETE FROM sources WHERE agent = ?1 AND session = ?2",
            "DELETE FROM sessions WHERE agent = ?1 AND id = ?2",
            "DELETE FROM stages WHERE agent = ?1 AND session = ?2",
        ] {
            self.run(text, (&key.agent, &key.id))?;
        }
        self.clear_responses(key)?;
        self.clear_turns(key)
    }

    /// Keeps which version of a stage was run on a session, and on what.
    pub fn put_stage(&self, key: &SessionKey, stage: &str, version: u32, input: &str) -> Result<(), Error> {
        self.run(
            "REPLACE INTO stages (agent, session, stage, version, input) VALUES (?1, ?2, ?3, ?4, ?5)",
            (&key.agent, &key.id, stage, version, input),
        )
    }

    /// Forgets that a stage ever ran.
    pub fn clear_stage(&self, stage: &str) -> Result<(), Error> {
        self.run("DELETE FROM stages WHERE stage = ?1", [stage])
    }

    /// Keeps a message that opens a turn. If the same message is known from an
    /// earlier record, that one stays.
    pub fn put_turn(&self, row: &TurnRow) -> Result<(), Error> {
        self.run(
            &format!(
                "INSERT INTO turns ({}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (agent, session, identity) DO UPDATE SET place = excluded.place,
                 event = excluded.event, thread = excluded.thread, ts = excluded.ts, text = excluded.text
                 WHERE excluded.place <= turns.place",
                rows::TURN
            ),
            (
                &row.agent,
                &row.session,
                &row.identity,
                &row.place,
                &row.event,
                &row.thread,
                row.ts.map(Timestamp::as_millis),
                &row.text,
            ),
        )
    }

    /// Drops the turns of a session.
    pub fn clear_turns(&self, key: &SessionKey) -> Result<(), Error> {
        self.run("DELETE FROM turns WHERE agent = ?1 AND session = ?2", (&key.agent, &key.id))
    }

    /// Remembers that a file could not be read.
    pub fn put_failure(&self, path: &Path, agent: &str, reason: &str, at: Timestamp) -> Result<(), Error> {
        self.run(
            "REPLACE INTO failures (path, agent, reason, at) VALUES (?1, ?2, ?3, ?4)",
            (path_bytes(&without_secrets(path)), agent, redact(reason).as_str(), at.as_millis()),
        )
    }

    /// Forgets that a file could not be read.
    pub fn clear_failure(&self, path: &Path) -> Result<(), Error> {
        self.run("DELETE FROM failures WHERE path = ?1", [path_bytes(&without_secrets(path))])
    }

    /// Remembers a value under a name.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), Error> {
        self.run("REPLACE INTO meta (key, value) VALUES (?1, ?2)", (key, value))
    }

    /// Where the database lies.
    pub(super) fn path(&self) -> &Path {
        self.path
    }

    pub(super) fn run(&self, text: &str, params: impl Params) -> Result<(), Error> {
        let run = || self.connection.prepare_cached(text)?.execute(params).map(drop);
        run().map_err(Error::index(self.path))
    }
}

/// A path as it may be told; the same one if it holds no secret.
fn without_secrets(path: &Path) -> Cow<'_, Path> {
    let text = path.to_string_lossy();
    let clean = redact(&text);
    if *clean == text { Cow::Borrowed(path) } else { Cow::Owned(clean.into_inner().into()) }
}

/// The name of a value in our JSON.
pub(super) fn name(value: &impl Serialize) -> Option<String> {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned))
}
