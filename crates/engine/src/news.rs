//! Reads new sessions for a question, without a lock and without writing.
//!
//! Each question has its own product of the events ([`Reading`]): costs need ledgers, a search
//! needs passages. [`News::keep`] captures these sessions afterwards by an ordinary sync, unless
//! another process is writing.

mod look;

use rayon::prelude::*;
use retro_model::{Event, Passage, SessionKey};
use retro_search::Passages;
use retro_store::{Index, RealDisk, SessionRow, Stamps, Store};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::discover::{SessionFiles, discover};
use crate::exclude::{Excluder, Verdict};
use crate::progress::Progress;
use crate::report::Failure;
use crate::sync::{SyncOptions, sync_store};
use crate::{Config, Error, World, agent_of, stages};

/// Time limit for reading new sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until everything is read.
    All,
    /// At most this long. The newest sessions come first.
    For(Duration),
    /// Read nothing: the answer comes from the store alone.
    None,
}

/// Turns the events of a session into a question's product.
pub trait Reading: Sized {
    /// The product of one session.
    type Made: Send;

    /// The stage that makes the same product for the index.
    const STAGE: &'static str;

    /// Begins a session.
    fn of(key: &SessionKey) -> Self;

    /// Takes the next settled event.
    fn event(&mut self, event: &Event);

    /// Ends the session and returns its product.
    fn finish(self) -> Self::Made;
}

/// Collects the passages of a session for a search.
impl Reading for Passages {
    type Made = Vec<Passage>;
    const STAGE: &'static str = stages::turns::STAGE.name;

    fn of(_: &SessionKey) -> Passages {
        Passages::default()
    }

    fn event(&mut self, event: &Event) {
        self.push(event);
    }

    fn finish(self) -> Vec<Passage> {
        Passages::finish(self)
    }
}

/// A session that was read for a question.
pub struct Read<M> {
    /// Its row, as a sync would make it.
    pub session: SessionRow,
    /// The product of its events.
    pub made: M,
}

/// The store in its present state, and the new sessions beside it.
pub struct News<R: Reading> {
    /// The store, if there is one.
    pub store: Option<Store>,
    /// Its index, if there is one.
    pub index: Option<Index>,
    /// Sessions that are newer than in the index.
    pub read: BTreeMap<SessionKey, Read<R::Made>>,
    /// Sessions with new records that were not read.
    pub unread: HashSet<SessionKey>,
    /// Sources that may hold more and cannot be read.
    pub unreadable: Vec<Failure>,
}

impl<R: Reading> News<R> {
    /// Reads new sessions. Waits for no lock and writes nothing.
    pub fn read(
        world: &World,
        config: &Config,
        patience: Patience,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<News<R>, Error> {
        let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
            Ok(store) => Some(store),
            Err(error) if error.is_absent() => None,
            Err(error) => return Err(error.into()),
        };
        let index = match &store {
            Some(store) => store.index_if_there()?,
            None => None,
        };
        let mut news =
            News { store, index, read: BTreeMap::new(), unread: HashSet::new(), unreadable: Vec::new() };
        if patience != Patience::None {
            news.read_news(world, config, patience, progress)?;
        } else if let Some(index) = &news.index {
            news.unread = index.behind(R::STAGE)?.into_iter().collect();
            news.unreadable = index.failures()?.into_iter().map(Into::into).collect();
        }
        Ok(news)
    }

    fn read_news(
        &mut self,
        world: &World,
        config: &Config,
        patience: Patience,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), Error> {
        let stamps = match &self.index {
            Some(index) => index.stamps()?,
            None => Stamps::default(),
        };
        let found = discover(world, config, None, &stamps);
        self.unreadable = found.unreadable().map(Into::into).collect();
        if let Some(index) = &self.index {
            // The store has a part of these files. They are not read again until they change.
            let cut = index.failures()?.into_iter().filter(|failure| stamps.place(&failure.path).is_some());
            self.unreadable.extend(cut.map(Failure::from));
        }
        let excluder = Excluder::new(config);
        let mut jobs: Vec<look::Job> = Vec::new();
        for session in found.sessions.into_iter().filter(|session| session.news) {
            if excluder.verdict(&session) != Verdict::Wanted {
                continue;
            }
            jobs.push(self.job(session, &stamps)?);
        }
        let live: HashSet<SessionKey> = jobs.iter().map(|job| job.session.key.clone()).collect();
        for key in self.behind()?.into_iter().filter(|key| !live.contains(key)) {
            let Some(agent) = agent_of(&key) else { continue };
            jobs.push(self.job(SessionFiles { key, agent, files: Vec::new(), news: true }, &stamps)?);
        }
        self.read_jobs(world, jobs, patience, progress);
        self.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        self.unreadable.dedup_by(|a, b| a.path == b.path);
        Ok(())
    }

    /// Sessions in the store that the index lacks in part or completely.
    fn behind(&self) -> Result<Vec<SessionKey>, Error> {
        let (Some(store), index) = (&self.store, &self.index) else { return Ok(Vec::new()) };
        match index {
            Some(index) if index.marks()? == store.marks() => Ok(index.behind(R::STAGE)?),
            Some(index) => {
                let known: HashSet<SessionKey> = index.session_rows()?.iter().map(SessionRow::key).collect();
                let all = store.session_keys()?.into_iter();
                let lost = all.filter(|key| !known.contains(key));
                Ok(lost.chain(index.behind(R::STAGE)?).collect())
            }
            None => Ok(store.session_keys()?),
        }
    }

    fn job(&self, session: SessionFiles, stamps: &Stamps) -> Result<look::Job, Error> {
        let rows = match &self.index {
            Some(index) => index.sources_of(&session.key)?,
            None => Vec::new(),
        };
        let places = session.files.iter().filter_map(|file| stamps.get(&file.path)).collect();
        let mtime_ns = match (&self.index, session.files.is_empty()) {
            (Some(index), true) => index.session_row(&session.key)?.map_or(0, |row| row.mtime_ns),
            _ => session.mtime_ns(),
        };
        Ok(look::Job { session, rows, places, mtime_ns })
    }

    fn read_jobs(
        &mut self,
        world: &World,
        jobs: Vec<look::Job>,
        patience: Patience,
        progress: &(dyn Fn(Progress) + Sync),
    ) {
        let deadline = match patience {
            Patience::For(time) => Some(Instant::now() + time),
            _ => None,
        };
        let is_late = || world.stopping() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        // Even on a slow machine, the answer includes the newest session.
        let begun = AtomicBool::new(false);
        let is_left = || begun.swap(true, Ordering::Relaxed) && is_late();
        let (total, done, bytes) = (jobs.len() as u64, AtomicU64::new(0), AtomicU64::new(0));
        let store = self.store.as_ref();
        let results: Vec<_> = jobs
            .into_par_iter()
            .map(|job| {
                let key = job.session.key.clone();
                if is_left() {
                    return (key, Err(Error::Stopped));
                }
                let size = job.session.bytes();
                let read = look::look::<R>(store, job, &is_late);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                let bytes = bytes.fetch_add(size, Ordering::Relaxed) + size;
                progress(Progress { stage: "read", done, total, bytes });
                (key, read)
            })
            .collect();
        for (key, result) in results {
            match result {
                Ok(look::Looked { row, made, cut }) => {
                    self.unreadable.extend(cut);
                    self.read.insert(key, Read { session: row, made });
                }
                Err(Error::Stopped) => {
                    self.unread.insert(key);
                }
                Err(error) => {
                    self.unread.insert(key.clone());
                    self.unreadable.push(Failure::of(&key, &error));
                }
            }
        }
    }

    /// Captures the sessions that were read, unless another process is writing. The next sync
    /// captures the rest. Returns whether there were any.
    pub fn keep(
        self,
        world: &World,
        config: &Config,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<bool, Error> {
        let sessions: HashSet<SessionKey> = self.read.into_keys().collect();
        drop(self.index);
        if sessions.is_empty() {
            return Ok(false);
        }
        let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
        let options = SyncOptions {
            until: stages::by_name("turns"),
            sessions: Some(sessions),
            no_wait: true,
            ..SyncOptions::default()
        };
        sync_store(world, config, &options, &store, progress)?;
        Ok(true)
    }
}
