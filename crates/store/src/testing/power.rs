//! A disk that loses unsynced writes.
//!
//! After a kill the page cache still reaches the medium. After a power cut unsynced writes are
//! gone, or partly there, in any order. [`PowerDisk`] remembers which writes of every file and
//! which names of every folder were synced; [`PowerDisk::cut`] then writes a possible state of the
//! medium. The rules are the minimum that POSIX guarantees: syncing a file keeps its bytes but not
//! its name, syncing a folder keeps its names but not the bytes of the files, and a rename is
//! durable only with its folder.
//!
//! The index is left alone: SQLite writes it by itself, and a test supplies the index that it
//! needs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Dice, FailingDisk};
use crate::files::entries;
use crate::layout::INDEX;
use crate::{Disk, Error, RealDisk};

/// The writes that a power cut loses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// Everything that was not synced.
    All,
    /// Some of them, chosen with this seed: names in any order, and any sectors of each write. The
    /// gaps are zeros or other bytes.
    Some(u64),
}

/// A [`FailingDisk`] that knows which of its writes would survive a power cut.
#[derive(Debug)]
pub struct PowerDisk {
    disk: FailingDisk,
    root: PathBuf,
    medium: Mutex<Medium>,
}

const SECTOR_BYTES: u64 = 512;

#[derive(Debug, Default)]
struct Medium {
    contents: Vec<Content>,
    /// Names as programs see them.
    seen: BTreeMap<PathBuf, Node>,
    /// Names that would survive a cut.
    lasting: BTreeMap<PathBuf, Node>,
    /// Changes of names that are not durable yet, in their order.
    changes: Vec<Change>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Node {
    Folder,
    /// The number of its content, which a rename keeps.
    File(usize),
}

#[derive(Debug, Clone)]
struct Change {
    gone: Option<PathBuf>,
    there: Option<(PathBuf, Node)>,
}

#[derive(Debug, Default)]
struct Content {
    lasting: Vec<u8>,
    writes: Vec<Write>,
}

#[derive(Debug)]
enum Write {
    Bytes { offset: u64, bytes: Vec<u8> },
    Cut(u64),
}

impl PowerDisk {
    /// A disk over `root` that works like `disk`. Everything at `root` counts as synced.
    pub fn over(root: &Path, disk: FailingDisk) -> Result<PowerDisk, Error> {
        let mut medium = Medium::default();
        if root.is_dir() {
            medium.lasting.insert(root.to_owned(), Node::Folder);
            medium.learn(root, root)?;
        }
        medium.seen = medium.lasting.clone();
        Ok(PowerDisk { disk, root: root.to_owned(), medium: Mutex::new(medium) })
    }

    /// Number of operations so far.
    pub fn operations(&self) -> u64 {
        self.disk.operations()
    }

    /// Replaces the root by a state that a power cut could leave now.
    pub fn cut(&self, loss: Loss) -> Result<(), Error> {
        let medium = self.medium();
        let mut dice = Dice::new(match loss {
            Loss::All => 0,
            Loss::Some(seed) => seed,
        });
        let mut names = medium.lasting.clone();
        if loss != Loss::All {
            medium.changes.iter().filter(|_| dice.coin()).for_each(|change| change.apply(&mut names));
        }
        clear(&self.root, &self.root)?;
        let reachable = |path: &Path| {
            let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
            above.map(|folder| names.get(folder)).all(|node| node == Some(&Node::Folder))
        };
        if !names.contains_key(&self.root) {
            // The root itself does not exist, so everything below it is gone.
            remove_all(&self.root)?;
            return Ok(());
        }
        for (path, node) in names.iter().filter(|(path, _)| reachable(path)) {
            let put = match node {
                Node::Folder => RealDisk.create_dir(path),
                Node::File(number) => match (medium.contents.get(*number), loss) {
                    (None, _) => Ok(()),
                    (Some(content), Loss::All) => RealDisk.write(path, &content.lasting),
                    (Some(content), Loss::Some(_)) => RealDisk.write(path, &content.torn(&mut dice)),
                },
            };
            put.map_err(Error::io("write", path))?;
        }
        Ok(())
    }

    fn medium(&self) -> MutexGuard<'_, Medium> {
        self.medium.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the state of a path is tracked.
    fn follows(&self, path: &Path) -> bool {
        path.starts_with(&self.root) && !path.starts_with(self.root.join(INDEX))
    }

    fn change(&self, path: &Path, change: impl FnOnce(&mut Medium)) {
        if self.follows(path) {
            change(&mut self.medium());
        }
    }
}

impl Medium {
    fn learn(&mut self, root: &Path, folder: &Path) -> Result<(), Error> {
        for entry in entries(folder)? {
            if entry.path == root.join(INDEX) {
                continue;
            }
            if entry.is_dir {
                self.lasting.insert(entry.path.clone(), Node::Folder);
                self.learn(root, &entry.path)?;
            } else if entry.is_file {
                let lasting = std::fs::read(&entry.path).map_err(Error::io("read", &entry.path))?;
                self.lasting.insert(entry.path, Node::File(self.contents.len()));
                self.contents.push(Content { lasting, writes: Vec::new() });
            }
        }
        Ok(())
    }

    fn name(&mut self, gone: Option<&Path>, there: Option<(&Path, Node)>) {
        let change = Change {
            gone: gone.map(Path::to_owned),
            there: there.map(|(path, node)| (path.to_owned(), node)),
        };
        change.apply(&mut self.seen);
        self.changes.push(change);
    }

    /// The content of a file, created if necessary.
    fn content(&mut self, path: &Path) -> Option<&mut Content> {
        let number = match self.seen.get(path) {
            Some(Node::File(number)) => *number,
            Some(Node::Folder) => return None,
            None => {
                let number = self.contents.len();
                self.contents.push(Content::default());
                self.name(None, Some((path, Node::File(number))));
                number
            }
        };
        self.contents.get_mut(number)
    }
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<PathBuf, Node>) {
        if let Some(gone) = &self.gone {
            names.remove(gone);
        }
        if let Some((path, node)) = &self.there {
            names.insert(path.clone(), *node);
        }
    }

    /// Whether a sync of this folder makes it durable.
    fn is_in(&self, folder: &Path) -> bool {
        let path = self.there.as_ref().map(|(path, _)| path).or(self.gone.as_ref());
        path.is_some_and(|path| path.parent() == Some(folder))
    }
}

impl Content {
    fn settle(&mut self) {
        for write in std::mem::take(&mut self.writes) {
            match write {
                Write::Bytes { offset, bytes } => lay(&mut self.lasting, offset, &bytes, &mut |_| 0),
                Write::Cut(length) => self.lasting.resize(usize::try_from(length).unwrap_or(0), 0),
            }
        }
    }

    /// The state after a cut, with any sectors of any write.
    fn torn(&self, dice: &mut Dice) -> Vec<u8> {
        let mut bytes = self.lasting.clone();
        let old_blocks = dice.coin();
        let mut between = move |at: u64| if old_blocks { (at.wrapping_mul(37) >> 3) as u8 } else { 0 };
        for write in &self.writes {
            match write {
                Write::Cut(length) if dice.coin() => bytes.resize(usize::try_from(*length).unwrap_or(0), 0),
                Write::Cut(_) => {}
                Write::Bytes { offset, bytes: written } => {
                    let mut at = *offset;
                    let mut rest = written.as_slice();
                    while !rest.is_empty() {
                        let length = (SECTOR_BYTES - at % SECTOR_BYTES).min(rest.len() as u64);
                        let (sector, after) = rest.split_at(usize::try_from(length).unwrap_or(rest.len()));
                        if dice.coin() {
                            lay(&mut bytes, at, sector, &mut between);
                        }
                        (at, rest) = (at + length, after);
                    }
                    if dice.below(3) == 0 {
                        // The length was written, even if some bytes were not.
                        lay(&mut bytes, at, &[], &mut between);
                    }
                }
            }
        }
        bytes
    }
}

/// Writes bytes at an offset, and fills a gap before them.
fn lay(content: &mut Vec<u8>, offset: u64, bytes: &[u8], between: &mut dyn FnMut(u64) -> u8) {
    while (content.len() as u64) < offset {
        content.push(between(content.len() as u64));
    }
    let from = usize::try_from(offset).unwrap_or(usize::MAX);
    let over = content.len().saturating_sub(from).min(bytes.len());
    let (written_over, new) = bytes.split_at(over);
    if let Some(place) = content.get_mut(from..from + over) {
        place.copy_from_slice(written_over);
    }
    content.extend_from_slice(new);
}

/// Empties the root except for the index.
fn clear(root: &Path, folder: &Path) -> Result<(), Error> {
    for entry in entries(folder)?.into_iter().filter(|entry| entry.path != root.join(INDEX)) {
        if entry.is_dir {
            clear(root, &entry.path)?;
            RealDisk.remove_dir(&entry.path).map_err(Error::io("remove", &entry.path))?;
        } else {
            RealDisk.remove(&entry.path).map_err(Error::io("remove", &entry.path))?;
        }
    }
    Ok(())
}

fn remove_all(folder: &Path) -> Result<(), Error> {
    if !folder.is_dir() {
        return Ok(());
    }
    clear(Path::new(""), folder)?;
    RealDisk.remove_dir(folder).map_err(Error::io("remove", folder))
}

impl Disk for PowerDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let known = path.is_dir();
        self.disk.create_dir(path)?;
        if !known {
            self.change(path, |medium| medium.name(None, Some((path, Node::Folder))));
        }
        Ok(())
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        // If the power fails in the middle of a write, any part of it may have been written.
        self.change(path, |medium| {
            if let Some(content) = medium.content(path) {
                content.writes.push(Write::Cut(0));
                content.writes.push(Write::Bytes { offset: 0, bytes: bytes.to_vec() });
            }
        });
        self.disk.write(path, bytes)
    }

    fn write_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.change(path, |medium| {
            if let Some(content) = medium.content(path) {
                content.writes.push(Write::Bytes { offset, bytes: bytes.to_vec() });
            }
        });
        self.disk.write_at(path, offset, bytes)
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        self.disk.truncate(path, length)?;
        self.change(path, |medium| {
            if let Some(content) = medium.content(path) {
                content.writes.push(Write::Cut(length));
            }
        });
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)?;
        self.change(to, |medium| {
            if let Some(node) = medium.seen.get(from).copied() {
                medium.name(Some(from), Some((to, node)));
            }
        });
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.disk.remove(path)?;
        self.change(path, |medium| medium.name(Some(path), None));
        Ok(())
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.remove_dir(path)?;
        self.change(path, |medium| medium.name(Some(path), None));
        Ok(())
    }

    fn restrict_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.restrict_dir(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_file(path)?;
        self.change(path, |medium| {
            if let Some(content) = medium.content(path) {
                content.settle();
            }
        });
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.disk.sync_dir(path)?;
        let mut medium = self.medium();
        let Medium { changes, lasting, .. } = &mut *medium;
        changes.retain(|change| {
            let settled = change.is_in(path);
            if settled {
                change.apply(lasting);
            }
            !settled
        });
        Ok(())
    }

    fn sync_everything(&self, root: &Path) -> io::Result<bool> {
        self.disk.sync_everything(root)?;
        let mut medium = self.medium();
        let Medium { contents, changes, lasting, .. } = &mut *medium;
        contents.iter_mut().for_each(Content::settle);
        changes.drain(..).for_each(|change| change.apply(lasting));
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Fails;

    fn disk(root: &Path) -> PowerDisk {
        PowerDisk::over(root, FailingDisk::after(u64::MAX, Fails::ForEver)).unwrap()
    }

    #[test]
    fn only_what_was_synced_is_there_after_the_cut() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("store");
        std::fs::create_dir(&root).unwrap();
        std::fs::write(root.join("old"), "old").unwrap();
        let disk = disk(&root);
        let (kept, lost, part) = (root.join("kept"), root.join("lost"), root.join("old.part"));
        disk.write(&kept, b"all of it").unwrap();
        disk.sync_file(&kept).unwrap();
        disk.write(&lost, b"bytes").unwrap();
        disk.sync_dir(&root).unwrap();
        disk.write_at(&kept, 4, b"none").unwrap();
        disk.write(&part, b"new").unwrap();
        disk.sync_file(&part).unwrap();
        disk.rename(&part, &root.join("old")).unwrap();
        disk.cut(Loss::All).unwrap();
        let read = |path: &Path| std::fs::read_to_string(path).ok();
        assert_eq!(read(&kept).as_deref(), Some("all of it"));
        assert_eq!(read(&lost).as_deref(), Some(""), "the name was synced, the bytes were not");
        assert_eq!(
            read(&root.join("old")).as_deref(),
            Some("old"),
            "its folder was not synced after the rename"
        );
        assert_eq!(read(&part), None);
    }

    #[test]
    fn a_root_whose_name_was_not_synced_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("store");
        let disk = disk(&root);
        disk.create_dir(&root).unwrap();
        disk.write(&root.join("file"), b"x").unwrap();
        disk.sync_file(&root.join("file")).unwrap();
        disk.sync_dir(&root).unwrap();
        disk.cut(Loss::All).unwrap();
        assert!(!root.exists());
        disk.create_dir(&root).unwrap();
        disk.sync_dir(folder.path()).unwrap();
        disk.cut(Loss::All).unwrap();
        assert_eq!(std::fs::read(root.join("file")).unwrap(), b"x");
    }

    #[test]
    fn torn_writes_are_the_same_for_the_same_seed_and_differ_between_seeds() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let disk = disk(&root);
        let file = root.join("file");
        disk.write(&file, b"").unwrap();
        disk.sync_dir(&root).unwrap();
        let noise: Vec<u8> = (0..4096u32).map(|n| (n % 251) as u8 + 1).collect();
        disk.write_at(&file, 100, &noise).unwrap();
        let torn = |seed| {
            disk.cut(Loss::Some(seed)).unwrap();
            std::fs::read(&file).unwrap()
        };
        let found: Vec<Vec<u8>> = (0..20).map(torn).collect();
        assert_eq!(torn(3), found[3]);
        assert!(found.iter().any(|bytes| bytes.len() < 4196));
        let differing: std::collections::BTreeSet<_> = found.into_iter().collect();
        assert!(differing.len() > 10);
    }
}
