//! Which folders are a store, and who may write to it.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use super::*;
use crate::{Error, sealed};

fn create(root: &Path) -> Result<Store, Error> {
    Store::open_or_create(root, Arc::new(RealDisk))
}

#[test]
fn a_store_opens_as_what_it_was_made() {
    let (_folder, store) = store();
    let other = again(&store);
    assert_eq!(store.id(), other.id());
    assert_eq!(store.hash_key(), other.hash_key());
    assert_eq!((store.format(), store.id().len(), store.machine().len()), (3, 32, 32));
    let (_elsewhere, stranger) = super::store();
    assert_ne!(store.id(), stranger.id());
    assert_ne!(store.hash_key(), stranger.hash_key());
}

#[test]
fn folders_of_others_are_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("thesis.txt"), "mine").unwrap();
    assert!(matches!(create(root), Err(Error::Foreign(_))));
    assert!(matches!(Store::open(root, Arc::new(RealDisk)), Err(Error::Foreign(_))));
    assert_eq!(files_below(root), [(root.join("thesis.txt"), b"mine".to_vec())]);

    let file = root.join("thesis.txt");
    assert!(create(&file).is_err());
    let nothing = root.join("nothing");
    assert!(matches!(Store::open(&nothing, Arc::new(RealDisk)), Err(Error::Missing(_))));
    assert!(!nothing.exists());
}

#[test]
fn a_store_of_the_python_program_is_told_what_to_do() {
    for inside in ["raw/claude-code/a", "raw/codex/b", "raw/vscode-copilot/c"] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join(inside)).unwrap();
        let error = create(folder.path()).unwrap_err();
        assert!(matches!(error, Error::Seed(_)));
        let advice = format!("retro sync --from {}", folder.path().display());
        assert!(error.to_string().contains(&advice), "{error}");
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("memories")).unwrap();
    fs::create_dir_all(folder.path().join("normalized")).unwrap();
    fs::write(folder.path().join("memories/items.jsonl"), "").unwrap();
    assert!(matches!(create(folder.path()), Err(Error::Seed(_))));
}

#[test]
fn a_newer_store_is_refused_with_advice() {
    let (_folder, store) = store();
    let newer = serde_json::json!({"retro": "store", "format": 7, "else": []});
    fs::write(store.root().join("store.json"), sealed::seal(&newer).unwrap()).unwrap();
    for result in [create(store.root()), Store::open(store.root(), Arc::new(RealDisk))] {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Newer { found: 7, known: 3, .. }));
        assert!(error.to_string().contains("update retro"), "{error}");
    }
}

#[test]
fn a_store_whose_making_was_cut_short_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("lock"), "").unwrap();
    fs::write(folder.path().join("store.json.part"), "{\"ret").unwrap();
    let store = create(folder.path()).unwrap();
    assert_sound(&store);
}

#[test]
#[cfg(unix)]
fn what_is_made_belongs_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let store = create(folder.path()).unwrap();
    store.archive(&slot()).append(b"x", 0).unwrap();
    store.put_session(&session_file(1)).unwrap();
    store.sync_all().unwrap();
    store.index().unwrap().set_meta("a", "b").unwrap();
    let rights = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(rights(store.root()), 0o700);
    assert_eq!(rights(&store.root().join("raw")), 0o700);
    for (path, _) in files_below(store.root()) {
        assert_eq!(rights(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn one_writer_at_a_time() {
    let (_folder, store) = store();
    let other = again(&store);
    let held = store.try_lock().unwrap().unwrap();
    assert!(other.try_lock().unwrap().is_none());
    let asked = Cell::new(0);
    let patience = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    assert!(other.lock(&patience).unwrap().is_none());
    assert_eq!(asked.get(), 3);
    drop(held);
    assert!(other.lock(&|| false).unwrap().is_some());
    assert!(store.try_lock().unwrap().is_some());
}

#[test]
fn a_lock_file_that_was_removed_comes_back() {
    let (_folder, store) = store();
    fs::remove_file(store.root().join("lock")).unwrap();
    assert!(store.try_lock().unwrap().is_some());
}

#[test]
fn sizes_add_up() {
    let (_folder, store) = store();
    store.archive(&slot()).append(b"x", 0).unwrap();
    store.put_session(&session_file(1)).unwrap();
    store.put_normalized(&key(), "s", &[]).unwrap();
    store.put_rendered(&key(), "twelve bytes").unwrap();
    store.sync_all().unwrap();
    let sizes = store.sizes().unwrap();
    let all: u64 = files_below(store.root()).iter().map(|(_, bytes)| bytes.len() as u64).sum();
    assert_eq!(sizes.values().sum::<u64>(), all);
    assert_eq!(sizes["rendered"], 12);
    assert!(sizes["raw"] > 112 && sizes["sessions"] > 0 && sizes["store.json"] > 0, "{sizes:?}");
}
