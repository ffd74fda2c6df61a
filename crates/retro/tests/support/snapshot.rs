//! A folder in memory, to be laid down again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub struct Snapshot {
    root: PathBuf,
    /// Every file with its bytes, every folder without.
    entries: BTreeMap<PathBuf, Option<Vec<u8>>>,
}

impl Snapshot {
    pub fn of(root: &Path) -> Snapshot {
        let mut entries = BTreeMap::new();
        if root.exists() {
            entries.insert(root.to_owned(), None);
            read(root, &mut entries);
        }
        Snapshot { root: root.to_owned(), entries }
    }

    pub fn restore(&self) {
        if self.root.exists() {
            std::fs::remove_dir_all(&self.root).unwrap();
        }
        self.restore_below(&self.root);
    }

    pub fn restore_below(&self, folder: &Path) {
        for (path, bytes) in self.entries.iter().filter(|(path, _)| path.starts_with(folder)) {
            match bytes {
                Some(bytes) => std::fs::write(path, bytes).unwrap(),
                None => std::fs::create_dir_all(path).unwrap(),
            }
        }
    }

    pub fn files(&self) -> impl Iterator<Item = (&PathBuf, &Vec<u8>)> {
        self.entries.iter().filter_map(|(path, bytes)| Some((path, bytes.as_ref()?)))
    }
}

fn read(folder: &Path, entries: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            entries.insert(path.clone(), None);
            read(&path, entries);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            entries.insert(path, Some(bytes));
        }
    }
}
