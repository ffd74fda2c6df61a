//! Memories as they can be asked quickly: what ranking needs of each in one value, their words
//! by term, their vectors in one value, and each in full.

use rusqlite::params;

use super::{Index, Writer};
use crate::Error;

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
