//! The sweep: everything that is new on this machine goes into the store.
//!
//! Work is done in batches. A batch takes the lock, captures its sessions in
//! parallel, syncs the files to disk, writes the index in one transaction and
//! gives the lock back; only then is it counted. A kill between two batches
//! loses nothing, a kill inside one is mended by the next sync.

mod batch;
mod dry;
mod report;

use retro_agents::{Agent, Found, Owner, Stat, by_name};
use retro_model::SessionKey;
use retro_store::{Index, PlaceRow, RealDisk, Stamps, Store};
use retro_usage::Mode;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Instant;

use crate::discover::{Collector, Discovery, SessionFiles, discover, walk};
use crate::exclude::Excluder;
use crate::stages::{Stage, runs};
use crate::{Config, Error, World, cells, cold, from, prices, upkeep};
pub(crate) use batch::{Batcher, backfill};
pub use report::{Failure, Progress, SyncReport};

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
    let started = Instant::now();
    let index = store.index()?;
    // Before anything is looked at: a job that comes later may ask for what was not seen.
    let jobs = store.jobs()?;
    let (mut found, stamps) = look_beside(world, config, options, &index)?;
    let mut report = SyncReport::of(&found);

    let excluder = Excluder::new(config);
    let before = found.sessions.len();
    found.sessions.retain(|session| !excluder.excludes(session));
    report.excluded = (before - found.sessions.len()) as u64;

    let wanted = options.sessions.as_ref();
    let mut changed: Vec<SessionFiles> = Vec::new();
    for session in &found.sessions {
        if wanted.is_some_and(|keys| !keys.contains(&session.key)) {
            continue;
        }
        if options.force || session.files.iter().any(|file| !unchanged(&stamps, file)) {
            changed.push(session.clone());
        } else {
            report.skipped_unchanged += 1;
        }
    }
    let mut batcher = Batcher { world, store, index: &index, stamps: &stamps, progress, report: &mut report };
    if runs("capture", options.until) {
        batcher.shared(found.shared.iter().filter(|shared| {
            // An empty file has nothing to keep, and may become anything.
            let news = shared.file.stat.size > 0 && !unchanged(&stamps, &shared.file);
            wanted.is_none() && options.deadline.is_none() && news
        }))?;
        batcher.sessions(&changed, options.until, options.deadline)?;
    } else {
        report.unread = changed.len() as u64;
    }
    let now = world.now();
    let whole_run = wanted.is_none() && options.deadline.is_none();
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

/// Files that a walk hands over together: to wake who waits takes longer than to find one.
const FILES_AT_ONCE: usize = 256;

/// Discovers where the options say, and reads what the index knows of files. Walking
/// waits for the file system, so both are done at once.
fn look_beside(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    index: &Index,
) -> Result<(Discovery, Stamps), Error> {
    if options.from.is_some() {
        let stamps = index.stamps()?;
        return Ok((look(world, config, options, &stamps)?, stamps));
    }
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let walking = scope.spawn(move || {
            let mut files = Vec::with_capacity(FILES_AT_ONCE);
            let walked = walk(world, config, options.agent.as_deref(), &mut |agent, file| {
                files.push((agent, file));
                if files.len() == FILES_AT_ONCE {
                    // Nobody listens any more when the index could not be read.
                    let _ = send.send(std::mem::replace(&mut files, Vec::with_capacity(FILES_AT_ONCE)));
                }
            });
            let _ = send.send(files);
            walked
        });
        let stamps = index.stamps()?;
        let mut collector = Collector::new(config, &stamps);
        for (agent, file) in receive.into_iter().flatten() {
            collector.take(agent, file);
        }
        let walked = walking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((walked.with(collector), stamps))
    })
}

/// Discovers where the options say.
fn look(world: &World, config: &Config, options: &SyncOptions, known: &Stamps) -> Result<Discovery, Error> {
    match &options.from {
        Some(path) => from::discover(world, config, path, options.agent.as_deref(), known),
        None => Ok(discover(world, config, options.agent.as_deref(), known)),
    }
}

fn stat_of(row: &PlaceRow) -> Stat {
    Stat { size: row.size, mtime_ns: row.mtime_ns, device: row.device, inode: row.inode }
}

/// Whether the store has seen this file as it is now, as the same part of the same session.
pub(crate) fn unchanged(stamps: &Stamps, file: &Found) -> bool {
    stamps.get(&file.path).is_some_and(|row| {
        let same_owner = match (&file.owner, &row.session) {
            (Owner::Session(id), Some(session)) => id == session,
            (Owner::Shared(_), None) => true,
            _ => false,
        };
        same_owner && stat_of(row) == file.stat
    })
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
