//! A store of an older format is taken over: stopped after any operation, or with the power cut
//! there, it stays whole, and the next run goes on.

use super::*;
use crate::documents::{self, Form, Kind};
use crate::head::{self, Head};
use crate::testing::{FailingDisk, Fails, Loss, PowerDisk};
use crate::{DIGESTS, Disk, Error, FACTS, LEDGER, layout, lines, sealed};
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

/// Puts the sections of a document into files of their own, as formats 1 and 2 had them.
fn take_apart(store: &Store, key: &SessionKey) {
    let mined = [Kind::mined("rules"), Kind::mined_prompt("rules")];
    for kind in documents::sections().cloned().chain(mined) {
        let Some(text) = store.document(&kind, key).unwrap() else { continue };
        let text = match kind.form {
            Form::Object => {
                sealed::seal(&serde_json::from_slice::<serde_json::Value>(&text).unwrap()).unwrap()
            }
            Form::Text => text,
            _ => {
                let text = String::from_utf8(text).unwrap();
                let bodies = text.lines().map(|line| format!("{},", line.strip_suffix('}').unwrap()));
                let line = |body: String| format!("{body}\"check\":\"{}\"}}\n", lines::digits(&body));
                bodies.map(line).collect::<String>().into_bytes()
            }
        };
        let path = kind.earlier_path(store.root(), key).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        if kind.form != Form::Text {
            fs::write(store.root().join(kind.earlier().unwrap().0).join(layout::MARK), "mark").unwrap();
        }
    }
    fs::remove_file(store.session_path(key)).unwrap();
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
    for key in files.keys() {
        store.put_lines(&LEDGER, key, &[serde_json::json!({"key": key.id})]).unwrap();
        store.put_object(&DIGESTS, key, &serde_json::json!({"version": 1, "agent": key.agent})).unwrap();
        store
            .put_lines(&FACTS, key, &[serde_json::json!({"observed_at": "2026-01-01T00:00:00.000Z"})])
            .unwrap();
        store.put_mined("rules", key, Some((b"{\"rule\": 1}\n", "a rule"))).unwrap();
    }
    store.sync_all().unwrap();
    store.put_normalized(&key(), "stamp", &[]).unwrap();
    files.keys().for_each(|key| take_apart(&store, key));
    slots().iter().for_each(|slot| put_back(&store, slot));
    set_format(root, 1);
}

#[test]
fn a_store_of_format_2_keeps_what_was_normalized_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = Store::open_or_create(&root, Arc::new(RealDisk)).unwrap();
    store.archive(&slot()).append(LOG, 2).unwrap();
    store.put_session(&session_file(1)).unwrap();
    store.put_lines(&LEDGER, &key(), &[serde_json::json!({"key": "s-1"})]).unwrap();
    store.sync_all().unwrap();
    store.put_normalized(&key(), "stamp", &[]).unwrap();
    take_apart(&store, &key());
    set_format(&root, 2);
    let store = again(&store);
    assert!(store.is_older());
    assert!(store.session(&key()).unwrap().is_some());
    take_over(&root, Arc::new(RealDisk)).unwrap();
    let store = again(&store);
    assert!(!store.is_older() && store.normalized_path(&key()).is_file());
    assert_eq!(store.lines::<serde_json::Value>(&LEDGER, &key()).unwrap().len(), 1);
    assert!(!root.join("ledger").exists());
    assert_sound(&store);
}

#[test]
fn a_text_of_an_older_backup_replaces_a_damaged_section_and_no_good_one() {
    let (_folder, store) = store();
    store.put_session(&session_file(1)).unwrap();
    store.sync_all().unwrap();
    let line = |number: u32| vec![serde_json::json!({"key": number})];
    store.put_lines(&LEDGER, &key(), &line(1)).unwrap();
    store.sync_all().unwrap();
    take_apart(&store, &key());
    fs::copy(LEDGER.earlier_path(store.root(), &key()).unwrap(), store.root().join("backup")).unwrap();
    let bring = || {
        let path = LEDGER.earlier_path(store.root(), &key()).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(store.root().join("backup"), &path).unwrap();
        take_over(store.root(), Arc::new(RealDisk)).unwrap();
        (again(&store).lines::<serde_json::Value>(&LEDGER, &key()), path.exists())
    };
    bring().0.unwrap();
    store.put_lines(&LEDGER, &key(), &line(2)).unwrap();
    store.sync_all().unwrap();
    let (kept, stays) = bring();
    assert_eq!(kept.unwrap(), line(2), "what is there is good");
    assert!(stays);
    let path = store.session_path(&key());
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(store.lines::<serde_json::Value>(&LEDGER, &key()).is_err());
    let (kept, stays) = bring();
    assert_eq!((&kept.unwrap()[0]["key"], stays), (&line(1)[0]["key"], false));
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
        let ledger: Vec<serde_json::Value> = store.lines(&LEDGER, key).unwrap();
        assert_eq!(ledger[0]["key"], *key.id);
        assert_eq!(store.object::<serde_json::Value>(&DIGESTS, key).unwrap().unwrap()["agent"], "claude");
        assert_eq!(store.lines::<serde_json::Value>(&FACTS, key).unwrap().len(), 1);
        assert_eq!(store.mined("rules", key).unwrap().unwrap(), b"{\"rule\": 1}\n");
        assert_eq!(store.mined_prompt("rules", key).unwrap().unwrap(), b"a rule");
        assert_eq!(store.mined_methods(key).unwrap(), ["rules".to_owned()].into());
    }
    assert_eq!(store.all_mined().unwrap().len(), 3);
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
    for folder in ["normalized", "ledger", "digests", "facts", "mined"] {
        assert!(!root.join(folder).exists(), "{folder}");
    }
    assert!(
        files_below(&root.join("sessions"))
            .iter()
            .all(|(path, _)| !path.to_string_lossy().ends_with(".json"))
    );
    assert_eq!(store.session_keys().unwrap().len(), 3);
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
