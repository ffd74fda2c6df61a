//! Relations between sessions. A sync queries them for every session that it reads, so no query
//! here may scan all sessions.

use retro_model::{SessionKey, Timestamp};
use rusqlite::Row;
use std::collections::HashSet;

use super::{Index, SessionRow, rows};
use crate::Error;

/// No order by id here: SQLite would then scan all sessions of the agent.
const CHILDREN: &str = "FROM sessions WHERE agent = ?1 AND parent = ?2";

impl Index {
    /// Sessions that name this one as their parent, in no particular order and with their own
    /// titles only.
    pub fn children_of(&self, key: &SessionKey) -> Result<Vec<SessionRow>, Error> {
        let text = format!("SELECT {} {CHILDREN}", rows::SESSION);
        self.all(&text, (&key.agent, &key.id), SessionRow::read)
    }

    /// Sessions with links to others, with their own titles only. Scans all sessions, and reads
    /// only these.
    pub fn linked_sessions(&self) -> Result<Vec<SessionRow>, Error> {
        let text = format!("SELECT {} FROM sessions WHERE links <> '[]'", rows::SESSION);
        self.all(&text, [], SessionRow::read)
    }

    /// Sessions without any source: the evicted ones.
    pub fn sessions_without_sources(&self) -> Result<HashSet<SessionKey>, Error> {
        let text = "SELECT agent, id FROM sessions WHERE NOT EXISTS \
            (SELECT 1 FROM sources WHERE sources.agent = sessions.agent AND session = id)";
        let read = |row: &Row<'_>| Ok(SessionKey { agent: row.get(0)?, id: row.get(1)? });
        Ok(self.all(text, [], read)?.into_iter().collect())
    }

    /// Whether no source of this session is known.
    pub fn is_without_sources(&self, key: &SessionKey) -> Result<bool, Error> {
        let text = "SELECT 1 FROM sources WHERE agent = ?1 AND session = ?2 LIMIT 1";
        Ok(self.one(text, (&key.agent, &key.id), |_| Ok(()))?.is_none())
    }

    /// Total size of the files of sessions that changed after this time.
    pub fn disk_bytes_since(&self, since: Timestamp) -> Result<u64, Error> {
        let text = "SELECT coalesce(sum(disk_bytes), 0) FROM sessions WHERE mtime_ns >= ?1";
        let since_ns = since.as_millis().saturating_mul(1_000_000);
        Ok(self.one(text, [since_ns], |row| rows::unsigned(row, 0))?.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RealDisk, Store};
    use std::sync::Arc;

    #[test]
    fn children_are_found_by_their_parent() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(&folder.path().join("store"), Arc::new(RealDisk)).unwrap();
        let index = store.index().unwrap();
        let parent = SessionKey::new("codex", "one");
        let mut child = SessionRow::new(&SessionKey::new("codex", "two"));
        child.parent = Some("one".to_owned());
        index
            .write(|writer| {
                writer.put_session(&SessionRow::new(&parent))?;
                writer.put_session(&child)
            })
            .unwrap();
        let found = index.children_of(&parent).unwrap();
        assert_eq!(found.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["two"]);
        assert!(index.linked_sessions().unwrap().is_empty());
        let plan = format!("EXPLAIN QUERY PLAN SELECT {} {CHILDREN}", rows::SESSION);
        let plan: String =
            index.connection.query_row(&plan, ("codex", "one"), |row| row.get("detail")).unwrap();
        assert!(plan.contains("sessions_by_parent"), "{plan}");
    }
}
