//! Keeping a file that serves many sessions, or none.

use retro_model::SourceKind;
use retro_store::{Comparison, Slot, Store};

use super::live::{CHUNK_BYTES, count_lines, open_at};
use crate::Error;
use crate::discover::{Cut, SharedFile, open};

/// Keeps a file that serves many sessions: a log grows, anything else gets a
/// revision a version.
pub(super) fn take(store: &Store, shared: &SharedFile) -> Result<(u32, u64), Error> {
    let slot = |revision| Slot::Shared {
        agent: shared.agent.name().to_owned(),
        name: shared.name.clone(),
        revision,
    };
    let read_error = |source| Error::Read { path: shared.file.path.clone(), source };
    // An earlier one may have been lost.
    let slots = store.shared_slots(shared.agent.name())?;
    let mut revision = slots.iter().map(|slot| its_revision(slot, shared)).max().unwrap_or(0);
    while is_there(store, &slot(revision + 1))? {
        revision += 1;
    }
    while revision > 0 && !is_there(store, &slot(revision))? {
        revision -= 1;
    }
    let mut start = 0;
    let mut records = 0;
    if revision > 0 {
        let archive = store.archive(&slot(revision));
        let mut live = open(&shared.file).map_err(read_error)?;
        let compared = match archive.compare(&mut live) {
            // What does not read back stays as it is, and the file is kept beside it.
            Err(retro_store::Error::Damaged { .. }) => Comparison::Differs,
            compared => compared?,
        };
        let commit = archive.tail().ok().flatten();
        match (compared, commit) {
            (Comparison::Equal | Comparison::SourceIsPrefix, _) => return Ok((revision, 0)),
            (Comparison::SourceExtends, Some(commit)) if shared.file.kind == SourceKind::Log => {
                (start, records) = (commit.end, commit.records);
            }
            (_, _) => revision += 1,
        }
    } else {
        revision = 1;
    }
    let archive = store.archive(&slot(revision));
    let mut live = open_at(&shared.file, None, start, &Cut::default()).map_err(read_error)?;
    let mut new_bytes = 0;
    let mut chunk = Vec::new();
    loop {
        live.next(&mut chunk).map_err(read_error)?;
        if chunk.is_empty() && new_bytes > 0 {
            break;
        }
        records += count_lines(&chunk);
        archive.append(&chunk, records)?;
        new_bytes += chunk.len() as u64;
        if chunk.len() < CHUNK_BYTES {
            break;
        }
    }
    Ok((revision, new_bytes))
}

/// The revision that a raw file is of this shared file; zero if it is of another.
fn its_revision(slot: &Slot, shared: &SharedFile) -> u32 {
    match slot {
        Slot::Shared { name, revision, .. } if *name == shared.name => *revision,
        _ => 0,
    }
}

/// Whether a raw file holds anything, good or damaged.
fn is_there(store: &Store, slot: &Slot) -> Result<bool, Error> {
    match store.archive(slot).tail() {
        Err(retro_store::Error::Damaged { .. }) => Ok(true),
        tail => Ok(tail?.is_some()),
    }
}
