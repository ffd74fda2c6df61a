//! Makes a quiet raw file small, with fewer, larger and better compressed frames.
//!
//! The old file is kept until the new one is proven to hold the same bytes: the old one is checked
//! by its chain while it is read, the new one is read back from disk, compared by a hash of the
//! whole content and synced. Only then does it replace the old one.

use std::io::Read;

use super::commit::Commit;
use super::frame::{FRAME_BYTES_MAX, Packer};
use super::{Archive, part_of};
use crate::Error;

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
        let part = self.beside();
        let result = self.write_packed(&part, &tip).and_then(|packed| self.settle_part(packed));
        result.map(|()| true).inspect_err(|_| {
            // A full disk needs the space back; if this fails too, the next write clears it.
            let _ = self.files.disk.remove(&part.path);
        })
    }

    /// The new file while it is written.
    fn beside(&self) -> Archive {
        Archive { path: part_of(&self.path), ..self.clone() }
    }

    fn write_packed(&self, part: &Archive, tip: &Commit) -> Result<Commit, Error> {
        let mut packer = Packer::packing().map_err(Error::io("compress for", &self.path))?;
        let (hash, length) = digest(self, |piece, is_last| {
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
        let (again, again_length) = digest(part, |_, _| Ok(()))?;
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
    mut show: impl FnMut(&[u8], bool) -> Result<(), Error>,
) -> Result<(blake3::Hash, u64), Error> {
    let mut source = archive.read()?;
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
