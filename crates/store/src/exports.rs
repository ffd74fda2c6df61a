//! Files about all sessions for other programs: `signals/`. They can be made again at any time.

use std::path::PathBuf;

use crate::files::{Worth, read_regular};
use crate::{Error, Store};

/// The folder of exported signals.
const SIGNALS: &str = "signals";

impl Store {
    /// Path of a file of `signals/`.
    pub fn signals_path(&self, name: &str) -> PathBuf {
        self.root().join(SIGNALS).join(name)
    }

    /// Writes a file of `signals/`.
    pub fn put_signals(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.files.put(&self.signals_path(name), bytes, Worth::Cache)
    }

    /// Reads a file of `signals/`.
    pub fn signals(&self, name: &str) -> Result<Option<Vec<u8>>, Error> {
        let path = self.signals_path(name);
        self.files.own(&path)?;
        read_regular(&path)
    }
}
