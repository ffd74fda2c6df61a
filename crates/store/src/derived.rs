//! Files that can be made again. They are written beside their place, never synced, and trusted
//! only if they are complete and have the requested stamp.

use retro_model::{Event, SessionKey};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

use crate::documents::{KINDS, NORMALIZED, RENDERED};
use crate::files::{Worth, open_regular};
use crate::layout::INDEX;
use crate::part::PartFile;
use crate::{Error, Store};

const KIND: &str = "normalized";

/// Level of zstd: a cache is written often and rarely read.
const LEVEL: i32 = 1;

/// Size of the blocks that the compressor receives.
const BLOCK_BYTES: usize = 128 * 1024;

/// The first line of a normalized file.
#[derive(Serialize, Deserialize)]
struct Header {
    retro: String,
    stamp: String,
}

/// Writes the settled events of one session.
pub struct NormalizedWriter {
    /// JSON is written in crumbs, a quote here and a comma there. Without a buffer each crumb would
    /// be a call of the compressor: those calls were a fifth of a first sync.
    lines: BufWriter<zstd::Encoder<'static, PartFile>>,
    path: PathBuf,
}

impl NormalizedWriter {
    /// Adds the next event.
    pub fn push(&mut self, event: &Event) -> Result<(), Error> {
        let mut write = || -> io::Result<()> {
            serde_json::to_writer(&mut self.lines, event)?;
            self.lines.write_all(b"\n")
        };
        write().map_err(Error::io("write", &self.path))
    }

    /// Moves the file to its place.
    pub fn finish(self) -> Result<(), Error> {
        let encoder = self.lines.into_inner().map_err(io::IntoInnerError::into_error);
        let part = encoder.and_then(zstd::Encoder::finish).map_err(Error::io("write", &self.path))?;
        part.settle(Worth::Cache)
    }
}

impl Store {
    /// Caches the settled events of a session. The stamp names their inputs.
    pub fn put_normalized(&self, key: &SessionKey, stamp: &str, events: &[Event]) -> Result<(), Error> {
        let mut writer = self.normalized_writer(key, stamp)?;
        events.iter().try_for_each(|event| writer.push(event))?;
        writer.finish()
    }

    /// Like [`Store::put_normalized`], for events that come one by one.
    pub fn normalized_writer(&self, key: &SessionKey, stamp: &str) -> Result<NormalizedWriter, Error> {
        let path = NORMALIZED.path(self.root(), key);
        let part = PartFile::new(self.files.clone(), path.clone())?;
        let header = Header { retro: KIND.to_owned(), stamp: stamp.to_owned() };
        let begin = || -> io::Result<_> {
            let mut encoder = zstd::Encoder::new(part, LEVEL)?;
            // A power cut may leave any bytes under this name, and the checksum detects that.
            encoder.include_checksum(true)?;
            let mut lines = BufWriter::with_capacity(BLOCK_BYTES, encoder);
            serde_json::to_writer(&mut lines, &header)?;
            lines.write_all(b"\n")?;
            Ok(lines)
        };
        Ok(NormalizedWriter { lines: begin().map_err(Error::io("write", &path))?, path })
    }

    /// The cached events of a session, if they exist, are complete, and have this stamp.
    pub fn normalized(&self, key: &SessionKey, stamp: &str) -> Result<Option<Vec<Event>>, Error> {
        let path = NORMALIZED.path(self.root(), key);
        self.files.own(&path)?;
        Ok(open_regular(&path).ok().flatten().and_then(|file| decode(file, stamp)))
    }

    /// Like [`Store::normalized`], one by one. The file is read completely first, so that a damaged
    /// one returns no event.
    pub fn normalized_events(
        &self,
        key: &SessionKey,
        stamp: &str,
    ) -> Result<Option<NormalizedEvents>, Error> {
        let path = NORMALIZED.path(self.root(), key);
        self.files.own(&path)?;
        let open = || open_regular(&path).ok().flatten().and_then(|file| lines_of(file, stamp));
        let Some(mut whole) = open() else { return Ok(None) };
        if io::copy(&mut whole, &mut io::sink()).is_err() {
            return Ok(None);
        }
        Ok(open().map(|lines| NormalizedEvents { lines, line: Vec::new(), path }))
    }

    /// Path of the cached events of a session.
    pub fn normalized_path(&self, key: &SessionKey) -> PathBuf {
        NORMALIZED.path(self.root(), key)
    }

    /// Removes the cached events of a session that has grown since.
    pub fn remove_normalized(&self, key: &SessionKey) -> Result<bool, Error> {
        self.remove_document(&NORMALIZED, key)
    }

    /// Path of the cached Markdown of a session.
    pub fn rendered_path(&self, key: &SessionKey) -> PathBuf {
        RENDERED.path(self.root(), key)
    }

    /// Caches the readable form of a session. Returns its path.
    pub fn put_rendered(&self, key: &SessionKey, markdown: &str) -> Result<PathBuf, Error> {
        let path = RENDERED.path(self.root(), key);
        self.files.put(&path, markdown.as_bytes(), Worth::Cache)?;
        Ok(path)
    }

    /// Removes everything that can be made again. No [`crate::Index`] may be open.
    pub fn remove_derived(&self) -> Result<(), Error> {
        let caches = KINDS.iter().filter(|kind| !kind.is_truth());
        let folders = caches.map(|kind| kind.folder()).chain([INDEX]);
        folders
            .into_iter()
            .try_for_each(|folder| self.files.remove_tree(&self.root().join(folder), Worth::Cache))
    }
}

fn decode(file: File, stamp: &str) -> Option<Vec<Event>> {
    let mut lines = lines_of(file, stamp)?;
    let mut line = Vec::new();
    let mut events = Vec::new();
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line).ok()? == 0 {
            return Some(events);
        }
        events.push(serde_json::from_slice(&line).ok()?);
    }
}

type Lines = BufReader<zstd::Decoder<'static, BufReader<File>>>;

/// The lines after the header, if the header has this stamp.
fn lines_of(file: File, stamp: &str) -> Option<Lines> {
    let mut lines = BufReader::new(zstd::Decoder::new(file).ok()?);
    let mut line = Vec::new();
    lines.read_until(b'\n', &mut line).ok()?;
    let header: Header = serde_json::from_slice(&line).ok()?;
    (header.retro == KIND && header.stamp == stamp).then_some(lines)
}

/// The cached events of a session, in order.
pub struct NormalizedEvents {
    lines: Lines,
    line: Vec<u8>,
    path: PathBuf,
}

impl Iterator for NormalizedEvents {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.line.clear();
        match self.lines.read_until(b'\n', &mut self.line) {
            Ok(0) => None,
            Ok(_) => Some(serde_json::from_slice(&self.line).map_err(io::Error::from)),
            Err(error) => Some(Err(error)),
        }
        .map(|event| event.map_err(Error::io("read", &self.path)))
    }
}
