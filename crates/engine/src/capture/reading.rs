//! Reads a source while it is captured, and maintains the row that records how far it was read.

use retro_agents::{Agent, Parsed, Part, Reader};
use retro_model::SourceKind;
use retro_store::{SourceRow, Store};

use super::live::LastBytes;
use super::{Rows, slot};
use crate::Error;
use crate::read::{LARGE_BYTES, feed_raw, format_name};
use crate::session_row::{SourceFacts, facts_of};

/// Reads one raw file from its start and puts its row among `rows`.
pub(crate) fn read_raw(
    store: &Store,
    agent: &dyn Agent,
    part: Part,
    kind: SourceKind,
    rows: &mut Rows,
) -> Result<ReadPart, Error> {
    let slot = slot(&part.session, &part.source, part.revision);
    let mut reader = Bounded::new(Reader::new(agent, part, None));
    let mut last = LastBytes::default();
    feed_raw(store, &slot, &mut |bytes| {
        last.push(bytes);
        reader.feed(bytes);
    })?;
    let end = store.archive(&slot).tail()?.map_or(0, |commit| commit.end);
    Ok(reader.remember(rows, kind, end, last.hash(), true))
}

/// The result of reading a source.
pub(crate) struct ReadPart {
    pub parsed: Parsed,
    /// Facts about the session from the whole source.
    pub facts: SourceFacts,
    /// True if the source was read from its start, false if only its new part was.
    pub from_start: bool,
    /// The source was too large to hold: `parsed` has the facts only, and the rest must be read
    /// from raw.
    pub overflowed: bool,
    /// Number of gaps in the records.
    pub gaps: u64,
}

/// A reader that drops its drafts when there are too many to hold.
pub(super) struct Bounded<'a> {
    reader: Reader<'a>,
    fed: u64,
    overflowed: bool,
    gaps: u64,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(reader: Reader<'a>) -> Self {
        Bounded { reader, fed: 0, overflowed: false, gaps: 0 }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.reader.feed(bytes);
        self.fed += bytes.len() as u64;
        if self.fed > LARGE_BYTES {
            self.overflowed = true;
            self.gaps += self.reader.drain().gaps.len() as u64;
        }
    }

    /// Records in the source's row how far it was read, and its facts.
    pub(super) fn remember(
        self,
        rows: &mut Rows,
        kind: SourceKind,
        end: u64,
        tail_hash: blake3::Hash,
        from_start: bool,
    ) -> ReadPart {
        let Bounded { reader, overflowed, gaps, .. } = self;
        let (parsed, facts) = remember(rows, kind, reader, end, tail_hash, from_start);
        let gaps = gaps + parsed.out.gaps.len() as u64;
        ReadPart { parsed, facts, from_start, overflowed, gaps }
    }
}

/// Records in the source's row how far it was read, and its facts.
fn remember(
    rows: &mut Rows,
    kind: SourceKind,
    reader: Reader<'_>,
    end: u64,
    tail_hash: blake3::Hash,
    from_start: bool,
) -> (Parsed, SourceFacts) {
    let parser_version = reader.agent().reading_version();
    let cursor = reader.save();
    let lines = reader.facts().clone();
    let parsed = reader.finish();
    let part = &parsed.part;
    let at = (part.source.clone(), part.revision);
    let mut facts = SourceFacts { lines, tail: parsed.out.facts.clone() };
    if !from_start && let Some(row) = rows.get(&at) {
        facts.lines.merge(&facts_of(row).unwrap_or_default().lines);
    }
    let row = SourceRow {
        agent: part.session.agent.clone(),
        session: part.session.id.clone(),
        source: part.source.clone(),
        revision: part.revision,
        kind,
        format: format_name(part.format).to_owned(),
        end,
        line_end: cursor.line_end,
        records: cursor.records,
        parser_version,
        state: cursor.state,
        tail_hash: tail_hash.as_bytes().to_vec(),
        facts: serde_json::to_string(&facts).unwrap_or_default(),
    };
    rows.insert(at, row);
    (parsed, facts)
}
