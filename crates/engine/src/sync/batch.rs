//! Batches of sessions that are captured and derived in parallel, and made durable together.
//!
//! A batch takes the lock, reads its sessions in parallel, syncs their files to disk, and
//! writes the index in one short transaction. Only then is it counted.

use rayon::prelude::*;
use retro_model::{LinkKind, SessionKey, Timestamp};
use retro_store::{Index, Lock, Marks, Stamps, Store, Writer};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};

use super::work::{Job, Outcome, SETTLED_BYTES_MAX, WorkItem, Worker};
use crate::budget::{Budget, HELD_BYTES_MAX};
use crate::capture::{self, Captured};
use crate::derive::Rules;
use crate::discover::SharedFile;
use crate::family::{Rest, children_content, family, rest_of_trees};
use crate::progress::Progress;
use crate::report::{Failure, SyncReport};
use crate::stages::{Input, Last, Lookup, Stage, Work, up_to};
use crate::{Config, Error, World, agent_of, platform, shared_titles};

/// Sessions of one batch.
const BATCH_SESSIONS_MAX: usize = 200;

/// Source bytes of one batch. A larger session has its own batch.
const BATCH_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// How to wait for the lock of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Until it is free.
    ForLock,
    /// Do not wait, and leave the work.
    Never,
}

/// Runs batches and updates the report.
pub(crate) struct Batcher<'a> {
    pub world: &'a World,
    pub config: &'a Config,
    /// The table of stages.
    pub stages: &'static [Stage],
    pub store: &'a Store,
    pub index: &'a Index,
    pub stamps: &'a Stamps,
    /// The last requested stage.
    pub until: Option<&'a str>,
    /// Run outdated stages even if a session changed a moment ago.
    pub all: bool,
    pub wait: Wait,
    pub progress: &'a (dyn Fn(Progress) + Sync),
    pub report: &'a mut SyncReport,
}

impl Batcher<'_> {
    /// The same batcher with other stamps of live files.
    pub(super) fn with<'b>(&'b mut self, stamps: &'b Stamps) -> Batcher<'b> {
        Batcher { stamps, report: self.report, ..*self }
    }

    /// Works on sessions in the given order.
    pub(crate) fn run(&mut self, stage: &'static str, jobs: &[Job<'_>]) -> Result<(), Error> {
        let total = jobs.len() as u64;
        let (mut done, mut bytes) = (0, 0);
        let mut rest = jobs;
        while !rest.is_empty() {
            if self.world.stopping() {
                self.report.unread += count_files(rest);
                return Ok(());
            }
            if self.has_too_little_room(rest) {
                self.report.unread += count_files(rest);
                return Ok(());
            }
            let (batch, after) = rest.split_at(batch_length(rest));
            let lock = match self.wait {
                Wait::ForLock => self.world.lock(self.store)?,
                Wait::Never => self.store.try_lock()?,
            };
            let Some(lock) = lock else {
                self.report.unread += count_files(rest);
                return Ok(());
            };
            let (batch_done, batch_bytes) = (done, bytes);
            bytes += self.batch(batch, &lock, &|more: u64, kept: u64| {
                let (done, bytes) = (batch_done + more, batch_bytes + kept);
                (self.progress)(Progress { stage, done, total, bytes });
            })?;
            rest = after;
            done += batch.len() as u64;
            (self.progress)(Progress { stage, done, total, bytes });
        }
        Ok(())
    }

    /// Whether there is too little free space to capture more. Notes it once.
    pub(crate) fn has_too_little_room(&mut self, jobs: &[Job<'_>]) -> bool {
        let is_capture = jobs.iter().any(|job| matches!(job, Job::Files(_)));
        let Some(note) = is_capture.then(|| too_little_room(self.config)).flatten() else { return false };
        if !self.report.notes.contains(&note) {
            self.report.notes.push(note);
        }
        true
    }

    fn rules(&self) -> Rules {
        let stages = up_to(self.stages, self.until);
        Rules {
            stages,
            later: self.stages.get(stages.len()..).unwrap_or_default(),
            now_ms: self.world.now().as_millis(),
            all: self.all,
        }
    }

    /// Runs one batch under the lock. Returns the number of bytes kept. `stepped` receives the
    /// number of finished sessions and of bytes kept so far.
    pub(crate) fn batch(
        &mut self,
        jobs: &[Job<'_>],
        _lock: &Lock,
        stepped: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<u64, Error> {
        let fits = self.fits()?;
        let knows_any = self.index.has_any()?;
        let is_bare = !knows_any && self.store.is_bare()?;
        let rules = self.rules();
        let mut work = Vec::with_capacity(jobs.len());
        // The session was forgotten after it was found.
        let stones = self.store.tombstones()?;
        let is_forgotten = |job: &Job<'_>| matches!(job, Job::Files(files) if stones.has(&files.key));
        for job in jobs.iter().filter(|job| !is_forgotten(job)) {
            work.extend(self.look_up(job, knows_any, &rules)?);
        }
        // The longest come first, so that one core is not left with a long session when the others
        // are done.
        work.sort_by_key(|work: &WorkItem<'_, '_>| Reverse(work.job.bytes()));
        let budget = Budget::new(HELD_BYTES_MAX);
        let (steps, kept) = (AtomicU64::new(0), AtomicU64::new(0));
        let worker = Worker {
            world: self.world,
            config: self.config,
            store: self.store,
            stamps: self.stamps,
            rules,
            is_bare,
        };
        let one = |work: WorkItem<'_, '_>| {
            let _held = budget.take(worker.held_bytes(&work));
            let key = work.job.key().clone();
            let outcome = worker.work(work);
            let captured = outcome.as_ref().ok().and_then(|outcome| outcome.captured.as_ref());
            let new_bytes = captured.map_or(0, |captured| captured.new_bytes);
            let kept = kept.fetch_add(new_bytes, Ordering::Relaxed) + new_bytes;
            stepped(steps.fetch_add(1, Ordering::Relaxed) + 1, kept);
            (key, outcome)
        };
        let done: Vec<(SessionKey, Result<Outcome, Error>)> = if work.len() == 1 {
            // One session needs no threads, which take a moment to start.
            work.into_iter().map(one).collect()
        } else {
            work.into_par_iter().map(one).collect()
        };
        let mut good = Vec::with_capacity(done.len());
        for (key, outcome) in done {
            match outcome {
                Ok(outcome) => good.push(outcome),
                Err(Error::Stopped) => self.report.unread += 1,
                Err(error) if error.is_of_one_session() => self.report.fail(&key, &error),
                Err(error) => return Err(error),
            }
        }
        self.store.sync_all()?;
        let again = |outcome: &&Outcome| outcome.captured.as_ref().is_some_and(|one| one.is_recaptured);
        let again: Vec<SessionKey> = good.iter().filter(again).map(|outcome| outcome.key.clone()).collect();
        again.iter().try_for_each(|key| self.store.remove_remains(key).map(drop))?;
        let rest = rest_of_trees(self.store, self.index, &again)?;
        self.report.is_unfinished |= !rest.paths.is_empty();
        let mut bytes = 0;
        for outcome in &good {
            bytes += self.count(outcome);
        }
        self.write(good, &rest, fits)?;
        Ok(bytes)
    }

    /// Whether the index matches the files before this batch. If it does not, it keeps its old
    /// marks, so that the mismatch is not lost.
    fn fits(&self) -> Result<bool, Error> {
        Ok(self.index.marks()? == self.store.marks())
    }

    /// Reads the rows of a session from the index, because the worker threads cannot.
    fn look_up<'j, 'f>(
        &self,
        job: &'j Job<'f>,
        knows_any: bool,
        rules: &Rules,
    ) -> Result<Option<WorkItem<'j, 'f>>, Error> {
        let key = job.key();
        let agent = match job {
            Job::Files(session) => session.agent,
            Job::Stored(key) => match agent_of(key) {
                Some(agent) => agent,
                None => return Ok(None),
            },
        };
        let mut work = WorkItem {
            job,
            agent,
            row: None,
            sources: Vec::new(),
            made: BTreeMap::new(),
            lookup: Lookup::default(),
        };
        if knows_any {
            work.row = self.index.session_row(key)?;
            work.sources = self.index.sources_of(key)?;
            work.made = self.index.made_of(key)?;
            let changed_ns = match job {
                Job::Files(files) => files.mtime_ns(),
                Job::Stored(_) => work.row.as_ref().map_or(0, |row| row.mtime_ns),
            };
            if rules.may_pack(changed_ns) {
                work.lookup.places = self.index.stamps_of(key)?.iter().collect();
            }
            let is_large = work.row.as_ref().is_some_and(|row| row.bytes > SETTLED_BYTES_MAX);
            if is_large && matches!(job, Job::Files(_)) {
                work.lookup.last =
                    Last { turns: self.index.last_turns(key)?, passages: self.index.last_passages(key)? };
            } else {
                work.lookup.passages = self.index.known_passages(key)?;
            }
        }
        if self.stages.iter().any(reads_children) {
            work.lookup.children = children_content(self.index, key, 0)?;
            work.lookup.family = family(self.index, key)?;
        }
        Ok(Some(work))
    }

    /// Writes the index, in one transaction.
    fn write(&self, outcomes: Vec<Outcome>, rest: &Rest, fits: bool) -> Result<(), Error> {
        let mut sizes = Vec::with_capacity(outcomes.len());
        for outcome in &outcomes {
            sizes.push(match &outcome.captured {
                Some(captured) if captured.is_new => self.store.disk_bytes_named(&captured.file)?,
                _ => self.store.disk_bytes_of(&outcome.key)?,
            });
        }
        let marks: Option<Marks> = fits.then(|| self.store.marks());
        let now = self.world.now();
        let of_children: Vec<&'static str> =
            self.stages.iter().filter(|stage| reads_children(stage)).map(|stage| stage.name).collect();
        let parents = if of_children.is_empty() { BTreeSet::new() } else { self.parents(&outcomes)? };
        let written = self.index.write(|index| {
            for (outcome, bytes) in outcomes.into_iter().zip(sizes) {
                let Outcome { key, captured, derived } = outcome;
                let is_kept = captured.as_ref().is_none_or(|captured| !captured.file.sources.is_empty());
                if let Some(captured) = &captured {
                    put_captured(index, captured, is_kept, now)?;
                }
                if is_kept {
                    derived.put(index, &key)?;
                    index.put_disk_bytes(&key, bytes)?;
                }
            }
            rest.paths.iter().try_for_each(|path| index.forget_place(path))?;
            for member in &rest.members {
                of_children.iter().try_for_each(|stage| index.forget_made(member, stage))?;
            }
            for parent in parents.iter().chain(&rest.members) {
                of_children
                    .iter()
                    .try_for_each(|stage| index.put_due(parent, stage, now.as_millis(), true))?;
            }
            marks.iter().try_for_each(|marks| index.put_marks(marks))
        });
        Ok(written?)
    }

    /// The roots of the sessions just read that are in the store: their facts about children may
    /// have changed. Some agents name the child only in its parent.
    fn parents(&self, outcomes: &[Outcome]) -> Result<BTreeSet<SessionKey>, Error> {
        let mut parents = BTreeSet::new();
        let read = || outcomes.iter().filter_map(|outcome| Some((&outcome.key, outcome.captured.as_ref()?)));
        let here: BTreeSet<&SessionKey> = read().map(|(key, _)| key).collect();
        for (key, captured) in read() {
            if captured.session.links.iter().any(|link| link.kind == LinkKind::Child) {
                parents.insert(key.clone());
            }
            let Some(parent) = &captured.session.parent else { continue };
            let parent = SessionKey::new(&key.agent, parent);
            if here.contains(&parent) || self.index.session_row(&parent)?.is_some() {
                parents.insert(parent);
            }
        }
        // The search through all sessions is only for those that have gone quiet, not for every
        // append.
        let quiet: BTreeSet<&SessionKey> = outcomes
            .iter()
            .filter(|outcome| outcome.derived.is_analyzed())
            .map(|outcome| &outcome.key)
            .collect();
        if !quiet.is_empty() {
            for row in self.index.linked_sessions()? {
                let names = |link: &retro_model::Link| {
                    link.kind == LinkKind::Child
                        && quiet.contains(&SessionKey::new(&row.agent, &link.session_id))
                };
                if row.links.iter().any(names) {
                    parents.insert(row.key());
                }
            }
        }
        Ok(parents)
    }

    fn count(&mut self, outcome: &Outcome) -> u64 {
        if outcome.derived.is_analyzed() {
            let mut hasher = DefaultHasher::new();
            outcome.key.hash(&mut hasher);
            self.report.analyzed += u64::from(self.report.analyzed_keys.insert(hasher.finish()));
        }
        self.report.wrote |= !outcome.derived.is_empty();
        let Some(one) = &outcome.captured else { return 0 };
        // Read back from raw: no file was found or lost.
        if one.places.is_empty() && one.failed.is_empty() && one.new_bytes == 0 {
            return 0;
        }
        self.report.wrote |= one.new_bytes > 0 || one.is_new;
        self.report.gaps += one.gaps;
        if one.is_recaptured && one.new_bytes > 0 {
            self.report.recaptured += 1;
        } else if one.is_new && !one.places.is_empty() {
            self.report.ingested += 1;
        } else if one.new_bytes > 0 {
            self.report.appended += 1;
        } else if one.failed.is_empty() {
            self.report.skipped_unchanged += 1;
        }
        self.report.failed += u64::from(!one.failed.is_empty());
        for (path, reason) in &one.failed {
            let path = path.display().to_string();
            let agent = outcome.key.agent.clone();
            self.report.failures.push(Failure { agent, path, reason: reason.clone() });
        }
        for (path, reason) in &one.cut {
            let path = path.display().to_string();
            let agent = outcome.key.agent.clone();
            self.report.unreadable_files.push(Failure { agent, path, reason: reason.clone() });
        }
        one.new_bytes
    }

    /// Captures files that serve many sessions.
    pub(crate) fn shared<'f>(&mut self, files: impl Iterator<Item = &'f SharedFile>) -> Result<(), Error> {
        let files: Vec<&SharedFile> = files.collect();
        if files.is_empty() {
            return Ok(());
        }
        if too_little_room(self.config).is_some() {
            return Ok(());
        }
        let Some(_lock) = self.world.lock(self.store)? else { return Ok(()) };
        let fits = self.fits()?;
        let mut places = Vec::new();
        let mut titles = Vec::new();
        let stones = self.store.tombstones()?;
        for file in files {
            match capture::shared(self.store, file, &stones) {
                Ok((place, new_bytes)) => {
                    titles.push(shared_titles::read(self.store, file.agent, &file.name, place.revision));
                    self.report.wrote |= new_bytes > 0;
                    self.report.shared_files += 1;
                    places.push(place);
                }
                Err(Error::Read { path, source }) => self.report.skipped_files.push(Failure {
                    agent: file.agent.name().to_owned(),
                    path: path.display().to_string(),
                    reason: source.to_string(),
                }),
                Err(error) => return Err(error),
            }
        }
        self.store.sync_all()?;
        let marks = fits.then(|| self.store.marks());
        self.index.write(|index| {
            places.iter().try_for_each(|place| index.put_place(place))?;
            titles.iter().try_for_each(|titles| titles.put(index))?;
            marks.iter().try_for_each(|marks| index.put_marks(marks))
        })?;
        Ok(())
    }
}

fn put_captured(
    index: &Writer<'_>,
    captured: &Captured,
    is_kept: bool,
    now: Timestamp,
) -> Result<(), retro_store::Error> {
    if is_kept {
        index.put_session(&captured.session)?;
    }
    for place in &captured.places {
        index.put_place(place)?;
        index.clear_failure(&place.path)?;
    }
    captured.sources.iter().try_for_each(|source| index.put_source(source))?;
    let agent = &captured.file.key.agent;
    let unread = captured.failed.iter().chain(&captured.cut);
    unread.into_iter().try_for_each(|(path, reason)| index.put_failure(path, agent, reason, now))
}

fn reads_children(stage: &Stage) -> bool {
    stage.inputs.iter().any(|input| matches!(input, Input::Children)) && !matches!(stage.work, Work::Sync)
}

/// The reason not to capture, if there is too little free space on the disk of the store.
fn too_little_room(config: &Config) -> Option<String> {
    const USUAL_MAX: u64 = 1 << 30;
    const SHARE: u64 = 20;
    let root = &config.root.value;
    let room = platform::disk_room(root)?;
    let min = config.retention.value.min_free_bytes;
    let min = min.unwrap_or_else(|| USUAL_MAX.min(room.total / SHARE));
    (room.free < min).then(|| {
        let (root, free) = (root.display(), room.free);
        format!(
            "nothing is captured: {free} bytes are free at {root}, and {min} are wanted; make room, \
             `retro retain` gives up old raw bytes, or set retention.min_free_bytes"
        )
    })
}

/// Number of jobs at the front that form one batch.
fn batch_length(jobs: &[Job<'_>]) -> usize {
    let mut bytes = 0;
    let fits = |job: &&Job<'_>| {
        bytes += job.bytes();
        bytes <= BATCH_BYTES_MAX
    };
    jobs.iter().take(BATCH_SESSIONS_MAX).take_while(fits).count().max(1)
}

fn count_files(jobs: &[Job<'_>]) -> u64 {
    jobs.iter().filter(|job| matches!(job, Job::Files(_))).count() as u64
}
