//! The sweep: captures everything new on this machine.
//!
//! It works in batches (`batch.rs`): first the sessions with news, then those with due stages, then
//! the consumers of all sessions. A kill between two batches loses nothing, and the next sync
//! repairs a kill inside one.

mod batch;
mod dry;
mod filter;
mod unreadable;
mod work;

use retro_model::SessionKey;
use retro_store::{Index, Stamps, Store};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use crate::consumers::{self, Following};
use crate::discover::{Discovery, Few, Scope, look};
use crate::lost::{self, Noticed};
use crate::progress::Progress;
use crate::report::SyncReport;
use crate::stages::{Everything, STAGES, Stage, When, Work, up_to};
use crate::{Config, Error, World, facts, memory, reconcile, remask};
pub(crate) use batch::{Batcher, Wait};
use filter::SessionFilter;
pub(crate) use work::Job;

/// Options of a sync.
#[derive(Clone, Default)]
pub struct SyncOptions {
    /// Sync only this agent.
    pub agent: Option<String>,
    /// Stop after this stage.
    pub until: Option<&'static Stage>,
    /// Discover and parse, but write nothing.
    pub dry_run: bool,
    /// Look here instead of in the agents' folders.
    pub from: Option<PathBuf>,
    /// Sync only these sessions.
    pub sessions: Option<HashSet<SessionKey>>,
    /// Look at files again even if they seem unchanged.
    pub force: bool,
    /// Return instead of waiting if another process holds the lock.
    pub no_wait: bool,
    /// Run these instead of [`STAGES`].
    pub stages: Option<&'static [Stage]>,
}

impl SyncOptions {
    fn stages(&self) -> &'static [Stage] {
        self.stages.unwrap_or(STAGES)
    }

    /// Whether it covers every session and every stage.
    pub(crate) fn is_whole(&self) -> bool {
        let is_narrowed = self.sessions.is_some() || self.agent.is_some() || self.from.is_some();
        !is_narrowed && !self.dry_run && !self.no_wait && self.until.is_none()
    }

    /// Where to look for sessions.
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

/// Like [`sync`], into a store that is already open.
pub fn sync_store(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    store: &Store,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    let started = Instant::now();
    let stages = options.stages();
    // Read the jobs first: a later job may need files that this sync has not seen.
    let jobs = store.jobs()?;
    let mut filter = SessionFilter::new(config, options);
    let is_whole_run = options.sessions.is_none() && options.agent.is_none() && options.from.is_none();
    let Looked { index, stamps, found, failed, noticed } =
        look_and_read(world, config, options, store, &mut filter, is_whole_run)?;
    memory::keep_decided(world, config, store, Some(&index))?;
    let mut report = filter.report(&found);
    report.failed += failed.failed;
    report.failures.extend(failed.failures);
    report.notes.extend(failed.notes);
    let wait = if options.no_wait { Wait::Never } else { Wait::ForLock };
    let until = options.until.map(|stage| stage.name);
    if is_whole_run && until.is_none() {
        remask::begin(world, store, &index)?;
    }
    if is_whole_run && until != Some("discover") {
        reconcile::enqueue_outdated(world, config, stages, store, &index)?;
    }
    if let Some(asked) = options.until.filter(|stage| stage.when == When::Asked) {
        reconcile::enqueue_asked(world, config, stages, store, &index, asked)?;
    }
    let mut batcher = Batcher {
        world,
        config,
        stages,
        store,
        index: &index,
        stamps: &stamps,
        until,
        all: false,
        wait,
        progress,
        report: &mut report,
    };
    if up_to(stages, until).iter().any(|stage| stage.name == "capture") {
        batcher.shared(found.shared.iter().filter(|shared| {
            // An empty file has no bytes to keep, and its kind is still unknown.
            options.sessions.is_none() && shared.file.size() > 0 && shared.news
        }))?;
        let news: Vec<Job<'_>> = found.sessions.iter().map(Job::Files).collect();
        batcher.run("capture", &news)?;
        if is_whole_run && std::mem::take(&mut batcher.report.is_unfinished) {
            let rest = look_and_read(
                world,
                config,
                options,
                store,
                &mut SessionFilter::new(config, options),
                false,
            )?;
            let news: Vec<Job<'_>> = rest.found.sessions.iter().map(Job::Files).collect();
            batcher.with(&rest.stamps).run("capture", &news)?;
        }
        if is_whole_run && !world.stopping() {
            keep_databases(&index, &found, batcher.report)?;
            unreadable::keep(world, &index, &found, batcher.report, &stamps)?;
        }
        run_due(&mut batcher, options.sessions.as_ref())?;
    } else {
        report.unread = found.sessions.len() as u64;
    }
    let is_outside = |stage: &Stage| matches!(stage.work, Work::Outside);
    if is_whole_run && !options.no_wait && up_to(stages, until).iter().any(is_outside) {
        facts::observe(&Everything { world, config, store, index: &index, progress }, stages)?;
    }
    // Work on single sessions must be short, and leaves this to a sync.
    if options.sessions.is_none() && !world.stopping() {
        let following = Following { stages, until, no_wait: options.no_wait, anew: None };
        let notes =
            consumers::follow(&Everything { world, config, store, index: &index, progress }, following)?;
        report.notes.extend(notes);
    }
    if is_whole_run && until.is_none() && !world.stopping() {
        remask::finish(world, store, &index)?;
    }
    if let Some(noticed) = noticed.filter(|_| !world.stopping()) {
        lost::remember(store, &index, noticed, report.wrote)?;
    }
    // A full sweep has covered every job.
    if is_whole_run && !world.stopping() {
        jobs.iter().try_for_each(|(id, _)| store.done(id))?;
    }
    report.store_bytes = store_bytes(store, &index)?;
    report.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(report)
}

/// Runs due stages on sessions in the store, until none may run now. A failed stage is tried once.
pub(crate) fn run_due(batcher: &mut Batcher<'_>, only: Option<&HashSet<SessionKey>>) -> Result<(), Error> {
    let mut tried: BTreeMap<SessionKey, Vec<String>> = BTreeMap::new();
    loop {
        let now_ms = if batcher.all { i64::MAX } else { batcher.world.now().as_millis() };
        let runs: Vec<&str> = up_to(batcher.stages, batcher.until)
            .iter()
            .filter(|stage| !matches!(stage.work, Work::Outside))
            .filter(|stage| stage.when != When::Asked || batcher.until == Some(stage.name))
            .map(|stage| stage.name)
            .collect();
        let mut jobs = Vec::new();
        for (key, mut stages) in batcher.index.due(now_ms)? {
            stages.retain(|stage| runs.contains(&stage.as_str()));
            stages.sort();
            let is_wanted = only.is_none_or(|only| only.contains(&key)) && !stages.is_empty();
            if is_wanted && tried.get(&key) != Some(&stages) {
                tried.insert(key.clone(), stages);
                jobs.push(Job::Stored(key));
            }
        }
        if jobs.is_empty() || batcher.world.stopping() {
            return Ok(());
        }
        batcher.run("derive", &jobs)?;
    }
}

/// Runs the due stages on sessions of an open store.
pub(crate) fn settle(
    world: &World,
    config: &Config,
    store: &Store,
    index: &Index,
    only: &HashSet<SessionKey>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    let (stamps, mut report) = (Stamps::default(), SyncReport::default());
    let mut batcher = Batcher {
        world,
        config,
        stages: STAGES,
        store,
        index,
        stamps: &stamps,
        until: None,
        all: true,
        wait: Wait::ForLock,
        progress,
        report: &mut report,
    };
    run_due(&mut batcher, Some(only))?;
    Ok(report)
}

/// The starting point of a sync.
struct Looked {
    index: Index,
    stamps: Stamps,
    found: Discovery,
    /// Sessions in the store that cannot be read, and losses of raw files.
    failed: SyncReport,
    /// State of the raw files, if a check was due.
    noticed: Option<Noticed>,
}

/// Discovers the sessions in the scope of the options while the stamps are read from the index. An
/// index that may be outdated is compared with the files first, so that files whose bytes the store
/// lacks count as new.
fn look_and_read(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    store: &Store,
    filter: &mut SessionFilter<'_>,
    is_whole_run: bool,
) -> Result<Looked, Error> {
    let compared = |index: &Index| -> Result<_, Error> {
        let mut failed = reconcile::reconcile(world, options.stages(), store, index)?;
        let noticed = lost::notice(world, store, index, &mut failed)?;
        Ok((failed, noticed))
    };
    let read = |few: &Few| -> Result<_, Error> {
        let index = store.index()?;
        let (mut failed, mut noticed) = (SyncReport::default(), None);
        if is_whole_run {
            (failed, noticed) = match compared(&index) {
                // Reading the stamps will start a new index.
                Err(Error::Store(error)) if error.is_broken_index() => (failed, noticed),
                compared => compared?,
            };
        }
        let (index, stamps) = store.stamps_of_index(index, |index| few.stamps(index))?;
        Ok(((index, failed, noticed), stamps))
    };
    let ((index, failed, noticed), stamps, mut found) =
        look(world, config, &options.scope(), filter.keep(), read)?;
    found.sessions.retain(|session| filter.keeps(session));
    if !filter.keeps_shared() {
        found.shared.clear();
    }
    Ok(Looked { index, stamps, found, failed, noticed })
}

/// Stores the stamps of databases once all of their rows are in the store. An unchanged database is
/// then not opened again.
fn keep_databases(index: &Index, found: &Discovery, report: &SyncReport) -> Result<(), Error> {
    let is_all_kept = report.failed + report.unread + report.excluded == 0;
    if found.databases.is_empty() || !is_all_kept {
        return Ok(());
    }
    Ok(index.write(|index| found.databases.iter().try_for_each(|place| index.put_place(place)))?)
}

/// The size of the store: its sessions, according to the index, and the few files beside them.
pub fn store_bytes(store: &Store, index: &Index) -> Result<u64, Error> {
    Ok(index.disk_bytes()? + store.overhead_bytes()?)
}
