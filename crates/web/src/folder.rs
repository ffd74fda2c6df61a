//! The folder of a dashboard. Writes only files that changed.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::Error;
use crate::chunk::Chunk;

/// The file that marks a folder as a dashboard and holds its state.
pub const STATE: &str = "state.json";

/// A folder under construction.
pub struct Folder {
    root: PathBuf,
    /// True if it was empty, so that there is nothing to remove.
    is_new: bool,
    /// Number of files written, and of files already up to date.
    pub written: u64,
    pub kept: u64,
    /// Number of bytes written.
    pub bytes: u64,
    /// Hashes of large chunks over all sessions, by name. To compress such a chunk only to compare
    /// it takes longer than to build it.
    pub hashes: BTreeMap<String, String>,
}

impl Folder {
    /// Opens a folder, or creates it. Refuses a folder with other files.
    pub fn open(root: &Path) -> Result<Folder, Error> {
        let is_ours = root.join(STATE).is_file();
        let is_empty = match std::fs::read_dir(root) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) if error.kind() == ErrorKind::NotFound => true,
            Err(source) => return Err(Error::Write { path: root.to_owned(), source }),
        };
        if !is_ours && !is_empty {
            return Err(Error::NotOurs { path: root.to_owned() });
        }
        let folder = Folder {
            root: root.to_owned(),
            is_new: is_empty,
            written: 0,
            kept: 0,
            bytes: 0,
            hashes: BTreeMap::new(),
        };
        make_dir(root)?;
        Ok(folder)
    }

    /// The folder's path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The content of a file, if it exists.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        std::fs::read(self.root.join(name)).ok()
    }

    /// Writes a chunk as a script, unless it is up to date.
    pub fn put_chunk(&mut self, chunk: &Chunk, build: &str) -> Result<(), Error> {
        self.put(&format!("data/{}.js", chunk.name), &chunk.script(build)?)
    }

    /// Like [`Folder::put_chunk`], for a chunk with no other writer. Skips the compression if the
    /// content is unchanged.
    pub fn put_large(&mut self, chunk: &Chunk, build: &str) -> Result<(), Error> {
        let hash = blake3::hash(&chunk.json).to_hex().as_str().get(..32).unwrap_or_default().to_owned();
        if self.hashes.get(&chunk.name) == Some(&hash) && self.has(&chunk.name) {
            self.kept += 1;
            return Ok(());
        }
        self.put_chunk(chunk, build)?;
        self.hashes.insert(chunk.name.clone(), hash);
        Ok(())
    }

    /// True if a chunk with this name exists.
    pub fn has(&self, chunk: &str) -> bool {
        self.root.join(format!("data/{chunk}.js")).is_file()
    }

    /// Writes a file, unless it has this content already.
    pub fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let written = self.place().write(name, bytes)?;
        self.count(&[written]);
        Ok(())
    }

    /// The path, for writers on other threads.
    pub fn place(&self) -> Place {
        Place(self.root.clone())
    }

    /// Counts files by other writers: their bytes, or `None` for a file that was up to date.
    pub fn count(&mut self, written: &[Option<u64>]) {
        self.written += written.iter().flatten().count() as u64;
        self.kept += written.iter().filter(|one| one.is_none()).count() as u64;
        self.bytes += written.iter().flatten().sum::<u64>();
    }

    /// Removes the chunks of a session that are not in `keep`.
    pub fn clear_session(&self, name: &str, keep: &HashSet<String>) -> Result<(), Error> {
        if self.is_new {
            return Ok(());
        }
        let Some((folder, file)) = name.rsplit_once('/') else { return Ok(()) };
        let folder = self.root.join("data").join(folder);
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(()) };
        for entry in entries.flatten() {
            let found = entry.file_name();
            let Some(found) = found.to_str() else { continue };
            let Some(part) = found.strip_prefix(file).and_then(|rest| rest.strip_prefix('.')) else {
                continue;
            };
            let is_ours = part.ends_with(".js") && part.matches('.').count() == 1;
            if is_ours && !keep.contains(found.trim_end_matches(".js")) {
                remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes a folder below `data`.
    pub fn clear(&self, name: &str) -> Result<(), Error> {
        match std::fs::remove_dir_all(self.root.join("data").join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// The path of a folder. Two threads may write to it, but not to the same file.
pub struct Place(PathBuf);

impl Place {
    /// Writes a file, unless it has this content already. Returns the bytes written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<Option<u64>, Error> {
        let path = self.0.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == bytes) {
            return Ok(None);
        }
        if let Some(parent) = path.parent() {
            make_dir(parent)?;
        }
        write_private(&path, bytes).map_err(|source| Error::Write { path: path.clone(), source })?;
        Ok(Some(bytes.len() as u64))
    }
}

fn make_dir(path: &Path) -> Result<(), Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|source| Error::Write { path: path.to_owned(), source })
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a temporary file, then renames it, so that a reader sees the old file or the new one.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut options = std::fs::File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&beside)?.write_all(bytes)?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_not_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(&dir.path().join("out")).unwrap();
        folder.put("a/b.js", b"1").unwrap();
        folder.put("a/b.js", b"1").unwrap();
        folder.put("a/b.js", b"2").unwrap();
        assert_eq!((folder.written, folder.kept), (2, 1));
    }

    #[test]
    fn a_folder_of_somebody_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("thesis.txt"), "mine").unwrap();
        assert!(matches!(Folder::open(dir.path()), Err(Error::NotOurs { .. })));
    }

    #[test]
    #[cfg(unix)]
    fn only_the_owner_may_read() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("out");
        Folder::open(&root).unwrap().put("data/x.js", b"1").unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (mode(&root), mode(&root.join("data")), mode(&root.join("data/x.js"))),
            (0o700, 0o700, 0o600)
        );
    }

    #[test]
    fn only_chunks_of_the_named_session_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(&dir.path().join("out")).unwrap();
        for name in ["claude.a.h", "claude.a.0", "claude.a.1", "claude.a.b.h", "claude.ab.h"] {
            folder.put(&format!("data/s/aa/{name}.js"), b"x").unwrap();
        }
        folder.put(STATE, b"{}").unwrap();
        let folder = Folder::open(&dir.path().join("out")).unwrap();
        folder.clear_session("s/aa/claude.a", &HashSet::from(["claude.a.h".to_owned()])).unwrap();
        let mut left: Vec<String> = std::fs::read_dir(dir.path().join("out/data/s/aa"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, ["claude.a.b.h.js", "claude.a.h.js", "claude.ab.h.js"]);
    }
}
