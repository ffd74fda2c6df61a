//! Folders whose files are kept together, as one source.
//!
//! A session may have thousands of files with outputs of tools. Each of them is looked at in every
//! sync, since a file may grow in place, but only the folder as a whole is compared with the store,
//! by a stamp that differs if any of the files does.

use retro_model::{RowsStamp, SourceKey, Stat};
use std::borrow::Cow;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

use crate::walk::{Reach, Unreadable, through_from};

/// A folder whose files are one part of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderSeen {
    /// The id of the session.
    pub session: String,
    /// The part of the session that the files are.
    pub source: SourceKey,
    /// The path of the folder.
    pub path: PathBuf,
    /// The combined stamp of its files.
    pub stamp: RowsStamp,
}

/// A file of such a folder.
#[derive(Debug, Clone, Copy)]
pub struct FolderFile<'a> {
    /// Its path below the folder, with `/` between names. May be any bytes.
    pub name: &'a [u8],
    /// Its whole path.
    pub path: &'a Path,
    /// The file's metadata.
    pub stat: Stat,
}

impl FolderFile<'_> {
    /// A hash of the name and the metadata. It differs if either changes.
    pub fn seal(&self) -> u64 {
        let Stat { size, mtime_ns, device, inode } = self.stat;
        let mut numbers = [0; 40];
        let parts = [xxh3_64(self.name), size, mtime_ns.cast_unsigned(), device, inode];
        for (place, part) in numbers.chunks_exact_mut(8).zip(parts) {
            place.copy_from_slice(&part.to_le_bytes());
        }
        xxh3_64(&numbers)
    }
}

/// The combined stamp of a folder's files, independent of their order.
#[derive(Debug, Clone, Copy, Default)]
pub struct FolderStamp {
    files: u64,
    stamp: RowsStamp,
}

impl FolderStamp {
    /// Adds a file and returns its seal.
    pub fn add(&mut self, file: &FolderFile<'_>) -> u64 {
        let (seal, stamp) = (file.seal(), &mut self.stamp);
        self.files += 1;
        stamp.size = stamp.size.saturating_add(file.stat.size);
        stamp.hash = stamp.hash.wrapping_add(seal);
        stamp.changed_ns = stamp.changed_ns.max(file.stat.mtime_ns);
        seal
    }

    /// The stamp. `None` if there are no files.
    pub fn stamp(&self) -> Option<RowsStamp> {
        (self.files > 0).then_some(self.stamp)
    }
}

/// Reports every regular file below a folder, at any depth, and every place that cannot be read.
/// Links are not followed. Files that are being written under another name are left out.
pub fn files_of(folder: &Path, seen: &mut dyn FnMut(Result<FolderFile<'_>, Unreadable<'_>>)) {
    /// Greater than the depth to which links are followed, so that none is followed.
    const DEPTH: usize = 2;
    let above = folder.as_os_str().as_encoded_bytes().len();
    let reach = Reach { depth_max: usize::MAX, links_depth_max: 0 };
    through_from(folder, DEPTH, reach, &mut |entry| {
        let entry = match entry {
            Ok(entry) if entry.is_dir => return true,
            Ok(entry) => entry,
            Err(place) => {
                seen(Err(place));
                return false;
            }
        };
        let whole = entry.path.as_os_str().as_encoded_bytes();
        let name = whole.get(above..).unwrap_or_default();
        let name = slashed(name.strip_prefix(&[MAIN_SEPARATOR as u8]).unwrap_or(name));
        if is_passing(entry.name.as_encoded_bytes()) {
            return false;
        }
        match entry.metadata() {
            Ok(meta) if meta.is_file() => {
                seen(Ok(FolderFile { name: &name, path: entry.path, stat: Stat::of(&meta) }));
            }
            Ok(_) => seen(Err(Unreadable::no_file(entry.path))),
            // The file was deleted meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => seen(Err(Unreadable::failed(entry.path, &error))),
        }
        false
    });
}

/// True for the name of a lock, or of a file that is still being written.
pub(crate) fn is_passing(name: &[u8]) -> bool {
    name.ends_with(b".lock") || memchr::memmem::find(name, b".tmp").is_some()
}

/// A path with `/` between its names, as retro stores it on every system.
fn slashed(name: &[u8]) -> Cow<'_, [u8]> {
    if MAIN_SEPARATOR == '/' {
        return Cow::Borrowed(name);
    }
    let slash = |byte: &u8| if *byte == MAIN_SEPARATOR as u8 { b'/' } else { *byte };
    Cow::Owned(name.iter().map(slash).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(folder: &Path) -> (Vec<String>, Vec<String>, Option<RowsStamp>) {
        let (mut names, mut errors, mut stamp) = (Vec::new(), Vec::new(), FolderStamp::default());
        files_of(folder, &mut |file| match file {
            Ok(file) => {
                stamp.add(&file);
                names.push(String::from_utf8_lossy(file.name).into_owned());
            }
            Err(place) => errors.push(place.reason),
        });
        names.sort();
        (names, errors, stamp.stamp())
    }

    #[test]
    fn every_file_is_seen_and_every_change_shows() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("f");
        assert_eq!(look(&folder).2, None);
        std::fs::create_dir_all(folder.join("deep/er")).unwrap();
        assert_eq!(look(&folder).2, None);
        for (name, text) in [("b.txt", "b"), ("deep/er/c.txt", ""), ("d.tmp.1", "d"), (".lock", "")] {
            std::fs::write(folder.join(name), text).unwrap();
        }
        let (names, errors, first) = look(&folder);
        assert_eq!((names, errors), (vec!["b.txt".to_owned(), "deep/er/c.txt".to_owned()], vec![]));
        assert_eq!(look(&folder).2, first);
        std::fs::rename(folder.join("b.txt"), folder.join("a.txt")).unwrap();
        let second = look(&folder).2;
        assert_ne!(second, first);
        std::fs::write(folder.join("a.txt"), "bb").unwrap();
        let third = look(&folder).2;
        assert_ne!(third, second);
        assert_eq!(third.map(|stamp| stamp.size), Some(2));
        std::fs::write(folder.join("e.txt"), "").unwrap();
        assert_ne!(look(&folder).2, third);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("f");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(home.path().join("x"), "x").unwrap();
        std::os::unix::fs::symlink(home.path().join("x"), folder.join("l.txt")).unwrap();
        std::os::unix::fs::symlink(home.path(), folder.join("up")).unwrap();
        let (names, errors, stamp) = look(&folder);
        assert_eq!((names.len(), errors.len(), stamp), (0, 2, None), "{errors:?}");
    }
}
