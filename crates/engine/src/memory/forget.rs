//! Forgets a memory: removes its words from all files of retro except the session itself, and keeps
//! it from coming back.
//!
//! The decision is written first and names the words by their hash. The rest can be interrupted at
//! any point: the next update of the memories finishes it.

use retro_memory::{Decision, Exposure, Memory, Mined, Shelf, Source, authored, words_hash};
use retro_store::{Index, REMAINS, Store};

use super::{DECISIONS, EXPOSURES, ITEMS, anew};
use crate::mined::{self, FINDINGS, MINED};
use crate::remains::Remains;
use crate::{Config, Error, World};

/// Forgets a memory. A note outside the store and the session that contains the words are left
/// alone.
pub fn forget(world: &World, config: &Config, store: &Store, memory: &Memory) -> Result<(), Error> {
    let lock = store.lock(&|| world.stopping())?.ok_or(Error::Interrupted)?;
    let index = store.index()?;
    let hash = words_hash(&memory.text);
    // The id of an authored memory is made of its words.
    let mut ids = match memory.source {
        Source::Mined => vec![memory.id.clone()],
        Source::Authored | Source::Added => {
            vec![format!("forgotten-{}", hash.get(..10).unwrap_or_default())]
        }
    };
    ids.extend(memory.origins.iter().map(|origin| origin.candidate.clone()));
    ids.sort();
    ids.dedup();
    let mut texts = vec![hash];
    // If a person changed the words, the mined original is forgotten too.
    let (decisions, _) = DECISIONS.read(store)?;
    let about = decisions.iter().filter(|decision| decision.memory_id == memory.id);
    texts.extend(about.filter_map(|decision| Some(words_hash(&decision.about.as_ref()?.text))));
    texts.sort();
    texts.dedup();
    let forgotten = ids.iter().flat_map(|id| {
        texts.iter().map(move |hash| Decision {
            memory_id: id.clone(),
            event: "memory_forgotten".to_owned(),
            words_hash: Some(hash.clone()),
            created_at: Some(world.now()),
            ..Decision::default()
        })
    });
    DECISIONS.append(&lock, store, &forgotten.collect::<Vec<_>>())?;
    drop_id(store, &memory.id)?;
    // Sessions with the same finding that was not kept are read again when they are mined.
    let words = serde_json::to_string(&memory.text).unwrap_or_default();
    index.write(|index| index.clear_bodies_with(FINDINGS, &words))?;
    clear_remains(store, std::slice::from_ref(&words))?;
    finish(store, &index)?;
    store.sync_all()?;
    anew(world, config, store)?;
    Ok(store.index()?.wipe()?)
}

/// Removes the words of all forgotten memories from files that an interrupted run left and from
/// newer mining results. Returns whether it found any. The caller holds the lock.
pub(crate) fn finish(store: &Store, index: &Index) -> Result<bool, Error> {
    let (decisions, _) = DECISIONS.read(store)?;
    if !decisions.iter().any(|decision| decision.event == "memory_forgotten") {
        return Ok(false);
    }
    let mut shelf = Shelf::new();
    shelf.decided(&decisions);
    let mut gone = Vec::new();
    for memory in ITEMS.read(store)?.0 {
        if shelf.is_written_off(&memory) {
            gone.push(memory.id);
        }
    }
    ITEMS.change(store, |memory: &Memory| (!shelf.is_written_off(memory)).then(|| memory.clone()))?;
    for (path, text) in store.notes()? {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if let Some(memory) = text.ok().and_then(|text| authored::parse(&stem, &text).ok().flatten())
            && shelf.is_written_off(&memory)
        {
            store.remove_note(&path)?;
            gone.push(memory.id);
        }
    }
    let of_gone = |decision: &Decision| {
        decision.event != "memory_forgotten"
            && (gone.contains(&decision.memory_id)
                || shelf.is_id_forgotten(&decision.memory_id)
                || decision.about.as_ref().is_some_and(|about| shelf.is_id_forgotten(&about.id)))
    };
    DECISIONS.change(store, |decision: &Decision| (!of_gone(decision)).then(|| decision.clone()))?;
    for id in &gone {
        drop_shown(store, id)?;
    }
    let mut texts: Vec<String> = Vec::new();
    for row in index.bodies(MINED)? {
        let Ok(mut mined) = serde_json::from_str::<Mined>(&row.text) else { continue };
        let lost = mined.candidates.extract_if(.., |candidate| shelf.is_forgotten(candidate));
        let lost: Vec<String> =
            lost.map(|candidate| serde_json::to_string(&candidate.text).unwrap_or_default()).collect();
        if !lost.is_empty() {
            texts.extend(lost);
            let text = mined::keep(store, &row.key, &mined)?;
            index.write(|index| index.put_body(&row.key, MINED, &row.part, Some(&text)))?;
        }
    }
    index.write(|index| texts.iter().try_for_each(|text| index.clear_bodies_with(FINDINGS, text)))?;
    clear_remains(store, &texts)?;
    store.sync_all()?;
    Ok(!gone.is_empty() || !texts.is_empty())
}

/// Removes words, written as JSON, from the remains of evicted sessions.
fn clear_remains(store: &Store, words: &[String]) -> Result<(), Error> {
    if words.is_empty() {
        return Ok(());
    }
    for key in store.remains_keys()? {
        let Some(mut remains) = Remains::read(store, &key)? else { continue };
        let Some(found) = remains.stages.get_mut(mined::STAGE) else { continue };
        if words.iter().filter(|words| mined::clear_words(found, words)).count() > 0 {
            store.put_object(&REMAINS, &key, &remains)?;
        }
    }
    Ok(())
}

/// Removes the decisions and exposures of an id.
fn drop_id(store: &Store, id: &str) -> Result<(), Error> {
    DECISIONS.change(store, |decision: &Decision| {
        let is_of_it = decision.memory_id == id && decision.event != "memory_forgotten";
        (!is_of_it).then(|| decision.clone())
    })?;
    ITEMS.change(store, |memory: &Memory| (memory.id != id).then(|| memory.clone()))?;
    drop_shown(store, id)
}

fn drop_shown(store: &Store, id: &str) -> Result<(), Error> {
    EXPOSURES.change(store, |exposure: &Exposure| {
        let mut exposure = exposure.clone();
        exposure.memory_ids.retain(|shown| shown != id);
        (!exposure.memory_ids.is_empty()).then_some(exposure)
    })?;
    Ok(())
}
