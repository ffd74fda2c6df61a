//! What stages leave for others: a text under a name, in parts.
//!
//! A stage that makes something which consumers read puts it here. A body has a change
//! number of its own, which moves only when the text differs; one that is gone stays as an
//! empty row, so that its followers see that it went.

use retro_model::SessionKey;
use rusqlite::{OptionalExtension, Row, params};

use super::{Index, Writer, shrunk};
use crate::Error;

/// A part of what a stage left of a session under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BodyRow {
    /// Which session.
    pub key: SessionKey,
    /// What it is called.
    pub name: String,
    /// Which part of it, where it has several: a mining method.
    pub part: String,
    /// What it says.
    pub text: String,
}

const BODY: &str = "agent, session, name, part, body";

impl BodyRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<BodyRow> {
        let key = SessionKey { agent: row.get(0)?, id: row.get(1)? };
        Ok(BodyRow { key, name: row.get(2)?, part: row.get(3)?, text: shrunk::text(row, 4)? })
    }
}

impl Index {
    /// Everything with this name, by session and part.
    pub fn bodies(&self, name: &str) -> Result<Vec<BodyRow>, Error> {
        let text = format!(
            "SELECT {BODY} FROM bodies WHERE name = ?1 AND body IS NOT NULL ORDER BY agent, session, part"
        );
        self.all(&text, [name], BodyRow::read)
    }

    /// Everything with this name of one session, by part.
    pub fn bodies_of(&self, key: &SessionKey, name: &str) -> Result<Vec<BodyRow>, Error> {
        let text = format!(
            "SELECT {BODY} FROM bodies \
             WHERE agent = ?1 AND session = ?2 AND name = ?3 AND body IS NOT NULL ORDER BY part"
        );
        self.all(&text, (&key.agent, &key.id, name), BodyRow::read)
    }

    /// One part of what was left of a session under a name.
    pub fn body(&self, key: &SessionKey, name: &str, part: &str) -> Result<Option<String>, Error> {
        let text = "SELECT body FROM bodies \
                    WHERE agent = ?1 AND session = ?2 AND name = ?3 AND part = ?4 AND body IS NOT NULL";
        self.one(text, (&key.agent, &key.id, name, part), |row| shrunk::text(row, 0))
    }
}

impl Writer<'_> {
    /// Puts a part of a body in the place of what was there; without a text it goes. Says
    /// whether that differs.
    pub fn put_body(
        &self,
        key: &SessionKey,
        name: &str,
        part: &str,
        text: Option<&str>,
    ) -> Result<bool, Error> {
        let known = "SELECT body FROM bodies WHERE agent = ?1 AND session = ?2 AND name = ?3 AND part = ?4";
        let before = || -> rusqlite::Result<Option<Vec<u8>>> {
            let mut statement = self.connection.prepare_cached(known)?;
            let found = statement.query_row((&key.agent, &key.id, name, part), |row| row.get(0));
            Ok(found.optional()?.flatten())
        };
        let text = text.map(|text| shrunk::shrink(text.as_bytes())).transpose();
        let text = text.map_err(Error::index(self.path))?;
        if before().map_err(Error::index(self.path))? == text {
            return Ok(false);
        }
        let put = format!("REPLACE INTO bodies ({BODY}, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
        self.run(&put, params![key.agent, key.id, name, part, text, self.change()?])?;
        Ok(true)
    }

    /// Takes away every part of a body that holds these words.
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
