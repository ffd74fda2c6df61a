//! `archive`: any bytes are a raw file. The archive never returns wrong bytes, and none beyond the
//! last commit.
//!
//! The first byte decides whether the others are the file itself or the damage to a good one.

use arbitrary::Unstructured;
use retro_model::{SessionKey, SourceKey};
use retro_store::{Archive, RealDisk, Slot, Store};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

use crate::Tried;

/// The most pieces of a good file.
const PIECES_MAX: usize = 4;

/// The most changes to the file.
const CHANGES_MAX: usize = 4;

thread_local! {
    /// The folder of the store. Created once, since a fuzzer calls this ten thousand times.
    static FOLDER: std::io::Result<TempDir> = tempfile::tempdir();
}

pub(crate) fn check(bytes: &[u8]) -> Tried {
    FOLDER.with(|folder| {
        let root = folder.as_ref().map_err(ToString::to_string)?.path().join("store");
        Store::open_or_create(&root, Arc::new(RealDisk))?;
        match bytes.split_first() {
            Some((first, file)) if first % 2 == 0 => {
                replace(&archive(&root)?, file)?;
                look(&root, None)
            }
            Some((_, damage)) => {
                let whole = damaged(&root, &mut Unstructured::new(damage))?;
                look(&root, Some(&whole))
            }
            None => Ok(()),
        }
    })
}

/// The archive as a new process opens it, with no knowledge of the file.
fn archive(root: &Path) -> Result<Archive, retro_store::Error> {
    let slot =
        Slot::Session { key: SessionKey::new("claude", "s-1"), source: SourceKey::main(), revision: 1 };
    Ok(Store::open(root, Arc::new(RealDisk))?.archive(&slot))
}

fn replace(archive: &Archive, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = archive.path().parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(archive.path(), bytes)
}

/// Writes a good file, then damages it. Returns its original content.
fn damaged(root: &Path, choices: &mut Unstructured<'_>) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let store = Store::open(root, Arc::new(RealDisk))?;
    let archive = archive(root)?;
    archive.remove()?;
    let mut whole = Vec::new();
    for number in 0..=choices.int_in_range(0..=PIECES_MAX)? {
        let line = format!("{{\"piece\":{number}}}\n").repeat(choices.int_in_range(0..=40)?);
        whole.extend_from_slice(line.as_bytes());
        let records = whole.iter().filter(|byte| **byte == b'\n').count() as u64;
        archive.append(line.as_bytes(), records)?;
    }
    match choices.int_in_range(0..=3u8)? {
        0 => store.sync_all()?,
        1 => drop(archive.repack()?),
        _ => {}
    }
    let mut bytes = std::fs::read(archive.path())?;
    for _ in 0..choices.int_in_range(0..=CHANGES_MAX)? {
        let at = choices.int_in_range(0..=bytes.len())?;
        match choices.int_in_range(0..=4u8)? {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, choices.arbitrary::<[u8; 3]>()?)),
            2 => {
                let end = choices.int_in_range(at..=bytes.len())?;
                bytes.drain(at..end);
            }
            3 => {
                let again = bytes.get(at..).unwrap_or_default().to_vec();
                bytes.extend(again);
            }
            _ => {
                let byte = choices.arbitrary()?;
                if let Some(there) = bytes.get_mut(at) {
                    *there = byte;
                }
            }
        }
    }
    replace(&archive, &bytes)?;
    Ok(whole)
}

/// Calls every query of the archive. `whole` is the content that it may return, if known.
fn look(root: &Path, whole: Option<&[u8]>) -> Tried {
    let archive = archive(root)?;
    let mut bytes = Vec::new();
    let read = archive.read().map(|mut reader| reader.read_to_end(&mut bytes));
    if let Some(whole) = whole {
        assert!(whole.starts_with(&bytes), "bytes were handed out that were never captured");
    }
    let end = archive.commits().ok().map(|commits| commits.last().map_or(0, |commit| commit.end));
    if matches!(read, Ok(Ok(_))) {
        assert_eq!(end, Some(bytes.len() as u64), "what is read ends at the last commit");
        let half = bytes.len() as u64 / 2;
        let range = archive.read_range(half, bytes.len() as u64 - half)?;
        assert_eq!(range, bytes[half as usize..], "a range is not what the stream gives");
        assert!(archive.read_range(half, bytes.len() as u64).is_err() || half == 0, "past the last commit");
    }
    if let (Ok(Some(tail)), Some(whole)) = (archive.tail(), whole) {
        assert!(tail.end <= whole.len() as u64, "a commit beyond what was captured");
    }
    let _ = archive.compare(&mut &bytes[..]);
    Store::open(root, Arc::new(RealDisk))?.verify(true, &mut |_| {})?;
    Ok(())
}
