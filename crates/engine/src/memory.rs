//! Memories: folds them from files, keeps them ready in the index, and changes them.
//!
//! Truth is in files: mining results (`mined/`), authored memories (`memories/items.jsonl`,
//! `memories/authored/`), decisions (`memories/events.jsonl`) and exposures (`exposures.jsonl`).
//! The tables of the index are made from them and do not depend on the order of arrival.

use retro_memory::{
    Catalog, Decision, Exposure, Found, Head, Memory, Mined, Past, Shelf, Status, Worth, as_found, authored,
    before, screen,
};
use retro_model::{SessionKey, Timestamp};
use retro_search::embed::Embedding;
use retro_store::{BadLine, Index, Journal, MemoryTables, Store};
use serde::Serialize;
use std::collections::HashSet;

use crate::mined::{MINED, PAST};
use crate::stage::Everything;
use crate::{Config, Error, World};

mod forget;

pub(crate) use forget::finish;
pub use forget::forget;

/// Memories that people added by command.
pub static ITEMS: Journal<Memory> = Journal::at(retro_store::ITEMS);
/// Decisions about memories, by people and by retro.
pub static DECISIONS: Journal<Decision> = Journal::at(retro_store::EVENTS);
/// Memories that were shown, by session.
pub static EXPOSURES: Journal<Exposure> = Journal::at(retro_store::EXPOSURES);

/// All memories, folded from their files.
pub struct Folded {
    /// The memories themselves.
    pub shelf: Shelf,
    /// Lines and files that cannot be read.
    pub bad: Vec<BadLine>,
    /// Decisions about memories that do not exist.
    pub unknown: Vec<String>,
    /// Number of mining results read.
    pub mined: usize,
    /// Number of memories that people wrote.
    pub written: usize,
    /// Names the state of the authored memories and decisions, see [`Store::memory_files`].
    pub files: String,
}

/// Reads all mining results, from the index or, without one, from the files.
pub fn mined(store: &Store, index: Option<&Index>) -> Result<(Vec<Found>, Vec<BadLine>), Error> {
    let (mut found, mut bad) = (Vec::new(), Vec::new());
    let mut take = |text: &[u8], path: std::path::PathBuf| match serde_json::from_slice::<Mined>(text) {
        Ok(mined) => {
            let of = |candidate| (mined.agent.clone(), mined.session_id.clone(), candidate);
            found.extend(mined.candidates.clone().into_iter().map(of));
        }
        Err(error) => bad.push(BadLine { path, line: error.line(), what: error.to_string(), is_torn: false }),
    };
    match index {
        Some(index) => {
            for row in index.bodies(MINED)? {
                take(row.text.as_bytes(), store.mined_path(&row.part, &row.key).0);
            }
        }
        None => {
            for (method, key, bytes) in store.all_mined()? {
                take(&bytes, store.mined_path(&method, &key).0);
            }
        }
    }
    found.sort_by(|a, b| before(&a.2, &b.2));
    Ok((found, bad))
}

/// Reads the decisions. Also returns the lines that cannot be understood.
fn decisions(store: &Store) -> Result<(Vec<Decision>, Vec<BadLine>), Error> {
    let (lines, mut bad) = DECISIONS.numbered(store)?;
    let unknown = lines.iter().filter(|(_, decision)| !decision.is_known());
    bad.extend(unknown.map(|(line, decision)| BadLine {
        path: DECISIONS.path(store),
        line: *line,
        what: format!("unknown decision {:?}", decision.event),
        is_torn: false,
    }));
    let redacted = |(_, mut decision): (_, Decision)| {
        decision.redact();
        decision
    };
    Ok((lines.into_iter().map(redacted).collect(), bad))
}

/// The decisions that cannot be read.
pub(crate) fn unreadable_decisions(store: &Store) -> Result<Vec<BadLine>, Error> {
    Ok(decisions(store)?.1)
}

/// Folds all memories from the files and the index.
pub fn fold(store: &Store, index: Option<&Index>, config: &Config, now: Timestamp) -> Result<Folded, Error> {
    // Taken before the files are read, so that a concurrent write changes the name.
    let files = store.memory_files()?;
    let (decisions, mut bad) = decisions(store)?;
    let (exposures, torn) = EXPOSURES.read(store)?;
    bad.extend(torn);
    let (items, torn) = ITEMS.read(store)?;
    bad.extend(torn);
    let (found, torn) = mined(store, index)?;
    bad.extend(torn);
    let mut shelf = Shelf::new();
    shelf.decided(&decisions);
    let mined = found.len();
    for (agent, session, candidate) in &found {
        shelf.add(agent, session, candidate);
    }
    let mut written = items.len();
    for memory in items {
        shelf.write(screened(memory));
    }
    for (path, text) in store.notes()? {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        match text.and_then(|text| authored::parse(&stem, &text)) {
            Ok(Some(memory)) => {
                written += 1;
                shelf.write(memory);
            }
            Ok(None) => {}
            Err(what) => bad.push(BadLine { path, line: 0, what, is_torn: false }),
        }
    }
    let unknown = shelf.apply(&decisions, &exposures);
    shelf.trim(now, config.mining.value.retire);
    Ok(Folded { shelf, bad, unknown, mined, written, files })
}

/// Redacts and screens an authored memory. A suspicious one needs a review.
pub fn screened(mut memory: Memory) -> Memory {
    memory.redact();
    let reasons = screen::screen_memory(&memory);
    if !reasons.is_empty() && matches!(memory.status, Status::Accepted | Status::Candidate) {
        memory.status = Status::NeedsReview;
        memory.review_reasons = reasons;
    }
    if memory.content_hash.is_empty() {
        memory.content_hash = memory.hash();
    }
    memory
}

/// Memories in the form that the index stores.
pub fn tables(folded: &Folded) -> MemoryTables {
    let shelf = &folded.shelf;
    let catalog = Catalog::of(shelf);
    let pack = |list: &Vec<u32>| postcard::to_stdvec(list).unwrap_or_default();
    let mut terms: Vec<(String, Vec<u8>)> =
        catalog.terms().map(|(term, list)| (term.clone(), pack(list))).collect();
    terms.sort();
    MemoryTables {
        heads: postcard::to_stdvec(catalog.heads()).unwrap_or_default(),
        vectors: shelf.vectors().iter().flat_map(bytes_of).collect(),
        items: shelf
            .items()
            .iter()
            .map(|memory| (memory.id.clone(), serde_json::to_string(memory).unwrap_or_default()))
            .collect(),
        terms,
        files: folded.files.clone(),
    }
}

/// Whether the index includes all authored memories and decisions.
pub fn is_current(store: &Store, index: &Index) -> Result<bool, Error> {
    Ok(index
        .memory_value("files")?
        .is_some_and(|files| store.memory_files().is_ok_and(|now| now.as_bytes() == files)))
}

/// Decodes the heads that ranking needs of every memory.
pub fn heads_of(bytes: &[u8]) -> Option<Vec<Head>> {
    postcard::from_bytes(bytes).ok()
}

/// Decodes the memories that contain a term.
pub fn postings_of(bytes: &[u8]) -> Option<Vec<u32>> {
    postcard::from_bytes(bytes).ok()
}

/// Encodes a vector of length one as whole numbers from -127 to 127.
fn bytes_of(vector: &Embedding) -> Vec<u8> {
    vector.unit().iter().map(|value| ((value * 127.0).round() as i8).cast_unsigned()).collect()
}

/// Folds all memories and puts them into the index.
pub fn refresh(
    store: &Store,
    index: &Index,
    config: &Config,
    now: Timestamp,
    mark: &str,
) -> Result<(), Error> {
    let folded = fold(store, Some(index), config, now)?;
    let tables = tables(&folded);
    Ok(index.write(|index| index.put_memories(&tables, mark))?)
}

/// Copies all mining results from documents to the index, because no stage makes those of evicted
/// sessions or of a model again. Removes rows without such a result.
pub fn take_files(store: &Store, index: &Index) -> Result<(), Error> {
    let text = |(method, key, bytes): (String, _, Vec<u8>)| {
        (key, method, String::from_utf8_lossy(&bytes).into_owned())
    };
    let found: Vec<(SessionKey, String, String)> = store.all_mined()?.into_iter().map(text).collect();
    let known = index.bodies(MINED)?;
    let is_there: HashSet<(&SessionKey, &str)> =
        found.iter().map(|(key, method, _)| (key, method.as_str())).collect();
    let gone: Vec<_> =
        known.iter().filter(|row| !is_there.contains(&(&row.key, row.part.as_str()))).collect();
    index.write(|index| {
        for row in gone {
            index.put_body(&row.key, MINED, &row.part, None)?;
        }
        for (key, method, text) in &found {
            index.put_body(key, MINED, method, Some(text))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Rewards memories that were shown to finished sessions as helpful or harmful, and records the
/// event that shows it. Each reward is given once.
pub(crate) fn reward(all: &Everything<'_>) -> Result<(), Error> {
    let pasts: Vec<Past> =
        all.index.bodies(PAST)?.into_iter().filter_map(|row| serde_json::from_str(&row.text).ok()).collect();
    if pasts.is_empty() {
        return Ok(());
    }
    let (exposures, _) = EXPOSURES.read(all.store)?;
    let (known, _) = DECISIONS.read(all.store)?;
    let folded = fold(all.store, Some(all.index), all.config, all.world.now())?;
    let mut rewards: Vec<Decision> = Vec::new();
    for exposure in &exposures {
        let Some(session) = exposure.session_id.as_deref() else { continue };
        let Some(past) = pasts.iter().find(|past| past.key.id == session) else { continue };
        for id in &exposure.memory_ids {
            let Some(memory) = folded.shelf.get(id) else { continue };
            let (worth, event, why) = past.judge(memory, past.place_at(exposure.shown_at));
            let reward = match worth {
                // A rule that the user had to repeat has not helped.
                Worth::Right if memory.method != "user_rules" => 1.0,
                Worth::Wrong => 0.0,
                _ => continue,
            };
            let decision = Decision {
                memory_id: memory.id.clone(),
                event: "memory_rewarded".to_owned(),
                session_id: Some(session.to_owned()),
                reward: Some(reward),
                reason: Some(why.to_owned()),
                event_id: event.map(|event| format!("{}/{}#{event}", past.key.agent, past.key.id)),
                created_at: exposure.shown_at,
                ..Decision::default()
            };
            let is_known = |other: &&Decision| {
                other.memory_id == decision.memory_id
                    && other.session_id == decision.session_id
                    && other.event == decision.event
                    && other.event_id.is_some()
            };
            if !known.iter().chain(&rewards).any(|other| is_known(&other)) {
                rewards.push(decision);
            }
        }
    }
    if rewards.is_empty() {
        return Ok(());
    }
    // The lock is already held and cannot be taken twice.
    Ok(DECISIONS.append_held(all.store, &rewards)?)
}

/// Appends lines to a journal, and refreshes the tables derived from it. Both `lines` and `refresh`
/// run under the lock.
pub(crate) fn record<T: Serialize>(
    world: &World,
    store: &Store,
    journal: &Journal<T>,
    lines: impl FnOnce() -> Result<Vec<T>, Error>,
    refresh: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let lock = store.lock(&|| world.stopping())?.ok_or(Error::Interrupted)?;
    journal.append(&lock, store, &lines()?)?;
    refresh()
}

/// Records decisions, and refreshes the memories. Unknown ids are errors.
pub fn decide(world: &World, config: &Config, store: &Store, decisions: &[Decision]) -> Result<(), Error> {
    let lines = || {
        let mut decisions = with_words(config, store, decisions, world.now())?;
        decisions.iter_mut().for_each(Decision::redact);
        Ok(decisions)
    };
    record(world, store, &DECISIONS, lines, || anew(world, config, store))
}

/// Decisions together with the memories that they concern.
fn with_words(
    config: &Config,
    store: &Store,
    decisions: &[Decision],
    now: Timestamp,
) -> Result<Vec<Decision>, Error> {
    let index = store.index()?;
    let mut memories: Vec<Memory> = if is_current(store, &index)? {
        index.memories()?.iter().filter_map(|body| serde_json::from_str(body).ok()).collect()
    } else {
        fold(store, None, config, now)?.shelf.items().to_vec()
    };
    let mut all = decisions.to_vec();
    for decision in all.iter_mut().filter(|decision| decision.about.is_none()) {
        if let Some(memory) = memories.iter_mut().find(|memory| memory.id == decision.memory_id) {
            decision.about = Some(Box::new(as_found(memory)));
            retro_memory::decide(memory, decision);
        }
    }
    Ok(all)
}

/// Records the memories that the decisions of earlier versions concern. Those versions named
/// memories by positions in lists that are now built differently. Call it before anything is mined
/// again. Does nothing if the memories of the index are of this version.
pub(crate) fn keep_decided(
    world: &World,
    config: &Config,
    store: &Store,
    index: Option<&Index>,
) -> Result<(), Error> {
    let index = match index {
        Some(index) if index.memory_value("files")?.is_some() => return Ok(()),
        Some(index) if index.memory_value("mark")?.is_some() => Some(index),
        _ => None,
    };
    let (decisions, _) = DECISIONS.read(store)?;
    let is_place = |id: &str| {
        id.rsplit_once(':')
            .is_some_and(|(_, last)| last.len() < 4 && last.bytes().all(|b| b.is_ascii_digit()))
    };
    let mut ids: Vec<&str> = decisions
        .iter()
        .map(|decision| decision.memory_id.as_str())
        .filter(|id| is_place(id))
        .filter(|id| !decisions.iter().any(|other| other.memory_id == *id && other.about.is_some()))
        .collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return Ok(());
    }
    // Any other writer does this as well.
    let Some(lock) = store.try_lock()? else { return Ok(()) };
    let folded = fold(store, index, config, world.now())?;
    let kept: Vec<Decision> = ids
        .into_iter()
        .filter_map(|id| Some((id, folded.shelf.get(id)?)))
        .filter(|(_, memory)| memory.source == retro_memory::Source::Mined)
        .map(|(id, memory)| Decision {
            memory_id: id.to_owned(),
            event: "memory_kept".to_owned(),
            about: Some(Box::new(Memory { id: id.to_owned(), ..as_found(memory) })),
            created_at: Some(world.now()),
            ..Decision::default()
        })
        .collect();
    if kept.is_empty() {
        return Ok(());
    }
    Ok(DECISIONS.append(&lock, store, &kept)?)
}

/// Adds authored memories.
pub fn add(world: &World, config: &Config, store: &Store, memories: &[Memory]) -> Result<(), Error> {
    let screened = || Ok(memories.iter().cloned().map(screened).collect());
    record(world, store, &ITEMS, screened, || anew(world, config, store))
}

/// Refreshes the memories from the index, and keeps the mark of its consumer. The caller holds the
/// lock.
pub fn anew(world: &World, config: &Config, store: &Store) -> Result<(), Error> {
    let index = store.index()?;
    let mark = index.memory_value("mark")?.unwrap_or_default();
    if mark.is_empty() {
        take_files(store, &index)?;
    }
    refresh(store, &index, config, world.now(), &String::from_utf8_lossy(&mark))
}

/// Refreshes the memories from the files alone.
pub fn reindex(world: &World, config: &Config, store: &Store) -> Result<Folded, Error> {
    let _lock = store.lock(&|| world.stopping())?.ok_or(Error::Interrupted)?;
    let index = store.index()?;
    take_files(store, &index)?;
    let mark = index.memory_value("mark")?.unwrap_or_default();
    refresh(store, &index, config, world.now(), &String::from_utf8_lossy(&mark))?;
    fold(store, None, config, world.now())
}

/// A new mining result of a session.
pub struct News {
    /// Agent and id of the session.
    pub key: SessionKey,
    /// Name of the mining method.
    pub method: String,
    /// The content of its file. `None` if the method found nothing.
    pub body: Option<String>,
}

/// Adds new mining results to the index, and refreshes the memories if any changed.
pub fn take_mined(world: &World, config: &Config, store: &Store, news: &[News]) -> Result<(), Error> {
    let _lock = store.lock(&|| world.stopping())?.ok_or(Error::Interrupted)?;
    let index = store.index()?;
    if index.memory_value("mark")?.unwrap_or_default().is_empty() {
        return anew(world, config, store);
    }
    let mut has_changed = false;
    index.write(|index| {
        for News { key, method, body } in news {
            has_changed |= index.put_body(key, MINED, method, body.as_deref())?;
        }
        Ok(())
    })?;
    if has_changed { anew(world, config, store) } else { Ok(()) }
}
