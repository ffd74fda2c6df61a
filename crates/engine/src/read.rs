//! Reads sessions: whole ones back from raw, and the head and tail of live ones.

use retro_agents::{
    Agent, Cursor, Folding, Format, Limits, Out, Part, Reader, Settled, Shelf, Shelved, Told,
};
use retro_model::{Event, Facts, Gap, GapReason, Kind, SessionKey, SourceKey};
use retro_store::{Scratch, SessionFile, SessionRow, Slot, SourceEntry, Store};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};

use crate::Error;
use crate::discover::{Cut, HEAD_BYTES, SessionFiles};
use crate::door::Door;
use crate::session_row::session_row;

/// Bytes of raw above which a session is not held in memory as a whole.
pub const LARGE_BYTES: u64 = 16 * 1024 * 1024;

/// Reads a session back from its captured bytes. Writes nothing.
pub fn session(store: &Store, agent: &dyn Agent, key: &SessionKey) -> Result<Settled, Error> {
    let mut events = Vec::new();
    let mut keep = |event: Box<Event>| {
        events.push(*event);
        Ok(())
    };
    let Told { coverage, gaps, facts } = stream(store, agent, key, &never, &mut keep)?;
    Ok(Settled { events, coverage, gaps, facts })
}

/// The rows of all sessions, made from the session files alone, for a store without an index. Skips
/// unreadable sessions.
pub fn rows_of_files(store: &Store) -> Result<Vec<SessionRow>, Error> {
    let mut rows = Vec::new();
    for key in store.session_keys()? {
        let Ok(Some(file)) = store.session(&key) else { continue };
        let mut row = session_row(&file, std::iter::empty(), 0, String::new());
        for slot in store.raw_slots(&key)? {
            row.bytes += store.archive(&slot).tail().ok().flatten().map_or(0, |commit| commit.end);
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Number of events at the start of a session that are held for reading, and at its end.
const FIRST_EVENTS_MAX: usize = 1_000;
const LAST_EVENTS_MAX: usize = 50_000;

/// Bytes of raw above which long texts are cut for reading.
const WHOLE_TEXTS_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Length of a text after such a cut, in bytes.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// A session for reading: all of it, or the part that can be held.
pub struct Legible {
    /// The session. A very long one has only its first and last events.
    pub settled: Settled,
    /// All events by kind.
    pub event_counts: BTreeMap<Kind, u64>,
    /// Number of events between the first and the last that are not held.
    pub left_out: u64,
}

/// Reads a session of any size for display.
pub fn legible(store: &Store, agent: &dyn Agent, key: &SessionKey) -> Result<Legible, Error> {
    let mut bytes = 0;
    for slot in store.raw_slots(key)? {
        bytes += store.archive(&slot).tail()?.map_or(0, |commit| commit.end);
    }
    let mut first = Vec::new();
    let mut last = VecDeque::new();
    let mut event_counts = BTreeMap::new();
    let mut left_out = 0;
    let mut keep = |mut event: Box<Event>| {
        *event_counts.entry(event.kind).or_default() += 1;
        if bytes > WHOLE_TEXTS_BYTES_MAX {
            shorten(&mut event);
        }
        if first.len() < FIRST_EVENTS_MAX {
            first.push(*event);
            return Ok(());
        }
        last.push_back(*event);
        if last.len() > LAST_EVENTS_MAX {
            last.pop_front();
            left_out += 1;
        }
        Ok(())
    };
    let Told { coverage, gaps, facts } = stream(store, agent, key, &never, &mut keep)?;
    first.extend(last);
    Ok(Legible { settled: Settled { events: first, coverage, gaps, facts }, event_counts, left_out })
}

fn shorten(event: &mut Event) {
    if let Some(text) = event.text.as_mut().filter(|text| text.len() > TEXT_BYTES_MAX) {
        *text = text.head(TEXT_BYTES_MAX);
        event.truncated = true;
    }
    let is_long = |value: &Value| value.to_string().len() > TEXT_BYTES_MAX;
    event.data.take_if(|data| is_long(data));
    if let Some(tool) = &mut event.tool {
        tool.args.take_if(|args| is_long(args));
    }
}

/// Never requests a stop, for reading without interruption.
fn never() -> bool {
    false
}

/// Reads a session of any size from raw and passes on its settled events in order. Files without
/// records are not opened, because there may be thousands. Returns [`Error::Stopped`] once `stop`
/// returns true.
pub fn stream(
    store: &Store,
    agent: &dyn Agent,
    key: &SessionKey,
    stop: &dyn Fn() -> bool,
    take: &mut dyn FnMut(Box<Event>) -> Result<(), Error>,
) -> Result<Told, Error> {
    let file = store.session(key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
    if let Some(at) = file.evicted_at {
        return Err(Error::Evicted { session: key.to_string(), at });
    }
    let parts = small_first(store, &file)?.into_iter().map(|(slot, part)| {
        let bytes = store.archive(&slot);
        let open = move || -> Result<Box<dyn Read>, Error> { Ok(Box::new(bytes.read()?)) };
        (part, Box::new(open) as Open)
    });
    fold(agent, key, parts.collect(), Some(store), stop, take)
}

/// Opens one part of a session.
pub(crate) type Open = Box<dyn FnOnce() -> Result<Box<dyn Read>, Error>>;

/// Settles the parts of a session of any size, in the given order. Damage in a part with a later
/// revision is a gap. In any other part it is an error, because a result of the rest would replace
/// that of the whole.
pub(crate) fn fold(
    agent: &dyn Agent,
    key: &SessionKey,
    parts: Vec<(Part, Open)>,
    store: Option<&Store>,
    stop: &dyn Fn() -> bool,
    take: &mut dyn FnMut(Box<Event>) -> Result<(), Error>,
) -> Result<Told, Error> {
    let mut newest: BTreeMap<SourceKey, u32> = BTreeMap::new();
    for (part, _) in &parts {
        let revision = newest.entry(part.source.clone()).or_default();
        *revision = part.revision.max(*revision);
    }
    let is_replaced = |part: &Part| newest.get(&part.source).is_some_and(|newest| part.revision < *newest);
    let rewritten: Vec<SourceKey> =
        newest.iter().filter(|(_, newest)| **newest > 1).map(|(source, _)| source.clone()).collect();
    let mut shelf = ScratchShelf { store, scratch: None };
    let mut folding = Folding::bounded(agent, key, rewritten, &mut shelf, Limits::default(), take);
    let mut buffer = vec![0; 256 * 1024];
    for (part, open) in parts {
        let mut reader = Reader::new(agent, part.clone(), None);
        let mut bytes = match open() {
            Ok(bytes) => bytes,
            Err(error) if error.is_damage() && is_replaced(&part) => {
                folding.take(&part, unreadable(&part, &error.to_string()))?;
                continue;
            }
            Err(error) => return Err(error),
        };
        loop {
            if stop() {
                return Err(Error::Stopped);
            }
            match bytes.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => reader.feed(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::InvalidData && is_replaced(&part) => {
                    folding.take(&part, unreadable(&part, &error.to_string()))?;
                    break;
                }
                Err(source) => {
                    let what = format!("{key}#{}", part.source);
                    return Err(Error::Raw { what, source });
                }
            }
            folding.take(&part, reader.drain())?;
        }
        let parsed = reader.finish();
        folding.take(&part, parsed.out)?;
        folding.end_source(parsed.bytes);
    }
    folding.finish()
}

/// The output of an unreadable part: one gap.
fn unreadable(part: &Part, why: &str) -> Out {
    let mut out = Out::default();
    out.gaps.push(Gap {
        source: part.source.clone(),
        revision: part.revision,
        line: None,
        offset: None,
        reason: GapReason::Unreadable,
        detail: Some(why.to_owned()),
    });
    out
}

/// The raw files of a session that hold records, small sources first.
fn small_first(store: &Store, file: &SessionFile) -> Result<Vec<(Slot, Part)>, Error> {
    let mut all = Vec::new();
    for (source, entry) in &file.sources {
        let format = format_named(&entry.format);
        if !format.has_records() {
            continue;
        }
        for revision in 1..=entry.revisions {
            let slot = Slot::Session { key: file.key.clone(), source: source.clone(), revision };
            let part = Part { session: file.key.clone(), source: source.clone(), revision, format };
            let bytes = match store.archive(&slot).tail() {
                Err(retro_store::Error::Damaged { .. }) => 0,
                tail => tail?.map_or(0, |commit| commit.end),
            };
            all.push((bytes, slot, part));
        }
    }
    // Revisions of a source stay in their order: a later one may repeat an earlier one.
    let mut of_source: BTreeMap<SourceKey, u64> = BTreeMap::new();
    for (bytes, _, part) in &all {
        *of_source.entry(part.source.clone()).or_default() += bytes;
    }
    all.sort_by_key(|(_, _, part)| of_source.get(&part.source).copied());
    Ok(all.into_iter().map(|(_, slot, part)| (slot, part)).collect())
}

/// A shelf that takes disk space only when it is first used.
struct ScratchShelf<'a> {
    store: Option<&'a Store>,
    scratch: Option<Scratch>,
}

impl Shelf for ScratchShelf<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<Shelved> {
        let scratch = match &mut self.scratch {
            Some(scratch) => scratch,
            None => self.scratch.insert(Scratch::new(self.store.map(Store::root))?),
        };
        Ok(Shelved { offset: scratch.put(bytes)?, length: bytes.len() as u64 })
    }

    fn get(&mut self, at: Shelved) -> io::Result<Vec<u8>> {
        match &mut self.scratch {
            Some(scratch) => scratch.get(at.offset, at.length),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn clear(&mut self) -> io::Result<()> {
        self.scratch.iter_mut().for_each(Scratch::clear);
        Ok(())
    }
}

/// Passes the bytes of a raw file to `take`, piece by piece.
pub fn feed_raw(store: &Store, slot: &Slot, take: &mut dyn FnMut(&[u8])) -> Result<(), Error> {
    let mut bytes = store.archive(slot).read()?;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let count =
            bytes.read(&mut buffer).map_err(|source| Error::Raw { what: slot.to_string(), source })?;
        if count == 0 {
            return Ok(());
        }
        take(&buffer[..count]);
    }
}

/// The name of a format in session files.
pub(crate) fn format_name(format: Format) -> &'static str {
    match format {
        Format::JsonLines => "json_lines",
        Format::Json => "json",
        Format::Opaque => "opaque",
        Format::Files => "files",
    }
}

pub(crate) fn format_named(name: &str) -> Format {
    match name {
        "json_lines" => Format::JsonLines,
        "json" => Format::Json,
        "files" => Format::Files,
        _ => Format::Opaque,
    }
}

/// The format of a source's records, according to its session file.
pub fn source_format(entry: &SourceEntry) -> Format {
    format_named(&entry.format)
}

/// Bytes of a log that are searched for a title if its first ones hold none.
const LONG_HEAD_BYTES: usize = 4 * HEAD_BYTES;

/// Reads the head and the tail of a live session's files: enough for a title, a folder and a time.
/// Skips unreadable files.
pub fn peek(door: &Door, session: &SessionFiles) -> Facts {
    let mut facts = Facts::default();
    for file in &session.files {
        if !file.format.has_records() || file.size() == 0 {
            continue;
        }
        let part = Part {
            session: session.key.clone(),
            source: file.source.clone(),
            revision: 1,
            format: file.format,
        };
        let mut whole = false;
        for bytes in [HEAD_BYTES, LONG_HEAD_BYTES] {
            let Ok(head) = head_of(door, file, bytes) else { break };
            whole = (head.len() as u64) >= file.size();
            if file.format == Format::Json && !whole {
                break;
            }
            let mut reader = Reader::new(session.agent, part.clone(), None);
            reader.feed(&head);
            facts.merge(&reader.finish().out.facts);
            // Instructions may fill the start of a log before its first prompt.
            if whole || !file.source.is_main() || facts.own_title().is_some() {
                break;
            }
        }
        if file.format != Format::Json && !whole && file.is_plain_file() {
            facts.merge(&peek_tail(door, session.agent, part, &file.path, file.size()).unwrap_or_default());
        }
    }
    facts
}

/// The first bytes of a source, decompressed where it is compressed.
fn head_of(door: &Door, file: &retro_agents::Found, bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    door.open(file, &Cut::default())?.take(bytes as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn peek_tail(door: &Door, agent: &dyn Agent, part: Part, path: &std::path::Path, size: u64) -> Option<Facts> {
    let start = size.saturating_sub(HEAD_BYTES as u64);
    let mut tail = Vec::new();
    door.file(path).ok()?.read_at(start, HEAD_BYTES as u64, &mut tail).ok()?;
    let first = tail.iter().position(|byte| *byte == b'\n')? + 1;
    // The record numbers of the tail are unknown. Any numbers after those of the head will do.
    let cursor = Cursor { line_end: start + first as u64, records: 1 << 40, state: Vec::new() };
    let mut reader = Reader::new(agent, part, Some(&cursor));
    reader.feed(&tail[first..]);
    Some(reader.finish().out.facts)
}
