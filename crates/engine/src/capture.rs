//! Keeping the bytes of one session, and reading them in the same pass.
//!
//! For each file the question is which revision its bytes belong to. A log that
//! the store has seen is trusted to have grown if it is the same file and its
//! last captured bytes are still there; anything else is compared as a whole.
//! Bytes that continue a revision are appended to it, bytes that continue none
//! start the next one.

mod later;
mod live;
mod shared;
mod source;

use retro_agents::{Agent, Draft, Found, Held, Out, Parsed, Part};
use retro_model::{Facts, SessionKey, SourceKey};
use retro_store::{PlaceRow, SessionFile, SessionRow, Slot, SourceEntry, SourceRow, Stamps, Store, TurnRow};
use retro_text::redact;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::discover::{self, SessionFiles, SharedFile};
use crate::platform::project_name;
use crate::read::{LARGE_BYTES, format_name, format_named};
use crate::{Error, stages};
pub(crate) use later::{Later, end_of};

/// What became of one session.
pub struct Captured {
    /// The session.
    pub key: SessionKey,
    /// Stamps of the files that were looked at.
    pub places: Vec<PlaceRow>,
    /// Sources that changed.
    pub sources: Vec<SourceRow>,
    /// The session's row.
    pub session: SessionRow,
    /// Messages that open turns, in the new part.
    pub turns: Vec<TurnRow>,
    /// What the session's events are now made of.
    pub content: String,
    /// Every source from its start, if all of them were read so in this pass and
    /// are small enough to be held.
    pub whole: Option<Vec<Parsed>>,
    /// More was read than could be held: its turns and all that is settled are to be
    /// read again from raw.
    pub overflowed: bool,
    /// Whether the store did not have it before.
    pub is_new: bool,
    /// Bytes kept in this pass.
    pub new_bytes: u64,
    /// Gaps met in this pass.
    pub gaps: u64,
    /// Files that could not be read, and why.
    pub failed: Vec<(PathBuf, String)>,
    /// Sources that are still to be written: see [`Captured::write`].
    later: Vec<Later>,
    /// Messages that open turns whose rows are still to be made, likewise.
    openers: Vec<Draft>,
}

impl Captured {
    /// Whether all its bytes are in raw.
    pub(crate) fn is_written(&self) -> bool {
        self.later.is_empty()
    }

    /// Writes and makes what was left for later. A file that changed since it was read takes the
    /// session with it: nothing of it counts, and false is returned.
    pub(crate) fn write(&mut self, store: &Store) -> Result<bool, Error> {
        for later in std::mem::take(&mut self.later) {
            match later.write(store) {
                Ok(tail_hash) => {
                    for row in self.sources.iter_mut().filter(|row| later.is_of(row)) {
                        row.tail_hash = tail_hash.as_bytes().to_vec();
                    }
                }
                Err(source::Failure::Store(error)) => return Err(error),
                Err(source::Failure::Source(reason)) => {
                    store.remove_session(&self.key)?;
                    self.places.clear();
                    self.new_bytes = 0;
                    self.failed.push((later.path, reason));
                    return Ok(false);
                }
            }
        }
        let openers = std::mem::take(&mut self.openers);
        self.turns.extend(openers.iter().map(|draft| turn_row(&self.key, draft)));
        Ok(true)
    }

    /// Takes the messages that open turns. Their words are looked through for secrets:
    /// nobody who hurries waits for that.
    fn take_turns(&mut self, out: &Out, hurries: bool) {
        match hurries {
            true => self.openers.extend(openers(out).cloned()),
            false => self.turns.extend(turn_rows(&self.key, out)),
        }
    }
}

/// What a source's records say of the session: those of its whole lines, and of
/// the unfinished last one, which is read again when it grows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceFacts {
    /// Of whole lines.
    pub lines: Facts,
    /// Of the last line, if it has no end yet but reads as a record.
    #[serde(default)]
    pub tail: Facts,
}

/// What the index knows of a session before it is captured.
pub struct Before<'a> {
    /// Rows of its sources.
    pub sources: Vec<SourceRow>,
    /// Stamps of all files ever seen.
    pub stamps: &'a Stamps,
    /// Somebody waits for what its bytes say: those of a new session may be written later.
    pub hurries: bool,
    /// The store has no session at all, whatever the index knows.
    pub is_bare: bool,
}

/// Captures one session. Errors of the store end the sync; a source that cannot
/// be read only fails itself.
pub fn session(store: &Store, session: &SessionFiles, before: Before<'_>) -> Result<Captured, Error> {
    let key = &session.key;
    let old_file = match before.is_bare {
        true => None,
        false => match store.session(key) {
            Err(retro_store::Error::Damaged { .. }) => from_slots(store, session.agent, key)?,
            other => other?,
        },
    };
    let is_new = old_file.is_none();
    let mut file = old_file.unwrap_or_else(|| SessionFile::new(key.clone()));
    let mut rows: BTreeMap<(SourceKey, u32), SourceRow> =
        before.sources.into_iter().map(|row| ((row.source.clone(), row.revision), row)).collect();

    let mut captured = Captured {
        key: key.clone(),
        places: Vec::new(),
        sources: Vec::new(),
        session: SessionRow::new(key),
        turns: Vec::new(),
        content: String::new(),
        whole: None,
        overflowed: false,
        is_new,
        new_bytes: 0,
        gaps: 0,
        failed: Vec::new(),
        later: Vec::new(),
        openers: Vec::new(),
    };
    let mut whole = Whole::default();
    let mut changed: BTreeMap<(SourceKey, u32), ()> = BTreeMap::new();
    let mut facts: HashMap<(SourceKey, u32), SourceFacts> = HashMap::new();

    // A sync that was stopped may have left raw files that no session file names yet.
    let on_disk = if before.is_bare { HashMap::new() } else { revisions_on_disk(store, key)? };
    for found in longest_first(&session.files) {
        let named = file.sources.get(&found.source).map_or(0, |entry| entry.revisions);
        let revisions = named.max(on_disk.get(&found.source).copied().unwrap_or(0));
        // What is not written cannot be compared with another file of the same name.
        let is_alone = session.files.iter().filter(|file| file.source == found.source).count() == 1;
        let rows_read = matches!(found.held, Held::Rows { .. }).then(|| discover::rows(found)).transpose();
        let rows_of_database = match rows_read {
            Ok(rows) => rows,
            Err(error) => {
                captured.failed.push((found.path.clone(), error.to_string()));
                continue;
            }
        };
        let target = source::Target {
            store,
            agent: session.agent,
            key,
            found,
            rows: rows_of_database,
            revisions,
            place: before.stamps.get(&found.path),
            hurries: before.hurries && is_new && is_alone && on_disk.is_empty(),
        };
        let taken = match source::take(&target, &mut rows) {
            Ok(taken) => taken,
            Err(source::Failure::Store(error)) => return Err(error),
            Err(source::Failure::Source(reason)) => {
                captured.failed.push((found.path.clone(), reason));
                continue;
            }
        };
        let entry = file.sources.entry(found.source.clone()).or_insert_with(|| SourceEntry {
            kind: found.kind,
            format: format_name(found.format).to_owned(),
            revisions: 0,
            places: Default::default(),
        });
        entry.revisions = entry.revisions.max(taken.revision);
        entry.places.insert(redact(&found.path.to_string_lossy()).into_inner());
        captured.new_bytes += taken.new_bytes;
        captured.places.push(place_row(session.agent.name(), Some(&key.id), found, &found.source, &taken));
        captured.later.extend(taken.later);
        if let Some(read) = taken.read {
            captured.gaps += read.gaps;
            captured.overflowed |= read.overflowed;
            captured.take_turns(&read.parsed.out, before.hurries);
            facts.insert((found.source.clone(), taken.revision), read.facts);
            changed.insert((found.source.clone(), taken.revision), ());
            if read.from_start {
                whole.push(read.parsed);
            }
        }
    }

    // Revisions that no live file stands for any more, if the index lost them.
    for (source, entry) in &file.sources {
        for revision in 1..=entry.revisions {
            if rows.contains_key(&(source.clone(), revision)) {
                continue;
            }
            let format = format_named(&entry.format);
            let part = Part { session: key.clone(), source: source.clone(), revision, format };
            let read = source::read_raw(store, session.agent, part, entry.kind, &mut rows)?;
            captured.overflowed |= read.overflowed;
            captured.take_turns(&read.parsed.out, before.hurries);
            facts.insert((source.clone(), revision), read.facts);
            changed.insert((source.clone(), revision), ());
            whole.push(read.parsed);
        }
    }

    captured.overflowed |= whole.overflowed;
    captured.whole = whole.of(&file);
    if captured.overflowed {
        captured.turns.clear();
        captured.openers.clear();
        captured.whole = None;
    }
    captured.sources = changed.into_keys().filter_map(|at| rows.get(&at).cloned()).collect();
    file.facts = merged_facts(rows.iter().map(|(at, row)| facts.remove(at).unwrap_or_else(|| facts_of(row))));
    if !file.sources.is_empty() {
        store.put_session(&file)?;
    }
    captured.content = stages::content_with(store, &file, &captured.later)?;
    captured.session = session_row(&file, rows.values(), session.mtime_ns());
    Ok(captured)
}

/// What was read of a session from its start, as long as it can be held.
#[derive(Default)]
struct Whole {
    sources: Vec<Parsed>,
    bytes: u64,
    read: u32,
    overflowed: bool,
}

impl Whole {
    fn push(&mut self, parsed: Parsed) {
        self.read += 1;
        self.bytes += parsed.bytes;
        self.overflowed |= self.bytes > LARGE_BYTES;
        if self.overflowed {
            self.sources.clear();
        } else {
            self.sources.push(parsed);
        }
    }

    /// The sources, if they are all that the session has.
    fn of(self, file: &SessionFile) -> Option<Vec<Parsed>> {
        let slots: u32 = file.sources.values().map(|entry| entry.revisions).sum();
        (self.read == slots && !self.overflowed).then_some(self.sources)
    }
}

/// The highest revision of each source that lies on disk.
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

/// A session file from nothing but the names of raw files; none if there are no
/// such files. Where its sources lay is lost until a sync finds them again.
pub(crate) fn from_slots(
    store: &Store,
    agent: &dyn Agent,
    key: &SessionKey,
) -> Result<Option<SessionFile>, Error> {
    let mut file = SessionFile::new(key.clone());
    for slot in store.raw_slots(key)? {
        let Slot::Session { source, revision, .. } = slot else { continue };
        let (kind, format) = agent.source_form(&source);
        let entry = file.sources.entry(source).or_insert_with(|| SourceEntry {
            kind,
            format: format_name(format).to_owned(),
            revisions: 0,
            places: Default::default(),
        });
        entry.revisions = entry.revisions.max(revision);
    }
    Ok((!file.sources.is_empty()).then_some(file))
}

/// The rows of a session from its raw files alone, for an index that lost them
/// or has them from an older parser. Its session file is kept as they say.
pub fn from_raw(
    store: &Store,
    agent: &'static dyn Agent,
    key: &SessionKey,
    mtime_ns: i64,
) -> Result<Captured, Error> {
    let (file, captured) = told_by_raw(store, agent, key, mtime_ns)?;
    store.put_session(&file)?;
    Ok(captured)
}

/// What the raw files of a session say of it. Writes nothing.
pub(crate) fn told_by_raw(
    store: &Store,
    agent: &'static dyn Agent,
    key: &SessionKey,
    mtime_ns: i64,
) -> Result<(SessionFile, Captured), Error> {
    let mut file = store.session(key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
    let mut rows = BTreeMap::new();
    let mut turns = Vec::new();
    let mut whole = Whole::default();
    let mut overflowed = false;
    for (source, entry) in &file.sources {
        for revision in 1..=entry.revisions {
            let format = format_named(&entry.format);
            let part = Part { session: key.clone(), source: source.clone(), revision, format };
            let read = source::read_raw(store, agent, part, entry.kind, &mut rows)?;
            overflowed |= read.overflowed;
            turns.extend(turn_rows(key, &read.parsed.out));
            whole.push(read.parsed);
        }
    }
    overflowed |= whole.overflowed;
    if overflowed {
        turns.clear();
    }
    file.facts = merged_facts(rows.values().map(facts_of));
    let captured = Captured {
        key: key.clone(),
        places: Vec::new(),
        session: session_row(&file, rows.values(), mtime_ns),
        sources: rows.into_values().collect(),
        turns,
        content: stages::content(store, &file)?,
        whole: whole.of(&file).filter(|_| !overflowed),
        overflowed,
        is_new: false,
        new_bytes: 0,
        gaps: 0,
        failed: Vec::new(),
        later: Vec::new(),
        openers: Vec::new(),
    };
    Ok((file, captured))
}

/// Captures a file that serves many sessions.
pub fn shared(store: &Store, file: &SharedFile) -> Result<(PlaceRow, u64), Error> {
    let (revision, new_bytes) = shared::take(store, file)?;
    let taken = source::Taken { revision, new_bytes, stamp: file.file.stamp(), read: None, later: None };
    let source = SourceKey::new(&file.name);
    Ok((place_row(file.agent.name(), None, &file.file, &source, &taken), new_bytes))
}

/// What the index keeps of a source's facts.
pub(crate) fn facts_of(row: &SourceRow) -> SourceFacts {
    serde_json::from_str(&row.facts).unwrap_or_default()
}

/// The facts of a session from those of its sources, in source order.
pub(crate) fn merged_facts(sources: impl Iterator<Item = SourceFacts>) -> Facts {
    let mut facts = Facts::default();
    for of_source in sources {
        facts.merge(&of_source.lines);
        facts.merge(&of_source.tail);
    }
    facts
}

/// The row by which lists know a session.
pub(crate) fn session_row<'a>(
    file: &SessionFile,
    rows: impl Iterator<Item = &'a SourceRow>,
    mtime_ns: i64,
) -> SessionRow {
    let facts = &file.facts;
    let title = facts.own_title();
    let cwd = facts.cwd.as_ref().map(|(_, cwd)| cwd.to_string());
    SessionRow {
        agent: file.key.agent.clone(),
        id: file.key.id.clone(),
        title_rank: title.as_ref().map(|title| title.rank),
        title: title.map(|title| title.text.to_string()),
        project: cwd.as_deref().and_then(project_name),
        cwd,
        branch: facts.branch.as_ref().map(|(_, branch)| branch.to_string()),
        started_at: facts.started_at,
        ended_at: facts.ended_at,
        parent: facts.parent().map(str::to_owned),
        bytes: rows.map(|row| row.end).sum(),
        mtime_ns,
        links: facts.links.clone(),
        limits: facts.limits.clone(),
    }
}

/// Of several files that claim to be the same source the longest is looked at
/// first, so that the others are found to be its beginnings.
fn longest_first(files: &[Found]) -> Vec<&Found> {
    let mut files: Vec<&Found> = files.iter().collect();
    files.sort_by(|a, b| (&a.source, b.size(), &a.path).cmp(&(&b.source, a.size(), &b.path)));
    files
}

fn place_row(
    agent: &str,
    session: Option<&str>,
    found: &Found,
    source: &SourceKey,
    taken: &source::Taken,
) -> PlaceRow {
    PlaceRow {
        path: found.path.clone(),
        agent: agent.to_owned(),
        session: session.map(str::to_owned),
        source: source.clone(),
        revision: taken.revision,
        stamp: taken.stamp,
    }
}

/// Bytes of a message that are kept in its turn row.
const TURN_TEXT_BYTES_MAX: usize = 4096;

pub(crate) fn turn_rows(key: &SessionKey, out: &Out) -> impl Iterator<Item = TurnRow> {
    openers(out).map(|draft| turn_row(key, draft))
}

fn openers(out: &Out) -> impl Iterator<Item = &Draft> {
    out.drafts.iter().filter(|draft| draft.hint.opens_turn && !draft.hint.fold_only)
}

fn turn_row(key: &SessionKey, draft: &Draft) -> TurnRow {
    let event = draft.event.id.to_string();
    TurnRow {
        agent: key.agent.clone(),
        session: key.id.clone(),
        identity: draft.hint.identity.clone().unwrap_or_else(|| event.clone()),
        place: sort_key(draft),
        event,
        thread: draft.event.thread.as_str().to_owned(),
        ts: draft.event.ts,
        text: draft.event.text.as_ref().map(|text| text.head(TURN_TEXT_BYTES_MAX).to_string()),
    }
}

/// Addresses as texts that sort like addresses.
fn sort_key(draft: &Draft) -> String {
    let id = &draft.event.id;
    let rank = if id.source.is_main() { "0" } else { "1" };
    format!("{rank}{}~{:010}:{:020}", id.source, id.revision, id.record)
}

/// The raw file of a revision.
pub(crate) fn slot(key: &SessionKey, source: &SourceKey, revision: u32) -> Slot {
    Slot::Session { key: key.clone(), source: source.clone(), revision }
}
