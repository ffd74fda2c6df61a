//! Stopped after every single operation, a store stays whole, and doing the same
//! again gives the same content.

use super::*;
use crate::testing::{FailingDisk, Fails};
use crate::{Disk, Error, Job, layout};

const LOG: &[u8] = b"{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}\n";

fn second() -> Slot {
    Slot::Session { key: key(), source: SourceKey::main(), revision: 2 }
}

fn state() -> Slot {
    Slot::Session { key: key(), source: SourceKey::new("state"), revision: 1 }
}

fn shared() -> Slot {
    Slot::Shared { agent: "codex".to_owned(), name: "history".to_owned(), revision: 1 }
}

/// Brings a raw file up to `bytes`, from wherever it is.
fn capture(store: &Store, slot: &Slot, bytes: &[u8]) -> Result<(), Error> {
    let archive = store.archive(slot);
    let start = archive.tail()?.map_or(0, |commit| commit.end);
    let rest = &bytes[(start as usize).min(bytes.len())..];
    let (once, twice) = rest.split_at(rest.len() / 2);
    let upto = bytes.len() - twice.len();
    archive.append(once, lines(&bytes[..upto]))?;
    archive.append(twice, lines(bytes)).map(drop)
}

/// Everything a sync does to a store, from nothing to packed.
fn scenario(root: &std::path::Path, disk: Arc<dyn Disk>) -> Result<(), Error> {
    let store = Store::open_or_create(root, disk)?;
    let _lock = store.try_lock()?;
    store.enqueue(&Job::default())?;
    for part in [9, 16, LOG.len()] {
        capture(&store, &slot(), &LOG[..part])?;
        let mut file = session_file(1);
        file.pins.insert(format!("{part} bytes"));
        if part == LOG.len() {
            capture(&store, &second(), b"another line of growth\n")?;
            capture(&store, &shared(), b"one of many\n")?;
            store.archive(&state()).replace(b"{\"now\":true}", 0)?;
            file = session_file(2);
        }
        store.put_session(&file)?;
        store.sync_all()?;
    }
    store.archive(&slot()).repack()?;
    store.put_normalized(&key(), "stamp", &[])?;
    store.put_rendered(&key(), "# s-1")?;
    store.sync_all()?;
    for (id, _) in store.jobs()? {
        store.done(&id)?;
    }
    Ok(())
}

fn assert_complete(store: &Store) {
    assert_sound(store);
    assert_eq!(bytes_of(&store.archive(&slot())), LOG);
    assert!(store.archive(&slot()).is_packed().unwrap());
    assert_eq!(bytes_of(&store.archive(&second())), b"another line of growth\n");
    assert_eq!(bytes_of(&store.archive(&shared())), b"one of many\n");
    assert_eq!(bytes_of(&store.archive(&state())), b"{\"now\":true}");
    assert_eq!(store.session(&key()).unwrap(), Some(session_file(2)));
    assert_eq!(store.normalized(&key(), "stamp").unwrap(), Some(Vec::new()));
    assert_eq!(store.jobs().unwrap(), []);
}

#[test]
fn a_stop_after_any_operation_loses_nothing() {
    let undisturbed = tempfile::tempdir().unwrap();
    let disk = Arc::new(FailingDisk::counting());
    scenario(&undisturbed.path().join("store"), disk.clone()).unwrap();
    let points = disk.operations();
    println!("{points} places to stop at");
    assert!(points > 60, "the scenario shrank to {points} operations");

    for fails in [Fails::Once, Fails::ForEver] {
        for works in 0..points {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("store");
            let disk = Arc::new(FailingDisk::after(works, fails));
            let result = scenario(&root, disk.clone());
            assert!(disk.has_failed());
            // Syncing the folder above the root is the one thing done only if it can be.
            assert!(result.is_err() || fails == Fails::Once, "stop {works} went by unseen");
            if let Ok(store) = Store::open(&root, Arc::new(RealDisk)) {
                assert_sound(&store);
                let sofar = bytes_of(&store.archive(&slot()));
                assert!(LOG.starts_with(&sofar), "stop {works}: {}", String::from_utf8_lossy(&sofar));
            }
            scenario(&root, Arc::new(RealDisk)).unwrap_or_else(|error| panic!("after stop {works}: {error}"));
            assert_complete(&Store::open(&root, Arc::new(RealDisk)).unwrap());
        }
    }
}

#[test]
fn the_same_handle_goes_on_after_a_failure() {
    let undisturbed = tempfile::tempdir().unwrap();
    let disk = Arc::new(FailingDisk::counting());
    let steps = |store: &Store| -> Result<(), Error> {
        capture(store, &slot(), LOG)?;
        store.put_session(&session_file(1))?;
        store.sync_all()?;
        store.archive(&slot()).repack().map(drop)
    };
    let store = Store::open_or_create(&undisturbed.path().join("store"), disk.clone()).unwrap();
    let made = disk.operations();
    steps(&store).unwrap();
    for works in made..disk.operations() {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::new(FailingDisk::after(works, Fails::Once));
        let store = Store::open_or_create(&folder.path().join("store"), disk).unwrap();
        assert!(steps(&store).is_err(), "stop {works} went by unseen");
        assert_sound(&store);
        steps(&store).unwrap();
        assert_sound(&store);
        assert_eq!(bytes_of(&store.archive(&slot())), LOG);
        assert_eq!(again(&store).session(&key()).unwrap(), Some(session_file(1)));
        assert!(store.archive(&slot()).is_packed().unwrap());
    }
}

#[test]
fn an_append_syncs_its_file_and_writes_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(FailingDisk::counting());
    let store = Store::open_or_create(&folder.path().join("store"), disk.clone()).unwrap();
    capture(&store, &slot(), LOG).unwrap();
    store.sync_all().unwrap();

    let before = disk.operations();
    store.archive(&slot()).append(b"more\n", 5).unwrap();
    assert_eq!(disk.operations() - before, 1);
    store.sync_all().unwrap();
    // The file, the mark in it that says so, and the mark of the folder, which is not waited for.
    assert_eq!(disk.operations() - before, 4);
    store.sync_all().unwrap();
    assert_eq!(disk.operations() - before, 4);
}

#[test]
fn names_change_only_after_what_they_stand_for_is_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let disk = Arc::new(FailingDisk::counting());
    scenario(&root, disk.clone()).unwrap();
    let log = disk.log();
    let mut unsynced = std::collections::BTreeSet::new();
    let mut renamed = 0;
    let mut synced_just_now = std::collections::BTreeSet::new();
    for (operation, path) in &log {
        let derived =
            ["queue", "normalized", "rendered"].iter().any(|part| path.starts_with(root.join(part)));
        assert!(!derived || !operation.starts_with("sync"), "{operation} {}", path.display());
        match *operation {
            // The mark that settles a commit follows the sync, and nobody waits for it.
            "write_at" if synced_just_now.remove(path) => continue,
            // The mark of a folder is no truth.
            "write" if path.ends_with(layout::MARK) => continue,
            "write" | "write_at" => drop(unsynced.insert(path.clone())),
            "sync_everything" => unsynced.clear(),
            "sync_file" => {
                unsynced.remove(path);
                synced_just_now.insert(path.clone());
                continue;
            }
            "rename" if !derived => {
                renamed += 1;
                assert!(!unsynced.contains(&layout::part_of(path)), "{} came too early", path.display());
                // A session file appears only when the raw files it may name are on disk.
                let raw = unsynced.iter().any(|path| path.starts_with(root.join("raw")));
                assert!(
                    !raw || !path.starts_with(root.join("sessions")),
                    "{} came too early",
                    path.display()
                );
            }
            _ => {}
        }
        synced_just_now.clear();
    }
    assert!(renamed >= 5, "{log:?}");
}
