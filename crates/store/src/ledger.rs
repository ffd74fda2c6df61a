//! The ledger of a session: one line a model answer. Truth, kept even when the raw
//! bytes go, and rewritten as a whole when the session has gone quiet.

use retro_model::{LedgerRow, SessionKey};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::documents::LEDGER;
use crate::error::RESTORE_LEDGER;
use crate::files::Worth;
use crate::lines::{decode, seal};
use crate::part::PartFile;
use crate::{Error, Store};

/// Writes the ledger of one session.
pub struct LedgerWriter {
    part: PartFile,
    empty: bool,
}

impl LedgerWriter {
    /// Adds the next row.
    pub fn push(&mut self, row: &LedgerRow) -> Result<(), Error> {
        self.empty = false;
        let line = seal(row).map_err(io::Error::from);
        let written = line.and_then(|line| writeln!(self.part, "{line}"));
        written.map_err(Error::io("write", self.part.path()))
    }

    /// Whether no row was added yet.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), Error> {
        self.part.settle(Worth::Truth)
    }
}

impl Store {
    /// Keeps the ledger of a session; false if it was so already. It comes to the
    /// disk with the next [`Store::sync_all`]. A session without responses has none.
    pub fn put_ledger(&self, key: &SessionKey, rows: &[LedgerRow]) -> Result<bool, Error> {
        let path = self.ledger_path(key);
        if rows.is_empty() && self.document(&LEDGER, key)?.is_none() {
            return Ok(false);
        }
        let mut text = String::new();
        for row in rows {
            text.push_str(&seal(row).map_err(|error| Error::io("write", &path)(error.into()))?);
            text.push('\n');
        }
        self.put_document(&LEDGER, key, text.into_bytes())
    }

    /// The same for rows that come one by one, of a session larger than memory.
    pub fn ledger_writer(&self, key: &SessionKey) -> Result<LedgerWriter, Error> {
        Ok(LedgerWriter { part: PartFile::new(self.files.clone(), self.ledger_path(key))?, empty: true })
    }

    /// The ledger of a session, if it was kept.
    pub fn ledger(&self, key: &SessionKey) -> Result<Option<Vec<LedgerRow>>, Error> {
        let Some(bytes) = self.document(&LEDGER, key)? else { return Ok(None) };
        let path = self.ledger_path(key);
        decode(&bytes).map(Some).map_err(|what| Error::Damaged { path, what, help: RESTORE_LEDGER })
    }

    /// Where the ledger of a session is.
    pub fn ledger_path(&self, key: &SessionKey) -> PathBuf {
        LEDGER.path(self.root(), key)
    }
}
