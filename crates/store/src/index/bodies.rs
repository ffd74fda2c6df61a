//! Texts that stages leave for others, under a name and in parts.
//!
//! A stage with a result for consumers stores it here. A body has its own change number, which
//! moves only when the text differs. A removed one stays as an empty row, so that its followers see
//! the removal.

use retro_model::SessionKey;
use rusqlite::{OptionalExtension, Row, params};

use super::{Index, Writer, shrunk};
use crate::Error;

/// One part of a text that a stage left for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyRow {
    /// Agent and id of the session.
    pub key: SessionKey,
    /// The name that consumers follow.
    pub name: String,
    /// The part, if there are several: a mining method.
    pub part: String,
    /// Text of the part.
    pub text: String,
}

/// Columns of bodies with their keys.
const BODY: &str = "agent, id, name, part, body";

impl BodyRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<BodyRow> {
        let key = SessionKey { agent: row.get(0)?, id: row.get(1)? };
        Ok(BodyRow { key, name: row.get(2)?, part: row.get(3)?, text: shrunk::text(row, 4)? })
    }
}

impl Index {
    /// All texts with this name, by session and part.
    pub fn bodies(&self, name: &str) -> Result<Vec<BodyRow>, Error> {
        let text = format!(
            "SELECT {BODY} FROM bodies JOIN keys USING (session) WHERE name = ?1 AND body IS NOT NULL \
             ORDER BY agent, id, part"
        );
        self.all(&text, [name], BodyRow::read)
    }

    /// All texts with this name of one session, by part.
    pub fn bodies_of(&self, key: &SessionKey, name: &str) -> Result<Vec<BodyRow>, Error> {
        let text = format!(
            "SELECT {BODY} FROM bodies JOIN keys USING (session) \
             WHERE agent = ?1 AND id = ?2 AND name = ?3 AND body IS NOT NULL ORDER BY part"
        );
        self.all(&text, (&key.agent, &key.id, name), BodyRow::read)
    }

    /// One part of a session's text under a name.
    pub fn body(&self, key: &SessionKey, name: &str, part: &str) -> Result<Option<String>, Error> {
        let text = "SELECT body FROM bodies JOIN keys USING (session) \
                    WHERE agent = ?1 AND id = ?2 AND name = ?3 AND part = ?4 AND body IS NOT NULL";
        self.one(text, (&key.agent, &key.id, name, part), |row| shrunk::text(row, 0))
    }
}

impl Writer<'_> {
    /// Replaces a part of a body. `None` removes it. Returns whether the text changed.
    pub fn put_body(
        &self,
        key: &SessionKey,
        name: &str,
        part: &str,
        text: Option<&str>,
    ) -> Result<bool, Error> {
        let known = "SELECT body FROM bodies WHERE session = ?1 AND name = ?2 AND part = ?3";
        let session = self.number_of(key)?;
        let before = || -> rusqlite::Result<Option<Vec<u8>>> {
            let mut statement = self.connection.prepare_cached(known)?;
            let found = statement.query_row((session, name, part), |row| row.get(0));
            Ok(found.optional()?.flatten())
        };
        let text = text.map(|text| shrunk::shrink(text.as_bytes())).transpose();
        let text = text.map_err(Error::index(self.path))?;
        if before().map_err(Error::index(self.path))? == text {
            return Ok(false);
        }
        let put = "REPLACE INTO bodies (session, name, part, body, changed) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.run(put, params![session, name, part, text, self.change()?])?;
        Ok(true)
    }

    /// Removes every part of a body that contains these words.
    pub fn clear_bodies_with(&self, name: &str, words: &str) -> Result<(), Error> {
        let all = "SELECT rowid, body FROM bodies WHERE name = ?1 AND body IS NOT NULL";
        let with_words = || -> rusqlite::Result<Vec<i64>> {
            let mut statement = self.connection.prepare_cached(all)?;
            let rows = statement.query_map([name], |row| Ok((row.get(0)?, shrunk::text(row, 1)?)))?;
            let has = |(at, text): (i64, String)| text.contains(words).then_some(at);
            rows.filter_map(|row| row.map(has).transpose()).collect()
        };
        let rows = with_words().map_err(Error::index(self.path))?;
        let text = "UPDATE bodies SET body = NULL, changed = ?2 WHERE rowid = ?1";
        rows.iter().try_for_each(|at| self.run(text, (at, self.change()?)))
    }
}
