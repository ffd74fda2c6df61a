//! Reads one session for an answer: its live files, and from raw the parts that no live file has.
//! Writes nothing.

use retro_agents::{Parsed, Part, Reader, settle_each};
use retro_model::{Event, SourceKind};
use retro_store::{PlaceRow, SessionFile, SessionRow, SourceEntry, SourceRow, Store};
use std::collections::BTreeSet;
use std::io::Read;

use super::Reading;
use crate::Error;
use crate::capture::source::{Belongs, Failure, Target, current_stamp, place};
use crate::capture::{Rows, longest_first, slot};
use crate::discover::{Cut, SessionFiles};
use crate::door::Door;
use crate::read::{LARGE_BYTES, Open, fold, format_name, format_named};
use crate::report;
use crate::session_row::session_row;

/// A session with new records.
pub(super) struct Job {
    pub session: SessionFiles,
    /// Rows of its captured sources.
    pub rows: Vec<SourceRow>,
    /// Stamps of its files.
    pub places: Vec<PlaceRow>,
    pub mtime_ns: i64,
}

/// The reading of a session.
pub(super) struct Looked<M> {
    pub row: SessionRow,
    pub made: M,
    /// Compressed files that ended early.
    pub cut: Vec<report::Failure>,
}

/// Reads a session. Returns its row, as a sync would make it, and the question's product of its
/// events.
pub(super) fn look<R: Reading>(
    store: Option<&Store>,
    job: Job,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Looked<R::Made>, Error> {
    let cuts: Vec<Cut> = job.session.files.iter().map(|_| Cut::default()).collect();
    let parts = parts(store, &job, &cuts)?;
    let Job { session, mtime_ns, .. } = job;
    let key = &session.key;
    let bytes = session.bytes();
    let mut reading = R::of(key);
    let mut file = SessionFile::new(key.clone());
    for (part, kind, _) in &parts {
        let entry = file.sources.entry(part.source.clone()).or_insert_with(|| SourceEntry {
            kind: *kind,
            format: format_name(part.format).to_owned(),
            revisions: 0,
            places: Default::default(),
        });
        entry.revisions = entry.revisions.max(part.revision);
    }
    let parts: Vec<(Part, Open)> = parts.into_iter().map(|(part, _, open)| (part, open)).collect();
    file.facts = if bytes > LARGE_BYTES {
        let mut take = |event: Box<Event>| {
            reading.event(&event);
            Ok(())
        };
        fold(session.agent, key, parts, store, stop, &mut take)?.facts
    } else {
        let mut sources = Vec::with_capacity(parts.len());
        for (part, open) in parts {
            sources.push(read_part(&session, part, open()?, stop)?);
        }
        settle_each(session.agent, key, sources, &mut |event| reading.event(&event)).facts
    };
    let mut row = session_row(&file, std::iter::empty(), mtime_ns, String::new());
    row.bytes = bytes;
    let cut = session.files.iter().zip(&cuts).filter_map(|(file, cut)| {
        let (path, reason) = (file.path.display().to_string(), cut.reason()?.to_owned());
        Some(report::Failure { agent: key.agent.clone(), path, reason })
    });
    Ok(Looked { row, made: reading.finish(), cut: cut.collect() })
}

fn read_part(
    session: &SessionFiles,
    part: Part,
    mut bytes: Box<dyn Read>,
    stop: &dyn Fn() -> bool,
) -> Result<Parsed, Error> {
    let what = || format!("{}#{}", part.session, part.source);
    let mut reader = Reader::new(session.agent, part.clone(), None);
    let mut buffer = vec![0; 256 * 1024];
    loop {
        if stop() {
            return Err(Error::Stopped);
        }
        let count = bytes.read(&mut buffer).map_err(|source| Error::Raw { what: what(), source })?;
        if count == 0 {
            return Ok(reader.finish());
        }
        reader.feed(&buffer[..count]);
    }
}

/// Every part of the session, in the revisions that a sync would give them.
fn parts(store: Option<&Store>, job: &Job, cuts: &[Cut]) -> Result<Vec<(Part, SourceKind, Open)>, Error> {
    let session = &job.session;
    let key = &session.key;
    let rows: Rows = job.rows.iter().map(|row| ((row.source.clone(), row.revision), row.clone())).collect();
    let known = match store {
        Some(store) => store.session(key)?,
        None => None,
    };
    let part = |source: &_, revision, format| Part {
        session: key.clone(),
        source: Clone::clone(source),
        revision,
        format,
    };
    let door = store.map_or_else(|| Ok(Door::default()), Door::of)?;
    let mut parts: Vec<(Part, SourceKind, Open)> = Vec::new();
    let mut seen = BTreeSet::new();
    for found in longest_first(&session.files).into_iter().filter(|found| found.format.has_records()) {
        let entry = known.as_ref().and_then(|file| file.sources.get(&found.source));
        let mut revision = 1;
        if let (Some(store), Some(entry)) = (store, entry)
            && found.kind != SourceKind::State
        {
            let target = Target {
                store,
                door: &door,
                agent: session.agent,
                key,
                found,
                rows: None,
                revisions: entry.revisions,
                place: job.places.iter().find(|place| place.path == found.path).cloned(),
                is_old: false,
                cut: Cut::default(),
                stop: &|| false,
            };
            let stamp =
                current_stamp(found).map_err(|source| Error::Read { path: found.path.clone(), source })?;
            revision = match place(&target, &rows, stamp) {
                Ok(Belongs::Has(_)) => continue,
                Ok(Belongs::Continues(revision, _) | Belongs::Next(revision)) => revision,
                Err(Failure::Store(error)) => return Err(error),
                Err(Failure::Source(reason)) => {
                    let source = std::io::Error::other(reason);
                    return Err(Error::Read { path: found.path.clone(), source });
                }
            };
        } else if seen.contains(&(found.source.clone(), 1)) {
            // A second, equally long or shorter file of the same source.
            continue;
        }
        seen.insert((found.source.clone(), revision));
        let (live, door) = (found.clone(), door.clone());
        let number = session.files.iter().position(|file| file.path == live.path);
        let cut = number.and_then(|number| cuts.get(number)).cloned().unwrap_or_default();
        let open_live: Open = Box::new(move || {
            door.open(&live, &cut).map_err(|source| Error::Read { path: live.path.clone(), source })
        });
        parts.push((part(&found.source, revision, found.format), found.kind, open_live));
    }
    let has_records = |entry: &SourceEntry| format_named(&entry.format).has_records();
    let in_store = known.iter().flat_map(|file| &file.sources).filter(|(_, entry)| has_records(entry));
    for (source, entry) in in_store {
        for revision in (1..=entry.revisions).filter(|revision| !seen.contains(&(source.clone(), *revision)))
        {
            let Some(store) = store else { continue };
            let archive = store.archive(&slot(key, source, revision));
            let open_raw: Open = Box::new(move || Ok(Box::new(archive.read()?)));
            parts.push((part(source, revision, format_named(&entry.format)), entry.kind, open_raw));
        }
    }
    // The same order as from raw: by source, then by revision.
    parts.sort_by(|(a, ..), (b, ..)| (&a.source, a.revision).cmp(&(&b.source, b.revision)));
    Ok(parts)
}
