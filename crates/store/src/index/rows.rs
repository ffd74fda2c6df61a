//! Rows of the tables as plain values, and how to read them.

use retro_model::{LimitReading, Link, SessionKey, SourceKey, SourceKind, Stamp, Timestamp, TitleRank};
use rusqlite::Row;
use rusqlite::types::Type;
use serde::de::value::{Error as Unreadable, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

use super::shrunk;
use crate::layout::source_key;

/// The stamp of a source file. It alone decides whether the file has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceRow {
    /// Path of the source.
    pub path: PathBuf,
    /// Name of the agent.
    pub agent: String,
    /// The session. `None` if the file serves many.
    pub session: Option<String>,
    /// The part, or the name of a file that serves many sessions.
    pub source: SourceKey,
    /// The revision that holds its bytes.
    pub revision: u32,
    /// Its stamp at the time of the capture.
    pub stamp: Stamp,
}

/// How far a revision of a source was read, and the state needed to continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRow {
    /// Name of the agent.
    pub agent: String,
    /// The session, empty if the file serves many.
    pub session: String,
    /// Part of the session.
    pub source: SourceKey,
    /// Number of the revision.
    pub revision: u32,
    /// Kind of source, which determines how it changes.
    pub kind: SourceKind,
    /// Format of its records.
    pub format: String,
    /// Number of captured bytes.
    pub end: u64,
    /// End of the last whole line.
    pub line_end: u64,
    /// Number of whole lines.
    pub records: u64,
    /// Version of the parser that read it.
    pub parser_version: u32,
    /// Saved state of that parser.
    pub state: Vec<u8>,
    /// Hash of the last bytes before the captured end.
    pub tail_hash: Vec<u8>,
    /// Facts about the session from its records, as JSON.
    pub facts: String,
}

/// The row of a session in lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// Name of the agent.
    pub agent: String,
    /// The agent's own id.
    pub id: String,
    /// Title, if it has any.
    pub title: Option<String>,
    /// Where the title comes from.
    pub title_rank: Option<TitleRank>,
    /// Short name of the project.
    pub project: Option<String>,
    /// First working directory.
    pub cwd: Option<String>,
    /// First branch in its records.
    pub branch: Option<String>,
    /// Earliest time on any record.
    pub started_at: Option<Timestamp>,
    /// Latest time on any record.
    pub ended_at: Option<Timestamp>,
    /// The session that started it.
    pub parent: Option<String>,
    /// Captured bytes of all its sources.
    pub bytes: u64,
    /// Last change of a source, in nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Its links to other sessions.
    pub links: BTreeSet<Link>,
    /// The newest reading of each window of the account's allowance.
    pub limits: BTreeMap<String, LimitReading>,
    /// Names the captured bytes that its events come from: equal content, equal events.
    pub content: String,
}

/// A turn: a message that opens it, and everything that follows on its thread up to
/// the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnRow {
    /// Name of the agent.
    pub agent: String,
    /// Id of the session.
    pub session: String,
    /// Id of the opening event. It never changes, so it names the turn.
    pub event: String,
    /// Thread of the turn.
    pub thread: String,
    /// Its number on that thread, from 1.
    pub number: u32,
    /// Time of its first event that has one.
    pub started_at: Option<Timestamp>,
    /// Time of its last event that has one.
    pub ended_at: Option<Timestamp>,
    /// Id of its last event.
    pub last: String,
    /// Events in it, the opener included.
    pub events: u64,
    /// False on a branch that was rewound.
    pub live: bool,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureRow {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of the agent.
    pub agent: String,
    /// The reason, for people.
    pub reason: String,
    /// Time of the last attempt.
    pub at: Timestamp,
}

pub(super) const SOURCE: &str = "agent, session, source, revision, kind, format, end, line_end, records, \
                                 parser_version, state, tail_hash, facts, seal";
pub(super) const SESSION: &str = "agent, id, title, title_rank, project, cwd, branch, started_at, ended_at, parent, bytes, mtime_ns, links, limits, content";
/// Columns of turns with their keys.
pub(super) const TURN: &str = "agent, id, event, thread, number, started_at, ended_at, last, events, live";
pub(super) const FAILURE: &str = "path, agent, reason, at";

impl SourceRow {
    /// A hash of all fields. SQLite does not notice when the disk changes a cell, and appends to a
    /// source depend on this row.
    pub(super) fn seal(&self) -> i64 {
        let mut bytes = Vec::with_capacity(512 + self.state.len() + self.facts.len());
        for text in [&self.agent, &self.session, self.source.as_str(), &self.format, &self.facts] {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        for number in
            [u64::from(self.revision), self.end, self.line_end, self.records, u64::from(self.parser_version)]
        {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((self.state.len() as u64).to_le_bytes());
        bytes.extend(&self.state);
        bytes.extend(&self.tail_hash);
        xxh3_64(&bytes).cast_signed()
    }

    /// Reads a row. `None` if its seal does not match.
    pub(super) fn read_sealed(row: &Row<'_>) -> rusqlite::Result<Option<SourceRow>> {
        let seal: i64 = row.get(13)?;
        Ok(SourceRow::read(row).ok().filter(|row| row.seal() == seal))
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<SourceRow> {
        Ok(SourceRow {
            agent: row.get(0)?,
            session: row.get(1)?,
            source: source_from(row, 2)?,
            revision: row.get(3)?,
            kind: named(4, text(row, 4)?)?,
            format: row.get(5)?,
            end: unsigned(row, 6)?,
            line_end: unsigned(row, 7)?,
            records: unsigned(row, 8)?,
            parser_version: row.get(9)?,
            state: shrunk::bytes(row, 10)?,
            tail_hash: row.get(11)?,
            facts: shrunk::text(row, 12)?,
        })
    }
}

impl SessionRow {
    /// A row for a session without any facts.
    pub fn new(key: &SessionKey) -> SessionRow {
        SessionRow {
            agent: key.agent.clone(),
            id: key.id.clone(),
            title: None,
            title_rank: None,
            project: None,
            cwd: None,
            branch: None,
            started_at: None,
            ended_at: None,
            parent: None,
            bytes: 0,
            mtime_ns: 0,
            links: BTreeSet::new(),
            limits: BTreeMap::new(),
            content: String::new(),
        }
    }

    /// Agent and id of the session.
    pub fn key(&self) -> SessionKey {
        SessionKey::new(self.agent.clone(), self.id.clone())
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
        let rank: Option<String> = row.get(3)?;
        Ok(SessionRow {
            agent: row.get(0)?,
            id: row.get(1)?,
            title: row.get(2)?,
            title_rank: rank.map(|rank| named(3, &rank)).transpose()?,
            project: row.get(4)?,
            cwd: row.get(5)?,
            branch: row.get(6)?,
            started_at: time(row, 7)?,
            ended_at: time(row, 8)?,
            parent: row.get(9)?,
            bytes: unsigned(row, 10)?,
            mtime_ns: row.get(11)?,
            links: serde_json::from_str(&row.get::<_, String>(12)?).unwrap_or_default(),
            limits: row
                .get::<_, Option<String>>(13)?
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
            content: row.get(14)?,
        })
    }
}

impl TurnRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
        Ok(TurnRow {
            agent: row.get(0)?,
            session: row.get(1)?,
            event: row.get(2)?,
            thread: row.get(3)?,
            number: row.get(4)?,
            started_at: time(row, 5)?,
            ended_at: time(row, 6)?,
            last: row.get(7)?,
            events: unsigned(row, 8)?,
            live: row.get(9)?,
        })
    }
}

impl FailureRow {
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<FailureRow> {
        let at = time(row, 3)?.ok_or(rusqlite::Error::IntegralValueOutOfRange(3, row.get(3)?))?;
        Ok(FailureRow { path: path_from(row.get(0)?), agent: row.get(1)?, reason: row.get(2)?, at })
    }
}

/// SQLite has only signed numbers. The bits are the same.
pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

pub(super) fn time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.and_then(Timestamp::from_millis))
}

/// A text borrowed from SQLite: there are tens of thousands of rows, and most of their texts are
/// only compared.
pub(super) fn text<'r>(row: &'r Row<'_>, column: usize) -> rusqlite::Result<&'r str> {
    row.get_ref(column)?.as_str().map_err(|error| unreadable(column, error))
}

pub(super) fn source_from(row: &Row<'_>, column: usize) -> rusqlite::Result<SourceKey> {
    source_key(text(row, column)?)
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(column, "source".to_owned(), Type::Text))
}

/// Parses a value from its name in our JSON.
pub(super) fn named<T: DeserializeOwned>(column: usize, name: &str) -> rusqlite::Result<T> {
    let name: StrDeserializer<'_, Unreadable> = name.into_deserializer();
    T::deserialize(name).map_err(|error| unreadable(column, error))
}

pub(super) fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// A path as bytes, from which the same system can restore it.
#[cfg(unix)]
pub(super) fn path_bytes(path: &Path) -> Cow<'_, [u8]> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).into()
}

#[cfg(unix)]
pub(super) fn path_from(bytes: Vec<u8>) -> PathBuf {
    let text: std::ffi::OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
    text.into()
}

#[cfg(windows)]
pub(super) fn path_bytes(path: &Path) -> Cow<'_, [u8]> {
    std::os::windows::ffi::OsStrExt::encode_wide(path.as_os_str()).flat_map(u16::to_le_bytes).collect()
}

#[cfg(windows)]
pub(super) fn path_from(bytes: Vec<u8>) -> PathBuf {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    let text: std::ffi::OsString = std::os::windows::ffi::OsStringExt::from_wide(&units);
    text.into()
}
