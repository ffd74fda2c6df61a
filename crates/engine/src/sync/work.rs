//! Work on one session: captures its new bytes and runs the due stages. Threads share this code, so
//! it never queries the index.

use retro_agents::Agent;
use retro_model::SessionKey;
use retro_store::{FACTS, Made, PlaceRow, SessionRow, SourceRow, Stamps, Store};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::capture::{self, Before, Captured, Reading};
use crate::derive::{Derived, Rules, Session, Source};
use crate::discover::SessionFiles;
use crate::remains::Remains;
use crate::session_row::facts_of;
use crate::stages::{Lookup, QUIET_MINUTES, Subject, normalized};
use crate::{Config, Error, World};

/// A growing session larger than this is not settled as a whole on every append.
pub(super) const SETTLED_BYTES_MAX: u64 = 1024 * 1024;

/// A session to work on.
pub(crate) enum Job<'f> {
    /// Its files have news.
    Files(&'f SessionFiles),
    /// Stages are due, and all bytes are in the store.
    Stored(SessionKey),
}

impl Job<'_> {
    pub(super) fn key(&self) -> &SessionKey {
        match self {
            Job::Files(session) => &session.key,
            Job::Stored(key) => key,
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        match self {
            Job::Files(session) => session.bytes(),
            Job::Stored(_) => 0,
        }
    }
}

/// A session to work on, with its rows from the index.
pub(super) struct WorkItem<'j, 'f> {
    pub job: &'j Job<'f>,
    pub agent: &'static dyn Agent,
    pub row: Option<SessionRow>,
    pub sources: Vec<SourceRow>,
    pub made: BTreeMap<String, Made>,
    pub lookup: Lookup,
}

/// The result of the work on a session.
pub(super) struct Outcome {
    pub key: SessionKey,
    pub captured: Option<Captured>,
    pub derived: Derived,
}

/// State shared by all threads of a batch.
pub(super) struct Worker<'a> {
    pub world: &'a World,
    pub config: &'a Config,
    pub store: &'a Store,
    pub stamps: &'a Stamps,
    pub rules: Rules,
    /// The store has no session at all.
    pub is_bare: bool,
}

/// Replaces known stamps by new ones of the same path, and adds the rest.
fn with_news(mut known: Vec<PlaceRow>, news: &[PlaceRow]) -> Vec<PlaceRow> {
    let paths: HashSet<&Path> = news.iter().map(|place| place.path.as_path()).collect();
    known.retain(|place| !paths.contains(place.path.as_path()));
    known.extend_from_slice(news);
    known
}

impl Worker<'_> {
    /// Captures a session with news, and runs its due stages.
    pub(super) fn work(&self, work: WorkItem<'_, '_>) -> Result<Outcome, Error> {
        let rules = &self.rules;
        let key = work.job.key().clone();
        let stop = || self.world.stopping();
        let WorkItem { job, agent, row, sources, mut made, mut lookup } = work;
        let mut captured = self.capture(job, agent, row.as_ref(), sources, &mut made, &stop)?;
        let has_grown = captured.as_ref().is_some_and(|captured| captured.new_bytes > 0);
        if has_grown && made.contains_key(normalized::STAGE.name) {
            self.store.remove_normalized(&key)?;
        }
        let reading =
            captured.as_mut().map(|captured| std::mem::replace(&mut captured.read, Reading::Nothing));
        let stored;
        let (row, file) = match (&captured, &row) {
            (Some(captured), _) => (&captured.session, &captured.file),
            (None, Some(row)) => {
                stored = self.store.session(&key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
                (row, &stored)
            }
            (None, None) => return Err(Error::NoSession(key.to_string())),
        };
        let is_evicted = file.evicted_at.is_some();
        lookup.places = with_news(lookup.places, captured.as_ref().map_or(&[], |captured| &captured.places));
        let facts = self.store.name_of(&FACTS, &key)?;
        let subject = Subject {
            store: self.store,
            config: self.config,
            agent,
            key: &file.key,
            file,
            stamp: "",
            is_quiet: false,
            content: &row.content,
            facts: &facts,
            lookup: &lookup,
        };
        let mut session = Session { subject, row, made };
        // A session with unreadable sources is not settled yet: the next sync tries again.
        let is_whole = captured.as_ref().is_none_or(|captured| captured.failed.is_empty());
        let derived = if is_evicted {
            session.restore(Remains::read(self.store, &key)?.as_ref(), rules)?
        } else if !is_whole || file.sources.is_empty() {
            Derived::default()
        } else {
            let grows =
                !rules.all && rules.now_ms.saturating_sub(row.mtime_ns / 1_000_000) < QUIET_MINUTES * 60_000;
            match reading {
                Some(Reading::Whole(sources)) => session.derive(Source::Held(sources), rules, &stop)?,
                Some(Reading::Tail(sources)) if grows && row.bytes > SETTLED_BYTES_MAX => {
                    session.derive_tail(sources, rules)?
                }
                _ => session.derive(Source::Raw, rules, &stop)?,
            }
        };
        Ok(Outcome { key, captured, derived })
    }

    /// Source bytes that work on a session may hold. Without a row they are estimated from the size
    /// of its files.
    pub(super) fn held_bytes(&self, work: &WorkItem<'_, '_>) -> u64 {
        /// Logs are packed to a sixth or less.
        const PACKED_RATIO: u64 = 8;
        let stored = match &work.row {
            Some(row) => row.bytes,
            None if work.job.bytes() > 0 => 0,
            None => self.store.disk_bytes_of(work.job.key()).unwrap_or(0) * PACKED_RATIO,
        };
        work.job.bytes().max(stored)
    }

    fn is_evicted(&self, key: &SessionKey) -> Result<bool, Error> {
        Ok(self.store.session(key)?.is_some_and(|file| file.evicted_at.is_some()))
    }

    /// Captures the new part of a session, or reads its raw files again if the index lost their
    /// rows. `None` if it has no news and the index is complete.
    fn capture(
        &self,
        job: &Job<'_>,
        agent: &'static dyn Agent,
        row: Option<&SessionRow>,
        sources: Vec<SourceRow>,
        made: &mut BTreeMap<String, Made>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Captured>, Error> {
        let parser = agent.reading_version();
        let is_current = |source: &SourceRow| source.parser_version == parser && facts_of(source).is_some();
        let is_known = row.is_some() && !sources.is_empty() && sources.iter().all(is_current);
        let rules = &self.rules;
        Ok(match job {
            Job::Files(files) => {
                if self.is_evicted(&files.key)? {
                    made.clear();
                }
                let is_old = rules.may_pack(files.mtime_ns());
                let before = Before { sources, stamps: self.stamps, is_bare: self.is_bare, is_old };
                Some(capture::session(self.store, files, before, stop)?)
            }
            Job::Stored(_) if is_known => None,
            // Its row was restored with its remains.
            Job::Stored(key) if row.is_some() && self.is_evicted(key)? => None,
            Job::Stored(key) => {
                let mtime_ns = row.map_or(0, |row| row.mtime_ns);
                Some(capture::from_raw(self.store, agent, key, mtime_ns)?)
            }
        })
    }
}
