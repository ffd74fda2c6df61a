//! Giving up the raw bytes of a session: what the register says goes, the rest stays.
//!
//! First the session file says that it was evicted, and its remains hold what the index
//! knew; both are on the medium before anything is removed. A stop in between leaves raw
//! bytes that are never read, and the next sync removes them.

use retro_model::SessionKey;

use crate::kept::{Evict, Place, REGISTER};
use crate::layout::{RAW, raw_folder};
use crate::{Error, REMAINS, Store, Writer};

impl Store {
    /// Removes the files of an evicted session that go.
    pub fn remove_evicted(&self, key: &SessionKey) -> Result<(), Error> {
        for line in REGISTER.iter().filter(|line| line.evict == Evict::Remove) {
            match line.place {
                Place::Folder(RAW) => self.remove_raw(key)?,
                Place::Document(kind) => drop(self.remove_document(kind, key)?),
                // Rows go with `Writer::evict_session`.
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a session that was evicted still has raw files: the eviction was stopped.
    pub fn is_half_evicted(&self, key: &SessionKey) -> bool {
        raw_folder(self.root(), key).is_dir()
    }

    /// Every session that has remains, sorted.
    pub fn remains_keys(&self) -> Result<Vec<SessionKey>, Error> {
        self.document_keys(&REMAINS)
    }

    /// Removes the remains of a session that was captured again.
    pub fn remove_remains(&self, key: &SessionKey) -> Result<bool, Error> {
        self.remove_document(&REMAINS, key)
    }
}

impl Writer<'_> {
    /// Drops the rows of a session that go when it is evicted. Its own row stays.
    pub fn evict_session(&self, key: &SessionKey) -> Result<(), Error> {
        self.clear_passages(key)?;
        for (line, table, rows) in crate::kept::tables() {
            if line.evict == Evict::Remove {
                self.clear_rows(table, rows, key)?;
            }
        }
        Ok(())
    }
}
