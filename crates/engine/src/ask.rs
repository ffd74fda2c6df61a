//! Questions that hold nobody up.
//!
//! [`read`] reads what is new on this machine without a lock and without writing: the
//! answer is made from the index with these sessions laid over it, and printed. Only then
//! does [`Asked::keep`] capture what was read, as an ordinary sync of these sessions, if
//! nobody else is writing. A slow reader of the answer, a read-only disk or a full one
//! change nothing about it.

mod look;

use rayon::prelude::*;
use retro_model::{LedgerRow, SessionKey};
use retro_store::{Index, RealDisk, SessionRow, Stamps, Store};
use retro_usage::{Cells, Grain, Mode, Prices, SharedRow, decide};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::discover::{SessionFiles, discover};
use crate::exclude::{Excluder, Verdict};
use crate::report::{Failure, Progress};
use crate::sync::{SyncOptions, sync_store};
use crate::{Config, Error, World, agent_of, cells, prices, stages};

/// How long a question may spend on reading what is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until everything is read.
    All,
    /// So long; newest sessions come first.
    For(Duration),
    /// Nothing is read: the answer is what the store has.
    None,
}

/// A session that was read for a question.
struct Read {
    session: SessionRow,
    rows: Vec<Arc<LedgerRow>>,
}

/// What a question about costs is answered from.
pub struct Asked {
    store: Option<Store>,
    index: Option<Index>,
    prices: Prices,
    read: BTreeMap<SessionKey, Read>,
    /// Sessions with something new that was not read.
    unread: HashSet<SessionKey>,
    /// What may hold more and cannot be read.
    unreadable: Vec<Failure>,
}

/// Reads what is new. Waits for no lock and writes nothing.
pub fn read(
    world: &World,
    config: &Config,
    patience: Patience,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Asked, Error> {
    let prices = prices::load(world, config)?;
    let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => Some(store),
        Err(error) if error.is_absent() => None,
        Err(error) => return Err(error.into()),
    };
    let index = match &store {
        Some(store) => store.index_if_there()?,
        None => None,
    };
    let mut asked =
        Asked { store, index, prices, read: BTreeMap::new(), unread: HashSet::new(), unreadable: Vec::new() };
    if patience != Patience::None {
        asked.read_news(world, config, patience, progress)?;
    } else if let Some(index) = &asked.index {
        asked.unread = index.behind("ledger")?.into_iter().collect();
        asked.unreadable = index.failures()?.into_iter().map(Into::into).collect();
    }
    Ok(asked)
}

impl Asked {
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
            // Of these the store has a part, and they are not read again until they change.
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

    /// Sessions in the store of which the index does not have everything.
    fn behind(&self) -> Result<Vec<SessionKey>, Error> {
        let (Some(store), index) = (&self.store, &self.index) else { return Ok(Vec::new()) };
        match index {
            Some(index) if index.marks()? == store.marks() => Ok(index.behind("ledger")?),
            Some(index) => {
                let known: HashSet<SessionKey> = index.session_rows()?.iter().map(SessionRow::key).collect();
                let all = store.session_keys()?.into_iter();
                let lost = all.filter(|key| !known.contains(key));
                Ok(lost.chain(index.behind("ledger")?).collect())
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
        // However slow the machine, a question is answered with the newest session.
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
                let read = look::look(store, job, &is_late);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                let bytes = bytes.fetch_add(size, Ordering::Relaxed) + size;
                progress(Progress { stage: "read", done, total, bytes });
                (key, read)
            })
            .collect();
        for (key, result) in results {
            match result {
                Ok(look::Looked { row, rows, cut }) => {
                    self.unreadable.extend(cut);
                    self.read.insert(key, Read { session: row, rows });
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

    /// What costs are answered from.
    pub fn ledgers(&self) -> Ledgers<'_> {
        Ledgers {
            index: self.index.as_ref(),
            prices: &self.prices,
            read: &self.read,
            unread: &self.unread,
            unreadable: &self.unreadable,
        }
    }

    /// How many sessions were read that the store does not have as they are now.
    pub fn read_count(&self) -> u64 {
        self.read.len() as u64
    }

    /// Captures what was read, if nobody else is writing. What is not kept now is kept by
    /// the next sync.
    pub fn keep(
        self,
        world: &World,
        config: &Config,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), Error> {
        let (sessions, prices): (HashSet<SessionKey>, _) = (self.read.into_keys().collect(), self.prices);
        drop(self.index);
        if sessions.is_empty() {
            return self.store.map_or(Ok(()), |store| keep_sums(&store, &prices));
        }
        let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
        let options = SyncOptions {
            until: stages::by_name("turns"),
            sessions: Some(sessions),
            no_wait: true,
            ..SyncOptions::default()
        };
        sync_store(world, config, &options, &store, progress)?;
        keep_sums(&store, &prices)
    }
}

/// Keeps the sums of all ledgers, so that the next answer reads them. Whoever cannot write
/// does without.
fn keep_sums(store: &Store, prices: &Prices) -> Result<(), Error> {
    let lock = match store.try_lock() {
        Err(error) if error.is_unwritable() => None,
        lock => lock?,
    };
    match (lock, store.index_if_there()?) {
        (Some(_lock), Some(index)) => cells::keep(&index, prices, Mode::default()),
        _ => Ok(()),
    }
}

/// The ledgers of all sessions: those of the index, with what was just read in the place
/// of what it has of the same sessions.
#[derive(Clone, Copy)]
pub struct Ledgers<'a> {
    index: Option<&'a Index>,
    /// The prices in force.
    pub prices: &'a Prices,
    read: &'a BTreeMap<SessionKey, Read>,
    unread: &'a HashSet<SessionKey>,
    /// What may hold more and cannot be read.
    pub unreadable: &'a [Failure],
}

/// Nothing was read, and nothing is missing.
static NOTHING: BTreeMap<SessionKey, Read> = BTreeMap::new();
static NONE: LazyLock<HashSet<SessionKey>> = LazyLock::new(HashSet::new);

impl<'a> Ledgers<'a> {
    /// All that an index has.
    pub fn of(index: &'a Index, prices: &'a Prices) -> Self {
        Ledgers { index: Some(index), prices, read: &NOTHING, unread: &NONE, unreadable: &[] }
    }

    /// The same, while these sessions have something new that is not in the figures.
    pub fn lacking(self, unread: &'a HashSet<SessionKey>) -> Self {
        Ledgers { unread, ..self }
    }

    /// Whether these figures hold everything that is on this machine.
    pub fn are_complete(&self) -> bool {
        self.unread.is_empty() && self.unreadable.is_empty()
    }

    /// How many sessions have something new that is not in these figures.
    pub fn unread(&self) -> u64 {
        self.unread.len() as u64
    }

    /// Whether a session has something new that is not in these figures.
    pub fn lacks(&self, key: &SessionKey) -> bool {
        self.unread.contains(key)
    }

    /// Every session, by agent and id.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, Error> {
        let mut rows = match self.index {
            Some(index) => index.session_rows()?,
            None => Vec::new(),
        };
        if !self.read.is_empty() {
            rows.retain(|row| !self.read.contains_key(&row.key()));
            rows.extend(self.read.values().map(|read| read.session.clone()));
            rows.sort_by(|a, b| (&a.agent, &a.id).cmp(&(&b.agent, &b.id)));
        }
        Ok(rows)
    }

    /// Every row of every session.
    pub fn rows(&self) -> Result<Vec<SharedRow>, Error> {
        let mut rows: Vec<SharedRow> = match self.index {
            Some(index) => index.responses()?.into_iter().map(|(key, row)| (key, row.into())).collect(),
            None => Vec::new(),
        };
        if !self.read.is_empty() {
            rows.retain(|(key, _)| !self.read.contains_key(&**key));
            for (key, read) in self.read {
                let key = Arc::new(key.clone());
                rows.extend(read.rows.iter().map(|row| (Arc::clone(&key), Arc::clone(row))));
            }
            rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok(rows)
    }

    /// What reports are made of.
    pub fn cells(&self, mode: Mode) -> Result<Cells, Error> {
        match self.index {
            Some(index) if self.read.is_empty() => cells::cells(index, self.prices, mode),
            _ => Ok(Cells::of(&decide(self.rows()?), self.prices, mode, Grain::Quarter)),
        }
    }
}
