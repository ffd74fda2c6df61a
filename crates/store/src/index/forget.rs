//! Forgetting in the index: removes rows of forgotten sessions, and searches the rest for their
//! words.

use retro_model::SessionKey;
use rusqlite::types::ValueRef;
use std::collections::BTreeSet;

use super::{Index, Writer, short, shrunk};
use crate::{Error, Holds};

impl Index {
    /// Makes SQLite overwrite deleted rows from now on.
    pub fn secure(&self) -> Result<(), Error> {
        let secured = self.connection.execute_batch("PRAGMA secure_delete = ON;");
        secured.map_err(Error::index(&self.path))
    }

    /// The sessions with one of these texts in a passage or in the text of a stage.
    pub fn sessions_with(&self, texts: &Holds<'_>) -> Result<Vec<String>, Error> {
        let mut numbers = BTreeSet::new();
        self.each_passage(|row| {
            if row.passage.pieces.iter().any(|piece| texts(piece.text.as_bytes())) {
                numbers.insert(row.session);
            }
        })?;
        let mut found = Vec::new();
        for number in numbers {
            found.push(
                self.session_numbered(number)?.map_or_else(|| number.to_string(), |key| key.to_string()),
            );
        }
        Ok(found)
    }

    /// The columns with one of these texts in a value, as it is or unpacked. Passages have
    /// [`Index::sessions_with`].
    pub fn columns_with(&self, texts: &Holds<'_>) -> Result<Vec<String>, Error> {
        let tables: Vec<String> = self.all(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
            [],
            |row| row.get(0),
        )?;
        let mut found = BTreeSet::new();
        for table in &tables {
            // The name comes from the database itself and is quoted.
            let text = format!("SELECT * FROM \"{}\"", table.replace('"', "\"\""));
            self.all(&text, [], |row| {
                let columns = row.as_ref().column_count();
                for column in 0..columns {
                    let bytes = match row.get_ref(column)? {
                        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
                        _ => continue,
                    };
                    let holds = |text: &String| texts(text.as_bytes());
                    if texts(bytes)
                        || short::readings(bytes).iter().any(holds)
                        || shrunk::grow(bytes).is_ok_and(|plain| texts(&plain))
                    {
                        found.insert(format!("{table}.{}", row.as_ref().column_name(column)?));
                    }
                }
                Ok(())
            })?;
        }
        Ok(found.into_iter().collect())
    }
}

impl Writer<'_> {
    /// Removes the titles that other files have for a session, and starts a new series of changes,
    /// so that every follower starts over and no name stays.
    pub fn forget_names(&self, key: &SessionKey, others: &[String]) -> Result<(), Error> {
        self.run("DELETE FROM failures WHERE instr(CAST(path AS TEXT), ?1) > 0", [&key.id])?;
        for name in others.iter().chain([&key.id]) {
            self.run("DELETE FROM names WHERE agent = ?1 AND of = ?2", (&key.agent, name))?;
        }
        self.run("DELETE FROM removed WHERE agent = ?1 AND session = ?2", (&key.agent, &key.id))
    }

    /// Starts a new series of changes.
    pub fn start_series_again(&self) -> Result<(), Error> {
        for table in ["removed", "removed_passages", "cells", "memories", "memory_terms", "memory_values"] {
            self.run(&format!("DELETE FROM {table}"), [])?;
        }
        self.new_series()
    }
}
