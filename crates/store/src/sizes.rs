//! Sizes of the parts of a store.

use std::collections::BTreeMap;
use std::path::Path;

use crate::files::entries;
use crate::layout::{INDEX, RAW};
use crate::{Error, Store, kept};

impl Store {
    /// Size of everything but the files of sessions: the index, files that serve many sessions, and
    /// the files in the root itself.
    pub fn overhead_bytes(&self) -> Result<u64, Error> {
        let mut bytes = size_of(&self.root().join(INDEX))?;
        for (agent, _) in self.agents(RAW)? {
            bytes += size_of(&crate::layout::shared_folder(self.root(), &agent))?;
        }
        Ok(bytes
            + entries(self.root())?.iter().filter(|entry| entry.is_file).map(|entry| entry.size).sum::<u64>())
    }

    /// Size of everything in bytes: of each file and folder of the root that the register names,
    /// and of all others as `other`.
    pub fn sizes(&self) -> Result<BTreeMap<&'static str, u64>, Error> {
        let tops = kept::tops();
        let mut sizes = BTreeMap::new();
        for entry in entries(self.root())? {
            let top = entry.name.as_deref().and_then(|name| tops.get(name).copied()).unwrap_or("other");
            let bytes = if entry.is_dir { size_of(&entry.path)? } else { entry.size };
            *sizes.entry(top).or_default() += bytes;
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
