//! Notices raw files that are gone, too short, or replaced, and lets them be captured again.
//!
//! The index knows the end and the last bytes of each source. A sync lists the raw files and checks
//! those that were changed by something else (`book.rs`). Once a day it checks all of them. A log
//! whose raw file is gone or short counts as new and is captured as if it had never been seen. A
//! file with foreign bytes is only reported, because retro removes nothing from the store unasked;
//! `doctor --fix` sets it aside (`recapture.rs`).

mod book;

use retro_agents::{Encoding, open_regular};
use retro_model::{SourceKey, SourceKind};
use retro_store::{Comparison, Index, PlaceRow, Problem, Slot, SourceRow, Store};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::capture::TAIL_BYTES;
use crate::discover::Cut;
use crate::door::Door;
use crate::{Error, SyncReport, World};
pub(crate) use book::Book;
use book::end_of;

/// The problem with a raw file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    /// It is missing, or holds nothing.
    Gone,
    /// It holds less than the captured bytes.
    Short,
    /// It holds other bytes than the captured ones.
    Other,
}

/// A raw file that lacks the captured bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Lost {
    pub slot: Slot,
    pub fault: Fault,
    /// Number of captured bytes of its source.
    pub end: u64,
}

impl Lost {
    pub(crate) fn what(&self) -> String {
        let (slot, end) = (&self.slot, self.end);
        match self.fault {
            Fault::Gone => format!("{slot} is gone, of which {end} bytes were captured"),
            Fault::Short => format!("it holds less of {slot} than the {end} bytes that were captured"),
            Fault::Other => format!("it does not hold the bytes that were captured of {slot}"),
        }
    }
}

const HELP: &str = "put it back from a backup if its log is gone";

/// The problems that `verify` reports about raw files that differ from the index. Empty if the
/// index and the files were written at different times.
pub(crate) fn problems(store: &Store) -> Result<Vec<Problem>, Error> {
    let Some(index) = store.index_to_read() else { return Ok(Vec::new()) };
    let look = || -> Result<Vec<Lost>, Error> {
        if index.marks()? != store.marks() {
            return Ok(Vec::new());
        }
        compare(store, &index, &Book::read(&index)?, None)
    };
    let lost = match look() {
        Err(Error::Store(error)) if error.is_broken_index() => Vec::new(),
        lost => lost?,
    };
    let problem =
        |lost: Lost| Problem { path: store.slot_path(&lost.slot), what: lost.what(), help: HELP.to_owned() };
    Ok(lost.into_iter().map(problem).collect())
}

/// The findings of a sync, to be stored when it ends.
pub(crate) struct Noticed {
    book: Book,
    now_ms: i64,
    is_all: bool,
    is_changed: bool,
}

/// Looks for raw files that were removed or changed by something else, and lets their logs be
/// captured again. `None` if no check is due.
pub(crate) fn notice(
    world: &World,
    store: &Store,
    index: &Index,
    report: &mut SyncReport,
) -> Result<Option<Noticed>, Error> {
    let now_ms = world.now().as_millis();
    let book = Book::read(index)?;
    if !book.is_due(now_ms) {
        return Ok(None);
    }
    let changed = book.changed(&store.raw_look()?);
    let is_all = book.is_all_due(now_ms);
    let is_changed = is_all || !changed.is_empty();
    if is_changed {
        let Some(_lock) = world.lock(store)? else { return Ok(None) };
        let lost = compare(store, index, &book, (!is_all).then_some(&changed))?;
        take_back(store, index, lost, report)?;
    }
    Ok(Some(Noticed { book, now_ms, is_all, is_changed }))
}

/// Stores the state of the raw files at the end of a sync.
pub(crate) fn remember(store: &Store, index: &Index, noticed: Noticed, wrote: bool) -> Result<(), Error> {
    let Noticed { book, now_ms, is_all, is_changed } = noticed;
    if !wrote && !is_changed {
        return Ok(());
    }
    let look = store.raw_look()?;
    let shared: Vec<Lost> = compare_shared(store, &book, None)?;
    let lost: HashSet<Slot> = shared.into_iter().map(|lost| lost.slot).collect();
    book.of(store, index, &look, &lost)?.at(now_ms, is_all).put(index)
}

/// Raw files that lack the captured bytes. With `only`, checks the files with these numbers.
pub(crate) fn compare(
    store: &Store,
    index: &Index,
    book: &Book,
    only: Option<&HashSet<u64>>,
) -> Result<Vec<Lost>, Error> {
    let mut lost = compare_shared(store, book, only)?;
    for (slot, end) in index.source_ends()? {
        let is_wanted = only.is_none_or(|only| store.raw_numbers(&slot).any(|number| only.contains(&number)));
        if !is_wanted {
            continue;
        }
        let known = book.entries.get(&store.raw_number(&slot)).map_or(0, |entry| entry.chain);
        if let Some(fault) = fault_of(store, index, &slot, end, known)? {
            lost.push(Lost { slot, fault, end });
        }
    }
    Ok(lost)
}

fn compare_shared(store: &Store, book: &Book, only: Option<&HashSet<u64>>) -> Result<Vec<Lost>, Error> {
    let mut lost = Vec::new();
    for shared in &book.shared {
        let slot = shared.slot();
        if only.is_some_and(|only| !only.contains(&store.raw_number(&slot))) {
            continue;
        }
        let fault = match end_of(store, &slot)? {
            None => Fault::Gone,
            Some((end, _)) if end < shared.end => Fault::Short,
            // A log that has grown since then has a different end.
            Some((end, chain)) if end == shared.end && chain != shared.chain => Fault::Other,
            Some(_) => continue,
        };
        lost.push(Lost { slot, fault, end: shared.end });
    }
    Ok(lost)
}

/// The fault of the raw file of a source that was read up to `end`. Damage is not reported here: it
/// is found when the file is read.
fn fault_of(store: &Store, index: &Index, slot: &Slot, end: u64, known: u64) -> Result<Option<Fault>, Error> {
    let archive = store.archive(slot);
    match archive.tail() {
        Ok(None) => return Ok(Some(Fault::Gone)),
        Err(retro_store::Error::Damaged { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
        Ok(Some(commit)) if commit.end < end => return Ok(Some(Fault::Short)),
        Ok(Some(_)) => {}
    }
    // The end is unchanged. A different file cannot have the same chain value.
    if known != 0 && end_of(store, slot)?.is_some_and(|(_, chain)| chain == known) {
        return Ok(None);
    }
    let Some(row) = row_of(index, slot)?.filter(|row| row.end == end && !row.tail_hash.is_empty()) else {
        return Ok(None);
    };
    let from = end.saturating_sub(TAIL_BYTES);
    match archive.read_range(from, end - from) {
        Ok(bytes) => {
            let is_same = blake3::hash(&bytes).as_bytes().as_slice() == row.tail_hash;
            Ok((!is_same).then_some(Fault::Other))
        }
        Err(retro_store::Error::Damaged { .. } | retro_store::Error::Range { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub(crate) fn row_of(index: &Index, slot: &Slot) -> Result<Option<SourceRow>, Error> {
    let Slot::Session { key, source, revision } = slot else { return Ok(None) };
    let mut rows = index.sources_of(key)?.into_iter();
    Ok(rows.find(|row| row.source == *source && row.revision == *revision))
}

/// Forgets the stamps of the live files whose bytes were lost, so that they are captured again.
/// Files that cannot be captured again stay as they are.
pub(crate) fn take_back(
    store: &Store,
    index: &Index,
    lost: Vec<Lost>,
    report: &mut SyncReport,
) -> Result<Vec<Lost>, Error> {
    let (mut forgotten, mut owners) = (Vec::new(), HashSet::new());
    let mut others = Vec::new();
    for mut one in lost {
        let places = live_places(store, index, &one.slot)?;
        if one.fault == Fault::Short && places.iter().any(|place| is_other(store, &one.slot, &place.path)) {
            one.fault = Fault::Other;
        }
        if one.fault == Fault::Other && !is_state(index, &one.slot)? {
            let path = store.slot_path(&one.slot);
            report.notes.push(format!(
                "{}: {}. `retro doctor --fix` sets it aside and captures the log again",
                path.display(),
                one.what()
            ));
            others.push(one);
        } else if !places.is_empty() {
            owners.insert(owner_of(&one.slot));
            forgotten.extend(places);
        }
    }
    if !forgotten.is_empty() {
        index.write(|index| forgotten.iter().try_for_each(|place| index.forget_place(&place.path)))?;
        let (verb, whose) = match owners.len() {
            1 => ("is", owners.into_iter().next().unwrap_or_default()),
            number => ("are", format!("{number} sessions")),
        };
        report.notes.push(format!("raw files of {whose} were lost, and {verb} captured again"));
    }
    Ok(others)
}

fn owner_of(slot: &Slot) -> String {
    match slot {
        Slot::Session { key, .. } => key.to_string(),
        Slot::Shared { agent, name, .. } => format!("{agent}/{name}"),
    }
}

/// Whether a source is replaced at every change.
fn is_state(index: &Index, slot: &Slot) -> Result<bool, Error> {
    Ok(row_of(index, slot)?.is_some_and(|row| row.kind == SourceKind::State))
}

/// The stamps of live files that belong to a raw file and still exist. Empty for an evicted
/// session.
pub(crate) fn live_places(store: &Store, index: &Index, slot: &Slot) -> Result<Vec<PlaceRow>, Error> {
    let (stamps, source) = match slot {
        Slot::Session { key, source, .. } => {
            let is_evicted = matches!(store.session(key), Ok(Some(file)) if file.evicted_at.is_some());
            if is_evicted {
                return Ok(Vec::new());
            }
            (index.stamps_of(key)?, source.clone())
        }
        Slot::Shared { name, .. } => (index.stamps()?, SourceKey::new(name)),
    };
    let is_its = |place: &PlaceRow| match slot {
        Slot::Session { .. } => place.source == source,
        Slot::Shared { agent, .. } => {
            place.session.is_none() && place.agent == *agent && place.source == source
        }
    };
    Ok(stamps.iter().filter(is_its).filter(|place| is_there(&place.path)).collect())
}

/// Whether a file, a folder or a row of a database exists.
fn is_there(path: &Path) -> bool {
    let text = path.to_string_lossy();
    let database = text.rsplit_once('#').map(|(database, _)| PathBuf::from(database));
    path.exists() || database.is_some_and(|database| database.exists())
}

/// Whether a live file neither begins nor continues a raw file. False if that is unknown.
fn is_other(store: &Store, slot: &Slot, path: &Path) -> bool {
    if open_regular(path).is_err() {
        return false;
    }
    let is_packed = path.extension().is_some_and(|ending| ending == "zst");
    let encoding = if is_packed { Encoding::Zstd } else { Encoding::Plain };
    let Ok(door) = Door::of(store) else { return false };
    let Ok(mut live) = door.open_path(path, encoding, &Cut::default()) else { return false };
    matches!(store.archive(slot).compare(&mut live), Ok(Comparison::Differs))
}
