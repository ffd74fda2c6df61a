//! Captures the bytes of one session, and reads them in the same pass.
//!
//! For each file the question is which revision its bytes belong to (`source.rs`). A log that the
//! store has seen is trusted to have grown if it is the same file and its last captured bytes are
//! still there. Any other file is compared as a whole. Bytes that continue a revision are appended
//! to it, bytes that continue none start the next one.

mod folder;
mod half;
mod live;
mod reading;
mod shared;
pub(crate) mod source;
mod stored;

use retro_agents::{Format, Found, Held as Kept, Parsed, Part};
use retro_model::{SessionKey, SourceKey, SourceKind, Stamp};
use retro_store::{
    PlaceRow, SessionFile, SessionRow, Slot, SourceEntry, SourceRow, Stamps, Store, Tombstones,
};
use retro_text::redact;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use crate::discover::{Cut, SessionFiles, SharedFile};
use crate::door::Door;
use crate::read::{LARGE_BYTES, format_name, format_named};
use crate::session_row::{SourceFacts, facts_of, merged_facts, session_row};
use crate::{Error, stamp};
pub(crate) use live::TAIL_BYTES;
use reading::{ReadPart, read_raw};
pub use stored::from_raw;
pub(crate) use stored::{from_slots, read_back};

/// The result of capturing one session.
pub struct Captured {
    /// The session file after the capture.
    pub file: SessionFile,
    /// Stamps of the files that were read.
    pub places: Vec<PlaceRow>,
    /// Sources that changed.
    pub sources: Vec<SourceRow>,
    /// The session's row.
    pub session: SessionRow,
    /// The records read during the capture.
    pub read: Reading,
    /// Whether the store did not have it before.
    pub is_new: bool,
    /// Whether it was evicted before and is now captured again.
    pub is_recaptured: bool,
    /// Bytes kept in this pass.
    pub new_bytes: u64,
    /// Gaps met in this pass.
    pub gaps: u64,
    /// Files that could not be read, and why.
    pub failed: Vec<(PathBuf, String)>,
    /// Compressed files of which only the first part could be read, and why.
    pub cut: Vec<(PathBuf, String)>,
}

/// The records of a session, read while its bytes were kept, so that they need not be read again.
pub enum Reading {
    /// Every source from its start.
    Whole(Vec<Parsed>),
    /// Only the new records of each source.
    Tail(Vec<Parsed>),
    /// Too many to hold: they must be read from raw.
    TooLarge,
    /// The capture read no records.
    Nothing,
}

/// State of a session before it is captured.
pub struct Before<'a> {
    /// Rows of its sources.
    pub sources: Vec<SourceRow>,
    /// Stamps of all files seen so far.
    pub stamps: &'a Stamps,
    /// The store has no session at all, even if the index names some.
    pub is_bare: bool,
    /// The session is old: its new bytes are compressed at once.
    pub is_old: bool,
}

pub(crate) type Rows = BTreeMap<(SourceKey, u32), SourceRow>;

/// Captures one session. Errors of the store end the sync; an unreadable source only fails itself.
/// Once `stop` returns true it ends early and keeps the part captured so far.
pub fn session(
    store: &Store,
    session: &SessionFiles,
    before: Before<'_>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Captured, Error> {
    let mut capture = Capture::begin(store, session, before)?;
    for found in longest_first(&session.files) {
        capture.take(found, stop)?;
    }
    capture.read_lost_revisions()?;
    capture.finish()
}

/// A session being captured.
struct Capture<'a> {
    store: &'a Store,
    door: Door,
    session: &'a SessionFiles,
    stamps: &'a Stamps,
    is_old: bool,
    is_new: bool,
    is_recaptured: bool,
    file: SessionFile,
    /// The highest revision of each source that is on disk. A sync that was stopped may
    /// have left raw files that no session file names yet.
    on_disk: HashMap<SourceKey, u32>,
    rows: Rows,
    facts: HashMap<(SourceKey, u32), SourceFacts>,
    changed: BTreeSet<(SourceKey, u32)>,
    /// Revisions that were not read because their files are unchanged, with their sizes in bytes.
    untouched: HashMap<(SourceKey, u32), u64>,
    held: Held,
    places: Vec<PlaceRow>,
    new_bytes: u64,
    gaps: u64,
    failed: Vec<(PathBuf, String)>,
    cut: Vec<(PathBuf, String)>,
}

impl<'a> Capture<'a> {
    fn begin(store: &'a Store, session: &'a SessionFiles, before: Before<'a>) -> Result<Self, Error> {
        let key = &session.key;
        let mut is_recaptured = false;
        let (known, on_disk) = if before.is_bare {
            (None, HashMap::new())
        } else {
            let known = match store.session(key) {
                Err(retro_store::Error::Damaged { .. }) => from_slots(store, session.agent, key)?,
                other => other?,
            };
            // The session has grown since it was evicted, so its capture starts over.
            is_recaptured = known.as_ref().is_some_and(|file| file.evicted_at.is_some());
            let known = known.map(|file| match is_recaptured {
                true => SessionFile { pins: file.pins, ..SessionFile::new(key.clone()) },
                false => file,
            });
            (known, revisions_on_disk(store, key)?)
        };
        Ok(Capture {
            store,
            door: Door::of(store)?,
            session,
            stamps: before.stamps,
            is_old: before.is_old,
            is_new: known.is_none(),
            is_recaptured,
            file: known.unwrap_or_else(|| SessionFile::new(key.clone())),
            on_disk,
            rows: readable_rows(before.sources),
            facts: HashMap::new(),
            changed: BTreeSet::new(),
            untouched: HashMap::new(),
            held: Held::default(),
            places: Vec::new(),
            new_bytes: 0,
            gaps: 0,
            failed: Vec::new(),
            cut: Vec::new(),
        })
    }

    /// The revision and bytes of a source without records that has not changed since its capture,
    /// if the raw file exists. Packing and `verify` find out whether it is good. Documents are not
    /// even opened: a session may have thousands of them.
    fn untouched(&self, found: &Found) -> Option<(u32, u64)> {
        let is_folder = found.kind == SourceKind::Files;
        if !is_folder && (found.format != Format::Opaque || found.kind != SourceKind::Document) {
            return None;
        }
        let PlaceRow { source, session, revision, stamp, .. } = self.stamps.get(&found.path)?;
        let row = self.rows.get(&(source.clone(), revision))?;
        let entry = self.file.sources.get(&source)?;
        let is_kept = source == found.source
            && session.as_ref() == Some(&self.session.key.id)
            && stamp.is_same(&found.stamp())
            && row.parser_version == self.session.agent.reading_version()
            && entry.revisions == revision
            && self.on_disk.get(&source) == Some(&revision);
        let is_as_far = || {
            let archive = self.store.archive(&slot(&self.session.key, &source, revision));
            archive.tail().ok().flatten().is_some_and(|commit| commit.end == row.end)
        };
        (is_kept && (!is_folder || is_as_far())).then_some((revision, row.end))
    }

    /// Captures one file.
    fn take(&mut self, found: &Found, stop: &(dyn Fn() -> bool + Sync)) -> Result<(), Error> {
        if let Some((revision, bytes)) = self.untouched(found) {
            self.untouched.insert((found.source.clone(), revision), bytes);
            return Ok(());
        }
        let named = self.file.sources.get(&found.source).map_or(0, |entry| entry.revisions);
        let is_in_database = matches!(found.held, Kept::Rows { .. });
        let rows = match is_in_database.then(|| self.door.rows(found)).transpose() {
            Ok(rows) => rows,
            Err(error) => {
                self.failed.push((found.path.clone(), error.to_string()));
                return Ok(());
            }
        };
        let target = source::Target {
            store: self.store,
            door: &self.door,
            agent: self.session.agent,
            key: &self.session.key,
            found,
            rows,
            revisions: named.max(self.on_disk.get(&found.source).copied().unwrap_or(0)),
            place: self.stamps.get(&found.path),
            is_old: self.is_old,
            cut: Cut::default(),
            stop,
        };
        if found.kind == SourceKind::Files {
            return match folder::take(&target, &mut self.rows) {
                Ok(taken) => {
                    self.note_folder(found, taken);
                    Ok(())
                }
                Err(source::Failure::Store(error)) => Err(error),
                Err(source::Failure::Source(reason)) => {
                    self.failed.push((found.path.clone(), reason));
                    Ok(())
                }
            };
        }
        let taken = match source::take(&target, &mut self.rows) {
            Ok(taken) => taken,
            Err(source::Failure::Store(error)) => return Err(error),
            Err(source::Failure::Source(reason)) => {
                self.failed.push((found.path.clone(), reason));
                return Ok(());
            }
        };
        if let Some(reason) = target.cut.reason() {
            self.cut.push((found.path.clone(), reason.to_owned()));
        }
        self.note_kept(found, taken.revision, taken.new_bytes);
        // A partly read source keeps its old stamp, so the next sync continues it.
        if !taken.is_cut_short {
            self.note_place(found, taken.revision, taken.stamp);
        }
        if let Some(read) = taken.read {
            self.note((found.source.clone(), taken.revision), read);
        }
        Ok(())
    }

    /// Takes in the result of capturing a folder.
    fn note_folder(&mut self, found: &Found, taken: folder::FolderTaken) {
        self.failed.extend(taken.failed);
        let Some(revision) = taken.revision else { return };
        self.note_kept(found, revision, taken.new_bytes);
        self.note_place(found, revision, taken.stamp);
        if let Some(read) = taken.read {
            self.note((found.source.clone(), revision), read);
        }
    }

    /// Notes in the session file where a source was and that the store has it.
    fn note_kept(&mut self, found: &Found, revision: u32, new_bytes: u64) {
        let entry = self.file.sources.entry(found.source.clone()).or_insert_with(|| SourceEntry {
            kind: found.kind,
            format: format_name(found.format).to_owned(),
            revisions: 0,
            places: Default::default(),
        });
        entry.revisions = entry.revisions.max(revision);
        entry.places.insert(redact(&found.path.to_string_lossy()).into_inner());
        self.on_disk.insert(found.source.clone(), entry.revisions);
        self.new_bytes += new_bytes;
    }

    fn note_place(&mut self, found: &Found, revision: u32, stamp: Stamp) {
        let (agent, session) = (self.session.agent.name(), Some(self.session.key.id.as_str()));
        self.places.push(place_row(agent, session, found, &found.source, revision, stamp));
    }

    /// Reads from raw the revisions that the index lost and that no live file continues.
    fn read_lost_revisions(&mut self) -> Result<(), Error> {
        let is_known = |at: (SourceKey, u32)| self.untouched.contains_key(&at) || self.rows.contains_key(&at);
        let is_lost = |(source, entry): &(&SourceKey, &SourceEntry)| {
            !(1..=entry.revisions).all(|revision| is_known(((*source).clone(), revision)))
        };
        let lost = self.file.sources.iter().filter(is_lost);
        let lost: Vec<_> = lost.map(|(source, entry)| (source.clone(), entry.clone())).collect();
        for (source, entry) in lost {
            for revision in 1..=entry.revisions {
                let at = (source.clone(), revision);
                if self.rows.contains_key(&at) {
                    continue;
                }
                let part = Part {
                    session: self.session.key.clone(),
                    source: source.clone(),
                    revision,
                    format: format_named(&entry.format),
                };
                let read = if part.format == Format::Files { folder::read_raw } else { read_raw };
                match read(self.store, self.session.agent, part, entry.kind, &mut self.rows) {
                    Ok(read) => self.note(at, read),
                    // A later revision has these bytes. This one stays unread.
                    Err(error) if error.is_of_one_session() && revision < entry.revisions => {
                        self.held.is_partial = true;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Takes in the reading of a source.
    fn note(&mut self, at: (SourceKey, u32), read: ReadPart) {
        self.gaps += read.gaps;
        self.facts.insert(at.clone(), read.facts);
        self.changed.insert(at);
        self.held.push(read.parsed, read.from_start, read.overflowed);
    }

    fn finish(mut self) -> Result<Captured, Error> {
        let facts = &mut self.facts;
        self.file.facts = merged_facts(
            self.rows.iter().map(|(at, row)| facts.remove(at).or_else(|| facts_of(row)).unwrap_or_default()),
        );
        if !self.file.sources.is_empty() {
            self.store.put_session(&self.file)?;
        }
        let known = |source: &SourceKey, revision| {
            let at = (source.clone(), revision);
            let read = || self.rows.get(&at).filter(|_| self.changed.contains(&at));
            // State is named by more than its length.
            let read = || read().filter(|row| row.kind != SourceKind::State).map(|row| row.end);
            // Documents whose live files are gone are counted by the row that remains of them.
            let is_there = |row: &&SourceRow| {
                row.kind == SourceKind::Document
                    && format_named(&row.format) == Format::Opaque
                    && self.on_disk.get(source) == Some(&revision)
            };
            let left = || self.rows.get(&at).filter(is_there).map(|row| row.end);
            self.untouched.get(&at).copied().or_else(read).or_else(left)
        };
        let content = stamp::content_knowing(self.store, &self.file, &known)?;
        let session = session_row(&self.file, self.rows.values(), self.session.mtime_ns(), content);
        let rows = &self.rows;
        Ok(Captured {
            read: self.held.reading(&self.file),
            places: self.places,
            sources: self.changed.into_iter().filter_map(|at| rows.get(&at).cloned()).collect(),
            session,
            file: self.file,
            is_new: self.is_new,
            is_recaptured: self.is_recaptured,
            new_bytes: self.new_bytes,
            gaps: self.gaps,
            failed: self.failed,
            cut: self.cut,
        })
    }
}

/// The records of a session, as long as they fit in memory.
#[derive(Default)]
struct Held {
    whole: Vec<Parsed>,
    tails: Vec<Parsed>,
    bytes: u64,
    is_too_large: bool,
    /// A source could not be read.
    is_partial: bool,
}

/// What the state of a source costs beside its records. A session of very many small sources is
/// large, too.
const SOURCE_BYTES: u64 = 4096;

impl Held {
    fn push(&mut self, parsed: Parsed, from_start: bool, overflowed: bool) {
        // The reader bounds the new part of a source. The bytes before it are not held.
        if from_start {
            self.bytes += parsed.bytes;
        }
        self.bytes += SOURCE_BYTES;
        self.is_too_large |= overflowed || self.bytes > LARGE_BYTES;
        if self.is_too_large {
            (self.whole, self.tails) = (Vec::new(), Vec::new());
        } else if from_start {
            self.whole.push(parsed);
        } else {
            self.tails.push(parsed);
        }
    }

    fn reading(self, file: &SessionFile) -> Reading {
        // Folders hold no records, so they are never read.
        let of_records = file.sources.values().filter(|entry| entry.kind != SourceKind::Files);
        let slots: u32 = of_records.map(|entry| entry.revisions).sum();
        if self.is_too_large {
            Reading::TooLarge
        } else if self.whole.len() == slots as usize && !self.is_partial {
            Reading::Whole(self.whole)
        } else if self.whole.is_empty() && !self.tails.is_empty() {
            Reading::Tail(self.tails)
        } else {
            Reading::Nothing
        }
    }
}

/// Rows whose facts can be read. The others count as lost: truth is never rewritten from a cache
/// that does not record its origin.
fn readable_rows(rows: Vec<SourceRow>) -> Rows {
    let readable = rows.into_iter().filter(|row| facts_of(row).is_some());
    readable.map(|row| ((row.source.clone(), row.revision), row)).collect()
}

/// The highest revision of each source that is on disk.
fn revisions_on_disk(store: &Store, key: &SessionKey) -> Result<HashMap<SourceKey, u32>, Error> {
    let mut revisions = HashMap::new();
    for slot in store.raw_slots(key)? {
        if let Slot::Session { source, revision, .. } = slot {
            let highest = revisions.entry(source).or_insert(revision);
            *highest = revision.max(*highest);
        }
    }
    Ok(revisions)
}

/// Captures a file that serves many sessions.
pub fn shared(store: &Store, file: &SharedFile, stones: &Tombstones) -> Result<(PlaceRow, u64), Error> {
    let (revision, new_bytes) = shared::take(store, file, stones)?;
    let (source, stamp) = (SourceKey::new(&file.name), file.file.stamp());
    Ok((place_row(file.agent.name(), None, &file.file, &source, revision, stamp), new_bytes))
}

/// If several files claim to be the same source, the longest comes first, so that the others prove
/// to be its prefixes.
pub(crate) fn longest_first(files: &[Found]) -> Vec<&Found> {
    let mut files: Vec<&Found> = files.iter().collect();
    files.sort_by(|a, b| (&a.source, b.size(), &a.path).cmp(&(&b.source, a.size(), &b.path)));
    files
}

fn place_row(
    agent: &str,
    session: Option<&str>,
    found: &Found,
    source: &SourceKey,
    revision: u32,
    stamp: Stamp,
) -> PlaceRow {
    PlaceRow {
        path: found.path.clone(),
        agent: agent.to_owned(),
        session: session.map(str::to_owned),
        source: source.clone(),
        revision,
        stamp,
    }
}

/// The raw file of a revision.
pub(crate) fn slot(key: &SessionKey, source: &SourceKey, revision: u32) -> Slot {
    Slot::Session { key: key.clone(), source: source.clone(), revision }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retro_agents::{AGENTS, Cursor, Reader};

    #[test]
    fn what_is_new_of_a_very_large_log_is_held() {
        let key = SessionKey::new("claude", "s");
        let source = SourceKey::main();
        let part =
            Part { session: key.clone(), source: source.clone(), revision: 1, format: Format::JsonLines };
        let cursor = Cursor { line_end: 2 * LARGE_BYTES, records: 9, state: Vec::new() };
        let parsed = Reader::new(AGENTS[0], part, Some(&cursor)).finish();
        let mut file = SessionFile::new(key);
        let format = format_name(Format::JsonLines).to_owned();
        let entry = SourceEntry { kind: SourceKind::Log, format, revisions: 1, places: Default::default() };
        file.sources.insert(source, entry);
        let mut held = Held::default();
        held.push(parsed, false, false);
        assert!(matches!(held.reading(&file), Reading::Tail(_)));
    }
}
