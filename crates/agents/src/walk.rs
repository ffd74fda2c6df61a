//! Walking an agent's folders.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirEntry, Metadata};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// An entry of a folder.
pub(crate) struct Entry<'a> {
    pub path: &'a Path,
    /// Its file name.
    pub name: &'a OsStr,
    /// Its depth below the top of the walk. At least 1.
    pub depth: usize,
    /// A folder, or a link to one.
    pub is_dir: bool,
    listed: &'a DirEntry,
    is_link: bool,
}

impl Entry<'_> {
    /// The metadata of the entry or, for a link, of its target. It is looked up by name in the open
    /// folder, not by its whole path, because every sync does this for every file of a machine.
    pub(crate) fn metadata(&self) -> io::Result<Metadata> {
        if self.is_link { fs::metadata(self.path) } else { self.listed.metadata() }
    }

    /// True for a link.
    pub(crate) fn is_link(&self) -> bool {
        self.is_link
    }

    /// True if its name ends with `end`.
    pub(crate) fn is_named(&self, end: &str) -> bool {
        self.name.as_encoded_bytes().ends_with(end.as_bytes())
    }
}

/// How deep a walk goes, and to which depth it follows links.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    /// The greatest depth in folders.
    pub depth_max: usize,
    /// Links to folders are followed to this depth, and links to files one level deeper. The target
    /// of a link inside a session's own folder does not belong to the session.
    pub links_depth_max: usize,
}

impl Reach {
    /// To any depth, through every link.
    pub(crate) const WHOLE: Reach = Reach { depth_max: usize::MAX, links_depth_max: usize::MAX };
}

/// Walks over everything below `top`. Reports each entry, and each place that cannot be
/// read, in the order of the file system: the caller sorts. `seen` says whether the walk
/// enters a folder.
pub(crate) fn through(
    top: &Path,
    reach: Reach,
    seen: &mut dyn FnMut(Result<Entry<'_>, Unreadable<'_>>) -> bool,
) {
    through_from(top, 1, reach, seen);
}

/// Like [`through`], but the entries of `top` have this depth.
pub(crate) fn through_from(
    top: &Path,
    depth: usize,
    reach: Reach,
    seen: &mut dyn FnMut(Result<Entry<'_>, Unreadable<'_>>) -> bool,
) {
    // One folder is open at a time, however deep they are nested.
    let mut folders: Vec<(PathBuf, usize)> = Vec::new();
    // The path of the current entry. One buffer serves all of them.
    let mut whole = OsString::new();
    match fs::metadata(top) {
        Ok(meta) if meta.is_dir() => folders.push((top.to_owned(), depth)),
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            seen(Err(Unreadable::failed(top, &error)));
        }
        _ => {}
    }
    while let Some((folder, depth)) = folders.pop() {
        let listing = match fs::read_dir(&folder) {
            Ok(listing) => listing,
            Err(error) => {
                seen(Err(Unreadable::failed(&folder, &error)));
                continue;
            }
        };
        // Ends with a separator.
        let above = folder.join("");
        for listed in listing {
            let listed = match listed {
                Ok(listed) => listed,
                Err(error) => {
                    seen(Err(Unreadable::failed(&folder, &error)));
                    break;
                }
            };
            let name = listed.file_name();
            whole.clear();
            whole.push(&above);
            whole.push(&name);
            let path = Path::new(&whole);
            match look(top, path, &listed, depth, reach) {
                Err(place) => drop(seen(Err(place))),
                Ok(Look { is_dir, is_link }) => {
                    let entry = Entry { path, name: &name, depth, is_dir, listed: &listed, is_link };
                    if seen(Ok(entry)) && is_dir && depth < reach.depth_max {
                        folders.push((path.to_owned(), depth + 1));
                    }
                }
            }
        }
    }
}

/// A place where a walk cannot continue, and why.
pub struct Unreadable<'a> {
    /// The path of the place.
    pub path: &'a Path,
    /// The error message for people.
    pub reason: String,
    /// False for a link that is not followed or leads nowhere.
    pub may_hold_logs: bool,
}

impl<'a> Unreadable<'a> {
    pub(crate) fn failed(path: &'a Path, error: &io::Error) -> Self {
        let may_hold_logs = error.kind() != io::ErrorKind::NotFound;
        Unreadable { path, reason: error.to_string(), may_hold_logs }
    }

    /// Reports an entry that is neither a file nor a folder.
    pub(crate) fn no_file(path: &'a Path) -> Self {
        Unreadable { path, reason: "not a regular file".to_owned(), may_hold_logs: false }
    }

    fn link(path: &'a Path, reason: String) -> Self {
        Unreadable { path, reason, may_hold_logs: false }
    }
}

struct Look {
    is_dir: bool,
    is_link: bool,
}

fn look<'p>(
    top: &Path,
    path: &'p Path,
    listed: &DirEntry,
    depth: usize,
    reach: Reach,
) -> Result<Look, Unreadable<'p>> {
    let kind = listed.file_type().map_err(|error| Unreadable::failed(path, &error))?;
    if !kind.is_symlink() {
        return Ok(Look { is_dir: kind.is_dir(), is_link: false });
    }
    let is_dir = fs::metadata(path).map_err(|error| Unreadable::failed(path, &error))?.is_dir();
    if let Some(above) = is_dir.then(|| leads_back(top, path)).flatten() {
        return Err(Unreadable::link(path, format!("a link that leads back to {}", above.display())));
    }
    let is_followed = depth.saturating_sub(usize::from(!is_dir)) <= reach.links_depth_max;
    if is_followed {
        Ok(Look { is_dir, is_link: true })
    } else {
        Err(Unreadable::link(path, "a link, which is not followed".to_owned()))
    }
}

/// The folder above a link that the link leads back to, if it does.
fn leads_back<'p>(top: &Path, link: &'p Path) -> Option<&'p Path> {
    let target = fs::canonicalize(link).ok()?;
    let mut above = link.ancestors().skip(1).take_while(|folder| folder.starts_with(top));
    above.find(|folder| fs::canonicalize(folder).is_ok_and(|folder| folder == target))
}

/// The path of a file relative to `root`, as a string, if it is below it. Called for every file of
/// a machine, so it compares bytes and not components.
pub(crate) fn below<'p>(root: &Path, path: &'p Path) -> Option<Cow<'p, str>> {
    let rest = path.as_os_str().as_encoded_bytes().strip_prefix(root.as_os_str().as_encoded_bytes())?;
    Some(lossy(rest))
}

/// Decodes bytes as a string. Names are nearly always UTF-8, and checking that is much faster than
/// the search of [`String::from_utf8_lossy`] for invalid bytes.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Most paths below a root have at most this many names.
const NAMES: usize = 8;

/// The names in a path that [`below`] gave, as the walk joined them. Few paths need an allocation
/// for theirs.
pub(crate) struct Names<'p> {
    few: [&'p str; NAMES],
    count: usize,
    /// All names, if there are too many for the array.
    many: Vec<&'p str>,
}

impl<'p> Names<'p> {
    /// Splits a path into names.
    pub(crate) fn of(below: &'p str) -> Self {
        let mut names = Names { few: [""; NAMES], count: 0, many: Vec::new() };
        let mut start = 0;
        for end in memchr::memchr_iter(std::path::MAIN_SEPARATOR as u8, below.as_bytes()) {
            names.push(below.get(start..end).unwrap_or_default());
            start = end + 1;
        }
        names.push(below.get(start..).unwrap_or_default());
        names
    }

    fn push(&mut self, name: &'p str) {
        if name.is_empty() {
            return;
        }
        if self.count == NAMES {
            self.many.extend(self.few);
        }
        match self.few.get_mut(self.count) {
            Some(place) => *place = name,
            None => self.many.push(name),
        }
        self.count += 1;
    }
}

impl<'p> Deref for Names<'p> {
    type Target = [&'p str];

    fn deref(&self) -> &Self::Target {
        self.few.get(..self.count).unwrap_or(&self.many)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_a_root() {
        let of = |root: &str, path: &str| {
            let below = below(Path::new(root), Path::new(path))?.into_owned();
            Some(Names::of(&below).join(" "))
        };
        assert_eq!(of("/h/.x", "/h/.x/a/b.jsonl").as_deref(), Some("a b.jsonl"));
        assert_eq!(of("/h/.x/", "/h/.x/a/b.jsonl").as_deref(), Some("a b.jsonl"));
        assert_eq!(of("/h/.x", "/elsewhere/b.jsonl"), None);
        for count in 0..2 * NAMES {
            let deep: String = (0..count).map(|number| format!("/{number}")).collect();
            let names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
            assert_eq!(of("/h", &format!("/h{deep}")).as_deref(), Some(&*names.join(" ")));
        }
    }
}
