//! Numbered changes, for consumers that keep their own results: a text index, a page, a watcher.
//!
//! Every transaction that changes a session, a turn, a passage, the output of a stage or a body has
//! a number, one higher than the one before. Each row has the number of the transaction that last
//! changed it, and a removed row leaves its name with such a number. A consumer remembers the last
//! number it has seen as a [`Mark`], lists the changes that it follows, and asks for later ones.
//! Numbers belong to a series: a new index starts a new one, and a mark of another series means
//! "start over".

use retro_model::SessionKey;
use rusqlite::Row;
use smol_str::SmolStr;
use std::ops::Deref;
use std::sync::Arc;

use super::{Index, Writer};
use crate::Error;

/// Meta keys: the series, and the number of its last transaction.
const SERIES: &str = "series";
const NUMBER: &str = "change";

/// The last change that a consumer has seen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mark {
    /// The series that the number belongs to.
    pub series: String,
    /// The last change seen.
    pub number: u64,
}

/// A turn, by its session and the id of its opening event. A session may have very many turns, so
/// they share its name.
pub type TurnKey = (Arc<SessionKey>, SmolStr);

/// The changes that a consumer follows. It receives no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Follow {
    /// Rows of sessions.
    Sessions,
    /// Rows of turns.
    Turns,
    /// Passages, the text of turns.
    Passages,
    /// Outputs of this stage.
    Made(&'static str),
    /// Texts of stages under this name.
    Bodies(&'static str),
}

/// The followed changes since a mark. Each name appears in one of the lists at most once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// The mark to remember until the next call.
    pub mark: Mark,
    /// The mark came from another index: drop everything that was kept. The lists then contain
    /// everything.
    pub starts_over: bool,
    /// Sessions with a new or changed row.
    pub sessions: Vec<SessionKey>,
    /// Sessions for which a followed stage has a different output.
    pub made: Vec<SessionKey>,
    /// Sessions with a changed or removed body of a followed name.
    pub bodies: Vec<SessionKey>,
    /// New or changed turns.
    pub turns: Vec<TurnKey>,
    /// Removed sessions, with all their turns.
    pub removed_sessions: Vec<SessionKey>,
    /// Removed turns of sessions that remain.
    pub removed_turns: Vec<TurnKey>,
    /// Numbers of new or changed passages.
    pub passages: Vec<u64>,
    /// Numbers of removed passages. A number may be in use again, so apply these first.
    pub removed_passages: Vec<u64>,
}

/// One state of the index for several queries. Concurrent writes are not visible.
pub struct Snapshot<'a> {
    index: &'a Index,
    /// False inside another snapshot or transaction, which ends it instead.
    is_outermost: bool,
}

impl Deref for Snapshot<'_> {
    type Target = Index;

    fn deref(&self) -> &Index {
        self.index
    }
}

impl Drop for Snapshot<'_> {
    fn drop(&mut self) {
        if self.is_outermost {
            // A failed end of a read transaction loses no data.
            let _ = self.index.connection.execute_batch("COMMIT");
        }
    }
}

impl Index {
    /// Keeps the present state of the index visible for as long as the snapshot lives.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, Error> {
        let is_outermost = self.connection.is_autocommit();
        if is_outermost {
            // SQLite fixes the state at the first read, not at BEGIN.
            let begin = "BEGIN; SELECT count(*) FROM sqlite_schema";
            self.connection.execute_batch(begin).map_err(Error::index(&self.path))?;
        }
        Ok(Snapshot { index: self, is_outermost })
    }

    /// The mark of the latest change.
    pub fn mark(&self) -> Result<Mark, Error> {
        let number = self.meta(NUMBER)?.and_then(|text| text.parse().ok()).unwrap_or(0);
        Ok(Mark { series: self.meta(SERIES)?.unwrap_or_default(), number })
    }

    /// The followed changes after `seen`. The cost depends on their number, not on the size of the
    /// index. Removed sessions are always listed.
    pub fn changes_since(&self, seen: &Mark, follows: &[Follow]) -> Result<Changes, Error> {
        let snapshot = self.snapshot()?;
        let mark = snapshot.mark()?;
        let starts_over = seen.series != mark.series || seen.number > mark.number;
        let after = if starts_over { 0 } else { seen.number.cast_signed() };
        let mut changes = Changes { mark, starts_over, ..Changes::default() };
        let session = |row: &Row<'_>| Ok(SessionKey { agent: row.get(0)?, id: row.get(1)? });
        let all = |text: &str| snapshot.all(text, [after], session);
        let named = |text: &str, name: &str| snapshot.all(text, (name, after), session);
        let turns = |text: &str| {
            let mut last: Arc<SessionKey> = Arc::new(SessionKey::new("", ""));
            snapshot.all(text, [after], |row| {
                let (agent, id) = (row.get_ref(0)?.as_str()?, row.get_ref(1)?.as_str()?);
                if (last.agent.as_str(), last.id.as_str()) != (agent, id) {
                    last = Arc::new(SessionKey::new(agent, id));
                }
                Ok((Arc::clone(&last), SmolStr::new(row.get_ref(2)?.as_str()?)))
            })
        };
        let number = |row: &Row<'_>| row.get::<_, i64>(0).map(i64::cast_unsigned);
        let numbers = |text: &str| snapshot.all(text, [after], number);
        for follow in follows {
            match follow {
                Follow::Sessions => {
                    changes.sessions =
                        all("SELECT agent, id FROM sessions WHERE changed > ?1 ORDER BY changed, agent, id")?;
                }
                Follow::Turns => {
                    changes.turns = turns(
                        "SELECT agent, id, event FROM turns JOIN keys USING (session) WHERE changed > ?1 \
                         ORDER BY changed, agent, id",
                    )?;
                    changes.removed_turns = turns(
                        "SELECT agent, session, event FROM removed WHERE changed > ?1 AND event <> '' \
                         ORDER BY changed",
                    )?;
                }
                Follow::Passages => {
                    changes.passages =
                        numbers("SELECT number FROM passages WHERE changed > ?1 ORDER BY changed, number")?;
                    changes.removed_passages =
                        numbers("SELECT number FROM removed_passages WHERE changed > ?1 ORDER BY changed")?;
                }
                Follow::Made(stage) => changes.made.extend(named(
                    "SELECT agent, id FROM stages JOIN keys USING (session) \
                     WHERE stage = ?1 AND changed > ?2 ORDER BY changed",
                    stage,
                )?),
                Follow::Bodies(name) => changes.bodies.extend(named(
                    "SELECT agent, id FROM bodies JOIN keys USING (session) \
                     WHERE name = ?1 AND changed > ?2 ORDER BY changed",
                    name,
                )?),
            }
        }
        let of_sessions = |follow: &Follow| *follow != Follow::Passages;
        if follows.iter().any(of_sessions) {
            changes.removed_sessions =
                all("SELECT agent, session FROM removed WHERE changed > ?1 AND event = '' ORDER BY changed")?;
        }
        for keys in [&mut changes.made, &mut changes.bodies] {
            keys.sort();
            keys.dedup();
        }
        Ok(changes)
    }
}

impl Writer<'_> {
    /// The number of this transaction, assigned at its first change.
    pub(super) fn change(&self) -> Result<i64, Error> {
        if let Some(number) = self.change.get() {
            return Ok(number);
        }
        let text = "INSERT INTO meta (key, value) VALUES (?1, 1) \
                    ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1 \
                    RETURNING CAST(value AS INTEGER)";
        let next = || self.connection.prepare_cached(text)?.query_row([NUMBER], |row| row.get(0));
        let number: i64 = next().map_err(Error::index(self.path))?;
        self.change.set(Some(number));
        Ok(number)
    }

    /// Records the name of a removed turn. An empty event means the whole session.
    pub(super) fn note_removed(&self, key: &SessionKey, event: &str) -> Result<(), Error> {
        let text = "REPLACE INTO removed (agent, session, event, changed) VALUES (?1, ?2, ?3, ?4)";
        self.run(text, (&key.agent, &key.id, event, self.change()?))
    }

    /// Starts a new series, so that the holders of all old marks start over.
    pub(crate) fn new_series(&self) -> Result<(), Error> {
        self.set_meta(SERIES, &crate::head::random_hex(8))
    }

    /// Deletes the record of a removal, because the row exists again.
    pub(super) fn note_present(&self, key: &SessionKey, event: &str) -> Result<(), Error> {
        let text = "DELETE FROM removed WHERE agent = ?1 AND session = ?2 AND event = ?3";
        self.run(text, (&key.agent, &key.id, event))
    }
}

/// The statement that starts a series in a new index.
pub(super) fn start_series() -> String {
    let series = crate::head::random_hex(8);
    format!("INSERT OR IGNORE INTO meta (key, value) VALUES ('{SERIES}', '{series}');")
}
