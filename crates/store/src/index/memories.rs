//! What was mined of sessions, and memories as they can be asked quickly: what ranking needs
//! of each in one value, their words by term, their vectors in one value, and each in full.

use retro_model::SessionKey;
use rusqlite::params;

use super::{Index, Writer};
use crate::Error;

/// What one method found in one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MinedRow {
    /// Which session.
    pub key: SessionKey,
    /// The method.
    pub method: String,
    /// All of it, as JSON.
    pub body: String,
}

/// Memories as the index keeps them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryTables {
    /// What ranking needs of every memory, as bytes.
    pub heads: Vec<u8>,
    /// Their vectors, one after the other.
    pub vectors: Vec<u8>,
    /// Id and content of each, by number.
    pub items: Vec<(String, String)>,
    /// The memories with a term, as bytes.
    pub terms: Vec<(String, Vec<u8>)>,
    /// The files that they were made from, as [`crate::Store::memory_files`] names them.
    pub files: String,
}

impl Index {
    /// Everything that was mined.
    pub fn mined(&self) -> Result<Vec<MinedRow>, Error> {
        let text = "SELECT agent, session, method, body FROM mined ORDER BY agent, session, method";
        self.all(text, [], |row| {
            let key = SessionKey { agent: row.get(0)?, id: row.get(1)? };
            Ok(MinedRow { key, method: row.get(2)?, body: row.get(3)? })
        })
    }

    /// Whether something was mined of a session.
    pub fn mined_at(&self, key: &SessionKey) -> Result<bool, Error> {
        let text = "SELECT 1 FROM mined WHERE agent = ?1 AND session = ?2 LIMIT 1";
        Ok(self.one(text, (&key.agent, &key.id), |_| Ok(()))?.is_some())
    }

    /// Everything that methods found in a session, as JSON.
    pub fn findings(&self, key: &SessionKey) -> Result<Option<String>, Error> {
        let text = "SELECT body FROM findings WHERE agent = ?1 AND session = ?2";
        self.one(text, (&key.agent, &key.id), |row| row.get(0))
    }

    /// One of the values over all memories: `files`, `heads`, `vectors`, `mark`.
    pub fn memory_value(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.one("SELECT value FROM memory_values WHERE name = ?1", [name], |row| row.get(0))
    }

    /// The memories with a term.
    pub fn memory_term(&self, term: &str) -> Result<Option<Vec<u8>>, Error> {
        self.one("SELECT list FROM memory_terms WHERE term = ?1", [term], |row| row.get(0))
    }

    /// A memory by its number, as JSON.
    pub fn memory(&self, number: usize) -> Result<Option<String>, Error> {
        self.one("SELECT body FROM memories WHERE number = ?1", [number as i64], |row| row.get(0))
    }

    /// Removes what deleted rows left in the file of the database, and in the one beside it.
    pub fn wipe(&self) -> Result<(), Error> {
        let wiped = self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        wiped.map_err(Error::index(&self.path))
    }

    /// Every memory as JSON, by number.
    pub fn memories(&self) -> Result<Vec<String>, Error> {
        self.all("SELECT body FROM memories ORDER BY number", [], |row| row.get(0))
    }
}

impl Writer<'_> {
    /// What was mined of a session, by method.
    fn mined_of(&self, key: &SessionKey) -> Result<Vec<(String, String)>, Error> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT method, body FROM mined WHERE agent = ?1 AND session = ?2 ORDER BY method",
            )?;
            statement.query_map((&key.agent, &key.id), |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(Error::index(self.path))
    }

    /// Puts what one method found in a session, or did not find, in the place of what it found
    /// before. Says whether that differs.
    pub fn put_mined_by(&self, key: &SessionKey, method: &str, body: Option<&str>) -> Result<bool, Error> {
        let before = self.mined_of(key)?;
        let mut found = before.clone();
        found.retain(|(other, _)| other != method);
        found.extend(body.map(|body| (method.to_owned(), body.to_owned())));
        found.sort();
        if found == before {
            return Ok(false);
        }
        self.put_mined(key, &found).map(|()| true)
    }

    /// Puts what was mined of a session in the place of what was there; only if that
    /// differs the session counts as changed.
    pub fn put_mined(&self, key: &SessionKey, found: &[(String, String)]) -> Result<(), Error> {
        let mut found = found.to_vec();
        found.sort();
        if self.mined_of(key)? == found {
            return Ok(());
        }
        self.run("DELETE FROM mined WHERE agent = ?1 AND session = ?2", (&key.agent, &key.id))?;
        for (method, body) in &found {
            let text = "INSERT INTO mined (agent, session, method, body) VALUES (?1, ?2, ?3, ?4)";
            self.run(text, params![key.agent, key.id, method, body])?;
        }
        let change = self.change()?;
        self.run(
            "UPDATE sessions SET changed = ?3 WHERE agent = ?1 AND id = ?2",
            params![key.agent, key.id, change],
        )
    }

    /// Keeps everything that methods found in a session. It changes no answer by itself.
    pub fn put_findings(&self, key: &SessionKey, body: &str) -> Result<(), Error> {
        let text = "REPLACE INTO findings (agent, session, body) VALUES (?1, ?2, ?3)";
        self.run(text, (&key.agent, &key.id, body))
    }

    /// Drops what was found in every session that holds these words, written as JSON.
    pub fn clear_findings(&self, words: &str) -> Result<(), Error> {
        self.run("DELETE FROM findings WHERE instr(body, ?1) > 0", [words])
    }

    /// Remembers how far the memories have followed.
    pub fn put_memory_mark(&self, mark: &str) -> Result<(), Error> {
        self.run("REPLACE INTO memory_values (name, value) VALUES ('mark', ?1)", [mark.as_bytes()])
    }

    /// Puts memories in the place of all that were there.
    pub fn put_memories(&self, tables: &MemoryTables, mark: &str) -> Result<(), Error> {
        for table in ["memories", "memory_terms", "memory_values"] {
            self.run(&format!("DELETE FROM {table}"), [])?;
        }
        for (number, (id, body)) in tables.items.iter().enumerate() {
            let text = "INSERT INTO memories (number, id, body) VALUES (?1, ?2, ?3)";
            self.run(text, params![number as i64, id, body])?;
        }
        for (term, list) in &tables.terms {
            self.run("INSERT INTO memory_terms (term, list) VALUES (?1, ?2)", params![term, list])?;
        }
        let values = [
            ("files", tables.files.as_bytes()),
            ("heads", &tables.heads[..]),
            ("vectors", &tables.vectors[..]),
            ("mark", mark.as_bytes()),
        ];
        for (name, value) in values {
            self.run("INSERT INTO memory_values (name, value) VALUES (?1, ?2)", params![name, value])?;
        }
        Ok(())
    }
}
