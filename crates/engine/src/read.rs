//! Reading sessions: whole ones back from the raw archive, and a glance at live ones.

use retro_agents::{Agent, Cursor, Format, Parsed, Part, Reader, Settled, settle};
use retro_model::{Facts, SessionKey};
use retro_store::{Slot, Store};
use std::io::{Read, Seek, SeekFrom};

use crate::Error;
use crate::discover::{HEAD_BYTES, SessionFiles, read_head};
use crate::stages;

/// A session as its captured bytes tell it: from the cache if that still fits,
/// else computed from raw. Writes nothing.
pub fn session(store: &Store, agent: &dyn Agent, key: &SessionKey) -> Result<Settled, Error> {
    let sources = parse_raw(store, agent, key)?;
    Ok(settle(agent, key, sources))
}

/// The settled events alone, from the cache where its stamp fits.
pub fn events(store: &Store, agent: &dyn Agent, key: &SessionKey) -> Result<Vec<retro_model::Event>, Error> {
    let stamp = stages::normalized_stamp(store, agent, key)?;
    if let Some(events) = store.normalized(key, &stamp)? {
        return Ok(events);
    }
    Ok(session(store, agent, key)?.events)
}

/// Parses every source of a session from raw.
pub fn parse_raw(store: &Store, agent: &dyn Agent, key: &SessionKey) -> Result<Vec<Parsed>, Error> {
    let file = store.session(key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
    let mut sources = Vec::new();
    for (source, entry) in &file.sources {
        let format = format_named(&entry.format);
        for revision in 1..=entry.revisions {
            let slot = Slot::Session { key: key.clone(), source: source.clone(), revision };
            let part = Part { session: key.clone(), source: source.clone(), revision, format };
            sources.push(parse_slot(store, agent, part, &slot)?);
        }
    }
    Ok(sources)
}

/// Parses one raw file from its start.
pub(crate) fn parse_slot(store: &Store, agent: &dyn Agent, part: Part, slot: &Slot) -> Result<Parsed, Error> {
    let mut reader = Reader::new(agent, part, None);
    feed_raw(store, slot, &mut |bytes| reader.feed(bytes))?;
    Ok(reader.finish())
}

/// Hands the bytes of a raw file to `take`, piece by piece.
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

/// The name under which a format stands in session files.
pub(crate) fn format_name(format: Format) -> &'static str {
    match format {
        Format::JsonLines => "json_lines",
        Format::Json => "json",
        Format::Opaque => "opaque",
    }
}

pub(crate) fn format_named(name: &str) -> Format {
    match name {
        "json_lines" => Format::JsonLines,
        "json" => Format::Json,
        _ => Format::Opaque,
    }
}

/// What the head and the tail of a live session's files tell of it: enough for
/// a title, a folder and a time. Whatever cannot be read is left out.
pub fn peek(session: &SessionFiles) -> Facts {
    let mut facts = Facts::default();
    for file in &session.files {
        if file.format == Format::Opaque || file.stat.size == 0 {
            continue;
        }
        let part = Part {
            session: session.key.clone(),
            source: file.source.clone(),
            revision: 1,
            format: file.format,
        };
        let Ok(head) = read_head(file) else { continue };
        let whole = (head.len() as u64) >= file.stat.size;
        if file.format == Format::Json && !whole {
            continue;
        }
        let mut reader = Reader::new(session.agent, part.clone(), None);
        reader.feed(&head);
        facts.merge(&reader.finish().out.facts);
        if !whole && file.encoding == retro_agents::Encoding::Plain {
            facts.merge(&peek_tail(session.agent, part, &file.path, file.stat.size).unwrap_or_default());
        }
    }
    facts
}

fn peek_tail(agent: &dyn Agent, part: Part, path: &std::path::Path, size: u64) -> Option<Facts> {
    let start = size.saturating_sub(HEAD_BYTES as u64);
    let mut file = std::fs::File::open(path).ok()?;
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut tail = Vec::new();
    file.take(HEAD_BYTES as u64).read_to_end(&mut tail).ok()?;
    let first = tail.iter().position(|byte| *byte == b'\n')? + 1;
    // Record numbers of the tail are not known; any that come after the head's will do.
    let cursor = Cursor { line_end: start + first as u64, records: 1 << 40, state: Vec::new() };
    let mut reader = Reader::new(agent, part, Some(&cursor));
    reader.feed(&tail[first..]);
    Some(reader.finish().out.facts)
}
