//! Captures a file that serves many sessions.

use retro_model::SourceKind;
use retro_store::{Comparison, Slot, Store, Tombstones};
use std::io::Read;

use super::live::{CHUNK_BYTES, count_lines, open_at};
use crate::Error;
use crate::discover::{Cut, SharedFile};
use crate::door::Door;

/// Captures a file that serves many sessions: a log is appended to, any other file gets a revision
/// for each version.
pub(super) fn take(store: &Store, shared: &SharedFile, stones: &Tombstones) -> Result<(u32, u64), Error> {
    if stones.has_agent(shared.agent.name()) {
        return take_masked(store, shared, stones);
    }
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
    let door = Door::of(store)?;
    if revision > 0 {
        let archive = store.archive(&slot(revision));
        let mut live = door.open(&shared.file, &Cut::default()).map_err(read_error)?;
        let compared = match archive.compare(&mut live) {
            // A damaged revision stays as it is, and the file is kept beside it.
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
    let mut live = open_at(&door, &shared.file, None, start, &Cut::default()).map_err(read_error)?;
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

/// The revision number if the raw file belongs to this shared file, otherwise zero.
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

/// Bytes of a file that serves many sessions and is read as a whole.
const WHOLE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Captures the file without the parts about forgotten sessions.
fn take_masked(store: &Store, shared: &SharedFile, stones: &Tombstones) -> Result<(u32, u64), Error> {
    let agent = shared.agent.name();
    let slot = |revision| Slot::Shared { agent: agent.to_owned(), name: shared.name.clone(), revision };
    let read_error = |source| Error::Read { path: shared.file.path.clone(), source };
    let mut bytes = Vec::new();
    let door = Door::of(store)?;
    let live = door.open(&shared.file, &Cut::default()).map_err(read_error)?;
    live.take(WHOLE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(read_error)?;
    if bytes.len() as u64 > WHOLE_BYTES_MAX {
        let what = "it is too large to leave forgotten sessions out of it";
        return Err(read_error(std::io::Error::other(what)));
    }
    let bytes = stones.masked(agent, &bytes).map_or(bytes, |(kept, _)| kept);
    let slots = store.shared_slots(agent)?;
    let mut revision = slots.iter().map(|slot| its_revision(slot, shared)).max().unwrap_or(0);
    let (mut start, mut records) = (0, 0);
    let archive = store.archive(&slot(revision.max(1)));
    let compared = match archive.compare(&mut &*bytes) {
        // A damaged revision stays as it is, and the file is kept beside it.
        Err(retro_store::Error::Damaged { .. }) => Comparison::Differs,
        compared => compared?,
    };
    match (revision, archive.tail().ok().flatten()) {
        (1.., commit) => match (compared, commit) {
            (Comparison::Equal | Comparison::SourceIsPrefix, _) => return Ok((revision, 0)),
            (Comparison::SourceExtends, Some(commit)) if shared.file.kind == SourceKind::Log => {
                (start, records) = (commit.end, commit.records);
            }
            _ => revision += 1,
        },
        _ => revision = 1,
    }
    let new = usize::try_from(start).ok().and_then(|start| bytes.get(start..)).unwrap_or_default();
    records += count_lines(new);
    store.archive(&slot(revision)).append(new, records)?;
    Ok((revision, new.len() as u64))
}
