//! A write that fails or is cut at any step leaves the old state or the new one.

use super::*;
use retro_disk::testing::Fails;

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
        for operations in 0u64.. {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("vectors");
            let disk = FailingDisk::after(operations, Fails::ForEver).leaving(tenths);
            let done = run(&path, Arc::new(disk), &story);
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
    for operations in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::new(FailingDisk::after(operations, Fails::Once));
        let mut vectors = Vectors::open_on(disk.clone(), folder.path(), MODEL, DIM).unwrap();
        for write in &story {
            if write.apply(&mut vectors).is_err() {
                write.apply(&mut vectors).unwrap();
            }
        }
        assert_eq!(content(&vectors), *states.last().unwrap());
        assert_eq!(content(&open(folder.path())), *states.last().unwrap());
        if !disk.has_failed() {
            break;
        }
    }
}
