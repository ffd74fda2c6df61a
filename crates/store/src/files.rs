//! Writes below the root so that a stop at any instant does no harm.
//!
//! A small file is written beside its place and then renamed. Files of truth are recorded as
//! touched until [`Files::sync`] has flushed them to the medium. Derived files and the queue are
//! never synced.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::RESTORE;
use crate::layout::{MARK, part_of};
use crate::{Disk, Error};

/// The root and the disk that holds it.
#[derive(Debug)]
pub(crate) struct Files {
    pub root: PathBuf,
    pub disk: Arc<dyn Disk>,
    touched: Mutex<Touched>,
}

/// Files and folders that were written and may not be on the medium yet.
#[derive(Debug, Default)]
struct Touched {
    files: BTreeSet<PathBuf>,
    folders: BTreeSet<PathBuf>,
    /// Folders of the root that changed after their marks were renewed.
    changed: BTreeSet<String>,
}

/// Whether losing a file to a power cut matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    /// It is truth: never renamed before its bytes are on the medium.
    Truth,
    /// It can be made again.
    Cache,
}

impl Files {
    pub(crate) fn new(root: PathBuf, disk: Arc<dyn Disk>) -> Files {
        Files { root, disk, touched: Mutex::default() }
    }

    /// Refuses a path that passes through a link inside the root. The root itself and the folders
    /// above it may be links, because the user named them.
    pub(crate) fn own(&self, path: &Path) -> Result<(), Error> {
        let below = path.ancestors().take_while(|part| part.starts_with(&self.root) && *part != self.root);
        for part in below {
            if fs::symlink_metadata(part).is_ok_and(|meta| meta.is_symlink()) {
                return Err(Error::Link(part.to_owned()));
            }
        }
        Ok(())
    }

    /// Makes a folder below the root, with the folders in between.
    pub(crate) fn ensure_dir(&self, path: &Path) -> Result<(), Error> {
        self.own(path)?;
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent()
            && path != self.root
        {
            self.ensure_dir(parent)?;
        }
        self.disk.create_dir(path).map_err(Error::io("make the folder", path))
    }

    /// Writes whole files of truth. All are written beside their places first, so that there is one
    /// wait for the disk, not one for each file.
    pub(crate) fn put_all<T: Sync>(
        &self,
        items: &[T],
        of: impl Fn(&T) -> (&PathBuf, &Vec<u8>) + Sync,
    ) -> Result<(), Error> {
        for folder in items.iter().filter_map(|item| of(item).0.parent()).collect::<BTreeSet<_>>() {
            self.ensure_dir(folder)?;
        }
        let parts: Vec<PathBuf> = items.iter().map(|item| part_of(of(item).0)).collect();
        let put = || -> Result<(), Error> {
            for (item, part) in items.iter().zip(&parts) {
                self.own(part)?;
                self.disk.write(part, of(item).1).map_err(Error::io("write", part))?;
            }
            self.sync_paths(&parts.iter().collect::<Vec<_>>(), &[], &mut |_| Ok(()))?;
            for item in items {
                let path = of(item).0;
                self.disk.rename(&part_of(path), path).map_err(Error::io("put in place", path))?;
                self.touch_names(path);
            }
            Ok(())
        };
        put().inspect_err(|_| {
            // A full disk needs the space back. If this fails too, the next write clears it.
            parts.iter().for_each(|part| drop(self.disk.remove(part)));
        })
    }

    /// Replaces a whole file atomically.
    pub(crate) fn put(&self, path: &Path, bytes: &[u8], worth: Worth) -> Result<(), Error> {
        let folder = path.parent().unwrap_or(&self.root);
        self.ensure_dir(folder)?;
        let part = part_of(path);
        self.own(&part)?;
        let written = self.disk.write(&part, bytes).map_err(Error::io("write", &part));
        written.and_then(|()| self.settle_part(path, worth)).inspect_err(|_| {
            // A full disk needs the space back. If this fails too, the next write clears it.
            let _ = self.disk.remove(&part);
        })
    }

    /// Moves a file that was written beside its place to that place.
    pub(crate) fn settle_part(&self, path: &Path, worth: Worth) -> Result<(), Error> {
        let part = part_of(path);
        if worth == Worth::Truth {
            self.disk.sync_file(&part).map_err(Error::io("sync", &part))?;
        }
        self.disk.rename(&part, path).map_err(Error::io("put in place", path))?;
        if worth == Worth::Truth {
            self.touch_names(path);
        }
        Ok(())
    }

    /// Moves a file of truth to an unused path.
    pub(crate) fn move_to(&self, from: &Path, to: &Path) -> Result<(), Error> {
        self.own(from)?;
        self.own(to)?;
        self.disk.rename(from, to).map_err(Error::io("move", from))?;
        self.touch_names(to);
        Ok(())
    }

    /// Removes a file if it exists.
    pub(crate) fn remove(&self, path: &Path, worth: Worth) -> Result<bool, Error> {
        self.own(path.parent().unwrap_or(path))?;
        match self.disk.remove(path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::io("remove", path)(error)),
        }
        let mut touched = self.touched();
        touched.files.remove(path);
        if worth == Worth::Truth {
            touched.changed.extend(self.top(path));
            touched.folders.extend(path.parent().map(Path::to_owned));
        }
        Ok(true)
    }

    /// Removes an empty folder.
    pub(crate) fn remove_empty(&self, path: &Path) -> Result<(), Error> {
        match self.disk.remove_dir(path) {
            Err(error)
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) =>
            {
                Err(Error::io("remove", path)(error))
            }
            _ => {
                let mut touched = self.touched();
                touched.folders.remove(path);
                touched.folders.extend(path.parent().map(Path::to_owned));
                Ok(())
            }
        }
    }

    /// Removes a folder with everything in it, if it exists. Links are removed, not followed.
    pub(crate) fn remove_tree(&self, path: &Path, worth: Worth) -> Result<(), Error> {
        if fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
            return self.remove(path, worth).map(drop);
        }
        for entry in entries(path)? {
            if entry.is_dir {
                self.remove_tree(&entry.path, worth)?;
            } else {
                self.remove(&entry.path, worth)?;
            }
        }
        match self.disk.remove_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
            _ => {
                let mut touched = self.touched();
                touched.folders.remove(path);
                if worth == Worth::Truth {
                    touched.folders.extend(path.parent().map(Path::to_owned));
                }
                Ok(())
            }
        }
    }

    /// Records that a file's bytes must be synced.
    pub(crate) fn touch(&self, path: &Path) {
        let mut touched = self.touched();
        touched.changed.extend(self.top(path));
        touched.files.insert(path.to_owned());
    }

    /// Records that the names that lead to a file must be synced. All of them: an interrupted
    /// process may have made the folders.
    pub(crate) fn touch_names(&self, path: &Path) {
        let above = path.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        let mut touched = self.touched();
        touched.changed.extend(self.top(path));
        touched.folders.extend(above.map(Path::to_owned));
    }

    /// The folders of the root that changed since the last call.
    pub(crate) fn take_changed(&self) -> BTreeSet<String> {
        std::mem::take(&mut self.touched().changed)
    }

    /// The folder of the root that a path is in.
    fn top(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(&self.root).ok()?;
        let mut parts = below.iter().map(|part| part.to_string_lossy().into_owned());
        let (top, next) = (parts.next()?, parts.next()?);
        (next != MARK).then_some(top)
    }

    /// Waits until everything touched is on the medium, files before the folders that name them.
    /// Calls `synced` for each file. After an error, the files and folders stay touched.
    pub(crate) fn sync(&self, mut synced: impl FnMut(&Path) -> Result<(), Error>) -> Result<(), Error> {
        let taken = std::mem::take(&mut *self.touched());
        let result = self.sync_taken(&taken, &mut synced);
        if result.is_err() {
            let mut touched = self.touched();
            touched.files.extend(taken.files);
            touched.folders.extend(taken.folders);
        }
        result
    }

    fn sync_taken(
        &self,
        taken: &Touched,
        synced: &mut impl FnMut(&Path) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let files: Vec<&PathBuf> = taken.files.iter().collect();
        let folders: Vec<&PathBuf> = taken.folders.iter().collect();
        self.sync_paths(&files, &folders, synced)
    }

    /// Syncs files, then folders. For many of them it uses the system's call for a whole file
    /// system, if there is one and all of them are on it.
    fn sync_paths(
        &self,
        files: &[&PathBuf],
        folders: &[&PathBuf],
        synced: &mut impl FnMut(&Path) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if files.len() + folders.len() > MANY && self.is_one_device() {
            let all = self.disk.sync_everything(&self.root).map_err(Error::io("sync", &self.root))?;
            if all {
                return files.iter().try_for_each(|path| synced(path));
            }
        }
        // Files removed since they were touched need no sync.
        let there = |path: &Path, result: io::Result<()>| match result {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(Error::io("sync", path)(error)),
        };
        let kept = at_once(files, |path| there(path, self.disk.sync_file(path)))?;
        for (path, _) in files.iter().zip(kept).filter(|(_, kept)| *kept) {
            synced(path)?;
        }
        at_once(folders, |path| there(path, self.disk.sync_dir(path)))?;
        Ok(())
    }

    /// Whether the root and its folders are on one file system. A user may mount another disk at
    /// one of them.
    #[cfg(unix)]
    fn is_one_device(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        let device = |path: &Path| fs::symlink_metadata(path).map(|meta| meta.dev()).ok();
        let root = device(&self.root);
        let parts = fs::read_dir(&self.root).into_iter().flatten().flatten();
        root.is_some() && parts.into_iter().all(|part| device(&part.path()) == root)
    }

    #[cfg(not(unix))]
    fn is_one_device(&self) -> bool {
        false
    }

    fn touched(&self) -> MutexGuard<'_, Touched> {
        self.touched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One entry of a folder.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub path: PathBuf,
    /// Its name, if retro could have made it.
    pub name: Option<String>,
    pub is_dir: bool,
    /// True for a regular file, not for a link to one.
    pub is_file: bool,
    pub size: u64,
}

/// From this number on, one sync of the whole file system is cheaper, although that also waits for
/// writes of other programs.
const MANY: usize = 24;

/// Up to this number, items are done one after the other, because threads would cost more than they
/// save.
const FEW: usize = 16;

/// Threads that wait for the disk together, so that it can write their data in one go.
const WAITERS: usize = 8;

/// Does `work` on every item, many at the same time. Returns the results in order, or the first
/// error.
pub(crate) fn at_once<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    if items.len() <= FEW {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let share = || -> Result<Vec<(usize, R)>, Error> {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return Ok(done) };
            done.push((at, work(item)?));
        }
    };
    let mut results = Vec::with_capacity(items.len());
    std::thread::scope(|scope| {
        let waiters: Vec<_> = (0..WAITERS).map(|_| scope.spawn(share)).collect();
        for waiter in waiters {
            match waiter.join() {
                Ok(part) => results.extend(part?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(())
    })?;
    results.sort_unstable_by_key(|(at, _)| *at);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// The entries of a folder, in any order. Empty if the folder does not exist.
fn listed(folder: &Path) -> Result<Vec<fs::DirEntry>, Error> {
    match fs::read_dir(folder).and_then(Iterator::collect) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(Error::io("list", folder)),
    }
}

/// The entries of a folder by name. Empty if the folder does not exist.
pub(crate) fn entries(folder: &Path) -> Result<Vec<Entry>, Error> {
    let mut found = Vec::new();
    for entry in listed(folder)? {
        let meta = match entry.metadata() {
            Ok(meta) => meta,
            // Removed after it was listed: other programs come and go.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Error::io("look at", &entry.path())(error)),
        };
        found.push(Entry {
            path: entry.path(),
            name: entry.file_name().to_str().map(str::to_owned),
            is_dir: meta.is_dir(),
            is_file: meta.is_file(),
            size: meta.len(),
        });
    }
    found.sort_by(|a, b| a.path.file_name().cmp(&b.path.file_name()));
    Ok(found)
}

/// Total bytes of the entries of a folder. 0 if the folder does not exist.
pub(crate) fn bytes_in(folder: &Path) -> Result<u64, Error> {
    Ok(listed(folder)?.iter().filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum())
}

/// The sorted names of the regular files in a folder. Empty if the folder does not exist. Reads no
/// metadata, because there may be thousands of files.
pub(crate) fn file_names(folder: &Path) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for entry in listed(folder)? {
        if entry.file_type().is_ok_and(|kind| kind.is_file()) {
            found.extend(entry.file_name().to_str().map(str::to_owned));
        }
    }
    found.sort();
    Ok(found)
}

/// Largest file that is read whole, in bytes. Ours are far smaller, but a store may come from
/// another person.
const WHOLE_BYTES_MAX: u64 = 1 << 30;

/// The bytes of a regular file of ours. `None` if it does not exist. Any other kind of file is an
/// error: a pipe would block us, and a device would never end.
pub(crate) fn read_regular(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    let Some(meta) = regular(path)? else { return Ok(None) };
    if meta.len() > WHOLE_BYTES_MAX {
        let what = "it is larger than anything retro writes".to_owned();
        return Err(Error::Damaged { path: path.to_owned(), what, help: RESTORE });
    }
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

/// Opens a regular file of any size. `None` if it does not exist.
pub(crate) fn open_regular(path: &Path) -> Result<Option<File>, Error> {
    if regular(path)?.is_none() {
        return Ok(None);
    }
    match File::open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("open", path)(error)),
    }
}

fn regular(path: &Path) -> Result<Option<fs::Metadata>, Error> {
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(Error::io("look at", path)(error)),
    };
    if meta.is_symlink() {
        return Err(Error::Link(path.to_owned()));
    }
    if !meta.is_file() {
        let what = "it is not a regular file".to_owned();
        return Err(Error::Damaged { path: path.to_owned(), what, help: RESTORE });
    }
    Ok(Some(meta))
}
