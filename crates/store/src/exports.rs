//! Files about all sessions for other programs: `signals/`. They can be made again at any time.

use std::fs::File;
use std::io::{BufReader, Write};
use std::path::PathBuf;
use std::sync::Arc;

use crate::files::{Worth, open_regular};
use crate::part::PartFile;
use crate::{Error, Store};

/// The folder of exported signals.
const SIGNALS: &str = "signals";

/// A file that is written piece by piece, since it may be larger than memory. It takes its place
/// at the end; dropped before that, it leaves nothing.
pub struct Export {
    part: PartFile,
    path: PathBuf,
}

impl Export {
    /// Adds bytes at the end.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.part.write_all(bytes).map_err(Error::io("write", &self.path))
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), Error> {
        self.part.settle(Worth::Cache)
    }
}

impl Store {
    /// Path of a file of `signals/`.
    pub fn signals_path(&self, name: &str) -> PathBuf {
        self.root().join(SIGNALS).join(name)
    }

    /// Writes a file of `signals/`.
    pub fn put_signals(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        self.files.put(&self.signals_path(name), bytes, Worth::Cache)
    }

    /// The same for a file that may be larger than memory.
    pub fn signals_export(&self, name: &str) -> Result<Export, Error> {
        let path = self.signals_path(name);
        Ok(Export { part: PartFile::new(Arc::clone(&self.files), path.clone())?, path })
    }

    /// Opens a file of `signals/`.
    pub fn signals(&self, name: &str) -> Result<Option<BufReader<File>>, Error> {
        let path = self.signals_path(name);
        self.files.own(&path)?;
        Ok(open_regular(&path)?.map(BufReader::new))
    }
}
