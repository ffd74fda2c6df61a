//! How much room each part of a store takes.

use std::path::Path;

use crate::documents::{NORMALIZED, RENDERED, SESSIONS};
use crate::files::entries;
use crate::layout::{INDEX, RAW};
use crate::{Error, Store};

/// Bytes of each part of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Sizes {
    pub raw: u64,
    pub sessions: u64,
    pub normalized: u64,
    pub rendered: u64,
    pub index: u64,
    pub other: u64,
}

impl Sizes {
    /// All of it.
    pub fn total(&self) -> u64 {
        self.raw + self.sessions + self.normalized + self.rendered + self.index + self.other
    }
}

impl Store {
    /// Room of everything but the files of sessions: the index, files that serve many
    /// sessions, and what is in the root itself.
    pub fn overhead_bytes(&self) -> Result<u64, Error> {
        let mut bytes = size_of(&self.root().join(INDEX))?;
        for (agent, _) in self.agents(RAW)? {
            bytes += size_of(&crate::layout::shared_folder(self.root(), &agent))?;
        }
        Ok(bytes
            + entries(self.root())?.iter().filter(|entry| entry.is_file).map(|entry| entry.size).sum::<u64>())
    }

    /// How much room everything takes.
    pub fn sizes(&self) -> Result<Sizes, Error> {
        let mut sizes = Sizes::default();
        for entry in entries(self.root())? {
            let part = match entry.name.as_deref() {
                Some(RAW) => &mut sizes.raw,
                Some(name) if name == SESSIONS.folder => &mut sizes.sessions,
                Some(name) if name == NORMALIZED.folder => &mut sizes.normalized,
                Some(name) if name == RENDERED.folder => &mut sizes.rendered,
                Some(INDEX) => &mut sizes.index,
                _ => &mut sizes.other,
            };
            *part += if entry.is_dir { size_of(&entry.path)? } else { entry.size };
        }
        Ok(sizes)
    }
}

fn size_of(folder: &Path) -> Result<u64, Error> {
    let mut bytes = 0;
    for entry in entries(folder)? {
        bytes += if entry.is_dir { size_of(&entry.path)? } else { entry.size };
    }
    Ok(bytes)
}
