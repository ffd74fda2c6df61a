//! Which folder of the index is the current one, and whether it is as it was left.
//!
//! `current` names a numbered folder. In it, `seal` holds the mark and the size and time of
//! every file at the end of the last write. A folder whose files look different was not
//! left so by us: readers take it for absent, and the next writer checks or rebuilds it.

use retro_disk::Disk;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::numbered;
use crate::Error;

const CURRENT: &str = "current";
const SEAL: &str = "seal";

/// The folder that is in use, if there is one.
pub(super) fn current(folder: &Path) -> Option<PathBuf> {
    current_number(folder).map(|number| numbered(folder, number))
}

pub(super) fn current_number(folder: &Path) -> Option<u64> {
    if !is_own(folder) || !is_own_file(&folder.join(CURRENT)) {
        return None;
    }
    fs::read_to_string(folder.join(CURRENT)).ok()?.trim().parse().ok()
}

/// Whether a folder is one, and no link to another.
pub(super) fn is_own(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_dir())
}

fn is_own_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

/// Makes a numbered folder the one in use.
pub(super) fn make_current(disk: &dyn Disk, folder: &Path, number: u64) -> Result<(), Error> {
    replace(disk, &folder.join(CURRENT), &format!("{number}\n"))
}

/// The mark of a folder, if its files are as they were left.
pub(super) fn check(folder: &Path) -> Option<String> {
    if !is_own(folder) || !is_own_file(&folder.join(SEAL)) {
        return None;
    }
    let seal = fs::read_to_string(folder.join(SEAL)).ok()?;
    let (mark, files) = seal.split_once('\n')?;
    (look(folder).ok()? == files).then(|| mark.to_owned())
}

/// Whether a folder and all that is in it may be opened: no links, pipes or devices.
pub(super) fn is_openable(folder: &Path) -> bool {
    is_own(folder) && look(folder).is_ok()
}

/// Seals a folder as it is now.
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
            // Nothing that we wrote: a link is not followed, and a pipe is not waited for.
            return Err(io::Error::other(format!("{name} is no file")));
        }
        // Locks and our own file say nothing about the content.
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
        // A kill left it, or somebody put it there: nothing is written through it.
        disk.remove(&beside).map_err(Error::io(&beside))?;
    }
    disk.write(&beside, text.as_bytes()).map_err(Error::io(&beside))?;
    disk.rename(&beside, path).map_err(Error::io(path))
}
