//! Effects of calls: the files they touched, and the failures with their repairs.

use retro_model::{SessionKey, Timestamp};
use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use super::rows::time;
use super::{Index, Writer, shrunk};
use crate::Error;

/// A file that a call read or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TouchRow {
    /// Agent and id of the session.
    pub key: SessionKey,
    /// Event of the call.
    pub event: String,
    /// Thread of the call.
    pub thread: String,
    /// The turn's number on that thread.
    pub turn: u32,
    /// The path as the log writes it.
    pub path: String,
    /// Whether it was written, not only read.
    pub writes: bool,
    /// Number of lines added.
    pub added: Option<u64>,
    /// Number of lines removed.
    pub removed: Option<u64>,
    /// Time of the call.
    pub at: Option<Timestamp>,
    /// Whether the call failed.
    pub failed: bool,
}

/// A failure, and whether it was repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepairRow {
    /// Agent and id of the session.
    pub key: SessionKey,
    /// Event of the failed result.
    pub event: String,
    /// Names the error, or is empty if the output has none.
    pub fingerprint: String,
    /// Names the other errors of its output.
    #[serde(default)]
    pub others: Vec<String>,
    /// Time of the failure.
    pub at: Option<Timestamp>,
    /// Whether the same command passed later.
    pub fixed: bool,
    /// The whole repair as JSON.
    pub body: String,
}

const TOUCH: &str = "agent, id, event, thread, turn, path, writes, added, removed, at, failed";
const REPAIR: &str = "agent, id, event, fingerprint, at, fixed, body";
const TOUCHES: &str = "touches JOIN keys USING (session)";
const REPAIRS: &str = "repairs JOIN keys USING (session)";

impl TouchRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<TouchRow> {
        let lines =
            |column| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(column)?.map(i64::cast_unsigned));
        Ok(TouchRow {
            key: SessionKey { agent: row.get(0)?, id: row.get(1)? },
            event: row.get(2)?,
            thread: row.get(3)?,
            turn: row.get(4)?,
            path: row.get(5)?,
            writes: row.get(6)?,
            added: lines(7)?,
            removed: lines(8)?,
            at: time(row, 9)?,
            failed: row.get(10)?,
        })
    }
}

impl RepairRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<RepairRow> {
        Ok(RepairRow {
            key: SessionKey { agent: row.get(0)?, id: row.get(1)? },
            event: row.get(2)?,
            fingerprint: row.get(3)?,
            others: Vec::new(),
            at: time(row, 4)?,
            fixed: row.get(5)?,
            body: shrunk::text(row, 6)?,
        })
    }
}

/// The last part of a path, in lower case.
fn name_of(path: &str) -> String {
    path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase()
}

impl Index {
    /// Calls that touched a file with the last name of `path`, newest first.
    pub fn touches_named(&self, path: &str) -> Result<Vec<TouchRow>, Error> {
        let text =
            format!("SELECT {TOUCH} FROM {TOUCHES} WHERE name = ?1 ORDER BY at DESC, agent, id, event");
        self.all(&text, [name_of(path)], TouchRow::read)
    }

    /// Calls that touched a file below a folder with this name, newest first.
    pub fn touches_below(&self, folder: &str) -> Result<Vec<TouchRow>, Error> {
        let folder = folder.trim_matches('/').replace(['%', '_'], "_");
        let text = format!(
            "SELECT {TOUCH} FROM {TOUCHES} WHERE path LIKE ?1 OR path LIKE ?2 ORDER BY at DESC, agent, id, event"
        );
        self.all(&text, (format!("%/{folder}/%"), format!("{folder}/%")), TouchRow::read)
    }

    /// Failures whose output has the error with this fingerprint, newest first. Their `others` are
    /// empty.
    pub fn repairs_of(&self, fingerprint: &str) -> Result<Vec<RepairRow>, Error> {
        let text = format!(
            "SELECT {REPAIR} FROM {REPAIRS} WHERE fingerprint = ?1 OR (session, event) IN \
             (SELECT session, event FROM repair_errors WHERE fingerprint = ?1) \
             ORDER BY at DESC, agent, id, event"
        );
        self.all(&text, [fingerprint], RepairRow::read)
    }

    /// The failures of a session, in their order.
    pub fn repairs_in(&self, key: &SessionKey) -> Result<Vec<RepairRow>, Error> {
        let text =
            format!("SELECT {REPAIR} FROM {REPAIRS} WHERE agent = ?1 AND id = ?2 ORDER BY repairs.rowid");
        let mut rows = self.all(&text, (&key.agent, &key.id), RepairRow::read)?;
        let text = "SELECT event, fingerprint FROM repair_errors JOIN keys USING (session) \
             WHERE agent = ?1 AND id = ?2 ORDER BY repair_errors.rowid";
        let others = self.all(text, (&key.agent, &key.id), |row| {
            Ok::<(String, String), rusqlite::Error>((row.get(0)?, row.get(1)?))
        })?;
        let mut of_event: HashMap<String, Vec<String>> = HashMap::new();
        for (event, fingerprint) in others {
            of_event.entry(event).or_default().push(fingerprint);
        }
        for row in &mut rows {
            row.others = of_event.remove(&row.event).unwrap_or_default();
        }
        Ok(rows)
    }

    /// The files that the calls of a session touched, in their order.
    pub fn touches_in(&self, key: &SessionKey) -> Result<Vec<TouchRow>, Error> {
        let text =
            format!("SELECT {TOUCH} FROM {TOUCHES} WHERE agent = ?1 AND id = ?2 ORDER BY touches.rowid");
        self.all(&text, (&key.agent, &key.id), TouchRow::read)
    }

    /// The newest failures of all sessions.
    pub fn last_repairs(&self, count: usize) -> Result<Vec<RepairRow>, Error> {
        let text = format!(
            "SELECT {REPAIR} FROM {REPAIRS} ORDER BY at DESC, agent, id, repairs.rowid DESC LIMIT ?1"
        );
        self.all(&text, [count as i64], RepairRow::read)
    }
}

impl Writer<'_> {
    /// Replaces the rows about the calls of a session.
    pub fn put_calls(
        &self,
        key: &SessionKey,
        touches: &[TouchRow],
        repairs: &[RepairRow],
    ) -> Result<(), Error> {
        let session = self.number_of(key)?;
        for table in ["touches", "repairs", "repair_errors"] {
            self.run(&format!("DELETE FROM {table} WHERE session = ?1"), [session])?;
        }
        for touch in touches {
            let text = "INSERT INTO touches (session, event, thread, turn, path, name, writes, added, removed, \
                        at, failed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
            let params = params![
                session,
                touch.event,
                touch.thread,
                touch.turn,
                touch.path,
                name_of(&touch.path),
                touch.writes,
                touch.added.map(u64::cast_signed),
                touch.removed.map(u64::cast_signed),
                touch.at.map(Timestamp::as_millis),
                touch.failed
            ];
            self.run(text, params)?;
        }
        for repair in repairs {
            let text = "INSERT INTO repairs (session, event, fingerprint, at, fixed, body) \
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let at = repair.at.map(Timestamp::as_millis);
            let body = shrunk::shrink(repair.body.as_bytes()).map_err(Error::index(self.path))?;
            self.run(text, (session, &repair.event, &repair.fingerprint, at, repair.fixed, body))?;
            for other in &repair.others {
                let text = "INSERT INTO repair_errors (session, event, fingerprint) VALUES (?1, ?2, ?3)";
                self.run(text, (session, &repair.event, other))?;
            }
        }
        Ok(())
    }
}
