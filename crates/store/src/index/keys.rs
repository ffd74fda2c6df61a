//! Numbers of sessions, by which tables with many rows a session know them.
//!
//! A number is given when the first such row is written, and goes with the session. It is not
//! the number of the session's row in `sessions`, which may come later.

use retro_model::SessionKey;
use rusqlite::OptionalExtension;

use super::{Index, Writer};
use crate::Error;

const NUMBER: &str = "SELECT session FROM keys WHERE agent = ?1 AND id = ?2";

impl Index {
    /// The number of a session; nothing if it has no rows.
    pub(super) fn key_number(&self, key: &SessionKey) -> Result<Option<i64>, Error> {
        self.one(NUMBER, (&key.agent, &key.id), |row| row.get(0))
    }
}

impl Writer<'_> {
    /// The number of a session, which is given now if it has none.
    pub(super) fn number_of(&self, key: &SessionKey) -> Result<i64, Error> {
        if let Some((last, number)) = &*self.last.borrow()
            && last == key
        {
            return Ok(*number);
        }
        let params = (&key.agent, &key.id);
        let known = || self.connection.prepare_cached(NUMBER)?.query_row(params, |row| row.get(0)).optional();
        let number = match known().map_err(Error::index(self.path))? {
            Some(number) => number,
            None => {
                self.run("INSERT INTO keys (agent, id) VALUES (?1, ?2)", params)?;
                self.connection.last_insert_rowid()
            }
        };
        *self.last.borrow_mut() = Some((key.clone(), number));
        Ok(number)
    }
}
