//! Data shared between sessions: turns that a resume or a fork copied, and titles in another
//! session's files.
//!
//! A copied turn has the native id of its opening message. Of all turns with one id the original is
//! the one whose log proves most, then the earliest, then the first by session. This order depends
//! only on the rows, never on the time of their arrival.

use retro_model::{SessionKey, Timestamp, TitleRank};
use rusqlite::Row;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::rows::time;
use super::short::Id;
use super::{Index, SessionRow, Writer};
use crate::{Error, Spool, spool};

/// The opening message of a turn, with its agent's ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenerRow {
    /// Id of its event, which names the turn.
    pub event: String,
    /// The agent's id of its record.
    pub native: String,
    /// The agent's id of the last record of the turn.
    pub leaf: Option<String>,
    /// How sure the log is that the turn is its own. Larger is surer.
    pub own: u8,
    /// Start of the turn.
    pub started_at: Option<Timestamp>,
    /// The session that the log itself names as the source of the copy.
    pub copied_from: Option<String>,
}

/// A title that one file has for another session.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct NameRow {
    /// Id of the session, or of the last record of one of its turns.
    pub of: String,
    /// Whether it is the id of a record.
    pub is_leaf: bool,
    /// Title for the other session.
    pub title: String,
}

const OPENER: &str = "event, native, leaf, own, started_at, copied_from";
const OPENERS: &str = "openers JOIN keys USING (session)";
/// The same, looked up by a value of openers.
const OPENERS_FIRST: &str = "openers CROSS JOIN keys USING (session)";
/// Openers that are copies, or that others may have been copied from.
const COPIED: &str = "copied_from IS NOT NULL OR native IN \
    (SELECT native FROM openers GROUP BY native HAVING count(*) > 1)";

impl OpenerRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<OpenerRow> {
        Ok(OpenerRow {
            event: row.get(0)?,
            native: row.get::<_, Id>(1)?.0,
            leaf: row.get::<_, Option<Id>>(2)?.map(|leaf| leaf.0),
            own: row.get(3)?,
            started_at: time(row, 4)?,
            copied_from: row.get(5)?,
        })
    }
}

/// The rank of one of several turns with the same native id. The lowest one is the original.
type Claim = (bool, Reverse<u8>, bool, Option<Timestamp>, String);

fn claim(row: &OpenerRow, session: &str) -> Claim {
    let ts = row.started_at;
    (row.copied_from.is_some(), Reverse(row.own), ts.is_none(), ts, session.to_owned())
}

impl Index {
    /// The copied turns of a session: the opening event of each, and the session with the original.
    pub fn copies_of(&self, key: &SessionKey) -> Result<BTreeMap<String, SessionKey>, Error> {
        let mut copies = BTreeMap::new();
        for (row, rivals) in self.claimed(key)? {
            let best = rivals.into_iter().map(|(session, rival)| claim(&rival, &session)).min();
            let ours = claim(&row, &key.id);
            let original = match best {
                Some(best) if best < ours => Some(best.4),
                _ => row.copied_from,
            };
            if let Some(id) = original {
                copies.insert(row.event, SessionKey::new(key.agent.clone(), id));
            }
        }
        Ok(copies)
    }

    /// The openers of a session, each with the openers of other sessions that have the same id.
    #[allow(clippy::type_complexity)]
    fn claimed(&self, key: &SessionKey) -> Result<Vec<(OpenerRow, Vec<(String, OpenerRow)>)>, Error> {
        let own = format!("SELECT {OPENER} FROM {OPENERS} WHERE agent = ?1 AND id = ?2");
        let rivals =
            format!("SELECT {OPENER}, id FROM {OPENERS_FIRST} WHERE native = ?2 AND agent = ?1 AND id <> ?3");
        let mut claimed = Vec::new();
        for row in self.all(&own, (&key.agent, &key.id), OpenerRow::read)? {
            let params = (&key.agent, Id(row.native.clone()), &key.id);
            let rivals = self.all(&rivals, params, |row| Ok((row.get(6)?, OpenerRow::read(row)?)))?;
            claimed.push((row, rivals));
        }
        Ok(claimed)
    }

    /// Number of copied turns in each session.
    pub(super) fn copy_counts(&self) -> Result<HashMap<SessionKey, u64>, Error> {
        self.count_copies(COPIED, None)
    }

    /// How many turns of one session are copies. Costs what it and its copies have.
    pub(super) fn copy_count(&self, session: i64) -> Result<HashMap<SessionKey, u64>, Error> {
        self.count_copies("native IN (SELECT native FROM openers WHERE session = ?1)", Some(session))
    }

    fn count_copies(&self, which: &str, of: Option<i64>) -> Result<HashMap<SessionKey, u64>, Error> {
        let text =
            format!("SELECT {OPENER}, agent, id FROM {OPENERS_FIRST} WHERE {which} ORDER BY agent, native");
        let read =
            |row: &Row<'_>| Ok((OpenerRow::read(row)?, SessionKey { agent: row.get(6)?, id: row.get(7)? }));
        let rows = self.all(&text, rusqlite::params_from_iter(of), read)?;
        let mut counts: HashMap<SessionKey, u64> = HashMap::new();
        let same = |a: &(OpenerRow, SessionKey), b: &(OpenerRow, SessionKey)| {
            (&a.0.native, &a.1.agent) == (&b.0.native, &b.1.agent)
        };
        for group in rows.chunk_by(same) {
            let first = group.iter().min_by_key(|(row, key)| claim(row, &key.id));
            for one in group {
                let is_original = first == Some(one) && one.0.copied_from.is_none();
                if !is_original {
                    *counts.entry(one.1.clone()).or_default() += 1;
                }
            }
        }
        Ok(counts)
    }

    /// Gives sessions the titles from other files that are better than their own.
    pub(super) fn entitle(&self, mut rows: Vec<SessionRow>) -> Result<Vec<SessionRow>, Error> {
        let wants = |row: &SessionRow| row.title_rank.is_none_or(|rank| rank > TitleRank::Elsewhere);
        // This reads all names, so sessions without children should not pay for it.
        if !rows.iter().any(wants) {
            return Ok(rows);
        }
        let names = self.names()?;
        for row in &mut rows {
            if wants(row)
                && let Some(title) = names.get(&row.key())
            {
                row.title = Some(title.clone());
                row.title_rank = Some(TitleRank::Elsewhere);
            }
        }
        Ok(rows)
    }

    /// The title that another file has for a session.
    pub fn title_elsewhere(&self, key: &SessionKey) -> Result<Option<String>, Error> {
        Ok(self.names()?.remove(key))
    }

    /// The openers of a session, in the order of its turns.
    pub fn openers_of(&self, key: &SessionKey) -> Result<Vec<OpenerRow>, Error> {
        let text =
            format!("SELECT {OPENER} FROM {OPENERS} WHERE agent = ?1 AND id = ?2 ORDER BY openers.rowid");
        self.all(&text, (&key.agent, &key.id), OpenerRow::read)
    }

    /// The titles that one file has for other sessions, by the name of each.
    pub fn names_in(&self, agent: &str, holder: &str) -> Result<Vec<NameRow>, Error> {
        let text = "SELECT of, is_leaf, title FROM names WHERE agent = ?1 AND holder = ?2 ORDER BY of";
        self.all(text, (agent, holder), |row| {
            Ok(NameRow { of: row.get(0)?, is_leaf: row.get(1)?, title: row.get(2)? })
        })
    }

    /// The newest title that another file has for each session: by its id, or by the last
    /// record of one of its turns.
    fn names(&self) -> Result<HashMap<SessionKey, String>, Error> {
        let by_id = "SELECT n.agent, n.of, n.title FROM names n JOIN sessions s ON s.agent = n.agent AND s.id = n.of \
                     WHERE n.is_leaf = 0 ORDER BY n.holder";
        let by_leaf = format!(
            "SELECT {OPENER}, agent, id FROM {OPENERS_FIRST} WHERE leaf = ?1 AND agent = ?2 ORDER BY openers.rowid"
        );
        let of_leaves = "SELECT agent, of, title FROM names WHERE is_leaf = 1 ORDER BY of, holder";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let mut of_leaf: Vec<(OpenerRow, SessionKey, String)> = Vec::new();
        for (agent, leaf, title) in self.all::<(String, String, String)>(of_leaves, [], read)? {
            let opener = |row: &Row<'_>| {
                Ok((OpenerRow::read(row)?, SessionKey { agent: row.get(6)?, id: row.get(7)? }))
            };
            let openers = self.all(&by_leaf, (Id(leaf), agent), opener)?.into_iter();
            of_leaf.extend(openers.map(|(row, key)| (row, key, title.clone())));
        }
        let mut newest: HashMap<SessionKey, (Option<Timestamp>, String)> = HashMap::new();
        // A leaf copied into several sessions names the original.
        for group in of_leaf.chunk_by(|a, b| a.0.leaf == b.0.leaf) {
            let Some((row, key, title)) = group.iter().min_by_key(|(row, key, _)| claim(row, &key.id)) else {
                continue;
            };
            let better = (row.started_at, title.clone());
            let known = newest.entry(key.clone()).or_insert_with(|| better.clone());
            if better > *known {
                *known = better;
            }
        }
        let mut names: HashMap<SessionKey, String> =
            newest.into_iter().map(|(key, (_, title))| (key, title)).collect();
        let read = |row: &Row<'_>| Ok((SessionKey { agent: row.get(0)?, id: row.get(1)? }, row.get(2)?));
        names.extend(self.all(by_id, [], read)?);
        Ok(names)
    }
}

impl Writer<'_> {
    /// Replaces the openers of a session. Those before the first difference stay.
    pub fn put_openers(&self, key: &SessionKey, openers: &mut Spool<OpenerRow>) -> Result<(), Error> {
        let mut before = self.openers_before(key)?.into_iter().peekable();
        let session = self.number_of(key)?;
        let text = format!("INSERT INTO openers (session, {OPENER}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
        openers.each(|row| {
            let name = spool::name_of(&row);
            if before.next_if(|(_, before)| *before == name).is_some() {
                return Ok(());
            }
            self.drop_openers(before.by_ref())?;
            let started_at = row.started_at.map(Timestamp::as_millis);
            let (native, leaf) = (Id(row.native), row.leaf.map(Id));
            self.run(&text, (session, &row.event, native, leaf, row.own, started_at, &row.copied_from))
        })?;
        self.drop_openers(before)
    }

    fn drop_openers(&self, gone: impl Iterator<Item = (i64, u64)>) -> Result<(), Error> {
        for (row, _) in gone {
            self.run("DELETE FROM openers WHERE rowid = ?1", [row])?;
        }
        Ok(())
    }

    /// The present openers of a session: the row of each, and its name.
    fn openers_before(&self, key: &SessionKey) -> Result<Vec<(i64, u64)>, Error> {
        let text = format!(
            "SELECT {OPENER}, openers.rowid FROM {OPENERS} WHERE agent = ?1 AND id = ?2 ORDER BY openers.rowid"
        );
        let name = |row: &Row<'_>| Ok((row.get(6)?, spool::name_of(&OpenerRow::read(row)?)));
        let read = || -> rusqlite::Result<Vec<(i64, u64)>> {
            let mut statement = self.connection.prepare_cached(&text)?;
            statement.query_map((&key.agent, &key.id), name)?.collect()
        };
        read().map_err(Error::index(self.path))
    }

    /// Replaces the titles that one file has for other sessions. If there are several for one
    /// session, the last one wins.
    pub fn put_names(&self, agent: &str, holder: &str, names: &[NameRow]) -> Result<(), Error> {
        self.run("DELETE FROM names WHERE agent = ?1 AND holder = ?2", (agent, holder))?;
        let text = "REPLACE INTO names (agent, holder, of, is_leaf, title) VALUES (?1, ?2, ?3, ?4, ?5)";
        names.iter().try_for_each(|name| self.run(text, (agent, holder, &name.of, name.is_leaf, &name.title)))
    }
}
