//! Which folder of the index is the current one, and whether it is as it was left.
//!
//! `current` names a numbered folder. In it, `seal` holds the mark and the size and time of
//! every file at the end of the last write. A folder whose files look different was not
//! left so by us: readers take it for absent, and the next writer checks or rebuilds it.

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
    fs::read_to_string(folder.join(CURRENT)).ok()?.trim().parse().ok()
}

/// Makes a numbered folder the one in use.
pub(super) fn make_current(folder: &Path, number: u64) -> Result<(), Error> {
    replace(&folder.join(CURRENT), &format!("{number}\n"))
}

/// The mark of a folder, if its files are as they were left.
pub(super) fn check(folder: &Path) -> Option<String> {
    let seal = fs::read_to_string(folder.join(SEAL)).ok()?;
    let (mark, files) = seal.split_once('\n')?;
    (look(folder).ok()? == files).then(|| mark.to_owned())
}

/// Seals a folder as it is now.
pub(super) fn seal(folder: &Path, mark: &str) -> Result<(), Error> {
    let files = look(folder).map_err(|source| Error::Io { path: folder.to_owned(), source })?;
    replace(&folder.join(SEAL), &format!("{mark}\n{files}"))
}

/// Name, size and time of each file, sorted by name.
fn look(folder: &Path) -> io::Result<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Locks and our own file say nothing about the content.
        if name.starts_with(SEAL) || name.ends_with(".lock") {
            continue;
        }
        let meta = entry.metadata()?;
        let time = meta.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        files.push(format!("{name} {} {time}\n", meta.len()));
    }
    files.sort();
    Ok(files.concat())
}

fn replace(path: &Path, text: &str) -> Result<(), Error> {
    let error = |source| Error::Io { path: path.to_owned(), source };
    let beside = path.with_extension("new");
    fs::write(&beside, text).map_err(error)?;
    fs::rename(&beside, path).map_err(error)
}
