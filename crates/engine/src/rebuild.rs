//! Makes derived data again from raw.

use retro_model::SessionKey;
use retro_store::{Index, LEDGER, PlaceRow, RealDisk, Stamps, Store};
use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::capture::{from_raw, from_slots};
use crate::consumers::{self, Following};
use crate::import::{Choice, ImportOptions, import};
use crate::stages::{Everything, STAGES, Stage, When, Work};
use crate::sync::{Batcher, SyncOptions, Wait, run_due, store_bytes, sync};
use crate::{Config, Error, Progress, SyncReport, World, agent_of, damage, memory, recapture, reconcile};

/// Makes a lost index again by an ordinary sync, so that a question can be answered. Returns
/// whether it did: it does nothing if there is an index, if the store has no session, or if another
/// process is writing. A question reports a store that cannot be opened.
pub fn restore_index(
    world: &World,
    config: &Config,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<bool, Error> {
    let Ok(store) = Store::open(&config.root.value, world.disk.clone()) else { return Ok(false) };
    if !is_index_lost(&store).unwrap_or(false) || !matches!(store.try_lock(), Ok(Some(_))) {
        return Ok(false);
    }
    sync(world, config, &SyncOptions::default(), progress)?;
    Ok(true)
}

/// Whether the index and the files of the store were written at different times, or the index
/// belongs to another store, while no process is updating it. False if that is unknown.
pub fn is_of_another_time(config: &Config) -> bool {
    let Ok(store) = Store::open(&config.root.value, Arc::new(RealDisk)) else { return false };
    if store.has_foreign_index() {
        return true;
    }
    let Some(index) = store.index_to_read() else { return false };
    let differs = || index.marks().is_ok_and(|marks| marks != store.marks());
    // A writer renews the marks before it writes the index.
    differs() && matches!(store.try_lock(), Ok(Some(_))) && differs()
}

/// Whether the store has sessions but the index has none.
fn is_index_lost(store: &Store) -> Result<bool, Error> {
    let knows_some = match store.index_if_there()? {
        Some(index) => index.session_count()? > 0,
        None => false,
    };
    Ok(!knows_some && !store.session_keys()?.is_empty())
}

/// Drops the results of `stage`, or of all stages if it is `None`, and makes them again, also for
/// sessions that still grow.
pub fn rebuild(
    world: &World,
    config: &Config,
    stage: Option<&'static Stage>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    rebuild_of(STAGES, world, config, stage, progress)
}

/// Like [`rebuild`], with other stages than [`STAGES`].
pub fn rebuild_of(
    stages: &'static [Stage],
    world: &World,
    config: &Config,
    stage: Option<&'static Stage>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    let started = Instant::now();
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let mut report = SyncReport { wrote: true, ..SyncReport::default() };
    if let Ok(known) = store.index_if_there() {
        memory::keep_decided(world, config, &store, known.as_ref())?;
    }
    let index = match stage {
        None => {
            let Some(index) = start_over(world, &store)? else { return Ok(report) };
            let failed = reconcile::reconcile(world, stages, &store, &index)?;
            report.failed += failed.failed;
            report.failures.extend(failed.failures);
            index
        }
        Some(stage) => {
            let index = store.index()?;
            // An index that was just made, in place of an older one, knows no session yet.
            let failed = reconcile::reconcile(world, stages, &store, &index)?;
            report.failed += failed.failed;
            report.failures.extend(failed.failures);
            let Some(_lock) = world.lock(&store)? else { return Ok(report) };
            forget_stage(world, &index, stage)?;
            index
        }
    };
    let all = Everything { world, config, store: &store, index: &index, progress };
    let choose = match stage {
        Some(stage) if stage.when == When::Asked => Choose::UpTo(stage.name),
        _ => Choose::All,
    };
    derive_due(&all, stages, choose, progress, &mut report)?;
    let following = Following { stages, anew: stage.map(|stage| stage.name), ..Following::default() };
    report.notes.extend(consumers::follow(&all, following)?);
    reconcile::enqueue_outdated(world, config, stages, &store, &index)?;
    report.discovered = index.session_rows()?.len() as u64;
    report.store_bytes = store_bytes(&store, &index)?;
    report.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(report)
}

/// The sessions on which due stages run.
#[derive(Clone, Copy)]
enum Choose<'a> {
    /// Sessions that have not changed for as long as each stage waits.
    Due,
    /// All sessions, even if they changed a moment ago.
    All,
    /// All sessions, up to a stage that runs only on request.
    UpTo(&'static str),
    /// These sessions, even if they changed a moment ago.
    These(&'a HashSet<SessionKey>),
}

/// Runs the due stages on sessions in the store.
fn derive_due(
    all: &Everything<'_>,
    stages: &'static [Stage],
    choose: Choose<'_>,
    progress: &(dyn Fn(Progress) + Sync),
    report: &mut SyncReport,
) -> Result<(), Error> {
    let Everything { world, config, store, index, .. } = *all;
    let all = !matches!(choose, Choose::Due);
    let only = if let Choose::These(keys) = choose { Some(keys) } else { None };
    let until = if let Choose::UpTo(name) = choose { Some(name) } else { None };
    let (stamps, wait) = (Stamps::default(), Wait::ForLock);
    let mut batcher =
        Batcher { world, config, stages, store, index, stamps: &stamps, until, all, wait, progress, report };
    run_due(&mut batcher, only)
}

/// Removes everything derived and starts a new index. It takes over the stamps of live files,
/// because the captured bytes have not changed.
fn start_over(world: &World, store: &Store) -> Result<Option<Index>, Error> {
    let Some(_lock) = world.lock(store)? else { return Ok(None) };
    let places: Vec<PlaceRow> = match store.index_if_there() {
        // A database of a later retro must not be deleted.
        Err(error @ retro_store::Error::Newer { .. }) => return Err(error.into()),
        Ok(Some(index)) => index.stamps().map_or(Vec::new(), |stamps| stamps.iter().collect()),
        _ => Vec::new(),
    };
    store.remove_derived()?;
    let index = store.index()?;
    index.write(|index| places.iter().try_for_each(|place| index.put_place(place)))?;
    Ok(Some(index))
}

fn forget_stage(world: &World, index: &Index, stage: &'static Stage) -> Result<(), Error> {
    let keys: Vec<SessionKey> = index.session_rows()?.iter().map(|row| row.key()).collect();
    let now_ms = world.now().as_millis();
    let is_of_session = matches!(stage.work, Work::Events(_) | Work::Session(_) | Work::Outside);
    index.write(|index| {
        index.clear_stage(stage.name)?;
        let due = keys.iter().filter(|_| is_of_session);
        due.into_iter().try_for_each(|key| index.put_due(key, stage.name, now_ms, false))
    })?;
    Ok(())
}

/// Repairs everything that raw files can repair: missing or damaged session files, damaged ledgers,
/// and an unusable index. Returns notes about the repairs.
pub fn mend(
    world: &World,
    config: &Config,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<String>, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let mut said = Vec::new();
    {
        let Some(_lock) = world.lock(&store)? else { return Ok(said) };
        let whole: BTreeSet<SessionKey> = store
            .session_keys()?
            .into_iter()
            .filter(|key| !matches!(store.session(key), Ok(None) | Err(retro_store::Error::Damaged { .. })))
            .collect();
        for key in store.raw_keys()? {
            if !whole.contains(&key) && mend_session(&store, &key)? {
                said.push(format!("rebuilt the session file of {key} from its raw files"));
            }
        }
        store.sync_all()?;
        if let Err(error) = store.index().and_then(|index| index.session_rows())
            && error.is_broken_index()
        {
            store.index_anew()?;
            said.push("started a new index".to_owned());
        }
    }
    let index = store.index()?;
    let spoiled = spoiled(&store, &index)?;
    let all = Everything { world, config, store: &store, index: &index, progress };
    let mut report = reconcile::reconcile(world, STAGES, &store, &index)?;
    if !spoiled.is_empty() {
        make_due(world, &store, &index, &spoiled)?;
        let only = spoiled.iter().map(|(key, _)| key.clone()).collect();
        derive_due(&all, STAGES, Choose::These(&only), progress, &mut report)?;
    }
    derive_due(&all, STAGES, Choose::Due, progress, &mut report)?;
    for (key, stage) in &spoiled {
        if !is_spoiled(&store, &index, key, stage)? {
            said.push(format!("rebuilt the {} of {key} from its raw files", stage.name));
        }
    }
    drop(index);
    said.extend(recapture::mend(world, config, &store, progress)?);
    let (damaged, aside) = retake(world, config, &store, progress)?;
    said.extend(aside.iter().map(|path| format!("set aside the damaged file as {}", path.display())));
    said.extend(damaged.iter().map(|key| format!("took {key} again from the agent's log")));
    let is_mended = |path: &str| damaged.iter().any(|key| path == key.to_string());
    let failures = report.failures.iter().filter(|failure| !is_mended(&failure.path));
    said.extend(failures.map(|failure| format!("{}: {}", failure.path, failure.reason)));
    if said.is_empty() {
        said.push("nothing to mend".to_owned());
    }
    Ok(said)
}

/// Captures sessions again whose raw files are damaged, if the agent still has the log. The damaged
/// file is kept: it is set aside, or the new capture becomes a revision beside it. Returns the
/// sessions, and the paths of the files set aside.
fn retake(
    world: &World,
    config: &Config,
    store: &Store,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Vec<SessionKey>, Vec<PathBuf>), Error> {
    let (mut taken, mut aside) = (Vec::new(), Vec::new());
    for trouble in damage::troubles(store)?.into_iter().filter(|trouble| trouble.damage.is_some()) {
        // Otherwise the rows of the old files would count as rows of the new ones.
        let Some(lock) = world.lock(store)? else { return Ok((taken, aside)) };
        let index = store.index()?;
        aside.extend(recapture::set_damaged_aside(store, &index, &trouble.key)?);
        store.sync_all()?;
        index.write(|index| index.forget_session(&trouble.key))?;
        drop((lock, index));
        let options = ImportOptions {
            agent: trouble.key.agent.clone(),
            choice: Choice::Id(trouble.key.id.clone()),
            force: true,
            from: None,
        };
        let imported = import(world, config, &options, progress)?;
        if imported.sessions.contains(&trouble.key) && imported.report.failed == 0 {
            taken.push(trouble.key);
        }
    }
    Ok((taken, aside))
}

/// Documents that are damaged or belong to another session, by session and the stage that writes
/// them. Skips evicted sessions, whose documents cannot be made again.
fn spoiled(store: &Store, index: &Index) -> Result<Vec<(SessionKey, &'static Stage)>, Error> {
    let mut spoiled = Vec::new();
    for key in store.session_keys()? {
        let is_whole = matches!(store.session(&key), Ok(Some(file)) if file.evicted_at.is_none());
        for stage in STAGES.iter().filter(|_| is_whole) {
            if is_spoiled(store, index, &key, stage)? {
                spoiled.push((key.clone(), stage));
            }
        }
    }
    Ok(spoiled)
}

fn is_spoiled(store: &Store, index: &Index, key: &SessionKey, stage: &Stage) -> Result<bool, Error> {
    let Some(kind) = stage.document else { return Ok(false) };
    Ok(store.is_damaged(kind, key)? || (*kind == LEDGER && reconcile::is_foreign_ledger(store, index, key)?))
}

/// Makes stages due on sessions, as if they had never run.
fn make_due(
    world: &World,
    store: &Store,
    index: &Index,
    wanted: &[(SessionKey, &'static Stage)],
) -> Result<(), Error> {
    let Some(_lock) = world.lock(store)? else { return Ok(()) };
    let now_ms = world.now().as_millis();
    index.write(|index| {
        wanted.iter().try_for_each(|(key, stage)| {
            index.forget_made(key, stage.name)?;
            index.put_due(key, stage.name, now_ms, true)
        })
    })?;
    Ok(())
}

fn mend_session(store: &Store, key: &SessionKey) -> Result<bool, Error> {
    let Some(agent) = agent_of(key) else { return Ok(false) };
    let Some(file) = from_slots(store, agent, key)? else { return Ok(false) };
    store.remove_session(key)?;
    store.put_session(&file)?;
    // Its facts come with the rows, which are made from raw.
    from_raw(store, agent, key, 0)?;
    Ok(true)
}
