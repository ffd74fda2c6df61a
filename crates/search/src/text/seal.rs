//! Tracks the current folder of the index, and detects changes to its files.
//!
//! `current` names a numbered folder. In it, `seal` holds the mark, and the size and time of every
//! file at the end of the last write. If the files differ, retro did not write them last: readers
//! treat the folder as absent, and the next writer checks or rebuilds it.

use retro_disk::Disk;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::numbered;
use crate::Error;

const CURRENT: &str = "current";
const SEAL: &str = "seal";

/// The current folder, if there is one.
pub(super) fn current(folder: &Path) -> Option<PathBuf> {
    current_number(folder).map(|number| numbered(folder, number))
}

pub(super) fn current_number(folder: &Path) -> Option<u64> {
    if !is_own(folder) || !is_own_file(&folder.join(CURRENT)) {
        return None;
    }
    fs::read_to_string(folder.join(CURRENT)).ok()?.trim().parse().ok()
}

/// True for a real folder, not a link to one.
pub(super) fn is_own(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir())
}

fn is_own_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// Makes a numbered folder the current one.
pub(super) fn make_current(disk: &dyn Disk, folder: &Path, number: u64) -> Result<(), Error> {
    replace(disk, &folder.join(CURRENT), &format!("{number}\n"))
}

/// The mark of a folder, if its files are unchanged.
pub(super) fn check(folder: &Path) -> Option<String> {
    if !is_own(folder) || !is_own_file(&folder.join(SEAL)) {
        return None;
    }
    let seal = fs::read_to_string(folder.join(SEAL)).ok()?;
    let (mark, files) = seal.split_once('\n')?;
    (look(folder).ok()? == files).then(|| mark.to_owned())
}

/// True if a folder and its contents are safe to open: no links, pipes or devices.
pub(super) fn is_openable(folder: &Path) -> bool {
    is_own(folder) && look(folder).is_ok()
}

/// Seals a folder in its current state.
pub(super) fn seal(disk: &dyn Disk, folder: &Path, mark: &str) -> Result<(), Error> {
    let files = look(folder).map_err(Error::io(folder))?;
    replace(disk, &folder.join(SEAL), &format!("{mark}\n{files}"))
}

/// Name, size and time of each file, sorted by name.
fn look(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let meta = entry.metadata()?;
        if !meta.is_file() {
            // Not a file of retro's: do not follow a link or wait for a pipe.
            return Err(io::Error::other(format!("{name} is no file")));
        }
        // Locks and the seal itself are not part of the content.
        if name.starts_with(SEAL) || name.ends_with(".lock") {
            continue;
        }
        let time = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        files.push(format!("{name} {} {time}\n", meta.len()));
    }
    files.sort();
    Ok(files.concat())
}

fn replace(disk: &dyn Disk, path: &Path, text: &str) -> Result<(), Error> {
    let beside = path.with_extension("new");
    if fs::symlink_metadata(&beside).is_ok() {
        // Left behind by a killed process, or placed there by another program. Do not write through
        // it.
        disk.remove(&beside).map_err(Error::io(&beside))?;
    }
    disk.write(&beside, text.as_bytes()).map_err(Error::io(&beside))?;
    disk.rename(&beside, path).map_err(Error::io(path))
}
