//! The ledger of a session: one line a model answer. Truth, kept even when the raw
//! bytes go, and rewritten as a whole when the session has gone quiet.

use retro_model::{LedgerRow, SessionKey};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::documents::LEDGER;
use crate::error::RESTORE_LEDGER;
use crate::sections::Packing;
use crate::{Error, Store, lines};

/// The name of its section.
const NAME: &str = "ledger.jsonl";

/// Writes the ledger of one session, which is packed while it is written.
pub struct LedgerWriter {
    store: Store,
    key: SessionKey,
    packing: Packing,
    empty: bool,
}

impl LedgerWriter {
    /// Adds the next row.
    pub fn push(&mut self, row: &LedgerRow) -> Result<(), Error> {
        self.empty = false;
        let written = serde_json::to_writer(&mut self.packing, row).map_err(io::Error::from);
        let written = written.and_then(|()| self.packing.write_all(b"\n"));
        written.map_err(Error::io("write", &self.store.ledger_path(&self.key)))
    }

    /// Whether no row was added yet.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Puts the ledger in the place of the one that the session had. It comes to the disk with
    /// the next [`Store::sync_all`].
    pub fn finish(self) -> Result<(), Error> {
        let path = self.store.ledger_path(&self.key);
        let section = self.packing.finish().map_err(Error::io("write", &path))?;
        self.store.put_section(NAME, &self.key, section);
        Ok(())
    }
}

impl Store {
    /// Keeps the ledger of a session; false if it was so already. It comes to the
    /// disk with the next [`Store::sync_all`]. A session without responses has none.
    pub fn put_ledger(&self, key: &SessionKey, rows: &[LedgerRow]) -> Result<bool, Error> {
        let path = self.ledger_path(key);
        if rows.is_empty() && matches!(self.document(&LEDGER, key), Ok(None)) {
            return Ok(false);
        }
        let bytes = lines::encode(rows).map_err(|error| Error::io("write", &path)(error.into()))?;
        self.put_document(&LEDGER, key, bytes)
    }

    /// The same for rows that come one by one, of a session larger than memory.
    pub fn ledger_writer(&self, key: &SessionKey) -> Result<LedgerWriter, Error> {
        let packing = Packing::new(NAME).map_err(Error::io("write", &self.ledger_path(key)))?;
        Ok(LedgerWriter { store: self.clone(), key: key.clone(), packing, empty: true })
    }

    /// The ledger of a session, if it was kept.
    pub fn ledger(&self, key: &SessionKey) -> Result<Option<Vec<LedgerRow>>, Error> {
        let Some(bytes) = self.document(&LEDGER, key)? else { return Ok(None) };
        let path = self.ledger_path(key);
        lines::decode(&bytes).map(Some).map_err(|what| Error::Damaged { path, what, help: RESTORE_LEDGER })
    }

    /// Where the ledger of a session is: in its document.
    pub fn ledger_path(&self, key: &SessionKey) -> PathBuf {
        LEDGER.path(self.root(), key)
    }
}
