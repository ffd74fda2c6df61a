//! Memories for fast queries: the heads of all for ranking in one value, their words by term, their
//! vectors in one value, and each memory in full.

use rusqlite::params;

use super::{Index, Writer, shrunk};
use crate::Error;

/// Memories in the form of the index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemoryTables {
    /// The heads of all memories for ranking, encoded.
    pub heads: Vec<u8>,
    /// The concatenated vectors of all memories.
    pub vectors: Vec<u8>,
    /// Id and content of each memory, by number.
    pub items: Vec<(String, String)>,
    /// The memories with each term, encoded.
    pub terms: Vec<(String, Vec<u8>)>,
    /// Names the files that they were made from, see [`crate::Store::memory_files`].
    pub files: String,
}

impl Index {
    /// A value over all memories: `files`, `heads`, `vectors` or `mark`.
    pub fn memory_value(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        self.one("SELECT value FROM memory_values WHERE name = ?1", [name], |row| row.get(0))
    }

    /// The memories with a term.
    pub fn memory_term(&self, term: &str) -> Result<Option<Vec<u8>>, Error> {
        self.one("SELECT list FROM memory_terms WHERE term = ?1", [term], |row| row.get(0))
    }

    /// A memory by its number, as JSON.
    pub fn memory(&self, number: usize) -> Result<Option<String>, Error> {
        self.one("SELECT body FROM memories WHERE number = ?1", [number as i64], |row| shrunk::text(row, 0))
    }

    /// Removes the traces of deleted rows from the database file and its log.
    pub fn wipe(&self) -> Result<(), Error> {
        let wiped = self.connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE);");
        wiped.map_err(Error::index(&self.path))
    }

    /// Every memory as JSON, by number.
    pub fn memories(&self) -> Result<Vec<String>, Error> {
        self.all("SELECT body FROM memories ORDER BY number", [], |row| shrunk::text(row, 0))
    }
}

impl Writer<'_> {
    /// Stores the last change that the memories include.
    pub fn put_memory_mark(&self, mark: &str) -> Result<(), Error> {
        self.run("REPLACE INTO memory_values (name, value) VALUES ('mark', ?1)", [mark.as_bytes()])
    }

    /// Replaces all memories.
    pub fn put_memories(&self, tables: &MemoryTables, mark: &str) -> Result<(), Error> {
        for table in ["memories", "memory_terms", "memory_values"] {
            self.run(&format!("DELETE FROM {table}"), [])?;
        }
        for (number, (id, body)) in tables.items.iter().enumerate() {
            let text = "INSERT INTO memories (number, id, body) VALUES (?1, ?2, ?3)";
            let body = shrunk::shrink(body.as_bytes()).map_err(Error::index(self.path))?;
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
