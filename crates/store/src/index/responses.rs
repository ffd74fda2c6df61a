//! The rows of all ledgers, from which questions about costs are answered.

mod packed;

use retro_model::{LedgerRow, RowKind, SessionKey, Timestamp};
use rusqlite::Row;
use rusqlite::types::Type;
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::Arc;
use xxhash_rust::xxh3::Xxh3;

use super::sealed::{seal, unseal};
use super::{Index, Writer};
use crate::files::at_once;
use crate::layout::INDEX;
use crate::{Error, Spool, Store};
use packed::{Head, key_hash};

/// A piece of a ledger, with the head that names its responses.
struct Piece {
    at: i64,
    head: Head,
}

impl Index {
    /// Every row of every session, by session.
    pub fn responses(&self) -> Result<Vec<(Arc<SessionKey>, LedgerRow)>, Error> {
        let text = "SELECT rows, agent, session FROM ledgers ORDER BY agent, session";
        let packed = self.all(text, [], |row| Ok((row.get::<_, Vec<u8>>(0)?, session(row)?)))?;
        let path = &self.path;
        let unpacked = at_once(&packed, |(packed, key)| {
            let rows = packed::unpack(packed).ok_or_else(|| Error::index(path)(damaged(0)))?;
            Ok(with_session((key.clone(), rows)).collect::<Vec<_>>())
        })?;
        let mut all = Vec::with_capacity(unpacked.iter().map(Vec::len).sum());
        all.extend(unpacked.into_iter().flatten());
        Ok(all)
    }

    /// The rows since an instant, with all rows of the same responses, at any time and in any
    /// session.
    pub fn responses_since(&self, ts: Timestamp) -> Result<Vec<(Arc<SessionKey>, LedgerRow)>, Error> {
        let pieces = self.pieces()?;
        let mut keys = HashSet::new();
        for piece in pieces.iter().filter(|piece| piece.head.last >= Some(ts.as_millis())) {
            let (_, rows) = self.piece(piece)?;
            keys.extend(rows.into_iter().filter(|row| row.ts >= Some(ts)).map(|row| row.key));
        }
        self.responses_named(&pieces, &keys)
    }

    /// The rows of one session, with the rows of the same responses in other sessions.
    pub fn responses_with(&self, key: &SessionKey) -> Result<Vec<(Arc<SessionKey>, LedgerRow)>, Error> {
        let keys: HashSet<String> = self.responses_of(key)?.into_iter().map(|row| row.key).collect();
        self.responses_named(&self.pieces()?, &keys)
    }

    /// The rows of these responses.
    fn responses_named(
        &self,
        pieces: &[Piece],
        keys: &HashSet<String>,
    ) -> Result<Vec<(Arc<SessionKey>, LedgerRow)>, Error> {
        let hashes: HashSet<u64> = keys.iter().map(|key| key_hash(key)).collect();
        let mut named = Vec::new();
        for piece in pieces.iter().filter(|piece| piece.head.keys.iter().any(|key| hashes.contains(key))) {
            let rows = with_session(self.piece(piece)?);
            named.extend(rows.filter(|(_, row)| keys.contains(&row.key)));
        }
        Ok(named)
    }

    /// The times of responses up to `now`, in ascending order, back to the last pause longer than
    /// `pause_ms`. Rows marked as copies are left out.
    pub fn busy_times(&self, now: Timestamp, pause_ms: i64) -> Result<Vec<Timestamp>, Error> {
        let mut pieces = self.pieces()?;
        pieces.sort_by_key(|piece| piece.head.last);
        let mut times: Vec<Timestamp> = Vec::new();
        let mut busy = 0;
        while let Some(piece) = pieces.pop() {
            // All further pieces ended before the pause.
            let start = times.len().checked_sub(busy).and_then(|at| times.get(at)).unwrap_or(&now);
            if piece.head.last.is_none_or(|last| start.as_millis().saturating_sub(last) > pause_ms) {
                break;
            }
            let counts = |row: &LedgerRow| {
                row.own > 0 && matches!(row.kind, RowKind::Main | RowKind::Compaction) && row.ts <= Some(now)
            };
            let (_, rows) = self.piece(&piece)?;
            times.extend(rows.iter().filter(|row| counts(row)).filter_map(|row| row.ts));
            times.sort_unstable();
            busy = without_pause(&times, now, pause_ms);
        }
        Ok(times.split_off(times.len() - busy))
    }

    /// The rows of one session, in the order of its ledger.
    pub fn responses_of(&self, key: &SessionKey) -> Result<Vec<LedgerRow>, Error> {
        let text = "SELECT rows, agent, session FROM ledgers WHERE agent = ?1 AND session = ?2";
        let pieces = self.all(text, (&key.agent, &key.id), ledger)?;
        let mut rows: Vec<LedgerRow> = pieces.into_iter().flat_map(|(_, rows)| rows).collect();
        rows.sort_by(|a, b| (&a.event, &a.key).cmp(&(&b.event, &b.key)));
        Ok(rows)
    }

    fn pieces(&self) -> Result<Vec<Piece>, Error> {
        self.all("SELECT head, rowid FROM ledgers", [], |row| {
            let head = Head::unpack(row.get_ref(0)?.as_blob()?).ok_or_else(|| damaged(0))?;
            Ok(Piece { at: row.get(1)?, head })
        })
    }

    fn piece(&self, piece: &Piece) -> Result<(SessionKey, Vec<LedgerRow>), Error> {
        let text = "SELECT rows, agent, session FROM ledgers WHERE rowid = ?1";
        let found = self.one(text, [piece.at], ledger)?;
        // Another process may have replaced them.
        Ok(found.unwrap_or_else(|| (SessionKey::new("", ""), Vec::new())))
    }
}

/// Number of times at the end of the list without a pause up to `now`.
fn without_pause(times: &[Timestamp], now: Timestamp, pause_ms: i64) -> usize {
    let mut later = now.as_millis();
    let follows = |time: &&Timestamp| {
        let close = later.saturating_sub(time.as_millis()) <= pause_ms;
        later = time.as_millis();
        close
    };
    times.iter().rev().take_while(follows).count()
}

impl Index {
    /// A number that rises whenever a row of a ledger changes.
    pub fn responses_version(&self) -> Result<u64, Error> {
        let found =
            self.one("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'responses_version'", [], |row| {
                row.get::<_, i64>(0)
            })?;
        Ok(found.unwrap_or(0).cast_unsigned())
    }

    /// The stamp of the stored sums.
    pub fn cells_stamp(&self) -> Result<Option<String>, Error> {
        self.one("SELECT stamp FROM cells LIMIT 1", [], |row| row.get(0))
    }

    /// The sums that were stored under this stamp. `None` if they are damaged.
    pub fn cells(&self, stamp: &str) -> Result<Option<Vec<u8>>, Error> {
        let body = self.one("SELECT body FROM cells WHERE stamp = ?1", [stamp], |row| {
            row.get_ref(0)?.as_blob().map(|body| unseal(body).map(<[u8]>::to_vec)).map_err(Into::into)
        })?;
        Ok(body.flatten())
    }
}

impl Writer<'_> {
    /// Stores sums of rows, replacing the earlier ones.
    pub fn put_cells(&self, stamp: &str, body: &[u8]) -> Result<(), Error> {
        self.run("DELETE FROM cells", [])?;
        self.run("INSERT INTO cells (stamp, body) VALUES (?1, ?2)", (stamp, seal(body)))
    }

    /// Records that a row of a ledger changes.
    pub(super) fn bump_responses(&self) -> Result<(), Error> {
        self.run(
            "INSERT INTO meta (key, value) VALUES ('responses_version', 1) \
             ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1",
            [],
        )
    }

    /// Replaces the rows of a session.
    pub fn put_responses(&self, key: &SessionKey, rows: &mut Responses) -> Result<(), Error> {
        self.clear_responses(key)?;
        self.add_responses(key, rows)
    }

    /// Drops the rows of a session.
    fn clear_responses(&self, key: &SessionKey) -> Result<(), Error> {
        self.bump_responses()?;
        self.run("DELETE FROM ledgers WHERE agent = ?1 AND session = ?2", (&key.agent, &key.id))
    }

    /// Adds rows to those of a session.
    pub fn add_responses(&self, key: &SessionKey, rows: &mut Responses) -> Result<(), Error> {
        rows.rows.each(|PackedRows { count, head, rows }| {
            self.bump_responses()?;
            self.run(
                "INSERT INTO ledgers (agent, session, count, head, rows) VALUES (?1, ?2, ?3, ?4, ?5)",
                (&key.agent, &key.id, count, head, rows),
            )
        })
    }
}

/// Rows of a session in the packed form of the index, which takes a tenth of the memory.
pub struct Responses {
    rows: Spool<PackedRows>,
    /// Hash of all added rows.
    name: Xxh3,
}

#[derive(Serialize, Deserialize)]
struct PackedRows {
    count: i64,
    head: Vec<u8>,
    rows: Vec<u8>,
}

impl Responses {
    /// Starts without rows. Large numbers of rows spill into this store's folder.
    pub fn new(store: &Store) -> Responses {
        Responses { rows: Spool::new(store.root()), name: Xxh3::new() }
    }

    /// Adds the next rows.
    pub fn add<R: Borrow<LedgerRow>>(&mut self, rows: &[R]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        let path = std::path::Path::new(INDEX);
        let packed = packed::pack(rows).map_err(|error| Error::index(path)(unwritable(error)))?;
        let count = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        self.name.update(&packed);
        self.rows.push(&PackedRows { count, head: Head::of(rows).pack(), rows: packed })
    }

    /// Names the added rows: equal name, equal rows.
    pub fn name(&self) -> String {
        format!("{:032x}", self.name.digest128())
    }
}

/// Reads the rows of a ledger and its session from `rows, agent, session`.
fn ledger(row: &Row<'_>) -> rusqlite::Result<(SessionKey, Vec<LedgerRow>)> {
    let rows = packed::unpack(row.get_ref(0)?.as_blob()?).ok_or_else(|| damaged(0))?;
    Ok((session(row)?, rows))
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionKey> {
    Ok(SessionKey { agent: row.get(1)?, id: row.get(2)? })
}

fn unwritable(error: postcard::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

fn damaged(column: usize) -> rusqlite::Error {
    rusqlite::Error::InvalidColumnType(column, "ledger".to_owned(), Type::Blob)
}

fn with_session(
    (key, rows): (SessionKey, Vec<LedgerRow>),
) -> impl Iterator<Item = (Arc<SessionKey>, LedgerRow)> {
    let key = Arc::new(key);
    rows.into_iter().map(move |row| (Arc::clone(&key), row))
}
