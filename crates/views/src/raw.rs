//! The captured bytes of a session by name: its sources, and the files inside sources that are
//! folders.

use retro_agents::{Format, by_name};
use retro_engine::read::{feed_raw, source_format};
use retro_model::{SessionKey, SourceKey};
use retro_store::pieces::{KeptFile, Told, each_piece, kept_files, shown};
use retro_store::{SessionFile, Slot, Store};
use retro_text::redact;
use std::collections::HashMap;

use crate::Error;
use crate::events::source_slots;

/// A raw file, or one file of a captured folder.
#[derive(Debug, Clone)]
pub struct RawPart {
    /// Its name: the source's, or the folder's and the file's.
    pub name: String,
    /// The revision's number.
    pub revision: u32,
    /// Its length in bytes.
    pub bytes: u64,
    /// Where it was found.
    pub places: Vec<String>,
    /// The raw file that holds it.
    pub slot: Slot,
    /// The file of a folder, if it is one.
    file: Option<KeptFile>,
}

/// Every part of a session, or those of one revision. The files of a folder are separate parts,
/// each in its newest version.
pub fn raw_parts(store: &Store, key: &SessionKey, revision: Option<u32>) -> Result<Vec<RawPart>, Error> {
    let session = session_file(store, key);
    let mut parts = Vec::new();
    for slot in source_slots(store, key, None, revision)? {
        let folder = folder_of(session.as_ref(), key, &slot).then(|| files_in(store, &slot));
        match folder {
            Some(Ok(files)) => {
                parts.extend(files.into_iter().map(|file| part_of_folder(session.as_ref(), &slot, file)))
            }
            // A source that cannot be read as files is listed whole.
            Some(Err(_)) | None => {
                let bytes = store.archive(&slot).tail()?.map_or(0, |commit| commit.end);
                parts.push(whole(session.as_ref(), slot, bytes));
            }
        }
    }
    Ok(parts)
}

/// The newest part with this name: a source, or a file of a folder, with or without the folder's
/// name in front.
pub fn raw_part(
    store: &Store,
    key: &SessionKey,
    name: &str,
    revision: Option<u32>,
) -> Result<RawPart, Error> {
    let session = session_file(store, key);
    let has_records = |source: &SourceKey| form(session.as_ref(), key, source).has_records();
    let slots = source_slots(store, key, Some(name), revision);
    if let Ok([.., slot @ Slot::Session { source, .. }]) = slots.as_deref()
        && (has_records(source) || folder_of(session.as_ref(), key, slot))
    {
        return Ok(whole(session.as_ref(), slot.clone(), 0));
    }
    // A file in a folder is newer than the copy that an earlier retro kept of it alone.
    let all = source_slots(store, key, None, None)?;
    for slot in all.iter().rev().filter(|slot| folder_of(session.as_ref(), key, slot)) {
        let Slot::Session { source, revision: number, .. } = slot else { continue };
        let inner = name.strip_prefix(source.as_str()).and_then(|rest| rest.strip_prefix('/'));
        let is_it = |file: &KeptFile| {
            [Some(name), inner]
                .into_iter()
                .flatten()
                .any(|name| file.name == name.as_bytes() || shown(&file.name) == name)
        };
        if revision.is_none_or(|wanted| wanted == *number)
            && let Some(file) = files_in(store, slot)?.into_iter().rfind(is_it)
        {
            return Ok(part_of_folder(session.as_ref(), slot, file));
        }
    }
    match slots?.pop() {
        Some(slot) => Ok(whole(session.as_ref(), slot, 0)),
        None => {
            Err(Error::NoSource { session: key.to_string(), name: name.to_owned(), there: String::new() })
        }
    }
}

/// Passes on the bytes of parts, calling `begin` before each part. Consecutive parts of one raw
/// file are read in one pass.
pub fn feed_parts<E: From<Error>>(
    store: &Store,
    parts: &[RawPart],
    mut begin: impl FnMut(&RawPart) -> Result<(), E>,
    mut take: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let mut result = Ok(());
    for together in parts.chunk_by(|a, b| a.slot == b.slot) {
        let Some(first) = together.first() else { continue };
        if first.file.is_none() {
            begin(first)?;
            let fed = feed_raw(store, &first.slot, &mut |bytes| {
                if result.is_ok() {
                    result = take(bytes);
                }
            });
            fed.map_err(Error::from)?;
        } else {
            let wanted: HashMap<u64, &RawPart> =
                together.iter().filter_map(|part| Some((part.file.as_ref()?.offset, part))).collect();
            let mut is_wanted = false;
            let fed = each(store, &first.slot, &mut |told| {
                if result.is_ok() {
                    result = match told {
                        Told::Begins(_, offset) => {
                            let part = wanted.get(&offset);
                            is_wanted = part.is_some();
                            part.map_or(Ok(()), |part| begin(part))
                        }
                        Told::Bytes(bytes) if is_wanted => take(bytes),
                        _ => Ok(()),
                    };
                }
            });
            fed?;
        }
        result?;
        result = Ok(());
    }
    result
}

fn each(store: &Store, slot: &Slot, told: &mut dyn FnMut(Told<'_>)) -> Result<(), Error> {
    let stream = store.archive(slot).read()?;
    each_piece(stream, told).map_err(|source| raw_error(slot, source))
}

fn files_in(store: &Store, slot: &Slot) -> Result<Vec<KeptFile>, Error> {
    kept_files(store.archive(slot).read()?).map_err(|source| raw_error(slot, source))
}

fn raw_error(slot: &Slot, source: std::io::Error) -> Error {
    retro_engine::Error::Raw { what: slot.to_string(), source }.into()
}

/// The session file, if readable. The bytes are printed either way.
fn session_file(store: &Store, key: &SessionKey) -> Option<SessionFile> {
    store.session(key).ok().flatten()
}

/// True if a raw file holds the files of a folder.
fn folder_of(session: Option<&SessionFile>, key: &SessionKey, slot: &Slot) -> bool {
    matches!(slot, Slot::Session { source, .. } if form(session, key, source) == Format::Files)
}

/// How to read a source, according to the session file or else its name.
fn form(session: Option<&SessionFile>, key: &SessionKey, source: &SourceKey) -> Format {
    match session.and_then(|file| file.sources.get(source)) {
        Some(entry) => source_format(entry),
        None => by_name(&key.agent).map_or(Format::Opaque, |agent| agent.source_form(source).1),
    }
}

fn whole(session: Option<&SessionFile>, slot: Slot, bytes: u64) -> RawPart {
    let (name, revision, places) = of_source(session, &slot);
    RawPart { name, revision, bytes, places, slot, file: None }
}

fn part_of_folder(session: Option<&SessionFile>, slot: &Slot, file: KeptFile) -> RawPart {
    let (folder, revision, places) = of_source(session, slot);
    // The name is a path on this machine, and is redacted like those of session files.
    let name = redact(&shown(&file.name)).into_inner();
    RawPart {
        places: places.iter().map(|place| format!("{place}/{name}")).collect(),
        name: format!("{folder}/{name}"),
        revision,
        bytes: file.bytes,
        slot: slot.clone(),
        file: Some(file),
    }
}

fn of_source(session: Option<&SessionFile>, slot: &Slot) -> (String, u32, Vec<String>) {
    let Slot::Session { source, revision, .. } = slot else { return (slot.to_string(), 1, Vec::new()) };
    let entry = session.and_then(|file| file.sources.get(source));
    let places = entry.map_or(Vec::new(), |entry| entry.places.iter().cloned().collect());
    (source.to_string(), *revision, places)
}
