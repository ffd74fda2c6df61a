//! A store of format 1 is taken over: stopped after any operation, or with the power cut
//! there, it stays whole, and the next run goes on.

use super::*;
use crate::head::{self, Head};
use crate::testing::{FailingDisk, Fails, Loss, PowerDisk};
use crate::{Disk, Error, layout, sealed};
use std::fs;
use std::path::Path;

const LOG: &[u8] = b"{\"n\":1}\n{\"n\":2}\n";

fn of(id: &str, source: &str, revision: u32) -> Slot {
    let source = if source == "m" { SourceKey::main() } else { SourceKey::new(source) };
    Slot::Session { key: SessionKey::new("claude", id), source, revision }
}

/// What the store of [`older`] holds.
fn slots() -> Vec<Slot> {
    let long = "x".repeat(300);
    vec![of("s-1", "m", 1), of("S 2", "m", 1), of("S 2", "m", 2), of("S 2", "agent", 1), of(&long, "m", 1)]
}

/// Puts a main raw file where format 1 had it.
fn put_back(store: &Store, slot: &Slot) {
    if let Some(earlier) = layout::earlier_raw_file(store.root(), slot) {
        fs::create_dir_all(earlier.parent().unwrap()).unwrap();
        fs::rename(layout::raw_file(store.root(), slot), earlier).unwrap();
    }
}

fn set_format(root: &Path, format: u32) {
    let head = Head { format, ..head::open(root).unwrap() };
    fs::write(root.join(layout::HEAD), sealed::seal(&head).unwrap()).unwrap();
}

/// A store as format 1 left it.
fn older(root: &Path) {
    let store = Store::open_or_create(root, Arc::new(RealDisk)).unwrap();
    let mut files = std::collections::BTreeMap::new();
    for slot in slots() {
        store.archive(&slot).append(LOG, 2).unwrap();
        let Slot::Session { key, source, revision } = slot else { panic!() };
        let file = files.entry(key.clone()).or_insert_with(|| SessionFile::new(key));
        let (kind, format) = (SourceKind::Log, "json_lines".to_owned());
        file.sources.insert(source, SourceEntry { kind, format, revisions: revision, places: [].into() });
    }
    for file in files.values() {
        store.put_session(file).unwrap();
    }
    store.sync_all().unwrap();
    store.put_normalized(&key(), "stamp", &[]).unwrap();
    slots().iter().for_each(|slot| put_back(&store, slot));
    set_format(root, 1);
}

fn take_over(root: &Path, disk: Arc<dyn Disk>) -> Result<(), Error> {
    let store = Store::open(root, disk)?;
    let lock = store.try_lock()?.unwrap();
    store.take_over(&lock, &|| false)?;
    store.sync_all()
}

/// Everything can be read, wherever it is.
#[track_caller]
fn assert_readable(root: &Path) {
    let store = Store::open(root, Arc::new(RealDisk)).unwrap();
    assert_sound(&store);
    for slot in slots() {
        assert_eq!(bytes_of(&store.archive(&slot)), LOG, "{slot}");
        let Slot::Session { key, .. } = &slot else { panic!() };
        assert!(store.raw_slots(key).unwrap().contains(&slot), "{slot}");
        assert!(store.session(key).unwrap().is_some());
    }
}

#[track_caller]
fn assert_taken_over(root: &Path) {
    assert_readable(root);
    let store = Store::open(root, Arc::new(RealDisk)).unwrap();
    assert!(!store.is_older());
    for slot in slots() {
        assert!(layout::raw_file(root, &slot).is_file(), "{slot}");
        assert!(layout::earlier_raw_file(root, &slot).is_none_or(|earlier| !earlier.exists()), "{slot}");
    }
    assert!(!layout::raw_folder(root, &key()).exists(), "a folder of its own for one file");
    assert!(!root.join("normalized").exists());
    assert_eq!(store.raw_keys().unwrap().len(), 2);
    let report = store.verify(true, &mut |_| {}).unwrap();
    assert_eq!((report.problems, report.notes), (vec![], vec![]));
}

fn copy_of(root: &Path, to: &Path) {
    for (path, bytes) in files_below(root) {
        let path = to.join(path.strip_prefix(root).unwrap());
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn an_older_store_is_read_as_it_is_and_taken_over_after_any_stop() {
    let folder = tempfile::tempdir().unwrap();
    let [before, whole] = ["before", "whole"].map(|name| folder.path().join(name));
    older(&before);
    assert_readable(&before);
    copy_of(&before, &whole);
    let disk = Arc::new(FailingDisk::counting());
    take_over(&whole, disk.clone()).unwrap();
    assert_taken_over(&whole);
    let points = disk.operations();
    assert!(points > 15, "only {points} operations");
    for fails in [Fails::Once, Fails::ForEver] {
        for works in 0..points {
            let root = folder.path().join(format!("{fails:?}-{works}"));
            copy_of(&before, &root);
            drop(take_over(&root, Arc::new(FailingDisk::after(works, fails))));
            assert_readable(&root);
            take_over(&root, Arc::new(RealDisk)).unwrap();
            assert_taken_over(&root);
        }
    }
}

#[test]
fn a_power_cut_while_a_store_is_taken_over_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let before = folder.path().join("before");
    older(&before);
    let disk = Arc::new(FailingDisk::counting());
    let whole = folder.path().join("whole");
    copy_of(&before, &whole);
    take_over(&whole, disk.clone()).unwrap();
    for works in 0..=disk.operations() {
        for loss in [Loss::All, Loss::Some(works), Loss::Some(works + 1000)] {
            let root = folder.path().join(format!("{works}-{loss:?}"));
            copy_of(&before, &root);
            let power = PowerDisk::over(&root, FailingDisk::after(works, Fails::ForEver)).unwrap();
            let power = Arc::new(power);
            drop(take_over(&root, power.clone()));
            power.cut(loss).unwrap();
            assert_readable(&root);
            take_over(&root, Arc::new(RealDisk)).unwrap();
            assert_taken_over(&root);
        }
    }
}

#[test]
fn what_an_older_backup_brings_back_is_kept_where_it_goes_on() {
    let (_folder, store) = store();
    let (main, copy) = (of("s-1", "m", 1), of("copy", "m", 1));
    let bring = |log: &[u8], lines: u64| {
        store.archive(&copy).append(log, lines).unwrap();
        store.sync_all().unwrap();
        let earlier = layout::earlier_raw_file(store.root(), &main).unwrap();
        fs::create_dir_all(earlier.parent().unwrap()).unwrap();
        fs::rename(store.slot_path(&copy), &earlier).unwrap();
        store.remove_raw(&SessionKey::new("claude", "copy")).unwrap();
        let lock = store.try_lock().unwrap().unwrap();
        store.take_over(&lock, &|| false).unwrap();
        earlier.exists()
    };
    store.archive(&main).append(LOG, 2).unwrap();
    store.sync_all().unwrap();
    assert!(!bring(b"{\"n\":1}\n", 1), "a beginning of what is there goes");
    assert_eq!(bytes_of(&store.archive(&main)), LOG);
    let more = [LOG, b"{\"n\":3}\n"].concat();
    assert!(!bring(&more, 3), "one that goes on takes its place");
    assert_eq!(bytes_of(&store.archive(&main)), more);
    assert!(bring(b"something else\n", 1), "another text stays where it is");
    assert_eq!(bytes_of(&store.archive(&main)), more);
}
