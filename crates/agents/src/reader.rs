//! Cuts the bytes of a source into records and hands them to the agent's parser.
//!
//! A reader takes bytes in any pieces. Whole lines are parsed as they come; an
//! unfinished last line is looked at by [`Reader::finish`] without changing the
//! state that [`Reader::save`] gives, so that the same line can be read again
//! when it has grown.

use retro_model::{Address, Facts, Gap, GapReason};
use serde::{Deserialize, Serialize};

use crate::json::{self, Mended, Room};
use crate::oversized::{Oversized, RECORD_BYTES_MAX, Shortened};
use crate::{Agent, Draft, Format, Out, Parse, Part, Record};

/// Typical number of log bytes per draft.
const DRAFT_SOURCE_BYTES: usize = 1024;

/// How far a source was read: stored so that reading can continue later.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Cursor {
    /// Offset just after the last whole line.
    pub line_end: u64,
    /// Number of whole lines before it.
    pub records: u64,
    /// State of the parser at that offset.
    pub state: Vec<u8>,
}

/// The result of reading a source.
#[derive(Debug)]
pub struct Parsed {
    /// The part of the session.
    pub part: Part,
    /// Size of the whole source in bytes.
    pub bytes: u64,
    /// Its drafts, facts and gaps.
    pub out: Out,
}

/// The bytes after the last line end.
enum Tail {
    Held(Vec<u8>),
    /// Too many bytes to hold.
    Oversized(Box<Oversized>),
}

impl Tail {
    fn is_empty(&self) -> bool {
        matches!(self, Tail::Held(bytes) if bytes.is_empty())
    }

    fn len(&self) -> u64 {
        match self {
            Tail::Held(bytes) => bytes.len() as u64,
            Tail::Oversized(oversized) => oversized.length(),
        }
    }

    fn feed(&mut self, more: &[u8]) {
        match self {
            Tail::Oversized(oversized) => oversized.feed(more),
            Tail::Held(bytes) if bytes.len() + more.len() <= RECORD_BYTES_MAX => {
                bytes.extend_from_slice(more)
            }
            Tail::Held(bytes) => {
                let mut oversized = Oversized::new(&std::mem::take(bytes));
                oversized.feed(more);
                *self = Tail::Oversized(Box::new(oversized));
            }
        }
    }
}

/// Reads one source.
pub struct Reader<'a> {
    agent: &'a dyn Agent,
    part: Part,
    parser: Box<dyn Parse>,
    /// The record being collected: bytes after the last line end.
    tail: Tail,
    line_end: u64,
    records: u64,
    out: Out,
    /// The arena of a record's tree.
    room: Room,
}

impl<'a> Reader<'a> {
    /// A reader at the start of a source, or where `cursor` left off.
    pub fn new(agent: &'a dyn Agent, part: Part, cursor: Option<&Cursor>) -> Self {
        let state = cursor.map(|cursor| cursor.state.as_slice()).filter(|state| !state.is_empty());
        let parser = agent.parser(&part, state);
        let (line_end, records) = cursor.map_or((0, 0), |cursor| (cursor.line_end, cursor.records));
        let (tail, out, room) = (Tail::Held(Vec::new()), Out::default(), Room::default());
        Reader { agent, part, parser, tail, line_end, records, out, room }
    }

    /// Takes the next bytes. The first ones must be those at the cursor's `line_end`.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        match self.part.format {
            Format::JsonLines => {}
            Format::Json => return self.tail.feed(bytes),
            Format::Opaque | Format::Files => return self.line_end += bytes.len() as u64,
        }
        // Drafts are large, so growing by doubling would move them many times.
        self.out.drafts.reserve(bytes.len() / DRAFT_SOURCE_BYTES);
        while let Some(at) = memchr::memchr(b'\n', bytes) {
            let (line, rest) = (&bytes[..at], &bytes[at + 1..]);
            if self.tail.is_empty() && line.len() <= RECORD_BYTES_MAX {
                self.line(line);
            } else {
                self.tail.feed(line);
                match std::mem::replace(&mut self.tail, Tail::Held(Vec::new())) {
                    Tail::Held(line) => self.line(&line),
                    Tail::Oversized(oversized) => self.oversized_line(oversized.finish()),
                }
            }
            bytes = rest;
        }
        self.tail.feed(bytes);
    }

    /// The state from which another reader can continue after the last whole line.
    pub fn save(&self) -> Cursor {
        Cursor { line_end: self.line_end, records: self.records, state: self.parser.save() }
    }

    /// Facts about the session from the whole lines read so far.
    pub fn facts(&self) -> &Facts {
        &self.out.facts
    }

    /// Gaps in the whole lines read so far.
    pub fn gap_count(&self) -> usize {
        self.out.gaps.len()
    }

    /// Everything read since the reader was made or last drained. The facts stay, and so does the
    /// unfinished last line.
    pub fn drain(&mut self) -> Out {
        let facts = std::mem::take(&mut self.out.facts);
        let drained = std::mem::take(&mut self.out);
        self.out.facts = facts;
        drained
    }

    /// Everything read since the reader was made or last drained, the unfinished
    /// last line included.
    pub fn finish(mut self) -> Parsed {
        let tail = std::mem::replace(&mut self.tail, Tail::Held(Vec::new()));
        let bytes = self.line_end + tail.len();
        match (self.part.format, tail) {
            (Format::Opaque | Format::Files, _) => {}
            (Format::Json, Tail::Held(tail)) if tail.iter().all(u8::is_ascii_whitespace) => {}
            (Format::Json, Tail::Held(tail)) => self.line(&tail),
            (Format::Json, Tail::Oversized(oversized)) => self.oversized_line(oversized.finish()),
            (Format::JsonLines, Tail::Held(tail)) if clean(&tail).0.is_empty() => self.nul_gap(&tail),
            (Format::JsonLines, Tail::Held(tail)) => self.last_line(&tail),
            (Format::JsonLines, Tail::Oversized(oversized)) if oversized.is_whole() => {
                self.oversized_line(oversized.finish())
            }
            (Format::JsonLines, Tail::Oversized(_)) => self.pending(),
        }
        Parsed { part: self.part, bytes, out: self.out }
    }

    /// A last line without its end: a record if it is whole JSON, else pending.
    fn last_line(&mut self, tail: &[u8]) {
        match json::parse(clean(tail).0, &Room::default(), &mut String::new()) {
            Ok((json, _)) if json.is_object() => self.line(tail),
            _ => self.pending(),
        }
    }

    fn pending(&mut self) {
        let address = self.address();
        self.out.gaps.push(Gap::at(&address, self.line_end, GapReason::Pending));
    }

    fn line(&mut self, line: &[u8]) {
        let offset = self.line_end;
        self.records += 1;
        self.line_end += line.len() as u64 + 1;
        let (content, nul) = clean(line);
        if content.is_empty() {
            if nul {
                self.gap(offset, GapReason::NulBytes);
            }
            return;
        }
        if let Some(first) = self.record(content, offset, line.len() as u64, nul) {
            note_content(&mut self.out.drafts[first..], || xxhash_rust::xxh3::xxh3_64(content));
        }
    }

    /// Reads the shortened form of a line that was too long to hold.
    fn oversized_line(&mut self, oversized: Shortened) {
        let offset = self.line_end;
        self.records += 1;
        self.line_end += oversized.length + 1;
        if let Some(first) = self.record(&oversized.content, offset, oversized.length, oversized.nul) {
            let drafts = &mut self.out.drafts[first..];
            drafts.iter_mut().for_each(|draft| draft.event.truncated |= oversized.cut);
            note_content(drafts, || oversized.hash);
        }
        if oversized.cut {
            let address = self.here();
            let detail =
                Some(format!("a record of {} bytes, of which long texts were cut", oversized.length));
            self.out.gaps.push(Gap { detail, ..Gap::at(&address, offset, GapReason::Oversized) });
        }
    }

    /// Reads the record that was just counted. Returns the index of its first draft.
    fn record(&mut self, content: &[u8], offset: u64, length: u64, nul: bool) -> Option<usize> {
        let address = self.here();
        let mut room = std::mem::take(&mut self.room);
        let mut spare = String::new();
        let first = match json::parse(content, &room, &mut spare) {
            Ok((json, mended)) => {
                if nul {
                    self.gap(offset, GapReason::NulBytes);
                }
                if mended == Mended::InvalidUtf8 {
                    self.gap(offset, GapReason::InvalidUtf8);
                }
                let record = Record { address: &address, offset, length, json: &json, room: &room };
                let before = self.out.drafts.len();
                self.parser.record(&record, &mut self.out);
                Some(before)
            }
            Err(detail) => {
                self.out.malformed(&address, offset, detail);
                None
            }
        };
        room.clear();
        self.room = room;
        first
    }

    fn nul_gap(&mut self, tail: &[u8]) {
        if tail.contains(&0) {
            let address = self.address();
            self.out.gaps.push(Gap::at(&address, self.line_end, GapReason::NulBytes));
        }
    }

    fn gap(&mut self, offset: u64, reason: GapReason) {
        let address = self.here();
        self.out.gaps.push(Gap::at(&address, offset, reason));
    }

    /// The address of the record that was just counted.
    fn here(&self) -> Address {
        Address { source: self.part.source.clone(), revision: self.part.revision, record: self.records }
    }

    /// The address of the next record.
    fn address(&self) -> Address {
        Address { record: self.records + 1, ..self.here() }
    }

    /// The agent whose log this is.
    pub fn agent(&self) -> &'a dyn Agent {
        self.agent
    }
}

/// Sets the content hash of drafts without an identity.
fn note_content(drafts: &mut [Draft], hash_of_record: impl Fn() -> u64) {
    let mut hash = None;
    for draft in drafts.iter_mut().filter(|draft| draft.hint.identity.is_none()) {
        draft.hint.content = *hash.get_or_insert_with(&hash_of_record);
    }
}

/// Removes everything around a line's JSON: zero bytes that a crash left (the flag reports them), a
/// byte order mark, white space.
fn clean(line: &[u8]) -> (&[u8], bool) {
    let nul = line.first() == Some(&0) || line.last() == Some(&0);
    let is_padding = |byte: &u8| *byte == 0 || byte.is_ascii_whitespace();
    let start = line.iter().position(|byte| !is_padding(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|byte| !is_padding(byte)).map_or(start, |at| at + 1);
    let inner = &line[start..end];
    (inner.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(inner), nul)
}
