//! The catalog of a folder that is one source: how its files looked when they were last read, and
//! which of their contents are in the raw file.

use retro_agents::{Encoding, files_of};
use retro_store::pieces::{Told, each_piece};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use crate::discover::Cut;
use crate::door::Door;

/// The known files of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Catalog {
    /// Seals of files that were read, see `FolderFile::seal`.
    pub seen: BTreeSet<u64>,
    /// Contents that are in the raw file, each with its name: see [`Content`].
    pub kept: BTreeSet<u128>,
}

/// Version of the encoding of a catalog.
const VERSION: u8 = 1;

/// Bytes of the hash at the end of an encoded catalog.
const CHECK_BYTES: usize = 16;

impl Catalog {
    /// Builds the catalog of a raw file from its bytes.
    pub(crate) fn of_raw(raw: impl io::Read) -> io::Result<Catalog> {
        let mut catalog = Catalog::default();
        let mut open: Option<Content> = None;
        each_piece(raw, &mut |told| match told {
            Told::Begins(name, _) => open = Some(Content::of(name)),
            Told::Bytes(bytes) => open.iter_mut().for_each(|content| content.push(bytes)),
            Told::Ends(_) => catalog.kept.extend(open.take().map(Content::name)),
        })?;
        Ok(catalog)
    }

    /// Whether a folder has a file that the raw file lacks, even if its stamp is unchanged. Skips
    /// unreadable files.
    pub(crate) fn lacks_file_of(&self, door: &Door, folder: &Path) -> bool {
        let mut lacks = false;
        files_of(folder, &mut |file| {
            let Ok(file) = file else { return };
            let mut content = Content::of(file.name);
            let live = door.open_path(file.path, Encoding::Plain, &Cut::default());
            let read = live.and_then(|live| content.push_all(live));
            lacks = lacks || (read.is_ok() && !self.kept.contains(&content.name()));
        });
        lacks
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        bytes.extend((self.seen.len() as u64).to_le_bytes());
        self.seen.iter().for_each(|seal| bytes.extend(seal.to_le_bytes()));
        self.kept.iter().for_each(|content| bytes.extend(content.to_le_bytes()));
        let check = check(&bytes);
        bytes.extend(check);
        bytes
    }

    /// Decodes a catalog. `None` if the version is unknown or the hash does not match.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Catalog> {
        let (body, told) = bytes.split_at_checked(bytes.len().checked_sub(CHECK_BYTES)?)?;
        let (&version, rest) = body.split_first()?;
        if version != VERSION || told != check(body) {
            return None;
        }
        let (count, rest) = rest.split_first_chunk::<8>()?;
        let seen_bytes = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(8)?;
        let (seen, kept) = rest.split_at_checked(seen_bytes)?;
        let (seen, kept) = (seen.as_chunks::<8>().0, kept.as_chunks::<16>().0);
        Some(Catalog {
            seen: seen.iter().map(|seal| u64::from_le_bytes(*seal)).collect(),
            kept: kept.iter().map(|content| u128::from_le_bytes(*content)).collect(),
        })
    }

    /// Whether two encoded catalogs list the same contents. The seals of live files are not
    /// compared.
    pub(crate) fn is_same_kept(one: &[u8], other: &[u8]) -> bool {
        let kept = |bytes| Catalog::decode(bytes).map(|catalog| catalog.kept);
        kept(one).is_some() && kept(one) == kept(other)
    }
}

fn check(body: &[u8]) -> [u8; CHECK_BYTES] {
    let mut check = [0; CHECK_BYTES];
    blake3::Hasher::new().update(body).finalize_xof().fill(&mut check);
    check
}

/// A hash of a file's name and contents.
pub(crate) struct Content(blake3::Hasher);

impl Content {
    pub(crate) fn of(name: &[u8]) -> Content {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name);
        Content(hasher)
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Adds all bytes of a reader.
    pub(crate) fn push_all(&mut self, bytes: impl io::Read) -> io::Result<()> {
        self.0.update_reader(bytes).map(drop)
    }

    pub(crate) fn name(self) -> u128 {
        let mut name = [0; 16];
        self.0.finalize_xof().fill(&mut name);
        u128::from_le_bytes(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_comes_back_and_a_flipped_one_does_not() {
        let name = |name: &[u8], bytes: &[u8]| {
            let mut content = Content::of(name);
            content.push(bytes);
            content.name()
        };
        assert_ne!(name(b"a", b"bc"), name(b"ab", b"c"));
        for (seen, kept) in [(vec![], vec![]), (vec![1, 2], vec![]), (vec![7], vec![name(b"a", b""), 9])] {
            let catalog = Catalog { seen: seen.into_iter().collect(), kept: kept.into_iter().collect() };
            let bytes = catalog.encode();
            assert_eq!(Catalog::decode(&bytes).as_ref(), Some(&catalog));
            for at in 0..bytes.len() {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1;
                assert_eq!(Catalog::decode(&flipped), None);
                assert_eq!(Catalog::decode(&bytes[..at]), None);
            }
            let other = Catalog { seen: [99].into(), ..catalog.clone() };
            assert!(Catalog::is_same_kept(&bytes, &other.encode()));
            let other = Catalog { kept: [99].into(), ..catalog };
            assert!(!Catalog::is_same_kept(&bytes, &other.encode()));
        }
        assert!(!Catalog::is_same_kept(b"", b""));
    }
}
