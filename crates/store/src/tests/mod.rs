//! Stories about whole stores: what comes back, and what survives.

mod archive;
mod damage;
mod faults;
mod folders;
mod index;
mod sessions;
mod takeover;

use retro_model::{SessionKey, SourceKey, SourceKind};
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;

use crate::{Archive, RealDisk, SessionFile, Slot, SourceEntry, Store};

/// A store in a folder of its own.
fn store() -> (TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(&folder.path().join("store"), Arc::new(RealDisk)).unwrap();
    (folder, store)
}

/// The same store as another process would open it.
fn again(store: &Store) -> Store {
    Store::open(store.root(), Arc::new(RealDisk)).unwrap()
}

fn key() -> SessionKey {
    SessionKey::new("claude", "s-1")
}

fn slot() -> Slot {
    Slot::Session { key: key(), source: SourceKey::main(), revision: 1 }
}

/// A session file that lists this many revisions of the main source.
fn session_file(revisions: u32) -> SessionFile {
    let mut file = SessionFile::new(key());
    let places = ["home/s-1.jsonl".to_owned()].into();
    let entry = SourceEntry { kind: SourceKind::Log, format: "json_lines".to_owned(), revisions, places };
    file.sources.insert(SourceKey::main(), entry);
    file
}

fn bytes_of(archive: &Archive) -> Vec<u8> {
    let mut bytes = Vec::new();
    archive.read().unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

fn lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Appends chunks, each with its right count of lines.
fn append_all(archive: &Archive, chunks: &[Vec<u8>]) {
    let mut sofar = Vec::new();
    for chunk in chunks {
        sofar.extend_from_slice(chunk);
        archive.append(chunk, lines(&sofar)).unwrap();
    }
}

/// The store looks whole.
#[track_caller]
fn assert_sound(store: &Store) {
    let report = store.verify(true, &mut |_| {}).unwrap();
    assert_eq!(report.problems, []);
}

/// Every file below a folder, with its bytes.
fn files_below(folder: &std::path::Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}
