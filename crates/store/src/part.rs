//! A file that is written piece by piece beside its place and moved into it at the
//! end, so that it may be larger than memory. Dropped before that, it is removed.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use crate::Error;
use crate::files::{Files, Worth};
use crate::layout::part_of;

/// Bytes that are gathered before they go to the disk.
const PIECE_BYTES: usize = 1024 * 1024;

/// The new file.
pub(crate) struct PartFile {
    files: Arc<Files>,
    path: PathBuf,
    gathered: Vec<u8>,
    /// Bytes on the disk; none if the file was not begun.
    written: Option<u64>,
}

impl PartFile {
    pub(crate) fn new(files: Arc<Files>, path: PathBuf) -> Result<PartFile, Error> {
        files.ensure_dir(path.parent().unwrap_or(&files.root))?;
        files.own(&part_of(&path))?;
        Ok(PartFile { files, path, gathered: Vec::new(), written: None })
    }

    /// Moves the file into its place.
    pub(crate) fn settle(mut self, worth: Worth) -> Result<(), Error> {
        self.write_out().map_err(Error::io("write", &part_of(&self.path)))?;
        self.files.settle_part(&self.path, worth)?;
        self.written = None;
        Ok(())
    }

    fn write_out(&mut self) -> io::Result<()> {
        let part = part_of(&self.path);
        let offset = self.written.unwrap_or(0);
        // What cannot be written has to be removed too.
        let first = self.written.is_none();
        self.written = Some(offset);
        match first {
            true => self.files.disk.write(&part, &self.gathered)?,
            false => self.files.disk.write_at(&part, offset, &self.gathered)?,
        }
        self.written = Some(offset + self.gathered.len() as u64);
        self.gathered.clear();
        Ok(())
    }
}

impl Write for PartFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gathered.extend_from_slice(bytes);
        if self.gathered.len() >= PIECE_BYTES {
            self.write_out()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PartFile {
    fn drop(&mut self) {
        if self.written.is_some() {
            // A full disk needs the space back; if this fails too, the next write clears it.
            let _ = self.files.disk.remove(&part_of(&self.path));
        }
    }
}
