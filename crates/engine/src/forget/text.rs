//! Forgetting a text: a mask as long as the text goes over it in every raw file, document and
//! journal, and everything derived is made again.
//!
//! First a line of `masks.jsonl` says so, by hashes alone. From then on every live log is read
//! through the mask (`door.rs`). A stop anywhere leaves a line that is not done: the next command
//! finds the text again by its hashes and finishes.

use retro_store::{Covered, Index, Mask, Masks, PlaceRow, Slot, Store, TombstoneEvent};
use retro_text::forms::{forms, is_one_word, why_not};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use super::{Forgotten, proof};
use crate::rebuild::rebuild;
use crate::{Config, Error, Progress, World, memory, patterns};

/// Puts masks over a text, wherever it is in the store. A dry run changes nothing.
pub fn forget_text(
    world: &World,
    config: &Config,
    text: &str,
    dry_run: bool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Forgotten, Error> {
    check(text)?;
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let masks = store.masks()?;
    let line = masks.line(text, &forms(text), world.now());
    let one = Arc::new(masks.only(vec![line.clone()]));
    let index = store.index()?;
    let found = store.uncovered(&one)?;
    let before = places(&store, &index, &one)?;
    let mut answer = Forgotten {
        dry_run,
        texts: vec![line.id.clone()],
        masked: found.masks,
        unreachable: unreachable(config, &store, &one, &found)?,
        ..Forgotten::default()
    };
    answer.places.before = Some(before.len() as u64);
    if dry_run {
        return Ok(answer);
    }
    drop(index);
    {
        let Some(lock) = world.lock(&store)? else { return Err(Error::Interrupted) };
        store.add_masks(&lock, &[line])?;
    }
    answer.masked = cut(world, config, &store, progress)?;
    let left = places(&store, &store.index()?, &one)?;
    answer.places.after = left.len() as u64;
    answer.places.left = left;
    Ok(answer)
}

/// Finishes what a stop left half done. Says whether there was anything.
pub(super) fn finish(world: &World, config: &Config) -> Result<bool, Error> {
    if Masks::at(&config.root.value).unfinished().next().is_none() {
        return Ok(false);
    }
    let store = Store::open(&config.root.value, world.disk.clone())?;
    cut(world, config, &store, &|_| {})?;
    Ok(true)
}

/// Refuses a text that would be found where it is not meant.
fn check(text: &str) -> Result<(), Error> {
    let is_common =
        || is_one_word(text) && retro_search::embed::BuiltIn::new().is_ok_and(|known| known.is_word(text));
    let why = why_not(text).or_else(|| is_common().then_some("it is a common word"));
    match why {
        None => Ok(()),
        Some(why) => Err(Error::Text {
            what: format!("this text cannot be cut out: {why}"),
            hint: "give more of what is around it; `retro forget AGENT ID` forgets a whole session"
                .to_owned(),
        }),
    }
}

/// Puts the masks everywhere, and makes again what is derived. Says how many masks were put.
fn cut(
    world: &World,
    config: &Config,
    store: &Store,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<u64, Error> {
    // What the index alone knows of decided memories is written down before it goes.
    if let Some(index) = store.index_if_there()? {
        memory::keep_decided(world, config, store, Some(&index))?;
    }
    let masked = {
        let Some(lock) = world.lock(store)? else { return Err(Error::Interrupted) };
        // Texts are covered in their present places alone.
        store.take_over(&lock, &|| false)?;
        let masks = store.masks()?;
        let found = store.uncovered(&masks)?;
        let mut masked = store.mask_raw(&masks, &found)?;
        masked += store.mask_documents(&masks)?;
        store.sync_all()?;
        masked += store.mask_others(&masks)?;
        if let Some(folder) = &config.curate.value.catalog_dir {
            masked += mask_catalog(store, folder, &masks)?;
        }
        store.forget_exports()?;
        start_over(store)?;
        store.sync_all()?;
        masked
    };
    rebuild(world, config, None, progress)?;
    let Some(lock) = world.lock(store)? else { return Err(Error::Interrupted) };
    let masks = store.masks()?;
    let done = masks.unfinished().map(|line| short(line, TombstoneEvent::Done, world));
    store.add_masks(&lock, &done.collect::<Vec<_>>())?;
    Ok(masked)
}

/// Drops everything derived. How live files looked is kept: masks change no length, so that says
/// what was captured as before.
fn start_over(store: &Store) -> Result<(), Error> {
    let places: Vec<PlaceRow> = match store.index_if_there()? {
        Some(index) => index.stamps()?.iter().collect(),
        None => Vec::new(),
    };
    store.remove_derived()?;
    let index = store.index()?;
    Ok(index.write(|index| places.iter().try_for_each(|place| index.put_place(place)))?)
}

fn mask_catalog(store: &Store, folder: &Path, masks: &Masks) -> Result<u64, Error> {
    let mut masked = 0;
    for (path, _) in store.catalog_files(folder)? {
        masked += u64::from(store.mask_file(&path, masks)?);
    }
    for id in store.catalog_histories(folder)? {
        masked += u64::from(store.mask_file(&store.catalog_history_path(folder, &id), masks)?);
    }
    Ok(masked)
}

/// Places that hold the text: files, decompressed where they are compressed, and what the index
/// holds of sessions.
fn places(store: &Store, index: &Index, masks: &Masks) -> Result<Vec<String>, Error> {
    let is_written = |path: &Path| path == Path::new("config.toml");
    proof::places(store, index, &|bytes| masks.has(bytes), &is_written)
}

/// What cannot be reached: live logs that hold the text, what is compressed, settings, exports.
fn unreachable(
    config: &Config,
    store: &Store,
    masks: &Arc<Masks>,
    found: &Covered,
) -> Result<Vec<String>, Error> {
    let mut logs = BTreeSet::new();
    for slot in &found.slots {
        let Slot::Session { key, source, .. } = slot else { continue };
        let file = store.session(key).ok().flatten();
        let places = file.and_then(|file| file.sources.get(source).map(|source| source.places.clone()));
        logs.extend(places.unwrap_or_default().into_iter().filter(|path| Path::new(path).exists()));
    }
    let mut out: Vec<String> =
        logs.iter().map(|path| format!("the agent's own log {path}: change it with an editor")).collect();
    if !found.compressed.is_empty() {
        let files = if found.compressed.len() == 1 { "raw file" } else { "raw files" };
        out.push(format!(
            "compressed data inside {} {files}, for example {}",
            found.compressed.len(),
            found.compressed.first().map_or_else(String::new, |path| path.display().to_string())
        ));
    }
    for path in &found.unreadable {
        out.push(format!("the damaged raw file {}", path.display()));
    }
    let settings = store.root().join("config.toml");
    if std::fs::read(&settings).is_ok_and(|bytes| masks.has(&bytes)) {
        out.push(format!("{}: it is yours to change", settings.display()));
    }
    if let Some(folder) = &config.curate.value.catalog_dir
        && !patterns::catalog(store, config)?.patterns.is_empty()
    {
        out.push(format!("earlier versions of the catalog in {} that git keeps", folder.display()));
    }
    out.push("files that you exported, other stores, backups, and pages built elsewhere".to_owned());
    Ok(out)
}

/// A later line about the same text.
pub(super) fn short(line: &Mask, event: TombstoneEvent, world: &World) -> Mask {
    Mask { event, at: world.now(), forms: Vec::new(), ..line.clone() }
}
