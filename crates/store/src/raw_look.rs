//! Lists the raw files of a store with their sizes, and moves one out of its place.
//!
//! A sync uses this to notice raw files that something else removed, cut or replaced. It reads only
//! names and sizes. [`crate::Archive`] reads the contents.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

use crate::files::Worth;
use crate::layout::{self, ASIDE, RAW, Slot};
use crate::{Error, Store};

/// The size in bytes of each raw file, by the number of its place ([`Store::raw_number`]).
pub type RawLook = HashMap<u64, u64>;

impl Store {
    /// Lists all raw files with their sizes, except those still being written beside their place.
    pub fn raw_look(&self) -> Result<RawLook, Error> {
        let folder = self.root().join(RAW);
        let mut look = RawLook::new();
        self.look_below(&folder, &mut look)?;
        Ok(look)
    }

    fn look_below(&self, folder: &Path, look: &mut RawLook) -> Result<(), Error> {
        let list = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            list => list.map_err(Error::io("list", folder))?,
        };
        for entry in list {
            let entry = entry.map_err(Error::io("list", folder))?;
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                self.look_below(&path, look)?;
            } else if kind.is_file()
                && path.extension().is_some_and(|ending| ending == "zst")
                && let Ok(meta) = entry.metadata()
            {
                look.insert(self.number_of(&path), meta.len());
            }
        }
        Ok(())
    }

    /// The number of the place of a raw file in [`Store::raw_look`].
    pub fn raw_number(&self, slot: &Slot) -> u64 {
        self.number_of(&self.slot_path(slot))
    }

    /// The numbers of all places where a raw file may be, including its place in an older format.
    pub fn raw_numbers(&self, slot: &Slot) -> impl Iterator<Item = u64> {
        let earlier = layout::earlier_raw_file(self.root(), slot).map(|path| self.number_of(&path));
        [self.number_of(&layout::raw_file(self.root(), slot))].into_iter().chain(earlier)
    }

    fn number_of(&self, path: &Path) -> u64 {
        xxh3_64(path.strip_prefix(self.root()).unwrap_or(path).as_os_str().as_encoded_bytes())
    }

    /// The raw files of all agents that serve many sessions.
    pub fn all_shared_slots(&self) -> Result<Vec<Slot>, Error> {
        let mut slots = Vec::new();
        for (agent, _) in self.agents(RAW)? {
            slots.extend(self.shared_slots(&agent)?);
        }
        Ok(slots)
    }

    /// Moves a raw file with foreign bytes to a separate folder, where it is never read. Returns
    /// its new path.
    pub fn set_aside(&self, slot: &Slot) -> Result<PathBuf, Error> {
        let path = self.slot_path(slot);
        let folder = self.root().join(ASIDE);
        self.files.ensure_dir(&folder)?;
        let name = path.strip_prefix(self.root().join(RAW)).unwrap_or(&path).to_string_lossy();
        let name = name.replace(['/', '\\'], "--");
        let free = (1..).map(|number| match number {
            1 => folder.join(&name),
            _ => folder.join(format!("{number}--{name}")),
        });
        let mut free = free.filter(|place: &PathBuf| fs::symlink_metadata(place).is_err());
        let place = free.next().unwrap_or_else(|| folder.join(&name));
        self.files.own(&path)?;
        self.files.own(&place)?;
        self.archive(slot).forget_standing();
        self.files.disk.rename(&path, &place).map_err(Error::io("set aside", &path))?;
        self.files.touch_names(&place);
        self.files.touch_names(&path);
        // A leftover part file would be in the way of the next write.
        self.files.remove(&layout::part_of(&path), Worth::Cache)?;
        Ok(place)
    }
}
