//! A session read from bytes in memory, and its invariants.

use retro_agents::{Agent, Cursor, Format, Out, Parsed, Part, Reader, Settled, settle};
use retro_model::{Event, SessionKey, SourceKey};
use retro_text::redact;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// One source of a session.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) key: SourceKey,
    /// The revision of the source, from 1.
    pub(crate) revision: u32,
    pub(crate) format: Format,
    pub(crate) path: PathBuf,
    pub(crate) bytes: Vec<u8>,
}

/// Reads a session as the engine would, and asserts the common invariants.
pub(crate) fn check(agent: &'static dyn Agent, session: &SessionKey, sources: &[Source]) {
    for source in sources {
        let _ = agent.identify(&source.path, &source.bytes);
    }
    let parsed = sources.iter().map(|source| parse(agent, session, source, &[])).collect();
    let settled = settle(agent, session, parsed);
    let coverage = settled.coverage;
    let parts = coverage.mapped + coverage.folded + coverage.noted + coverage.unknown + coverage.malformed;
    assert_eq!(coverage.records, parts, "every record became something: {coverage:?}");
    assert_eq!(coverage.bytes, sources.iter().map(|source| source.bytes.len() as u64).sum::<u64>());

    let lengths: BTreeMap<_, _> =
        sources.iter().map(|source| ((&source.key, source.revision), source.bytes.len() as u64)).collect();
    let mut ids = BTreeSet::new();
    for event in &settled.events {
        assert!(ids.insert(&event.id), "two events are {}", event.id);
        let end = event.raw.offset.checked_add(event.raw.length);
        let length = lengths.get(&(&event.raw.source, event.raw.revision)).copied();
        assert!(end <= length && end.is_some(), "{} lies outside its source", event.id);
        check_event(event);
    }
    assert!(settled.events.is_sorted_by_key(|event| event.seq), "events are in order");
    let cwd = settled.facts.cwd.as_ref().map(|(_, cwd)| cwd.as_str());
    let _ = agent.resume(&session.id, cwd);
}

/// Asserts that an event survives a round trip through JSON, and that its text has no secrets.
fn check_event(event: &Event) {
    let json = serde_json::to_string(event);
    let again = json.as_ref().ok().and_then(|json| serde_json::from_str::<Event>(json).ok());
    assert_eq!(again.as_ref(), Some(event), "{} does not come back from {json:?}", event.id);
    if let Some(text) = &event.text {
        assert_eq!(redact(text), *text, "{} was not redacted", event.id);
    }
}

/// Reads each source of the session in pieces that end at these offsets (taken modulo its length),
/// and settles them in an order that starts at `turn`.
pub(crate) fn pieced(
    agent: &'static dyn Agent,
    session: &SessionKey,
    sources: &[Source],
    cuts: &[usize],
    turn: usize,
) -> Settled {
    let mut parsed: Vec<Parsed> = sources
        .iter()
        .map(|source| {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (source.bytes.len() + 1)).collect();
            cuts.sort_unstable();
            parse(agent, session, source, &cuts)
        })
        .collect();
    let turn = turn.checked_rem(parsed.len()).unwrap_or(0);
    parsed.rotate_left(turn);
    settle(agent, session, parsed)
}

/// Reads a source up to each cut. Between cuts only the cursor is kept.
fn parse(agent: &'static dyn Agent, session: &SessionKey, source: &Source, cuts: &[usize]) -> Parsed {
    let part = Part {
        session: session.clone(),
        source: source.key.clone(),
        revision: source.revision,
        format: source.format,
    };
    let mut cursor: Option<Cursor> = None;
    let mut out = Out::default();
    // Only lines can be read incrementally. A document is read as a whole each time.
    let cuts = if source.format == Format::JsonLines { cuts } else { &[] };
    for cut in cuts {
        let from = cursor.as_ref().map_or(0, |cursor| cursor.line_end as usize);
        let mut reader = Reader::new(agent, part.clone(), cursor.as_ref());
        reader.feed(source.bytes.get(from..*cut).unwrap_or_default());
        let saved = reader.save();
        // The result up to the last whole line, read again up to there.
        let mut lines = Reader::new(agent, part.clone(), cursor.as_ref());
        lines.feed(source.bytes.get(from..saved.line_end as usize).unwrap_or_default());
        out.append(lines.finish().out);
        cursor = Some(saved);
    }
    let from = cursor.as_ref().map_or(0, |cursor| cursor.line_end as usize);
    let mut reader = Reader::new(agent, part, cursor.as_ref());
    reader.feed(source.bytes.get(from..).unwrap_or_default());
    let mut parsed = reader.finish();
    out.append(std::mem::take(&mut parsed.out));
    Parsed { out, ..parsed }
}
