//! Forgetting sessions: afterwards they are nowhere in the store, and do not come back.
//!
//! First a tombstone says so, by a hash alone. Then journals and files that serve many lose what
//! is about them, their own files and rows go, and what is kept over all sessions is made again.
//! A stop anywhere leaves a tombstone that is not done: the next command finishes it, because
//! whatever is left of a session still names it. In the end every file is searched again.

mod patterns;
mod proof;
mod text;
mod words;

use retro_model::{SessionKey, Timestamp};
use retro_store::{Index, Mask, Masks, SessionFile, Store, Tombstone, TombstoneEvent, Tombstones};
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};

use crate::consumers::{self, Following};
use crate::family::trees;
use crate::lost::Book;
use crate::session_row::session_row;
use crate::stages::{Everything, STAGES};
use crate::{Config, Error, Progress, World, headless, memory, reconcile, sync};
pub use patterns::PatternsTouched;
use proof::Sought;
pub use text::forget_text;
pub use words::MemoriesTouched;

/// A session that is forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgottenSession {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// The id of its tombstone.
    pub tombstone: String,
    /// Room that its files took.
    pub bytes: u64,
}

/// Places that hold words or names of what is forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Places {
    /// How many did before. Nothing where it is not known: another run removed them.
    pub before: Option<u64>,
    /// How many do afterwards.
    pub after: u64,
    /// Which these are: other sessions that hold the same words.
    pub left: Vec<String>,
}

/// What forgetting did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Whether costs stay.
    pub keep_costs: bool,
    /// The ids of the texts that were cut out.
    pub texts: Vec<String>,
    /// The sessions, those below them included.
    pub forgotten: Vec<ForgottenSession>,
    /// Lines that were cut out of files about many sessions.
    pub masked: u64,
    /// Memories that went, and those that lost evidence.
    pub memories: MemoriesTouched,
    /// Patterns of the catalog that went, and those that lost evidence.
    pub patterns: PatternsTouched,
    /// Places with words or names of them.
    pub places: Places,
    /// What the program cannot reach.
    pub unreachable: Vec<String>,
}

/// Forgets sessions and every session in the same trees.
pub fn forget(
    world: &World,
    config: &Config,
    keys: &[SessionKey],
    keep_costs: bool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Forgotten, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let (mut answer, sought) = look(world, config, &store, keys, keep_costs)?;
    if answer.forgotten.is_empty() {
        return Ok(answer);
    }
    let keys: Vec<SessionKey> =
        answer.forgotten.iter().map(|one| SessionKey::new(&one.agent, &one.session_id)).collect();
    let index = store.index()?;
    answer.places.before = Some(sought.places(&store, &index)?.len() as u64);
    let stones = store.tombstones()?;
    let mut lines = Vec::new();
    for key in &keys {
        lines.push(stones.line(key, &names_of(&index, key)?, keep_costs, world.now()));
    }
    drop(index);
    {
        let Some(lock) = world.lock(&store)? else { return Err(Error::Interrupted) };
        store.add_tombstones(&lock, &lines)?;
    }
    answer.masked = remove(world, config, &store, &keys, keep_costs, progress)?;
    let left = sought.places(&store, &store.index()?)?;
    answer.places.after = left.len() as u64;
    answer.places.left = left;
    Ok(answer)
}

/// What would be forgotten. Changes nothing.
pub fn preview(
    world: &World,
    config: &Config,
    keys: &[SessionKey],
    keep_costs: bool,
) -> Result<Forgotten, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let (mut answer, sought) = look(world, config, &store, keys, keep_costs)?;
    answer.dry_run = true;
    answer.places.before = Some(sought.places(&store, &store.index()?)?.len() as u64);
    let stones = store.tombstones()?;
    let index = store.index()?;
    let mut lines = Vec::new();
    for one in &answer.forgotten {
        let key = SessionKey::new(&one.agent, &one.session_id);
        lines.push(stones.line(&key, &names_of(&index, &key)?, keep_costs, world.now()));
    }
    answer.masked = store.shared_lines(&stones.with(lines))?;
    Ok(answer)
}

/// Collects what is to be forgotten, and texts by which it would be found.
fn look(
    world: &World,
    config: &Config,
    store: &Store,
    keys: &[SessionKey],
    keep_costs: bool,
) -> Result<(Forgotten, Sought), Error> {
    let index = store.index()?;
    let stones = store.tombstones()?;
    let mut answer = Forgotten { keep_costs, ..Forgotten::default() };
    let members: BTreeSet<SessionKey> = trees(&index, keys)?.into_iter().flatten().collect();
    let members: Vec<SessionKey> = members.into_iter().collect();
    let mut places = BTreeSet::new();
    for key in &members {
        let file = store.session(key).ok().flatten();
        let live = file.iter().flat_map(|file| file.sources.values()).flat_map(|source| source.places.iter());
        places.extend(live.filter(|path| std::path::Path::new(path).exists()).cloned());
        answer.forgotten.push(ForgottenSession {
            agent: key.agent.clone(),
            session_id: key.id.clone(),
            tombstone: stones.line(key, &[], keep_costs, world.now()).id,
            bytes: store.disk_bytes_of(key)?,
        });
    }
    for path in places {
        answer.unreachable.push(format!("the agent's own log {path}: delete it with the agent"));
    }
    for copy in copies_of(&index, &members)? {
        answer.unreachable.push(format!("{copy} began as a copy of it: forget that session too"));
    }
    answer
        .unreachable
        .push("files that you exported, other stores, backups, and pages built elsewhere".to_owned());
    answer.memories = words::touched(world, config, store, &index, &members)?;
    let is_gone = |agent: &str, id: &str| members.iter().any(|key| key.agent == agent && key.id == id);
    answer.patterns = patterns::touched(config, store, &index, &is_gone)?;
    if let Some(folder) = &config.curate.value.catalog_dir
        && answer.patterns != PatternsTouched::default()
    {
        let folder = folder.display();
        answer.unreachable.push(format!("earlier versions of the catalog in {folder} that git keeps"));
    }
    let sought = Sought::of(store, &index, &members)?;
    Ok((answer, sought))
}

/// Sessions that say that they began as a copy of one of these.
fn copies_of(index: &Index, keys: &[SessionKey]) -> Result<BTreeSet<SessionKey>, Error> {
    let ids: HashSet<(&str, &str)> = keys.iter().map(|key| (key.agent.as_str(), key.id.as_str())).collect();
    let rows = index.linked_sessions()?.into_iter();
    let of_these = rows.filter(|row| {
        row.links.iter().any(|link| {
            link.kind == retro_model::LinkKind::ForkedFrom
                && ids.contains(&(row.agent.as_str(), link.session_id.as_str()))
        })
    });
    Ok(of_these.map(|row| row.key()).filter(|key| !keys.contains(key)).collect())
}

/// Other names by which files that serve many speak of a session: the last records of its turns.
fn names_of(index: &Index, key: &SessionKey) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> =
        index.openers_of(key)?.into_iter().filter_map(|opener| opener.leaf).collect();
    names.sort();
    names.dedup();
    names.retain(|name| name.len() >= NAME_BYTES_MIN);
    Ok(names)
}

/// Shorter names may be anybody's.
const NAME_BYTES_MIN: usize = 16;

/// Finishes what a stop left half done. Says whether there was anything.
pub fn finish(world: &World, config: &Config) -> Result<bool, Error> {
    let stones = Tombstones::at(&config.root.value);
    if stones.unfinished().next().is_none() {
        return text::finish(world, config);
    }
    let store = Store::open(&config.root.value, world.disk.clone())?;
    for keep_costs in [false, true] {
        let unfinished: Vec<&Tombstone> =
            stones.unfinished().filter(|stone| stone.keep_costs == keep_costs).collect();
        if unfinished.is_empty() {
            continue;
        }
        let known = known_keys(&store)?.into_iter();
        let is_meant = |key: &SessionKey| unfinished.iter().any(|stone| stones.is_about(stone, key));
        let keys: Vec<SessionKey> = known.filter(is_meant).collect();
        remove(world, config, &store, &keys, keep_costs, &|_| {})?;
    }
    text::finish(world, config)?;
    Ok(true)
}

/// Every session that the store still has anything of.
fn known_keys(store: &Store) -> Result<BTreeSet<SessionKey>, Error> {
    let mut keys: BTreeSet<SessionKey> = store.session_keys()?.into_iter().chain(store.raw_keys()?).collect();
    keys.extend(store.remains_keys()?);
    keys.extend(store.kept_keys()?);
    if let Some(index) = store.index_if_there()? {
        keys.extend(index.session_rows()?.into_iter().map(|row| row.key()));
    }
    Ok(keys)
}

/// Removes everything of sessions that have a tombstone, and makes the rest again. Says how many
/// lines of files about many sessions went.
fn remove(
    world: &World,
    config: &Config,
    store: &Store,
    keys: &[SessionKey],
    keep_costs: bool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<u64, Error> {
    let index = store.index()?;
    index.secure()?;
    let total = keys.len() as u64;
    let masked = {
        let Some(lock) = world.lock(store)? else { return Err(Error::Interrupted) };
        let fits = index.marks()? == store.marks();
        let stones = store.tombstones()?;
        let mut names = Vec::new();
        for key in keys {
            names.push(names_of(&index, key)?);
        }
        // Journals first: what they hold is known from the files of the sessions.
        let mut masked = words::mask(world, config, store, &index, keys)?;
        let is_gone = |agent: &str, id: &str| stones.has(&SessionKey::new(agent, id));
        masked += patterns::mask(config, store, &lock, &index, &is_gone)?;
        masked += headless::forget(store, keys)?;
        masked += store.mask_shared(&stones)?;
        drop_jobs(store, keys)?;
        store.forget_exports()?;
        for (key, done) in keys.iter().zip(1..) {
            store.forget_files(key, keep_costs)?;
            if keep_costs {
                store.put_session(&bare(key, world.now()))?;
            }
            progress(Progress { stage: "forget", done, total, bytes: 0 });
        }
        store.sync_all()?;
        let marks = fits.then(|| store.marks());
        let now_ms = world.now().as_millis();
        index.write(|index| {
            for (key, names) in keys.iter().zip(&names) {
                index.forget_session(key)?;
                index.forget_names(key, names)?;
                if keep_costs {
                    let file = bare(key, world.now());
                    index.put_session(&session_row(&file, std::iter::empty(), 0, String::new()))?;
                    index.put_due(key, "ledger", now_ms, true)?;
                }
            }
            index.start_series_again()?;
            Book::clear(index)?;
            marks.iter().try_for_each(|marks| index.put_marks(marks))
        })?;
        masked
    };
    // Costs that stay are read back from their ledgers.
    if keep_costs {
        let only: HashSet<SessionKey> = keys.iter().cloned().collect();
        sync::settle(world, config, store, &index, &only, progress)?;
    }
    reconcile::reconcile(world, STAGES, store, &index)?;
    memory::reindex(world, config, store)?;
    let all = Everything { world, config, store, index: &index, progress };
    consumers::follow(&all, Following::default())?;
    index.wipe()?;
    done(world, store, keep_costs)?;
    Ok(masked)
}

/// What is left of a session whose costs stay: that it was, and no word of it.
fn bare(key: &SessionKey, now: Timestamp) -> SessionFile {
    SessionFile { evicted_at: Some(now), ..SessionFile::new(key.clone()) }
}

/// Says of all tombstones of a kind that everything is removed.
fn done(world: &World, store: &Store, keep_costs: bool) -> Result<(), Error> {
    let Some(lock) = world.lock(store)? else { return Err(Error::Interrupted) };
    let stones = store.tombstones()?;
    let unfinished = stones.unfinished().filter(|stone| stone.keep_costs == keep_costs);
    let lines = unfinished.map(|stone| short(stone, TombstoneEvent::Done, world.now()));
    Ok(store.add_tombstones(&lock, &lines.collect::<Vec<_>>())?)
}

/// A later line about the same session.
fn short(stone: &Tombstone, event: TombstoneEvent, at: Timestamp) -> Tombstone {
    Tombstone { event, at, names: Vec::new(), ..stone.clone() }
}

/// Removes jobs that name one of these sessions.
fn drop_jobs(store: &Store, keys: &[SessionKey]) -> Result<(), Error> {
    for (id, job) in store.jobs()? {
        let path = job.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
        let is_of = |key: &SessionKey| job.session_id.as_ref() == Some(&key.id) || path.contains(&key.id);
        if keys.iter().any(is_of) {
            store.done(&id)?;
        }
    }
    Ok(())
}

/// Lets a session be captured again. Says which tombstones that were.
pub fn undo(world: &World, config: &Config, id: &str) -> Result<Vec<Tombstone>, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let Some(lock) = world.lock(&store)? else { return Err(Error::Interrupted) };
    let stones = store.tombstones()?;
    let is_meant = |stone: &&Tombstone| {
        stone.id.starts_with(id) || stones.is_about(stone, &SessionKey::new(&stone.agent, id))
    };
    let lines: Vec<Tombstone> = stones
        .standing()
        .filter(is_meant)
        .map(|stone| short(stone, TombstoneEvent::Undone, world.now()))
        .collect();
    store.add_tombstones(&lock, &lines)?;
    Ok(lines)
}

/// Lets a text be kept again. Says which masks that were. What is covered stays so; what an
/// agent's log still holds is captured as another revision.
pub fn undo_text(world: &World, config: &Config, id: &str) -> Result<Vec<Mask>, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let Some(lock) = world.lock(&store)? else { return Err(Error::Interrupted) };
    let masks = store.masks()?;
    let meant = masks.standing().filter(|line| line.id.starts_with(id));
    let lines: Vec<Mask> = meant.map(|line| text::short(line, TombstoneEvent::Undone, world)).collect();
    store.add_masks(&lock, &lines)?;
    Ok(lines)
}

/// Every mask that holds.
pub fn standing_texts(config: &Config) -> Vec<Mask> {
    Masks::at(&config.root.value).standing().cloned().collect()
}

/// Every tombstone that holds.
pub fn standing(config: &Config) -> Vec<Tombstone> {
    Tombstones::at(&config.root.value).standing().cloned().collect()
}
