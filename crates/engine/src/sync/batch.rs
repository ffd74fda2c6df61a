//! Batches: some sessions, captured in parallel under the lock, durable together.

use rayon::prelude::*;
use retro_agents::settle;
use retro_model::{LedgerRow, Timestamp};
use retro_store::{Index, Lock, SessionRow, SourceRow, Stamps, Store, Writer};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::time::Instant;

use super::{Failure, Progress, SyncReport, agent_of};
use crate::capture::{self, Before, Captured};
use crate::discover::{SessionFiles, SharedFile};
use crate::large::{self, Wanted};
use crate::read::{self, LARGE_BYTES};
use crate::stages::{self, Stage, runs};
use crate::{Error, World, cold, ledger, upkeep};

/// Sessions of one batch.
pub(super) const BATCH_SESSIONS_MAX: usize = 200;

/// Source bytes of one batch; a larger session is a batch of its own.
const BATCH_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// What settling a session gave.
#[derive(Default)]
struct Settling {
    /// The stamp of its cached events, if they were written.
    stamp: Option<String>,
    /// Its ledger, if it was made.
    ledger: Option<Vec<Arc<LedgerRow>>>,
    /// Too large to be held: settled from raw when its bytes are safe.
    large: Option<Wanted>,
}

/// Runs batches and counts what they did.
pub(crate) struct Batcher<'a, 'r> {
    pub world: &'a World,
    pub store: &'a Store,
    pub index: &'a Index,
    pub stamps: &'a Stamps,
    pub progress: &'a (dyn Fn(Progress) + Sync),
    pub report: &'a mut SyncReport,
    /// Who waits for what was read, if somebody does.
    pub waiting: Option<&'r mut dyn Waiting>,
}

/// Somebody who waits for what is read.
pub(crate) trait Waiting {
    /// Told once, before the disk is waited for, what was read.
    fn ready(&mut self, index: &Index, read: Read) -> Result<(), Error>;

    /// Told when all of it is in the index.
    fn kept(&mut self, index: &Index) -> Result<(), Error>;
}

/// What a batch read.
pub(crate) struct Read {
    /// Each session and its ledger, if the index had none before and does not have these
    /// yet. Else all are in the index.
    pub first: Option<Vec<(SessionRow, Vec<Arc<LedgerRow>>)>>,
    /// Sessions with news that were not read.
    pub unread: u64,
}

impl Batcher<'_, '_> {
    /// Captures sessions in the order given.
    pub(crate) fn sessions(
        &mut self,
        sessions: &[SessionFiles],
        until: Option<&'static Stage>,
        deadline: Option<Instant>,
    ) -> Result<(), Error> {
        let total = sessions.len() as u64;
        let mut done = 0;
        let mut bytes = 0;
        let mut rest = sessions;
        while !rest.is_empty() {
            if self.world.stopping() {
                self.report.unread += rest.len() as u64;
                return Ok(());
            }
            // Who has a deadline is done with one batch.
            let (batch, after) = match deadline {
                Some(_) => (rest, &[][..]),
                None => rest.split_at(batch_length(rest, |session| session)),
            };
            rest = after;
            // Who has a deadline waits for nobody.
            let lock = match deadline {
                Some(_) => self.store.try_lock()?,
                None => self.store.lock(&|| self.world.stopping())?,
            };
            let Some(_lock) = lock else {
                self.report.unread += (batch.len() + rest.len()) as u64;
                return Ok(());
            };
            let (captured, analyzed) = self.capture(batch, until, deadline)?;
            self.report.analyzed += analyzed;
            for one in &captured {
                self.count(one);
                bytes += one.new_bytes;
            }
            done += batch.len() as u64;
            (self.progress)(Progress { stage: "capture", done, total, bytes });
        }
        Ok(())
    }

    /// Captures one session under a lock that is held already.
    pub(crate) fn one(&mut self, session: &SessionFiles, lock: Lock) -> Result<(), Error> {
        let until = stages::by_name("turns");
        let (captured, _) = self.capture(std::slice::from_ref(session), until, None)?;
        drop(lock);
        captured.iter().for_each(|one| self.count(one));
        Ok(())
    }

    /// One batch, under the lock: capture, sync, index. Of a batch with a deadline
    /// those sessions are left unread that are not begun by then.
    fn capture(
        &mut self,
        batch: &[SessionFiles],
        until: Option<&'static Stage>,
        deadline: Option<Instant>,
    ) -> Result<(Vec<Captured>, u64), Error> {
        let mut work: Vec<(&SessionFiles, Vec<SourceRow>)> = Vec::with_capacity(batch.len());
        let mut behind = HashSet::new();
        // A first sync asks nothing of every single session.
        let knows_any = self.index.has_sources()?;
        for session in batch {
            let sources = if knows_any { self.index.sources_of(&session.key)? } else { Vec::new() };
            work.push((session, sources));
            if knows_any && turns_are_behind(self.index, session)? {
                behind.insert(session.key.clone());
            }
        }
        // The longest first, so that none is left to one core when the others are done; but
        // only among so many as are read in a moment, for the newest come first.
        let mut rest = work.as_mut_slice();
        while !rest.is_empty() {
            let (together, after) = rest.split_at_mut(batch_length(rest, |(session, _)| session));
            together.sort_by_key(|(session, _)| Reverse(session.bytes()));
            rest = after;
        }
        let now = self.world.now();
        upkeep::forget(self.index)?;
        let (store, stamps, hurries) = (self.store, self.stamps, self.waiting.is_some());
        // To put rows into the index takes a moment that nobody waits for who has all there
        // are at hand.
        let is_first = hurries && !knows_any && self.index.session_rows()?.is_empty();
        let is_bare = !knows_any && store.is_bare()?;
        let one = |(session, sources): (&SessionFiles, Vec<SourceRow>)| -> Result<_, Error> {
            let before = Before { sources, stamps, hurries, is_bare };
            let mut captured = capture::session(store, session, before)?;
            let settling = settle_session(store, now, session, &mut captured, until)?;
            Ok((captured, settling))
        };
        // However slow the machine, a question is answered with the newest session.
        let begun = AtomicBool::new(false);
        let is_left = || {
            let first = !begun.swap(true, Ordering::Relaxed);
            !first && deadline.is_some_and(|deadline| Instant::now() >= deadline)
        };
        let mut left = batch.len() as u64;
        let mut read: Vec<(Captured, Settling)> = Vec::with_capacity(batch.len());
        let mut large = Vec::new();
        let mut analyzed = 0;
        let report = &mut *self.report;
        let waiting = &mut self.waiting;
        // Rows are written while other sessions are still being read, and count only
        // when all files are safe.
        std::thread::scope(|scope| -> Result<(), Error> {
            let (send, receive) = mpsc::channel();
            let tell = move |send: &mut Sender<_>, work: (&SessionFiles, Vec<SourceRow>)| {
                if is_left() {
                    return;
                }
                let key = work.0.key.clone();
                // Nobody listens any more when the index failed.
                let _ = send.send((key, one(work)));
            };
            // A single one is read here: there is nothing to share, and if it is large,
            // the same memory serves to settle it.
            if let Some(work) = work.pop_if(|_| batch.len() == 1) {
                tell(&mut { send }, work);
            } else {
                scope.spawn(move || work.into_iter().par_bridge().for_each_with(send, tell));
            }
            self.index.try_write(|index| {
                for (key, result) in receive {
                    left -= 1;
                    let (one, settling) = match result {
                        Err(error) if error.is_of_one_session() => {
                            report.fail(&key, &error);
                            continue;
                        }
                        result => result?,
                    };
                    if !is_first {
                        put_session(index, &one, &settling)?;
                    }
                    if !hurries {
                        put_files(index, &one, until, behind.contains(&one.key), now)?;
                    }
                    analyzed += u64::from(settling.stamp.is_some());
                    large.extend(settling.large.map(|wanted| (one.key.clone(), wanted)));
                    read.push((one, settling));
                }
                let is_counted = match is_first {
                    true => {
                        read.iter().all(|(one, settling)| one.places.is_empty() || settling.ledger.is_some())
                    }
                    false => cold::ledgers_behind(self.index)? == 0,
                };
                if let Some(waiting) = waiting
                    && large.is_empty()
                    && is_counted
                {
                    let first = is_first.then(|| rows_of(&read));
                    waiting.ready(self.index, Read { first, unread: report.unread + left })?;
                }
                if is_first {
                    read.iter().try_for_each(|(one, settling)| put_session(index, one, settling))?;
                }
                if let Some(waiting) = waiting {
                    waiting.kept(self.index)?;
                }
                let written: Vec<Result<bool, Error>> =
                    read.par_iter_mut().map(|(one, _)| one.write(store)).collect();
                for ((one, _), written) in read.iter().zip(written) {
                    if !written? {
                        index.forget_session(&one.key)?;
                        put_failures(index, one, now)?;
                    } else if hurries {
                        put_files(index, one, until, behind.contains(&one.key), now)?;
                    }
                }
                Ok(store.sync_all()?)
            })
        })?;
        self.report.unread += left;
        for (key, wanted) in large {
            let Some(agent) = agent_of(&key) else { continue };
            match large::settle(self.store, self.index, agent, &key, wanted) {
                Ok(()) => analyzed += u64::from(wanted.normalized),
                Err(error) => self.report.fail(&key, &error),
            }
        }
        Ok((read.into_iter().map(|(one, _)| one).collect(), analyzed))
    }

    fn count(&mut self, one: &Captured) {
        self.report.wrote |= one.new_bytes > 0 || one.is_new;
        self.report.gaps += one.gaps;
        if one.is_new && !one.places.is_empty() {
            self.report.ingested += 1;
        } else if one.new_bytes > 0 {
            self.report.appended += 1;
        } else if one.failed.is_empty() {
            self.report.skipped_unchanged += 1;
        }
        if !one.failed.is_empty() {
            self.report.failed += 1;
        }
        for (path, reason) in &one.failed {
            let path = path.display().to_string();
            self.report.failures.push(Failure { agent: one.key.agent.clone(), path, reason: reason.clone() });
        }
    }

    /// Captures files that serve many sessions.
    pub(crate) fn shared<'f>(&mut self, files: impl Iterator<Item = &'f SharedFile>) -> Result<(), Error> {
        let files: Vec<&SharedFile> = files.collect();
        if files.is_empty() {
            return Ok(());
        }
        let Some(_lock) = self.store.lock(&|| self.world.stopping())? else { return Ok(()) };
        let mut places = Vec::new();
        for file in files {
            match capture::shared(self.store, file) {
                Ok((place, new_bytes)) => {
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
        self.index.write(|index| {
            for place in &places {
                index.put_place(place)?;
            }
            Ok(())
        })?;
        Ok(())
    }
}

/// Settles a session whose bytes changed: its ledger, and its cached events if
/// it is quiet. What was read in this pass is not read again.
fn settle_session(
    store: &Store,
    now: Timestamp,
    session: &SessionFiles,
    captured: &mut Captured,
    until: Option<&'static Stage>,
) -> Result<Settling, Error> {
    // A session that is still growing is read as a whole only when somebody asks.
    let quiet = cold::is_quiet(captured.session.mtime_ns, now);
    let whole = captured.whole.take();
    let worth =
        whole.is_some() || captured.overflowed || (quiet && captured.new_bytes > 0 && captured.is_written());
    if !runs("ledger", until) || !worth || !captured.failed.is_empty() {
        return Ok(Settling::default());
    }
    if captured.session.bytes > LARGE_BYTES {
        let turns = captured.overflowed && runs("turns", until);
        let wanted = Wanted { turns, normalized: quiet && runs("normalized", until) };
        return Ok(Settling { large: Some(wanted), ..Settling::default() });
    }
    let keeps_events = quiet && runs("normalized", until);
    let events = match whole {
        Some(whole) if !keeps_events => {
            let rows = ledger::of_sources(session.agent, &session.key, whole);
            let ledger = Some(rows.into_iter().map(Arc::new).collect());
            return Ok(Settling { ledger, ..Settling::default() });
        }
        Some(whole) => settle(session.agent, &session.key, whole).events,
        None => read::session(store, session.agent, &session.key)?.events,
    };
    let rows = ledger::rows(&session.key, &events);
    let mut stamp = None;
    if keeps_events {
        store.put_ledger(&session.key, &rows)?;
        let made = stages::stamp(session.agent, &captured.content);
        store.put_normalized(&session.key, &made, &events)?;
        stamp = Some(made);
    }
    Ok(Settling { stamp, ledger: Some(rows.into_iter().map(Arc::new).collect()), large: None })
}

/// What a question about costs needs of sessions.
fn rows_of(read: &[(Captured, Settling)]) -> Vec<(SessionRow, Vec<Arc<LedgerRow>>)> {
    read.iter()
        .filter(|(one, _)| !one.places.is_empty())
        .map(|(one, settling)| (one.session.clone(), settling.ledger.clone().unwrap_or_default()))
        .collect()
}

/// Puts into the index what a question about costs needs of a session.
fn put_session(index: &Writer<'_>, one: &Captured, settling: &Settling) -> Result<(), retro_store::Error> {
    if !one.places.is_empty() {
        index.put_session(&one.session)?;
        index.put_stage(&one.key, "capture", version("capture"), &one.content)?;
    }
    if let Some(stamp) = &settling.stamp {
        index.put_stage(&one.key, "normalized", version("normalized"), stamp)?;
    }
    if let Some(rows) = &settling.ledger {
        cold::put_ledger(index, &one.key, &one.content, rows)?;
    }
    Ok(())
}

/// Puts the rest: its files, how far they were read, and the turns in them.
fn put_files(
    index: &Writer<'_>,
    one: &Captured,
    until: Option<&'static Stage>,
    turns_are_behind: bool,
    now: Timestamp,
) -> Result<(), retro_store::Error> {
    for place in &one.places {
        index.put_place(place)?;
        index.clear_failure(&place.path)?;
    }
    for source in &one.sources {
        index.put_source(source)?;
    }
    if runs("turns", until) && !one.overflowed {
        for turn in &one.turns {
            index.put_turn(turn)?;
        }
        let parser = agent_of(&one.key).map_or(0, |agent| agent.parser_version());
        if !turns_are_behind {
            index.put_stage(&one.key, "turns", parser, &one.content)?;
        }
    }
    put_failures(index, one, now)
}

fn put_failures(index: &Writer<'_>, one: &Captured, now: Timestamp) -> Result<(), retro_store::Error> {
    for (path, reason) in &one.failed {
        index.put_failure(path, &one.key.agent, reason, now)?;
    }
    Ok(())
}

/// Whether bytes were captured whose turns are not in the index. Those of the next
/// bytes alone do not make it whole then; it is read again as a whole.
fn turns_are_behind(index: &Index, session: &SessionFiles) -> Result<bool, Error> {
    let captured = index.stage_of(&session.key, "capture")?;
    let turns = index.stage_of(&session.key, "turns")?;
    Ok(captured.is_some_and(|(_, content)| {
        turns.is_none_or(|made| made != (session.agent.parser_version(), content))
    }))
}

pub(super) fn version(stage: &str) -> u32 {
    stages::by_name(stage).map_or(0, |stage| stage.version)
}

/// How many of the first are read together.
fn batch_length<T>(all: &[T], session: impl Fn(&T) -> &SessionFiles) -> usize {
    let mut bytes = 0;
    let fits = |one: &&T| {
        bytes += session(one).bytes();
        bytes <= BATCH_BYTES_MAX
    };
    all.iter().take(BATCH_SESSIONS_MAX).take_while(fits).count().max(1)
}
