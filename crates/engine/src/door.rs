//! The one door through which live logs are read to be kept, compared or shown.
//!
//! Behind it are masks over the texts that the user had forgotten, so that what is kept and
//! what a log says stay the same bytes. Whose a file is, discovery asks without it: nothing of
//! that is kept but names.

use retro_agents::{Encoding, Found, Held, open_regular};
use retro_model::Stat;
use retro_store::{Masks, Store};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use crate::Error;
use crate::discover::{self, Cut};

/// Opens live logs.
#[derive(Debug, Clone, Default)]
pub struct Door {
    masks: Arc<Masks>,
}

/// How many times the longest text is read around a part of a file, so that masks which begin
/// before it or end after it are seen whole.
const MARGIN: u64 = 4;

impl Door {
    /// The door of a store.
    pub fn of(store: &Store) -> Result<Door, Error> {
        Ok(Door { masks: store.masks()? })
    }

    /// The door of the store at `root`, whether there is one or not.
    pub fn at(root: &Path) -> Door {
        Door { masks: Arc::new(Masks::at(root)) }
    }

    /// Whether logs are read as they are.
    pub(crate) fn is_open(&self) -> bool {
        self.masks.is_empty()
    }

    /// Bytes of the longest text that is masked.
    pub(crate) fn longest(&self) -> usize {
        self.masks.longest()
    }

    /// A source from its start, decompressed where it is compressed. If its compressed data ends
    /// early, `cut` says why once that is met.
    pub(crate) fn open(&self, found: &Found, cut: &Cut) -> io::Result<Box<dyn Read>> {
        match &found.held {
            Held::File { encoding, .. } => self.open_path(&found.path, *encoding, cut),
            Held::Rows { .. } => Ok(Box::new(io::Cursor::new(self.rows(found)?))),
            Held::Files { .. } => Err(io::Error::other("it is a folder")),
        }
    }

    /// The same, by the path of a file.
    pub(crate) fn open_path(&self, path: &Path, encoding: Encoding, cut: &Cut) -> io::Result<Box<dyn Read>> {
        Ok(self.masks.reader(discover::open_file(path, encoding, cut)?))
    }

    /// The rows of a source that is in a database.
    pub(crate) fn rows(&self, found: &Found) -> io::Result<Vec<u8>> {
        let mut rows = discover::rows(found)?;
        self.masks.apply(&mut rows);
        Ok(rows)
    }

    /// A plain file, of which any part can be read.
    pub(crate) fn file(&self, path: &Path) -> io::Result<LiveFile> {
        Ok(LiveFile { file: open_regular(path)?, masks: Arc::clone(&self.masks) })
    }
}

/// A plain live file.
pub(crate) struct LiveFile {
    file: File,
    masks: Arc<Masks>,
}

impl LiveFile {
    /// Its size now.
    pub(crate) fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// How it looks now.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        Ok(Stat::of(&self.file.metadata()?))
    }

    /// Adds a part of it to `out`: as many bytes from an offset on, or what there is.
    pub(crate) fn read_at(&mut self, offset: u64, length: u64, out: &mut Vec<u8>) -> io::Result<()> {
        if self.masks.is_empty() {
            self.file.seek(SeekFrom::Start(offset))?;
            return (&mut self.file).take(length).read_to_end(out).map(drop);
        }
        let margin = self.masks.longest() as u64 * MARGIN;
        let from = offset.saturating_sub(margin);
        let before = offset - from;
        self.file.seek(SeekFrom::Start(from))?;
        let mut around = Vec::new();
        (&mut self.file)
            .take(before.saturating_add(length).saturating_add(margin))
            .read_to_end(&mut around)?;
        self.masks.apply(&mut around);
        let rest = usize::try_from(before).ok().and_then(|before| around.get(before..)).unwrap_or_default();
        let count = rest.len().min(usize::try_from(length).unwrap_or(usize::MAX));
        out.extend_from_slice(rest.get(..count).unwrap_or_default());
        Ok(())
    }

    /// At most so many of the bytes before `end`.
    pub(crate) fn before(&mut self, end: u64, most: u64) -> io::Result<Vec<u8>> {
        let start = end.saturating_sub(most);
        let mut bytes = Vec::with_capacity((end - start) as usize + 1);
        self.read_at(start, end - start, &mut bytes)?;
        Ok(bytes)
    }

    /// A part of it as it is, without masks.
    pub(crate) fn plain_at(&mut self, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(offset))?;
        (&mut self.file).take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
