//! Captures lost raw files again, for `doctor --fix`.
//!
//! Files with foreign bytes are set aside first, and so are damaged files if the live log is
//! complete. An ordinary sync then captures the logs.

use retro_model::SessionKey;
use retro_store::{Index, PlaceRow, Slot, Store};
use std::collections::HashSet;
use std::path::PathBuf;

use crate::lost::{Book, Fault, Lost, compare, live_places, row_of, take_back};
use crate::read::feed_raw;
use crate::sync::{SyncOptions, sync};
use crate::{Config, Error, Progress, SyncReport, World};

/// Captures logs again whose raw files are gone, short or foreign, for `doctor --fix`. Returns
/// notes about its actions.
pub(crate) fn mend(
    world: &World,
    config: &Config,
    store: &Store,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<String>, Error> {
    let mut said = Vec::new();
    let before = {
        let Some(_lock) = world.lock(store)? else { return Ok(said) };
        let index = store.index()?;
        let lost = all_lost(store, &index)?;
        if lost.is_empty() {
            return Ok(said);
        }
        let others = take_back(store, &index, lost.clone(), &mut SyncReport::default())?;
        for one in &others {
            let places = live_places(store, &index, &one.slot)?;
            if places.is_empty() {
                said.push(format!("{}: only a backup has them, its log is gone", one.what()));
                continue;
            }
            let aside = store.set_aside(&one.slot)?;
            said.push(format!("set aside what was in the place of {} as {}", one.slot, aside.display()));
            index.write(|index| match &one.slot {
                Slot::Session { key, .. } => index.forget_session(key),
                Slot::Shared { .. } => places.iter().try_for_each(|place| index.forget_place(&place.path)),
            })?;
        }
        store.sync_all()?;
        lost
    };
    sync(world, config, &SyncOptions::default(), progress)?;
    let after: HashSet<Slot> = all_lost(store, &store.index()?)?.into_iter().map(|lost| lost.slot).collect();
    for lost in before.iter().filter(|lost| !after.contains(&lost.slot)) {
        said.push(format!("captured {} again from its log", lost.slot));
    }
    Ok(said)
}

/// Sets aside the damaged raw files of a session if the live log is at least as long as the
/// captured part: a new capture replaces them. Any other damaged file stays, and the new capture
/// becomes a revision beside it.
pub(crate) fn set_damaged_aside(
    store: &Store,
    index: &Index,
    key: &SessionKey,
) -> Result<Vec<PathBuf>, Error> {
    let mut aside = Vec::new();
    let slots = store.raw_slots(key)?;
    for slot in &slots {
        let Slot::Session { source, revision, .. } = slot else { continue };
        let is_later = |other: &Slot| matches!(other, Slot::Session { source: its, revision: later, .. } if its == source && later > revision);
        let Some(row) = row_of(index, slot)?.filter(|_| !slots.iter().any(is_later)) else { continue };
        match feed_raw(store, slot, &mut |_| {}) {
            Ok(()) => continue,
            Err(error) if error.is_of_one_session() => {}
            Err(error) => return Err(error),
        }
        let has_all = |place: &PlaceRow| {
            let is_packed = place.path.extension().is_some_and(|ending| ending == "zst");
            !is_packed && place.path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() >= row.end)
        };
        if live_places(store, index, slot)?.iter().any(has_all) {
            aside.push(store.set_aside(slot)?);
        }
    }
    Ok(aside)
}

/// All lost raw files, according to the index and the session files.
fn all_lost(store: &Store, index: &Index) -> Result<Vec<Lost>, Error> {
    let mut lost = compare(store, index, &Book::read(index)?, None)?;
    let known: HashSet<Slot> = index.source_ends()?.into_iter().map(|(slot, _)| slot).collect();
    for key in store.session_keys()? {
        let Ok(Some(file)) = store.session(&key) else { continue };
        for (source, entry) in file.sources.iter().filter(|_| file.evicted_at.is_none()) {
            let slots = (1..=entry.revisions).map(|revision| Slot::Session {
                key: key.clone(),
                source: source.clone(),
                revision,
            });
            // The first is enough: a session file from elsewhere may name any number of them.
            let mut gone = slots.filter(|slot| !known.contains(slot));
            let gone = gone.find(|slot| matches!(store.archive(slot).tail(), Ok(None)));
            lost.extend(gone.map(|slot| Lost { slot, fault: Fault::Gone, end: 0 }));
        }
    }
    Ok(lost)
}
