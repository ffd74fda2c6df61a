//! Writing a raw file again: a quiet one in fewer, larger, better packed frames, or one that
//! holds a forgotten text with masks over it.
//!
//! The old file is kept until the new one is proven to hold the same bytes: the old one is checked
//! by its chain while it is read, the new one is read back from disk, compared by a hash of the
//! whole content and synced. Only then does it replace the old one.

use std::io::{self, Read};
use std::sync::Arc;

use super::commit::Commit;
use super::frame::{FRAME_BYTES_MAX, Packer};
use super::{Archive, part_of};
use crate::{Error, MaskedReader, Masks};

/// Opens the bytes that a new file gets.
type Source<'a> = dyn Fn() -> Result<Box<dyn Read>, Error> + 'a;

impl Archive {
    /// Whether a repack wrote the whole file.
    pub fn is_packed(&self) -> Result<bool, Error> {
        Ok(self.tail()?.is_some_and(|commit| commit.packed))
    }

    /// Repacks the file. Returns false if it is already packed, if it is empty, or if it has an
    /// unfinished end, which the next append cuts.
    pub fn repack(&self) -> Result<bool, Error> {
        let Some((mut file, length)) = self.open()? else { return Ok(false) };
        let Some(tip) = self.standing(&mut file, length)?.commit else { return Ok(false) };
        if tip.packed || tip.file_end() != length {
            return Ok(false);
        }
        self.replace_by(&tip, &|| Ok(Box::new(self.read()?)))?;
        Ok(true)
    }

    /// Puts masks over forgotten texts, wherever they are in the file. Says over how many; the
    /// file is as it was if there are none. What follows the last commit goes.
    pub fn mask(&self, masks: &Arc<Masks>) -> Result<u64, Error> {
        let Some((mut file, length)) = self.open()? else { return Ok(0) };
        let Some(tip) = self.standing(&mut file, length)?.commit else { return Ok(0) };
        let mut masked = MaskedReader::new(self.read()?, Arc::clone(masks));
        io::copy(&mut masked, &mut io::sink()).map_err(Error::raw(&self.path))?;
        if masked.hits() > 0 {
            self.replace_by(&tip, &|| Ok(Box::new(MaskedReader::new(self.read()?, Arc::clone(masks)))))?;
        }
        Ok(masked.hits())
    }

    /// Puts other bytes in the place of those from `start` on; they are as many.
    pub fn replace_end(&self, start: u64, bytes: &[u8]) -> Result<(), Error> {
        let Some((mut file, length)) = self.open()? else { return Ok(()) };
        let Some(tip) = self.standing(&mut file, length)?.commit else { return Ok(()) };
        let source = || -> Result<Box<dyn Read>, Error> {
            Ok(Box::new(self.read()?.take(start).chain(io::Cursor::new(bytes.to_vec()))))
        };
        self.replace_by(&tip, &source)
    }

    /// Packs what `source` reads into the place of this file.
    fn replace_by(&self, tip: &Commit, source: &Source<'_>) -> Result<(), Error> {
        let part = self.beside();
        let result = self.write_packed(&part, tip, source).and_then(|packed| self.settle_part(packed));
        result.inspect_err(|_| {
            // A full disk needs the space back; if this fails too, the next write clears it.
            let _ = self.files.disk.remove(&part.path);
        })
    }

    /// The new file while it is written.
    fn beside(&self) -> Archive {
        Archive { path: part_of(&self.path), ..self.clone() }
    }

    fn write_packed(&self, part: &Archive, tip: &Commit, source: &Source<'_>) -> Result<Commit, Error> {
        let mut packer = Packer::packing().map_err(Error::io("compress for", &self.path))?;
        let (hash, length) = digest(self, source()?, |piece, is_last| {
            if piece.is_empty() && !is_last {
                return Ok(());
            }
            let counted = packer.last().map_or(0, |commit| commit.records);
            let lines = memchr::memchr_iter(b'\n', piece).count() as u64;
            let records = if is_last { tip.records } else { (counted + lines).min(tip.records) };
            let offset = packer.offset();
            let bytes = packer.pack(piece, records).map_err(Error::io("compress for", &part.path))?;
            if offset == 0 {
                self.start_part()?;
            }
            let disk = &self.files.disk;
            disk.write_at(&part.path, offset, &bytes).map_err(Error::io("write", &part.path))
        })?;
        let (again, again_length) = digest(part, Box::new(part.read()?), |_, _| Ok(()))?;
        let packed = packer.last().filter(|packed| packed.records == tip.records);
        match packed {
            Some(packed) if (again, again_length) == (hash, length) && packed.end == tip.end => Ok(packed),
            _ => Err(Error::Damaged {
                path: part.path.clone(),
                what: "the packed bytes are not those of the old file".to_owned(),
                help: "the old file stays as it is; check the disk",
            }),
        }
    }
}

/// Hash and length of all committed bytes. Passes on each piece, and whether it is the last.
fn digest(
    archive: &Archive,
    mut source: Box<dyn Read>,
    mut show: impl FnMut(&[u8], bool) -> Result<(), Error>,
) -> Result<(blake3::Hash, u64), Error> {
    let mut hasher = blake3::Hasher::new();
    let mut length = 0;
    let mut piece = Vec::new();
    loop {
        let mut next = Vec::new();
        let take = source.by_ref().take(FRAME_BYTES_MAX as u64).read_to_end(&mut next);
        take.map_err(Error::raw(&archive.path))?;
        show(&piece, next.is_empty())?;
        if next.is_empty() {
            return Ok((hasher.finalize(), length));
        }
        hasher.update(&next);
        length += next.len() as u64;
        piece = next;
    }
}
