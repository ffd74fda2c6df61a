//! The sweep: everything that is new on this machine goes into the store.
//!
//! Work is done in batches. A batch takes the lock, captures its sessions in
//! parallel, syncs the files to disk, writes the index in one transaction and
//! gives the lock back; only then is it counted. A kill between two batches
//! loses nothing, a kill inside one is mended by the next sync.

mod backfill;
mod batch;
mod dry;
mod report;
mod sieve;

use retro_agents::{Agent, by_name};
use retro_model::SessionKey;
use retro_store::{Index, RealDisk, Store};
use retro_usage::Mode;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::discover::{Discovery, Scope, look};
use crate::stages::{Stage, runs};
use crate::{Config, Error, World, cells, cold, prices, upkeep};
pub(crate) use backfill::backfill;
pub(crate) use batch::{Batcher, Read, Waiting};
pub use report::{Failure, Progress, SyncReport};
use sieve::Sieve;

/// What to sync.
#[derive(Debug, Clone, Default)]
pub struct SyncOptions {
    /// Only this agent.
    pub agent: Option<String>,
    /// Up to and including this stage.
    pub until: Option<&'static Stage>,
    /// Discover and parse, write nothing.
    pub dry_run: bool,
    /// Look here instead of in the agents' folders.
    pub from: Option<PathBuf>,
    /// Only these sessions.
    pub sessions: Option<HashSet<SessionKey>>,
    /// Look at files again even if they seem unchanged.
    pub force: bool,
    /// Start no further batch after this instant; newest sessions come first.
    pub deadline: Option<Instant>,
}

impl SyncOptions {
    /// Where to look.
    fn scope(&self) -> Scope<'_> {
        Scope::new(self.agent.as_deref(), self.from.as_deref())
    }
}

/// Runs the stages that are out of date.
pub fn sync(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    if options.dry_run {
        return dry::run(world, config, options, progress);
    }
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    sync_store(world, config, options, &store, progress)
}

/// Like [`sync`], into a store that is open already.
pub fn sync_store(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    store: &Store,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    sync_asked(world, config, options, store, progress, None)
}

/// Like [`sync_store`], for somebody who waits for what is read: told before it is safe.
/// Not told if there is nothing new or the index lacks something.
pub(crate) fn sync_asked(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    store: &Store,
    progress: &(dyn Fn(Progress) + Sync),
    waiting: Option<&mut dyn Waiting>,
) -> Result<SyncReport, Error> {
    let started = Instant::now();
    // Before anything is looked at: a job that comes later may ask for what was not seen.
    let jobs = store.jobs()?;
    let mut sieve = Sieve::new(config, options);
    let read = || Ok(store.index_and_stamps()?);
    let (index, stamps, mut found) = look(world, config, &options.scope(), sieve.keep(), read)?;
    found.sessions.retain(|session| sieve.keeps(session));
    if !sieve.keeps_shared() {
        found.shared.clear();
    }
    let mut report = sieve.report(&found);

    let wanted = options.sessions.as_ref();
    let mut batcher =
        Batcher { world, store, index: &index, stamps: &stamps, progress, report: &mut report, waiting };
    if runs("capture", options.until) {
        batcher.shared(found.shared.iter().filter(|shared| {
            // An empty file has nothing to keep, and may become anything.
            let news = shared.file.size() > 0 && shared.news;
            wanted.is_none() && options.deadline.is_none() && news
        }))?;
        batcher.sessions(&found.sessions, options.until, options.deadline)?;
    } else {
        report.unread = found.sessions.len() as u64;
    }
    let now = world.now();
    let whole_run = wanted.is_none() && options.deadline.is_none();
    if whole_run && runs("capture", options.until) && !world.stopping() {
        keep_databases(&index, &found, &report)?;
    }
    if whole_run && upkeep::is_due(&index, now)? {
        if runs("turns", options.until) {
            backfill(world, store, &index, &mut report, progress)?;
        }
        cold::run(world, store, &index, options.until, false, &mut report, progress)?;
        if options.until.is_none() && !world.stopping() && report.failed == 0 {
            upkeep::note(&index)?;
        }
    }
    if report.wrote && options.until.is_none() && options.deadline.is_none() {
        cells::keep_changed(&index, || prices::load(world, config), Mode::default())?;
    }
    // A full sweep has seen whatever the jobs ask for.
    if wanted.is_none() && options.agent.is_none() && options.from.is_none() && !world.stopping() {
        for (id, _) in &jobs {
            store.done(id)?;
        }
    }
    report.store_bytes = store_bytes(store, &index, report.wrote)?;
    report.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(report)
}

/// Keeps how databases looked, once everything that their rows say is in the store: until
/// one changes, it is not opened again.
fn keep_databases(index: &Index, found: &Discovery, report: &SyncReport) -> Result<(), Error> {
    let is_all_kept = report.failed + report.unread + report.excluded == 0;
    if found.databases.is_empty() || !is_all_kept {
        return Ok(());
    }
    Ok(index.write(|index| found.databases.iter().try_for_each(|place| index.put_place(place)))?)
}

/// Under which name the index remembers the store's size.
pub(crate) const STORE_BYTES: &str = "store_bytes";

/// The store's size as the last sync measured it.
pub fn measured_bytes(config: &Config) -> Result<u64, Error> {
    let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store,
        Err(error) if error.is_absent() => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    let text = match store.index_if_there()? {
        Some(index) => index.meta(STORE_BYTES)?,
        None => None,
    };
    Ok(text.and_then(|text| text.parse().ok()).unwrap_or(0))
}

/// The store's size; measured anew only when something was written.
fn store_bytes(store: &Store, index: &Index, wrote: bool) -> Result<u64, Error> {
    if !wrote && let Some(bytes) = index.meta(STORE_BYTES)?.and_then(|text| text.parse().ok()) {
        return Ok(bytes);
    }
    let bytes = store.sizes()?.total();
    index.set_meta(STORE_BYTES, &bytes.to_string())?;
    Ok(bytes)
}

/// The agent of a session in the store.
pub(crate) fn agent_of(key: &SessionKey) -> Option<&'static dyn Agent> {
    by_name(&key.agent)
}
