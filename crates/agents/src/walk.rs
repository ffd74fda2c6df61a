//! Walking an agent's folders, and what all agents report of files and folders
//! that cannot be read.

use retro_model::{SourceKey, SourceKind};
use std::borrow::Cow;
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::{Encoding, Format, Found, Owner, Stat};

/// Something that lies below a folder.
pub(crate) struct Entry<'a> {
    pub path: &'a Path,
    /// Folders above it, from the one where the walk began: at least one.
    pub depth: usize,
    /// A folder, or a link to one.
    pub is_dir: bool,
    listed: &'a DirEntry,
    is_link: bool,
}

impl Entry<'_> {
    /// What the file system says of it, or of what a link leads to. It is asked by its name
    /// in the folder that is open, not by its whole path: that is done for every file of a
    /// machine in each sync.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        match self.is_link {
            true => fs::metadata(self.path),
            false => self.listed.metadata(),
        }
    }

    /// Whether its name ends so.
    pub(crate) fn is_named(&self, end: &str) -> bool {
        let name = self.path.file_name().unwrap_or_default();
        name.as_encoded_bytes().ends_with(end.as_bytes())
    }
}

/// Walks through links over everything below `top`, at most `depth_max` folders deep. Tells
/// each entry, and each place that cannot be read, in the order in which the file system
/// does: whoever collects what is found puts it in order. `seen` says whether a folder is
/// gone into.
pub(crate) fn through(
    top: &Path,
    depth_max: usize,
    seen: &mut dyn FnMut(Result<Entry<'_>, Unreadable<'_>>) -> bool,
) {
    // One folder is open at a time, however deep they lie in each other.
    let mut folders: Vec<(PathBuf, usize)> = Vec::new();
    if top.is_dir() {
        folders.push((top.to_owned(), 1));
    }
    while let Some((folder, depth)) = folders.pop() {
        let listing = match fs::read_dir(&folder) {
            Ok(listing) => listing,
            Err(error) => {
                seen(Err(Unreadable { path: &folder, reason: error.to_string() }));
                continue;
            }
        };
        for listed in listing {
            let listed = match listed {
                Ok(listed) => listed,
                Err(error) => {
                    seen(Err(Unreadable { path: &folder, reason: error.to_string() }));
                    break;
                }
            };
            let path = listed.path();
            match look(top, &path, &listed) {
                Err(reason) => drop(seen(Err(Unreadable { path: &path, reason }))),
                Ok(Look { is_dir, is_link }) => {
                    let entry = Entry { path: &path, depth, is_dir, listed: &listed, is_link };
                    if seen(Ok(entry)) && is_dir && depth < depth_max {
                        folders.push((path, depth + 1));
                    }
                }
            }
        }
    }
}

/// A place that a walk cannot go on from, and why.
pub(crate) struct Unreadable<'a> {
    pub path: &'a Path,
    pub reason: String,
}

struct Look {
    is_dir: bool,
    is_link: bool,
}

fn look(top: &Path, path: &Path, listed: &DirEntry) -> Result<Look, String> {
    let kind = listed.file_type().map_err(|error| error.to_string())?;
    if !kind.is_symlink() {
        return Ok(Look { is_dir: kind.is_dir(), is_link: false });
    }
    let is_dir = fs::metadata(path).map_err(|error| error.to_string())?.is_dir();
    match is_dir.then(|| leads_back(top, path)).flatten() {
        Some(above) => Err(format!("a link that leads back to {}", above.display())),
        None => Ok(Look { is_dir, is_link: true }),
    }
}

/// The folder above a link that it leads to, if it does.
fn leads_back<'p>(top: &Path, link: &'p Path) -> Option<&'p Path> {
    let target = fs::canonicalize(link).ok()?;
    let mut above = link.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
    above.find(|folder| fs::canonicalize(folder).is_ok_and(|folder| folder == target))
}

/// The path of a file below `root` as text, if it lies there. Asked for every file
/// of a machine, so it compares bytes and not components.
pub(crate) fn below<'p>(root: &Path, path: &'p Path) -> Option<Cow<'p, str>> {
    let rest = path.as_os_str().as_encoded_bytes().strip_prefix(root.as_os_str().as_encoded_bytes())?;
    Some(lossy(rest))
}

/// Bytes as text. Names are text nearly always, which is seen much faster than
/// [`String::from_utf8_lossy`] looks for what is not.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// The names in a path that [`below`] gave, as the walk joined them.
pub(crate) fn names(below: &str) -> Vec<&str> {
    below.split(std::path::MAIN_SEPARATOR).filter(|name| !name.is_empty()).collect()
}

/// A file below `root` that is there and cannot be captured.
pub(crate) fn unreadable(root: &Path, path: &Path, reason: String) -> Found {
    let below = path.strip_prefix(root).unwrap_or(path);
    let name = below.to_string_lossy().into_owned();
    Found {
        source: SourceKey::new(&name),
        owner: Owner::Shared(name),
        kind: SourceKind::Document,
        format: Format::Opaque,
        encoding: Encoding::Plain,
        path: path.to_owned(),
        stat: Stat::default(),
        extra: false,
        unreadable: Some(reason),
        content: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_a_root() {
        let of = |root: &str, path: &str| {
            let below = below(Path::new(root), Path::new(path))?.into_owned();
            Some(names(&below).join(" "))
        };
        assert_eq!(of("/h/.x", "/h/.x/a/b.jsonl").as_deref(), Some("a b.jsonl"));
        assert_eq!(of("/h/.x/", "/h/.x/a/b.jsonl").as_deref(), Some("a b.jsonl"));
        assert_eq!(of("/h/.x", "/elsewhere/b.jsonl"), None);
    }
}
