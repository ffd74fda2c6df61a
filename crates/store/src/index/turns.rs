//! The turns of all sessions. Search and lists work with turns.

use retro_model::{SessionKey, Timestamp};
use rusqlite::Row;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::rows::{self, TurnRow};
use super::{Index, Writer};
use crate::{Error, Spool, spool};

impl Index {
    /// The turns of a session, by thread and number.
    pub fn turns_of(&self, key: &SessionKey) -> Result<Vec<TurnRow>, Error> {
        let text = format!(
            "SELECT {} FROM turns JOIN keys USING (session) WHERE agent = ?1 AND id = ?2 ORDER BY thread, number",
            rows::TURN
        );
        self.all(&text, (&key.agent, &key.id), TurnRow::read)
    }

    /// The last turn of each thread of a session. Costs one step of the index for each thread.
    pub fn last_turns(&self, key: &SessionKey) -> Result<Vec<TurnRow>, Error> {
        // The index is named, so that SQLite uses it whatever its statistics.
        let own = "turns INDEXED BY turns_by_thread WHERE turns.session = ?1";
        let text = format!(
            "WITH RECURSIVE threads (each) AS ( \
                SELECT min(thread) FROM {own} UNION ALL \
                SELECT (SELECT min(thread) FROM {own} AND thread > each) FROM threads WHERE each IS NOT NULL) \
            SELECT {} FROM keys CROSS JOIN threads CROSS JOIN {own} AND keys.session = ?1 AND thread = each \
            AND number = (SELECT max(number) FROM {own} AND thread = each)",
            rows::TURN
        );
        let Some(session) = self.key_number(key)? else { return Ok(Vec::new()) };
        self.all(&text, [session], TurnRow::read)
    }

    /// Number of turns of the main thread of each session, without copies from other sessions.
    pub fn turn_counts(&self) -> Result<HashMap<SessionKey, u64>, Error> {
        let text = "SELECT agent, id, count(*) FROM turns JOIN keys USING (session) \
                    WHERE thread = 'main' GROUP BY session";
        let read = |row: &Row<'_>| {
            let key = SessionKey { agent: row.get(0)?, id: row.get(1)? };
            Ok((key, row.get::<_, i64>(2)?.cast_unsigned()))
        };
        let mut counts: HashMap<SessionKey, u64> = self.all(text, [], read)?.into_iter().collect();
        for (key, copies) in self.copy_counts()? {
            if let Some(count) = counts.get_mut(&key) {
                *count = count.saturating_sub(copies);
            }
        }
        Ok(counts)
    }
}

impl Index {
    /// The same for one session. Costs what that has.
    pub fn turn_count_of(&self, key: &SessionKey) -> Result<u64, Error> {
        let Some(session) = self.key_number(key)? else { return Ok(0) };
        let text = "SELECT count(*) FROM turns WHERE session = ?1 AND thread = 'main'";
        let count = self.one(text, [session], |row| Ok(row.get::<_, i64>(0)?.cast_unsigned()))?.unwrap_or(0);
        let copies = self.copy_count(session)?.remove(key).unwrap_or(0);
        Ok(count.saturating_sub(copies))
    }
}

impl Writer<'_> {
    /// Replaces the turns of a session. Only differences count as changes.
    pub fn put_turns(&self, key: &SessionKey, turns: &mut Spool<TurnRow>) -> Result<(), Error> {
        let mut before = self.turns_before(key)?;
        turns.each(|turn| {
            let known = before.remove(&xxh3_64(turn.event.as_bytes()));
            let is_same = known == Some(spool::name_of(&turn));
            if is_same { Ok(()) } else { self.put_turn(key, &turn) }
        })?;
        if before.is_empty() {
            return Ok(());
        }
        let gone = self.turn_events(key, |event| before.contains_key(&xxh3_64(event.as_bytes())))?;
        gone.iter().try_for_each(|event| {
            self.run("DELETE FROM turns WHERE session = ?1 AND event = ?2", (self.number_of(key)?, event))?;
            self.note_removed(key, event)
        })
    }

    /// Adds a turn, or replaces the one that the same event opened.
    pub fn put_turn(&self, key: &SessionKey, turn: &TurnRow) -> Result<(), Error> {
        self.note_present(key, &turn.event)?;
        let text = "REPLACE INTO turns (session, event, thread, number, started_at, ended_at, last, events, \
                    live, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        self.run(
            text,
            (
                self.number_of(key)?,
                &turn.event,
                &turn.thread,
                turn.number,
                turn.started_at.map(Timestamp::as_millis),
                turn.ended_at.map(Timestamp::as_millis),
                &turn.last,
                turn.events.cast_signed(),
                turn.live,
                self.change()?,
            ),
        )
    }

    /// The present turns of a session, as hashes: the name of each turn, by the hash of its event.
    /// A session may have very many.
    fn turns_before(&self, key: &SessionKey) -> Result<HashMap<u64, u64>, Error> {
        let text = format!(
            "SELECT {} FROM turns JOIN keys USING (session) WHERE agent = ?1 AND id = ?2",
            rows::TURN
        );
        let read = || -> rusqlite::Result<HashMap<u64, u64>> {
            let mut statement = self.connection.prepare_cached(&text)?;
            let rows = statement.query_map((&key.agent, &key.id), TurnRow::read)?;
            let named = |row: TurnRow| (xxh3_64(row.event.as_bytes()), spool::name_of(&row));
            rows.map(|row| row.map(named)).collect()
        };
        read().map_err(Error::index(self.path))
    }

    /// The events of those turns of a session that `is_wanted` accepts.
    fn turn_events(&self, key: &SessionKey, is_wanted: impl Fn(&str) -> bool) -> Result<Vec<String>, Error> {
        let text = "SELECT event FROM turns JOIN keys USING (session) WHERE agent = ?1 AND id = ?2";
        let read = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare_cached(text)?;
            let events = statement.query_map((&key.agent, &key.id), |row| row.get::<_, String>(0))?;
            events.filter(|event| event.as_ref().map_or(true, |event| is_wanted(event))).collect()
        };
        read().map_err(Error::index(self.path))
    }
}
