//! Captures the bytes of one source.

use retro_agents::{Agent, Cursor, Format, Found, Held, Part, Reader};
use retro_model::{SessionKey, SourceKind, Stamp, Stat};
use retro_store::{Archive, Commit, Comparison, PlaceRow, SourceRow, Store};
use std::io::{self, Read};
use std::ops::Range;

use super::live::{CHUNK_BYTES, LastBytes, TAIL_BYTES, count_lines, give_back, lend, open_at};
use super::reading::{Bounded, ReadPart, read_raw};
use super::{Rows, half, slot};
use crate::Error;
use crate::discover::Cut;
use crate::door::Door;
use crate::read::feed_raw;

/// A source to capture, and the store's facts about it.
pub(crate) struct Target<'a> {
    pub store: &'a Store,
    /// Where its live bytes come from.
    pub door: &'a Door,
    pub agent: &'static dyn Agent,
    pub key: &'a SessionKey,
    pub found: &'a Found,
    /// Its bytes, if they are rows of a database.
    pub rows: Option<Vec<u8>>,
    /// Number of its revisions in the store.
    pub revisions: u32,
    /// The stamp of this very file, if it was seen before.
    pub place: Option<PlaceRow>,
    /// The source is old: a new raw file is compressed at once.
    pub is_old: bool,
    /// Why its compressed data ended early, once a reader met the end.
    pub cut: Cut,
    /// Returns true once a stop was requested.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// The result of capturing a source.
pub(crate) struct Taken {
    pub revision: u32,
    pub new_bytes: u64,
    /// Its stamp before it was read.
    pub stamp: Stamp,
    /// The reading of its new part. `None` if it has no new part and was read before.
    pub read: Option<ReadPart>,
    /// True if a stop was requested before all of it was kept.
    pub is_cut_short: bool,
}

/// Why a source was not captured.
pub(crate) enum Failure {
    /// The store returned an error.
    Store(Error),
    /// Only this file cannot be read.
    Source(String),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Store(error.into())
    }
}

pub(crate) fn source_error(error: io::Error) -> Failure {
    Failure::Source(error.to_string())
}

/// The error for a file that changed between two looks at it. None of it is kept, because its bytes
/// may belong to two versions.
const REWRITTEN: &str = "it was rewritten while it was read; the next sync tries again";

fn changing() -> Failure {
    Failure::Source(REWRITTEN.to_owned())
}

/// Where the bytes of a file belong.
pub(crate) enum Belongs {
    /// They are all there already.
    Has(u32),
    /// They continue this revision from its end.
    Continues(u32, Commit),
    /// They are something else: they start this revision.
    Next(u32),
}

pub(crate) fn take(target: &Target<'_>, rows: &mut Rows) -> Result<Taken, Failure> {
    let found = target.found;
    let stamp = current_stamp(found).map_err(source_error)?;
    if found.kind == SourceKind::State {
        return take_state(target, rows, stamp);
    }
    half::mask(target, rows)?;
    match place(target, rows, stamp)? {
        Belongs::Has(revision) => {
            let is_current = current(target, rows, revision)?;
            let read = if is_current { None } else { Some(read_again(target, rows, revision)?) };
            Ok(Taken { revision, new_bytes: 0, stamp, read, is_cut_short: false })
        }
        Belongs::Continues(revision, commit) => append(target, rows, stamp, revision, Some(commit)),
        Belongs::Next(revision) => append(target, rows, stamp, revision, None),
    }
}

/// Which revision the bytes of a source belong to. Only reads.
pub(crate) fn place(target: &Target<'_>, rows: &Rows, stamp: Stamp) -> Result<Belongs, Failure> {
    match target.found.kind {
        // Rows are read in the order in which they were added, so they grow like a log.
        SourceKind::Log | SourceKind::Rows => place_log(target, rows, stamp),
        SourceKind::Document | SourceKind::State | SourceKind::Files => place_document(target, rows),
    }
}

/// The revision after the last one that holds anything, good or damaged.
pub(super) fn next_revision(target: &Target<'_>) -> Result<u32, Failure> {
    let mut revision = target.revisions;
    while revision > 0 {
        match archive(target, revision).tail() {
            Ok(None) => revision -= 1,
            Ok(Some(_)) | Err(retro_store::Error::Damaged { .. }) => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(revision + 1)
}

/// The last commit of a revision. `None` if no commit of it is valid.
pub(super) fn tail(target: &Target<'_>, revision: u32) -> Result<Option<Commit>, Failure> {
    match archive(target, revision).tail() {
        Err(retro_store::Error::Damaged { .. }) => Ok(None),
        tail => Ok(tail?),
    }
}

/// Compares a live source with a revision. `None` if the revision is damaged.
fn compared(target: &Target<'_>, revision: u32) -> Result<Option<Comparison>, Failure> {
    let mut live = open(target).map_err(source_error)?;
    match archive(target, revision).compare(&mut live) {
        Err(retro_store::Error::Damaged { .. }) => Ok(None),
        comparison => Ok(Some(comparison?)),
    }
}

/// The stamp of a source before it is read. If rows were added since they were listed, the next
/// sync looks again.
pub(crate) fn current_stamp(found: &Found) -> io::Result<Stamp> {
    if let Held::Rows { stamp, .. } = &found.held {
        return Ok(Stamp::Rows(*stamp));
    }
    let meta = std::fs::metadata(&found.path)?;
    if !meta.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(Stamp::File(Stat::of(&meta)))
}

/// The source from its start: its rows if they were read, otherwise its file.
fn open<'a>(target: &'a Target<'_>) -> io::Result<Box<dyn Read + 'a>> {
    match &target.rows {
        Some(rows) => Ok(Box::new(rows.as_slice())),
        None => target.door.open(target.found, &target.cut),
    }
}

pub(super) fn archive(target: &Target<'_>, revision: u32) -> Archive {
    target.store.archive(&slot(target.key, &target.found.source, revision))
}

fn place_log(target: &Target<'_>, rows: &Rows, stamp: Stamp) -> Result<Belongs, Failure> {
    if let Some(place) = &target.place
        && place.revision >= 1
        && place.revision <= target.revisions
        && let Some(commit) = tail(target, place.revision)?
        && let Some(row) = rows.get(&(target.found.source.clone(), place.revision))
        && row.end == commit.end
        && grown(target, place, stamp, row).map_err(source_error)?
    {
        return Ok(Belongs::Continues(place.revision, commit));
    }
    for revision in (1..=target.revisions).rev() {
        let Some(commit) = tail(target, revision)? else { continue };
        // The hashes of its commits describe the captured bytes. They count as captured only if
        // they can be read back, which is checked where the row is not current.
        match compared(target, revision)? {
            Some(Comparison::Equal | Comparison::SourceIsPrefix) if is_good(target, rows, revision)? => {
                return Ok(Belongs::Has(revision));
            }
            Some(Comparison::SourceExtends) if is_good(target, rows, revision)? => {
                return Ok(Belongs::Continues(revision, commit));
            }
            _ => {}
        }
    }
    Ok(Belongs::Next(next_revision(target)?))
}

/// Whether a revision can be read back. Current rows prove it, as they were made from the revision.
/// Without them the whole revision is read.
fn is_good(target: &Target<'_>, rows: &Rows, revision: u32) -> Result<bool, Failure> {
    if current(target, rows, revision)? {
        return Ok(true);
    }
    let slot = slot(target.key, &target.found.source, revision);
    match feed_raw(target.store, &slot, &mut |_| {}) {
        Ok(()) => Ok(true),
        Err(error) if error.is_of_one_session() => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether a log can be trusted to have grown: the same file, longer, with no earlier modification
/// time, and with its last captured bytes in place.
fn grown(target: &Target<'_>, place: &PlaceRow, stamp: Stamp, row: &SourceRow) -> io::Result<bool> {
    let found = target.found;
    let (Stamp::File(then), Stamp::File(now)) = (place.stamp, stamp) else { return Ok(false) };
    let same_file = (then.device, then.inode) == (now.device, now.inode);
    if !found.is_plain_file() || !same_file || now.mtime_ns < then.mtime_ns || now.size <= row.end {
        return Ok(false);
    }
    let last = target.door.file(&found.path)?.before(row.end, TAIL_BYTES)?;
    Ok(blake3::hash(&last).as_bytes().as_slice() == row.tail_hash.as_slice())
}

/// A document belongs to a revision only if it is equal to it.
fn place_document(target: &Target<'_>, rows: &Rows) -> Result<Belongs, Failure> {
    for revision in (1..=target.revisions).rev() {
        if compared(target, revision)? == Some(Comparison::Equal) && is_good(target, rows, revision)? {
            return Ok(Belongs::Has(revision));
        }
    }
    Ok(Belongs::Next(next_revision(target)?))
}

/// Captures state: a changed state replaces the old one.
fn take_state(target: &Target<'_>, rows: &mut Rows, stamp: Stamp) -> Result<Taken, Failure> {
    let mut bytes = Vec::new();
    open(target).and_then(|mut live| live.read_to_end(&mut bytes)).map_err(source_error)?;
    let archive = archive(target, 1);
    let same = target.revisions >= 1
        && matches!(archive.compare(&mut bytes.as_slice()), Ok(Comparison::Equal))
        && is_good(target, rows, 1)?;
    if same && current(target, rows, 1)? {
        return Ok(Taken { revision: 1, new_bytes: 0, stamp, read: None, is_cut_short: false });
    }
    let mut new_bytes = 0;
    if !same {
        archive.replace(&bytes, count_lines(&bytes))?;
        new_bytes = bytes.len() as u64;
    }
    let read = read_again(target, rows, 1)?;
    Ok(Taken { revision: 1, new_bytes, stamp, read: Some(read), is_cut_short: false })
}

/// Whether the index row of a revision covers its whole raw file and comes from the present parser.
fn current(target: &Target<'_>, rows: &Rows, revision: u32) -> Result<bool, Failure> {
    let Some(row) = rows.get(&(target.found.source.clone(), revision)) else { return Ok(false) };
    let end = tail(target, revision)?.map(|commit| commit.end);
    Ok(Some(row.end) == end && row.parser_version == target.agent.reading_version())
}

/// Reads a revision from raw, from its start.
fn read_again(target: &Target<'_>, rows: &mut Rows, revision: u32) -> Result<ReadPart, Failure> {
    let part = part(target, revision);
    Ok(read_raw(target.store, target.agent, part, target.found.kind, rows)?)
}

pub(super) fn part(target: &Target<'_>, revision: u32) -> Part {
    Part {
        session: target.key.clone(),
        source: target.found.source.clone(),
        revision,
        format: target.found.format,
    }
}

/// Captures and reads the bytes after `commit`, or the whole file.
fn append(
    target: &Target<'_>,
    rows: &mut Rows,
    stamp: Stamp,
    revision: u32,
    commit: Option<Commit>,
) -> Result<Taken, Failure> {
    let archive = archive(target, revision);
    let start = commit.as_ref().map_or(0, |commit| commit.end);
    let mut records = commit.as_ref().map_or(0, |commit| commit.records);
    if commit.is_none() && revision > target.revisions {
        archive.note_absent();
    }
    let mut live = open_at(target.door, target.found, target.rows.as_deref(), start, &target.cut)
        .map_err(source_error)?;
    let mut last = LastBytes(live.before.clone());
    let row = rows.get(&(target.found.source.clone(), revision));
    // The file was compared before it was opened here, and may have changed since: the captured
    // bytes must still come before the rest.
    let same = match row.filter(|row| row.end == start) {
        _ if start == 0 => true,
        Some(row) => last.hash().as_bytes().as_slice() == row.tail_hash.as_slice(),
        None => archive.read_range(start.saturating_sub(TAIL_BYTES), start.min(TAIL_BYTES))? == last.0,
    };
    if !same {
        return Err(changing());
    }
    let resumable = row.filter(|row| {
        row.end == start
            && start > 0
            && row.parser_version == target.agent.reading_version()
            && target.found.format == Format::JsonLines
    });
    let from_start = resumable.is_none();
    let mut reader = match resumable {
        Some(row) => {
            let cursor = Cursor { line_end: row.line_end, records: row.records, state: row.state.clone() };
            let mut reader = Bounded::new(Reader::new(target.agent, part(target, revision), Some(&cursor)));
            feed_unfinished(&mut reader, &archive, &live.before, row.line_end..start)?;
            reader
        }
        None => {
            let mut reader = Bounded::new(Reader::new(target.agent, part(target, revision), None));
            if start > 0 {
                let slot = slot(target.key, &target.found.source, revision);
                feed_raw(target.store, &slot, &mut |bytes| reader.feed(bytes))?;
            }
            reader
        }
    };

    let mut end = start;
    let mut is_cut_short = false;
    let mut chunk = lend();
    loop {
        if (target.stop)() && end > start {
            is_cut_short = true;
            break;
        }
        live.next(&mut chunk).map_err(source_error)?;
        if chunk.is_empty() && !(end == 0 && commit.is_none()) {
            break;
        }
        if !live.still(end, &last, &chunk).map_err(source_error)? {
            // The file was rewritten while it was read. The bytes kept so far stay, and the next
            // sync decides where they belong.
            if end == 0 {
                return Err(changing());
            }
            break;
        }
        records += count_lines(&chunk);
        archive.append_packed(&chunk, records, target.is_old)?;
        last.push(&chunk);
        end += chunk.len() as u64;
        reader.feed(&chunk);
        if chunk.len() < CHUNK_BYTES {
            break;
        }
    }
    give_back(chunk);
    let read = reader.remember(rows, target.found.kind, end, last.hash(), from_start);
    Ok(Taken { revision, new_bytes: end - start, stamp, read: Some(read), is_cut_short })
}

/// Feeds the reader the bytes of a last line that was unfinished when it was captured.
fn feed_unfinished(
    reader: &mut Bounded<'_>,
    archive: &Archive,
    before: &[u8],
    line: Range<u64>,
) -> Result<(), Failure> {
    let length = line.end.saturating_sub(line.start);
    if let Some(from) = before.len().checked_sub(usize::try_from(length).unwrap_or(usize::MAX)) {
        reader.feed(&before[from..]);
        return Ok(());
    }
    for start in line.clone().step_by(CHUNK_BYTES) {
        let piece = archive.read_range(start, (line.end - start).min(CHUNK_BYTES as u64))?;
        reader.feed(&piece);
    }
    Ok(())
}
