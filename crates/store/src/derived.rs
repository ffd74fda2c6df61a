//! Files that can be made again: written beside their place, never waited for,
//! and believed only if they are whole and carry the stamp that was asked for.

use retro_model::{Event, SessionKey};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

use crate::files::Worth;
use crate::layout::{self, INDEX, NORMALIZED, RENDERED, SIGNALS};
use crate::{Error, Store};

const KIND: &str = "normalized";

/// What the compressor takes at once.
const BLOCK_BYTES: usize = 128 * 1024;

/// The first line of a normalized file.
#[derive(Serialize, Deserialize)]
struct Header {
    retro: String,
    stamp: String,
}

impl Store {
    /// Caches the settled events of a session. The stamp says what they were
    /// made of.
    pub fn put_normalized(&self, key: &SessionKey, stamp: &str, events: &[Event]) -> Result<(), Error> {
        let path = layout::normalized_file(self.root(), key);
        let bytes = encode(stamp, events).map_err(Error::io("write", &path))?;
        self.files.put(&path, &bytes, Worth::Cache)
    }

    /// The cached events of a session, if they are there, whole, and have this
    /// stamp.
    pub fn normalized(&self, key: &SessionKey, stamp: &str) -> Result<Option<Vec<Event>>, Error> {
        let path = layout::normalized_file(self.root(), key);
        Ok(File::open(path).ok().and_then(|file| decode(file, stamp)))
    }

    /// Where the settled events of a session are cached.
    pub fn normalized_path(&self, key: &SessionKey) -> PathBuf {
        layout::normalized_file(self.root(), key)
    }

    /// Where the markdown of a session is kept.
    pub fn rendered_path(&self, key: &SessionKey) -> PathBuf {
        layout::rendered_file(self.root(), key)
    }

    /// Caches the readable form of a session; says where.
    pub fn put_rendered(&self, key: &SessionKey, markdown: &str) -> Result<PathBuf, Error> {
        let path = layout::rendered_file(self.root(), key);
        self.files.put(&path, markdown.as_bytes(), Worth::Cache)?;
        Ok(path)
    }

    /// Removes what was made from one session.
    pub fn remove_derived_of(&self, key: &SessionKey) -> Result<(), Error> {
        self.files.remove(&layout::normalized_file(self.root(), key), Worth::Cache)?;
        self.files.remove(&layout::rendered_file(self.root(), key), Worth::Cache)?;
        Ok(())
    }

    /// Removes everything that can be made again. No [`crate::Index`] may be open.
    pub fn remove_derived(&self) -> Result<(), Error> {
        for folder in [NORMALIZED, RENDERED, SIGNALS, INDEX] {
            self.files.remove_tree(&self.root().join(folder), Worth::Cache)?;
        }
        Ok(())
    }
}

fn encode(stamp: &str, events: &[Event]) -> std::io::Result<Vec<u8>> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3)?;
    // A power cut may leave any bytes under this name: the checksum tells.
    encoder.include_checksum(true)?;
    let header = Header { retro: KIND.to_owned(), stamp: stamp.to_owned() };
    // JSON is written in crumbs, a quote here and a comma there, and each would
    // be a call of the compressor: a fifth of the instructions of a first sync.
    let mut lines = BufWriter::with_capacity(BLOCK_BYTES, encoder);
    serde_json::to_writer(&mut lines, &header)?;
    lines.write_all(b"\n")?;
    for event in events {
        serde_json::to_writer(&mut lines, event)?;
        lines.write_all(b"\n")?;
    }
    lines.into_inner().map_err(std::io::IntoInnerError::into_error)?.finish()
}

fn decode(file: File, stamp: &str) -> Option<Vec<Event>> {
    let mut lines = BufReader::new(zstd::Decoder::new(file).ok()?);
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).ok()?;
    let header: Header = serde_json::from_slice(&line).ok()?;
    if header.retro != KIND || header.stamp != stamp {
        return None;
    }
    let mut events = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).ok()? == 0 {
            return Some(events);
        }
        events.push(serde_json::from_slice(&line).ok()?);
    }
}
