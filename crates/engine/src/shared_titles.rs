//! Titles of sessions in shared files: the list of threads that Codex keeps, and logs of Claude
//! Code that contain only summaries.

use retro_agents::AGENTS;
use retro_store::{Index, NameRow, Slot, Store};
use std::collections::BTreeMap;
use std::io::Read;

use crate::Error;

/// Bytes of a shared file that are read for titles.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A shared file, and the titles in it.
pub(crate) struct Titles {
    agent: &'static str,
    holder: String,
    names: Vec<NameRow>,
}

impl Titles {
    /// Stores them in the index, replacing the earlier ones of this file.
    pub(crate) fn put(&self, index: &retro_store::Writer<'_>) -> Result<(), retro_store::Error> {
        index.put_names(self.agent, &self.holder, &self.names)
    }
}

/// The name of a shared file among the sessions that hold titles. No session id begins with a
/// slash.
fn holder(name: &str) -> String {
    format!("/{name}")
}

/// Reads the titles in one captured file. Empty if it cannot be read.
pub(crate) fn read(
    store: &Store,
    agent: &'static dyn retro_agents::Agent,
    name: &str,
    revision: u32,
) -> Titles {
    let slot = Slot::Shared { agent: agent.name().to_owned(), name: name.to_owned(), revision };
    let bytes = || {
        let mut bytes = Vec::new();
        let file = store.archive(&slot).read();
        match file.map(|file| file.take(BYTES_MAX).read_to_end(&mut bytes)) {
            Ok(Ok(_)) => bytes,
            _ => Vec::new(),
        }
    };
    let found = agent.titles(name, &bytes);
    let names = found.into_iter().map(|found| {
        let name = NameRow { of: found.of, is_leaf: found.is_leaf, title: found.title.to_string() };
        (name.of.clone(), name)
    });
    // The last title of a session wins.
    let names: BTreeMap<String, NameRow> = names.collect();
    Titles { agent: agent.name(), holder: holder(name), names: names.into_values().collect() }
}

/// Reads the titles of all shared files again.
pub(crate) fn read_all(store: &Store, index: &Index) -> Result<(), Error> {
    let mut all = Vec::new();
    for agent in AGENTS.iter().copied() {
        // Revisions of a file come in order, and the last one wins.
        for slot in store.shared_slots(agent.name())? {
            if let Slot::Shared { name, revision, .. } = slot {
                all.push(read(store, agent, &name, revision));
            }
        }
    }
    Ok(index.write(|index| all.iter().try_for_each(|titles| titles.put(index)))?)
}
