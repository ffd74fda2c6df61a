//! The passages of all sessions: the words that search looks through, and the numbers that
//! its own files know them by.

use retro_model::{Passage, SessionKey, Timestamp};
use rusqlite::{OptionalExtension, Row};
use std::collections::{BTreeMap, HashMap};

use super::packed::{KnownPassages, PackedPassage, unpack};
use super::rows::{unreadable, unsigned};
use super::{Index, Writer};
use crate::error::REBUILD;
use crate::{Error, Spool};

/// Meta keys: how much text there is.
const PIECES: &str = "pieces";
const TEXT_BYTES: &str = "text_bytes";

/// A passage with its numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassageRow {
    /// Its number, for as long as this index lives.
    pub number: u64,
    /// The number of its session.
    pub session: u32,
    /// The number of its thread within the session.
    pub line: u32,
    /// Its words.
    pub passage: Passage,
}

const COLUMNS: &str = "number, session, line, thread, turn, first, live, body";

/// The last passage of each thread of a session, as `number`s of `last`. One step of the index
/// for each thread: looking at all passages would cost more the longer the session is.
const LAST: &str = "WITH RECURSIVE lines (each) AS ( \
        SELECT min(line) FROM passages WHERE session = ?1 UNION ALL \
        SELECT (SELECT min(line) FROM passages WHERE session = ?1 AND line > each) \
        FROM lines WHERE each IS NOT NULL), \
    last (number) AS ( \
        SELECT (SELECT number FROM passages WHERE session = ?1 AND line = each ORDER BY first DESC LIMIT 1) \
        FROM lines WHERE each IS NOT NULL)";

/// The threads of a session and their numbers.
fn lines() -> String {
    format!("{LAST} SELECT thread, line FROM passages WHERE number IN last")
}

impl PassageRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<PassageRow> {
        let body = row.get_ref(7)?.as_blob().map_err(|error| unreadable(7, error))?;
        let passage = Passage {
            thread: row.get(3)?,
            turn: row.get(4)?,
            first: row.get(5)?,
            live: row.get(6)?,
            pieces: unpack(body).map_err(|error| unreadable(7, error))?,
        };
        Ok(PassageRow { number: unsigned(row, 0)?, session: row.get(1)?, line: row.get(2)?, passage })
    }
}

impl Index {
    /// A passage by its number.
    pub fn passage(&self, number: u64) -> Result<Option<PassageRow>, Error> {
        let text = format!("SELECT {COLUMNS} FROM passages WHERE number = ?1");
        self.one(&text, [number.cast_signed()], PassageRow::read)
    }

    /// The number of the passage that has a piece of a thread.
    pub fn passage_at(&self, session: u32, line: u32, position: u32) -> Result<Option<u64>, Error> {
        let text = "SELECT number, first + pieces FROM passages \
                    WHERE session = ?1 AND line = ?2 AND first <= ?3 ORDER BY first DESC LIMIT 1";
        let read = |row: &Row<'_>| Ok((unsigned(row, 0)?, row.get::<_, u32>(1)?));
        let found = self.one(text, (session, line, position), read)?;
        Ok(found.filter(|(_, end)| position < *end).map(|(number, _)| number))
    }

    /// The passages of a session as they are kept.
    pub fn packed_passages(&self, key: &SessionKey) -> Result<Vec<PackedPassage>, Error> {
        let text = "SELECT event, thread, turn, first, live, at, pieces, text_bytes, hash, body FROM passages \
                    WHERE session = (SELECT number FROM sessions WHERE agent = ?1 AND id = ?2)";
        let read = |row: &Row<'_>| {
            Ok(PackedPassage {
                event: row.get(0)?,
                thread: row.get(1)?,
                turn: row.get(2)?,
                first: row.get(3)?,
                live: row.get(4)?,
                at_ms: row.get(5)?,
                pieces: row.get(6)?,
                text_bytes: row.get(7)?,
                hash: row.get(8)?,
                body: row.get(9)?,
            })
        };
        self.all(text, (&key.agent, &key.id), read)
    }

    /// Which passages there are of a session.
    pub fn known_passages(&self, key: &SessionKey) -> Result<KnownPassages, Error> {
        let Some(number) = self.session_number(key)? else { return Ok(KnownPassages::default()) };
        let lines = self.all(&lines(), [number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let text = "SELECT line, first, hash FROM passages WHERE session = ?1";
        let places = self.all(text, [number], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(KnownPassages { lines: lines.into_iter().collect(), places: places.into_iter().collect() })
    }

    /// The passages of a session, by thread and place.
    pub fn passages_of_session(&self, key: &SessionKey) -> Result<Vec<PassageRow>, Error> {
        let text = format!(
            "SELECT {COLUMNS} FROM passages \
             WHERE session = (SELECT number FROM sessions WHERE agent = ?1 AND id = ?2) ORDER BY line, first"
        );
        self.all(&text, (&key.agent, &key.id), PassageRow::read)
    }

    /// Numbers of the passages of a session.
    pub fn passages_of(&self, session: u32) -> Result<Vec<u64>, Error> {
        self.all("SELECT number FROM passages WHERE session = ?1", [session], |row| unsigned(row, 0))
    }

    /// Numbers of all passages in a time, with the number of the session of each.
    pub fn passages_between(&self, since: Option<i64>, until: Option<i64>) -> Result<Vec<(u64, u32)>, Error> {
        // What has no time is from before all times. Both halves are ranges of one index.
        let text = "SELECT number, session FROM passages WHERE at >= ?1 AND at < ?2 \
                    UNION ALL SELECT number, session FROM passages WHERE at IS NULL AND 0 >= ?1 AND 0 < ?2";
        let range = (since.unwrap_or(i64::MIN), until.unwrap_or(i64::MAX));
        self.all(text, range, |row| Ok((unsigned(row, 0)?, row.get(1)?)))
    }

    /// Numbers of the passages on branches that were rewound.
    pub fn dead_passages(&self) -> Result<Vec<u64>, Error> {
        self.all("SELECT number FROM passages WHERE live = 0", [], |row| unsigned(row, 0))
    }

    /// Gives every passage to `take`, by number.
    pub fn each_passage(&self, mut take: impl FnMut(PassageRow)) -> Result<(), Error> {
        let text = format!("SELECT {COLUMNS} FROM passages ORDER BY number");
        self.all(&text, [], |row| {
            take(PassageRow::read(row)?);
            Ok(())
        })
        .map(drop)
    }

    /// The last passage of each thread of a session: where it goes on.
    pub fn last_passages(&self, key: &SessionKey) -> Result<Vec<Passage>, Error> {
        let number = "SELECT number FROM sessions WHERE agent = ?1 AND id = ?2";
        let number = self.one(number, (&key.agent, &key.id), |row| row.get::<_, u32>(0))?;
        let Some(number) = number else { return Ok(Vec::new()) };
        let text = format!("{LAST} SELECT {COLUMNS} FROM passages WHERE number IN last");
        let rows = self.all(&text, [number], PassageRow::read)?;
        Ok(rows.into_iter().map(|row| row.passage).collect())
    }

    /// How many pieces there are, and the bytes of their texts.
    pub fn text_extent(&self) -> Result<(u64, u64), Error> {
        let number = |key| Ok(self.meta(key)?.and_then(|text| text.parse().ok()).unwrap_or(0));
        Ok((number(PIECES)?, number(TEXT_BYTES)?))
    }

    /// The number of every session.
    pub fn session_numbers(&self) -> Result<HashMap<SessionKey, u32>, Error> {
        let read = |row: &Row<'_>| Ok((SessionKey { agent: row.get(0)?, id: row.get(1)? }, row.get(2)?));
        Ok(self.all("SELECT agent, id, number FROM sessions", [], read)?.into_iter().collect())
    }

    /// The session with a number.
    pub fn session_numbered(&self, number: u32) -> Result<Option<SessionKey>, Error> {
        let read = |row: &Row<'_>| Ok(SessionKey { agent: row.get(0)?, id: row.get(1)? });
        self.one("SELECT agent, id FROM sessions WHERE number = ?1", [number], read)
    }

    /// The number of a session.
    pub fn session_number(&self, key: &SessionKey) -> Result<Option<u32>, Error> {
        let text = "SELECT number FROM sessions WHERE agent = ?1 AND id = ?2";
        self.one(text, (&key.agent, &key.id), |row| row.get(0))
    }

    /// How many pieces a session has, and the bytes of their texts.
    pub fn session_extent(&self, number: u32) -> Result<(u64, u64), Error> {
        let text = "SELECT pieces, text_bytes FROM sessions WHERE number = ?1";
        Ok(self.one(text, [number], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?.unwrap_or_default())
    }

    /// How many sessions there are.
    pub fn session_count(&self) -> Result<u64, Error> {
        Ok(self.one("SELECT count(*) FROM sessions", [], |row| unsigned(row, 0))?.unwrap_or(0))
    }

    /// When the first session began, if any says so.
    pub fn first_start(&self) -> Result<Option<Timestamp>, Error> {
        let text = "SELECT min(started_at) FROM sessions";
        let found = self.one(text, [], |row| row.get::<_, Option<i64>>(0))?.flatten();
        Ok(found.and_then(Timestamp::from_millis))
    }

    /// How many turns the session with a number has.
    pub fn turns_in(&self, number: u32) -> Result<u64, Error> {
        let text = "SELECT count(*) FROM turns WHERE session = (SELECT keys.session FROM sessions s \
            JOIN keys ON keys.agent = s.agent AND keys.id = s.id WHERE s.number = ?1)";
        Ok(self.one(text, [number], |row| unsigned(row, 0))?.unwrap_or(0))
    }

    /// How many turns there are.
    pub fn turn_count(&self) -> Result<u64, Error> {
        Ok(self.one("SELECT count(*) FROM turns", [], |row| unsigned(row, 0))?.unwrap_or(0))
    }
}

/// What a passage of a session was before.
struct Before {
    number: i64,
    hash: i64,
    pieces: i64,
    bytes: i64,
}

/// Passages of a session that are put one by one.
struct Putting<'w> {
    writer: &'w Writer<'w>,
    session: u32,
    /// Numbers of its threads.
    lines: HashMap<String, u32>,
    /// Pieces, and bytes of their texts, that it has more than before.
    more: (i64, i64),
}

impl Putting<'_> {
    /// The number of a passage's thread.
    fn line(&mut self, passage: &PackedPassage) -> u32 {
        match self.lines.get(&passage.thread) {
            Some(line) => *line,
            None => {
                let next = self.lines.len() as u32;
                self.lines.insert(passage.thread.clone(), next);
                next
            }
        }
    }

    fn put(&mut self, known: Option<Before>, passage: &PackedPassage) -> Result<(), Error> {
        self.more = (self.more.0 + passage.pieces, self.more.1 + passage.text_bytes);
        if let Some(known) = &known {
            self.more = (self.more.0 - known.pieces, self.more.1 - known.bytes);
        }
        if known.as_ref().is_some_and(|known| known.hash == passage.hash) {
            return Ok(());
        }
        let line = self.line(passage);
        self.writer.put_passage(known.map(|known| known.number), self.session, line, passage)
    }
}

impl Writer<'_> {
    /// Puts the passages of a session in the place of those it had. Only what differs
    /// counts as changed.
    pub fn put_passages(&self, key: &SessionKey, passages: &mut Spool<PackedPassage>) -> Result<(), Error> {
        let Some(mut putting) = self.putting(key)? else { return Ok(()) };
        let mut before = self.passages_before(putting.session, None)?;
        passages.each(|passage| {
            let known = before.remove(&(putting.line(&passage), passage.first));
            putting.put(known, &passage)
        })?;
        for gone in before.values() {
            putting.more = (putting.more.0 - gone.pieces, putting.more.1 - gone.bytes);
            self.run("DELETE FROM passages WHERE number = ?1", [gone.number])?;
            self.note_passage_removed(gone.number)?;
        }
        self.add_extent(putting.session, putting.more)
    }

    /// Puts passages that are new or went on, beside those that a session has.
    pub fn add_passages(&self, key: &SessionKey, passages: &[PackedPassage]) -> Result<(), Error> {
        let Some(mut putting) = self.putting(key)? else { return Ok(()) };
        for passage in passages {
            let at = (putting.line(passage), passage.first);
            let known = self.passages_before(putting.session, Some(at))?.remove(&at);
            putting.put(known, passage)?;
        }
        self.add_extent(putting.session, putting.more)
    }

    fn putting(&self, key: &SessionKey) -> Result<Option<Putting<'_>>, Error> {
        let Some(session) = self.session_number(key)? else { return Ok(None) };
        Ok(Some(Putting { writer: self, session, lines: self.lines(session)?, more: (0, 0) }))
    }

    fn put_passage(
        &self,
        number: Option<i64>,
        session: u32,
        line: u32,
        passage: &PackedPassage,
    ) -> Result<(), Error> {
        let Some(body) = &passage.body else {
            let what = format!("the words of {} have gone", passage.event);
            return Err(Error::Damaged { path: self.path.to_owned(), what, help: REBUILD });
        };
        let text = "REPLACE INTO passages (number, session, event, thread, line, turn, first, pieces, text_bytes, \
                    live, at, hash, body, changed) \
                    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        let params = rusqlite::params![
            number,
            session,
            passage.event,
            passage.thread,
            line,
            passage.turn,
            passage.first,
            passage.pieces,
            passage.text_bytes,
            passage.live,
            passage.at_ms,
            passage.hash,
            body,
            self.change()?
        ];
        self.run(text, params)
    }

    /// Drops the passages of a session that goes as a whole.
    pub(crate) fn clear_passages(&self, key: &SessionKey) -> Result<(), Error> {
        self.put_passages(key, &mut Spool::default())
    }

    fn session_number(&self, key: &SessionKey) -> Result<Option<u32>, Error> {
        let text = "SELECT number FROM sessions WHERE agent = ?1 AND id = ?2";
        let find = || {
            let mut statement = self.connection.prepare_cached(text)?;
            statement.query_row((&key.agent, &key.id), |row| row.get(0)).optional()
        };
        find().map_err(Error::index(self.path))
    }

    /// The numbers of a session's threads.
    fn lines(&self, session: u32) -> Result<HashMap<String, u32>, Error> {
        let all = || -> rusqlite::Result<HashMap<String, u32>> {
            let mut statement = self.connection.prepare_cached(&lines())?;
            statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        all().map_err(Error::index(self.path))
    }

    /// What a session had, or one passage of it, by thread and place.
    fn passages_before(
        &self,
        session: u32,
        only: Option<(u32, u32)>,
    ) -> Result<BTreeMap<(u32, u32), Before>, Error> {
        let columns = "SELECT line, first, number, hash, pieces, text_bytes FROM passages WHERE session = ?1";
        let read = |row: &Row<'_>| {
            let before =
                Before { number: row.get(2)?, hash: row.get(3)?, pieces: row.get(4)?, bytes: row.get(5)? };
            Ok(((row.get(0)?, row.get(1)?), before))
        };
        let all = || -> rusqlite::Result<BTreeMap<(u32, u32), Before>> {
            match only {
                Some((line, first)) => {
                    let text = format!("{columns} AND line = ?2 AND first = ?3");
                    let mut statement = self.connection.prepare_cached(&text)?;
                    statement.query_map((session, line, first), read)?.collect()
                }
                None => self.connection.prepare_cached(columns)?.query_map([session], read)?.collect(),
            }
        };
        all().map_err(Error::index(self.path))
    }

    fn note_passage_removed(&self, number: i64) -> Result<(), Error> {
        let text = "REPLACE INTO removed_passages (number, changed) VALUES (?1, ?2)";
        self.run(text, (number, self.change()?))
    }

    fn add_extent(&self, session: u32, (pieces, bytes): (i64, i64)) -> Result<(), Error> {
        if (pieces, bytes) == (0, 0) {
            return Ok(());
        }
        let text = "UPDATE sessions SET pieces = pieces + ?2, text_bytes = text_bytes + ?3 WHERE number = ?1";
        self.run(text, (session, pieces, bytes))?;
        self.add_meta(PIECES, pieces)?;
        self.add_meta(TEXT_BYTES, bytes)
    }
}
