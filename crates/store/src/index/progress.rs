//! Records which stages were run on which sessions, and which are due.
//!
//! A completed stage leaves its stamp, which names its inputs, and a short text that names its
//! output. A stage that must run is a row of `due` with its earliest time, so finding the next work
//! costs only the due rows.

use retro_model::SessionKey;
use rusqlite::{OptionalExtension, Row};
use std::collections::{BTreeMap, HashMap};
use xxhash_rust::xxh3::xxh3_64;

use super::short::Hex;
use super::{Index, Writer};
use crate::Error;

/// The record of a completed stage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Made {
    /// Stamp of its inputs.
    pub stamp: String,
    /// Name of its output. Stages that read the output depend on it.
    pub output: String,
}

impl Made {
    /// A hash of its fields, its session and its stage.
    fn seal(&self, key: &SessionKey, stage: &str) -> i64 {
        let parts = [&*key.agent, &*key.id, stage, &*self.stamp, &*self.output];
        xxh3_64(parts.join("\0").as_bytes()).cast_signed()
    }
}

const MADE: &str = "agent, id, stage, stamp, output, seal";
const STAGES: &str = "stages JOIN keys USING (session)";

/// Reads a row of [`MADE`]. `None` if the seal does not match, as if the stage had never run.
fn made(row: &Row<'_>) -> rusqlite::Result<Option<(SessionKey, String, Made)>> {
    let (key, stage) = (session(row)?, row.get::<_, String>(2)?);
    let made = Made { stamp: row.get::<_, Hex>(3)?.0, output: row.get::<_, Hex>(4)?.0 };
    let is_whole = made.seal(&key, &stage) == row.get::<_, i64>(5)?;
    Ok(is_whole.then_some((key, stage, made)))
}

impl Index {
    /// The record of a stage for one session.
    pub fn made(&self, key: &SessionKey, stage: &str) -> Result<Option<Made>, Error> {
        let text = format!("SELECT {MADE} FROM {STAGES} WHERE agent = ?1 AND id = ?2 AND stage = ?3");
        let found = self.one(&text, (&key.agent, &key.id, stage), made)?.flatten();
        Ok(found.map(|(_, _, made)| made))
    }

    /// The records of all stages for one session, by name.
    pub fn made_of(&self, key: &SessionKey) -> Result<BTreeMap<String, Made>, Error> {
        let text = format!("SELECT {MADE} FROM {STAGES} WHERE agent = ?1 AND id = ?2");
        let found = self.all(&text, (&key.agent, &key.id), made)?.into_iter().flatten();
        Ok(found.map(|(_, stage, made)| (stage, made)).collect())
    }

    /// The records of one stage for all sessions.
    pub fn made_by(&self, stage: &str) -> Result<HashMap<SessionKey, Made>, Error> {
        let text = format!("SELECT {MADE} FROM {STAGES} WHERE stage = ?1");
        let found = self.all(&text, [stage], made)?.into_iter().flatten();
        Ok(found.map(|(key, _, made)| (key, made)).collect())
    }

    /// The stages that may run at `now_ms`, by session.
    pub fn due(&self, now_ms: i64) -> Result<BTreeMap<SessionKey, Vec<String>>, Error> {
        let text = "SELECT agent, session, stage FROM due WHERE at <= ?1";
        let mut due: BTreeMap<SessionKey, Vec<String>> = BTreeMap::new();
        for (key, stage) in self.all(text, [now_ms], |row| Ok((session(row)?, row.get(2)?)))? {
            due.entry(key).or_default().push(stage);
        }
        Ok(due)
    }

    /// The stages that must run on a session, at any time.
    pub fn due_of(&self, key: &SessionKey) -> Result<Vec<String>, Error> {
        let text = "SELECT stage FROM due WHERE agent = ?1 AND session = ?2";
        self.all(text, (&key.agent, &key.id), |row| row.get(0))
    }

    /// Number of sessions that wait for each stage, at any time.
    pub fn due_counts(&self) -> Result<HashMap<String, u64>, Error> {
        let text = "SELECT stage, count(*) FROM due GROUP BY stage";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned()));
        Ok(self.all(text, [], read)?.into_iter().collect())
    }

    /// Sessions for which a stage has not seen all captured bytes.
    pub fn behind(&self, stage: &str) -> Result<Vec<SessionKey>, Error> {
        self.all("SELECT agent, session FROM due WHERE stage = ?1 AND behind = 1", [stage], session)
    }
}

impl Writer<'_> {
    /// Stores the record of a stage for a session. The stage is no longer due, and counts as
    /// changed if its output differs.
    pub fn put_made(&self, key: &SessionKey, stage: &str, made: &Made) -> Result<(), Error> {
        let known = "SELECT output, changed FROM stages WHERE session = ?1 AND stage = ?2";
        let session = self.number_of(key)?;
        let before = || {
            let read = |row: &Row<'_>| Ok((row.get::<_, Hex>(0)?.0, row.get::<_, i64>(1)?));
            let mut statement = self.connection.prepare_cached(known)?;
            statement.query_row((session, stage), read).optional()
        };
        let changed = match before().map_err(Error::index(self.path))? {
            Some((output, changed)) if output == made.output => changed,
            _ => self.change()?,
        };
        let (stamp, output) = (Hex(made.stamp.clone()), Hex(made.output.clone()));
        self.run(
            "REPLACE INTO stages (session, stage, stamp, output, seal, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (session, stage, stamp, output, made.seal(key, stage), changed),
        )?;
        self.clear_due(key, stage)
    }

    /// Makes a stage due on a session from a given time. `behind` means that its earlier result
    /// lacks captured bytes, so that answers must mention it.
    pub fn put_due(&self, key: &SessionKey, stage: &str, at_ms: i64, behind: bool) -> Result<(), Error> {
        self.run(
            "REPLACE INTO due (agent, session, stage, at, behind) VALUES (?1, ?2, ?3, ?4, ?5)",
            (&key.agent, &key.id, stage, at_ms, behind),
        )
    }

    /// Makes a stage no longer due on a session.
    pub fn clear_due(&self, key: &SessionKey, stage: &str) -> Result<(), Error> {
        self.run(
            "DELETE FROM due WHERE agent = ?1 AND session = ?2 AND stage = ?3",
            (&key.agent, &key.id, stage),
        )
    }

    /// Forgets that a stage has run on a session.
    pub fn forget_made(&self, key: &SessionKey, stage: &str) -> Result<(), Error> {
        self.run("DELETE FROM stages WHERE session = ?1 AND stage = ?2", (self.number_of(key)?, stage))
    }

    /// Forgets that a stage has run, for all sessions.
    pub fn clear_stage(&self, stage: &str) -> Result<(), Error> {
        self.run("DELETE FROM stages WHERE stage = ?1", [stage])?;
        self.run("DELETE FROM due WHERE stage = ?1", [stage])
    }
}

fn session(row: &Row<'_>) -> rusqlite::Result<SessionKey> {
    Ok(SessionKey { agent: row.get(0)?, id: row.get(1)? })
}
