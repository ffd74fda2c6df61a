//! A write that fails or is cut at any step leaves the old state or the new one.

use super::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fails from the given operation on, as if the process had ended there. Of the bytes of
/// the operation itself a part is written.
#[derive(Debug)]
struct Failing {
    left: AtomicUsize,
    /// Of ten tenths, how much of the failing write is done.
    tenths: usize,
}

impl Failing {
    fn after(operations: usize, tenths: usize) -> Arc<Failing> {
        Arc::new(Failing { left: AtomicUsize::new(operations), tenths })
    }

    fn step(&self) -> io::Result<()> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        left.map(|_| ()).map_err(|_| io::Error::other("stopped"))
    }

    /// Whether this is the very operation that fails first.
    fn is_last(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }

    fn bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[..bytes.len() * self.tenths / 10]
    }
}

impl Disk for Failing {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        Hasty.create_dir(path)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if self.is_last() {
            Hasty.write(path, self.bytes(bytes))?;
        }
        self.step()?;
        Hasty.write(path, bytes)
    }

    fn write_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.is_last() {
            Hasty.write_at(path, offset, self.bytes(bytes))?;
        }
        self.step()?;
        Hasty.write_at(path, offset, bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        Hasty.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        Hasty.remove(path)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        Hasty.sync_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        Hasty.sync_dir(path)
    }
}

/// Runs the story on a disk that stops after `operations`, and says how far it came: the
/// writes that were confirmed, and whether all were.
fn run(folder: &Path, disk: Arc<dyn Disk>, story: &[Write]) -> usize {
    let Ok(mut vectors) = Vectors::open_on(disk, folder, MODEL, DIM) else { return 0 };
    let done =
        story.iter().take_while(|write| write.apply(&mut vectors).is_ok() && vectors.copy_if_c().is_ok());
    done.count()
}

impl Vectors {
    /// A copy in the middle of the story, so that swapping is tried too.
    fn copy_if_c(&mut self) -> Result<(), Error> {
        if self.mark() == "c" { self.copy() } else { Ok(()) }
    }
}

#[test]
fn a_stop_at_any_operation_leaves_the_old_state_or_the_new_one() {
    let story = story();
    let states = states(&story);
    for tenths in [0, 5, 10] {
        for operations in 0.. {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("vectors");
            let done = run(&path, Failing::after(operations, tenths), &story);
            let found = content(&open(&path));
            let place = format!("after {operations} operations, {tenths} tenths");
            assert!(found == states[done] || states.get(done + 1) == Some(&found), "{place}: {found:?}");

            // The rest of the story goes on from there.
            let mut vectors = open(&path);
            let from = states.iter().position(|state| *state == found).unwrap();
            for write in &story[from..] {
                write.apply(&mut vectors).unwrap();
            }
            assert_eq!(content(&open(&path)), *states.last().unwrap(), "{place}");
            if done == story.len() {
                break;
            }
        }
    }
}

#[test]
fn the_same_process_goes_on_after_a_failed_write() {
    let story = story();
    let states = states(&story);
    for operations in 0..40 {
        let folder = tempfile::tempdir().unwrap();
        let failing = Failing::after(operations, 5);
        let mut vectors = Vectors::open_on(failing.clone(), folder.path(), MODEL, DIM).unwrap();
        for write in &story {
            if write.apply(&mut vectors).is_err() {
                failing.left.store(usize::MAX, Ordering::SeqCst);
                write.apply(&mut vectors).unwrap();
            }
        }
        assert_eq!(content(&vectors), *states.last().unwrap());
        assert_eq!(content(&open(folder.path())), *states.last().unwrap());
    }
}
