//! `store.json` makes a folder a store. Opens it, creates it, and distinguishes a store from other
//! folders.

use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

use crate::files::{Entry, Files, Worth, entries, read_regular};
use crate::layout::{HEAD, LOCK, PART};
use crate::{Error, sealed};

/// Format number of the layout on disk. Raise it when an older retro can no longer read the layout.
pub(crate) const FORMAT: u32 = 3;

/// Since this format the raw file of a session has no folder, and `normalized/` is made on request.
pub(crate) const FORMAT_OF_FLAT_RAW: u32 = 2;

/// Help for a store whose head is missing or unreadable.
pub(crate) const HELP: &str =
    "put store.json back from a backup; the captured files beside it are not touched";

/// Files that systems leave in folders that look empty to their users.
const LITTER: &[&str] = &[".DS_Store", ".localized", "Thumbs.db", "desktop.ini", "lost+found"];

/// The contents of `store.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub retro: String,
    pub format: u32,
    pub id: String,
    pub machine: String,
    pub key: String,
}

/// The fields that every format has.
#[derive(Deserialize)]
struct AnyHead {
    format: u32,
}

/// Reads the head of an existing store.
pub(crate) fn open(root: &Path) -> Result<Head, Error> {
    match read(root)? {
        Some(head) => Ok(head),
        None => {
            let refused = refuse(root, &entries(root)?);
            made_meanwhile(root, refused.unwrap_or(Error::Missing(root.to_owned())))
        }
    }
}

/// Reads the head, or makes a store of an empty or missing folder.
pub(crate) fn open_or_create(files: &Files) -> Result<Head, Error> {
    let root = &files.root;
    if let Some(head) = read(root)? {
        return Ok(head);
    }
    if let Some(refused) = refuse(root, &entries(root)?) {
        return made_meanwhile(root, refused);
    }
    if let Some(parent) = root.parent()
        && !parent.as_os_str().is_empty()
    {
        make_above(files, parent)?;
    }
    if root.is_symlink() && !root.exists() {
        return Err(Error::Dangling(root.clone()));
    }
    files.disk.create_dir(root).map_err(Error::io("make the folder", root))?;
    files.disk.restrict_dir(root).map_err(Error::io("take others' rights from", root))?;
    // Two programs may start at the same instant. The second finds a store.
    let lock = root.join(LOCK);
    files.own(&lock)?;
    files.disk.write_at(&lock, 0, &[]).map_err(Error::io("write", &lock))?;
    let held = OpenOptions::new().read(true).write(true).open(&lock).map_err(Error::io("open", &lock))?;
    held.lock().map_err(Error::io("lock", &lock))?;
    if let Some(head) = read(root)? {
        return Ok(head);
    }
    let head = Head {
        retro: "store".to_owned(),
        format: FORMAT,
        id: random_hex(16),
        machine: random_hex(16),
        key: random_hex(32),
    };
    let path = root.join(HEAD);
    let bytes = sealed::seal(&head).map_err(|error| Error::io("write", &path)(error.into()))?;
    files.put(&path, &bytes, Worth::Truth)?;
    files.sync(|_| Ok(()))?;
    if let Some(parent) = root.parent().filter(|parent| parent.is_dir()) {
        // The folder above may belong to another user, so that we cannot open it.
        let _ = files.disk.sync_dir(parent);
    }
    Ok(head)
}

/// Sets the number of the present format before the first file moves, so that an older retro does
/// not look for the file in its old place.
pub(crate) fn raise(files: &Files) -> Result<(), Error> {
    let path = files.root.join(HEAD);
    let Some(head) = read(&files.root)?.filter(|head| head.format < FORMAT) else { return Ok(()) };
    let head = Head { format: FORMAT, ..head };
    let bytes = sealed::seal(&head).map_err(|error| Error::io("write", &path)(error.into()))?;
    files.put(&path, &bytes, Worth::Truth)?;
    files.sync(|_| Ok(()))
}

/// Another program may have made the store between the two looks at the folder. It writes the head
/// before any other file.
fn made_meanwhile(root: &Path, refused: Error) -> Result<Head, Error> {
    read(root)?.ok_or(refused)
}

/// The problem with the head, for [`crate::Store::verify`].
pub(crate) fn check(root: &Path) -> Option<Error> {
    match read(root) {
        Ok(Some(_)) => None,
        Ok(None) => Some(Error::Missing(root.to_owned())),
        Err(error) => Some(error),
    }
}

fn read(root: &Path) -> Result<Option<Head>, Error> {
    let path = root.join(HEAD);
    let Some(bytes) = read_regular(&path)? else { return Ok(None) };
    let damaged = |what| Error::Damaged { path: path.clone(), what, help: HELP };
    // The check is the same in every format, so a damaged number is not mistaken for a later one.
    let any: AnyHead = sealed::unseal(&bytes).map_err(damaged)?;
    if any.format > FORMAT {
        return Err(Error::Newer { path, found: any.format, known: FORMAT });
    }
    sealed::unseal(&bytes).map(Some).map_err(damaged)
}

/// The reason why a folder without a head must be left alone. `None` if it is as good as empty: it
/// has only files of the system, and the two files of a store whose creation was interrupted.
fn refuse(root: &Path, found: &[Entry]) -> Option<Error> {
    let unfinished = format!("{HEAD}{PART}");
    let begun = |entry: &Entry| match entry.name.as_deref() {
        Some(name) => LITTER.contains(&name) || entry.is_file && (name == LOCK || name == unfinished),
        None => false,
    };
    if found.iter().all(begun) {
        return None;
    }
    let is_seed =
        ["claude-code", "codex", "vscode-copilot"].iter().any(|agent| root.join("raw").join(agent).is_dir())
            || (root.join("memories").join("items.jsonl").is_file() && root.join("normalized").is_dir());
    Some(if is_seed { Error::Seed(root.to_owned()) } else { Error::Foreign(root.to_owned()) })
}

/// Makes the folders above the root.
fn make_above(files: &Files, path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent()
        && !parent.as_os_str().is_empty()
    {
        make_above(files, parent)?;
    }
    files.disk.create_dir(path).map_err(Error::io("make the folder", path))
}

/// Random bytes as hexadecimal digits. The standard library offers the system's randomness only
/// through the keys of its hash maps.
pub(crate) fn random_hex(bytes: usize) -> String {
    let mut hasher = blake3::Hasher::new();
    for round in 0..8u8 {
        let mut keyed = std::hash::RandomState::new().build_hasher();
        keyed.write_u8(round);
        hasher.update(&keyed.finish().to_le_bytes());
    }
    hasher.update(&std::process::id().to_le_bytes());
    let mut random = vec![0; bytes];
    hasher.finalize_xof().fill(&mut random);
    random.iter().map(|byte| format!("{byte:02x}")).collect()
}
