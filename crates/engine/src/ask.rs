//! Questions about costs, answered without blocking other processes.
//!
//! [`read`] reads new sessions (`news.rs`), and the answer is computed from the index overlaid with
//! these sessions, and printed. Only then does [`Asked::keep`] capture them. A slow reader of the
//! answer, a read-only disk or a full disk therefore cannot change it.

use retro_model::{Event, LedgerRow, SessionKey};
use retro_store::{Index, SessionRow, Store};
use retro_usage::{Cells, Grain, Mode, Prices, SharedRow, decide};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, LazyLock};

use crate::news::{News, Read, Reading};
use crate::progress::Progress;
use crate::report::Failure;
use crate::stages::ledger::{self, Ledger};
use crate::{Config, Error, World, cells, headless, prices};

pub use crate::news::Patience;

/// Rows of a ledger.
type Rows = Vec<Arc<LedgerRow>>;

impl Reading for Ledger {
    type Made = Rows;
    const STAGE: &'static str = ledger::STAGE.name;

    fn of(key: &SessionKey) -> Ledger {
        Ledger::new(key.clone())
    }

    fn event(&mut self, event: &Event) {
        self.push(event);
    }

    fn finish(mut self) -> Rows {
        self.finish_rows().into_iter().map(Arc::new).collect()
    }
}

/// New readings, prices and mining costs, from which questions about costs are answered.
pub struct Asked {
    news: News<Ledger>,
    prices: Prices,
    mining: Vec<SharedRow>,
}

/// Reads the new part of every session. Waits for no lock and writes nothing.
pub fn read(
    world: &World,
    config: &Config,
    patience: Patience,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Asked, Error> {
    let prices = prices::load(world, config)?;
    let news = News::read(world, config, patience, progress)?;
    let mining = news.store.as_ref().map_or_else(|| Ok(Vec::new()), headless::rows)?;
    Ok(Asked { news, prices, mining })
}

impl Asked {
    /// The ledgers that answer questions about costs.
    pub fn ledgers(&self) -> Ledgers<'_> {
        Ledgers {
            index: self.news.index.as_ref(),
            prices: &self.prices,
            read: &self.news.read,
            unread: &self.news.unread,
            unreadable: &self.news.unreadable,
            mining: &self.mining,
        }
    }

    /// Number of sessions read here because the store has an older version of them, or none.
    pub fn read_count(&self) -> u64 {
        self.news.read.len() as u64
    }

    /// Captures the sessions that were read, unless another process is writing. The next sync
    /// captures the rest.
    pub fn keep(
        self,
        world: &World,
        config: &Config,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(), Error> {
        let Asked { news, prices, .. } = self;
        if news.read.is_empty() {
            return news.store.map_or(Ok(()), |store| keep_sums(&store, &prices));
        }
        news.keep(world, config, progress)?;
        let store = Store::open(&config.root.value, world.disk.clone())?;
        keep_sums(&store, &prices)
    }
}

/// Stores the sums of all ledgers, so that the next answer can read them. Does nothing if the store
/// cannot be written.
pub fn keep_sums(store: &Store, prices: &Prices) -> Result<(), Error> {
    let lock = match store.try_lock() {
        Err(error) if error.is_unwritable() => None,
        lock => lock?,
    };
    match (lock, store.index_if_there()?) {
        (Some(_lock), Some(index)) => cells::keep(&index, prices, Mode::default()),
        _ => Ok(()),
    }
}

/// The ledgers of all sessions: those of the index, with newly read sessions replacing their older
/// rows.
#[derive(Clone, Copy)]
pub struct Ledgers<'a> {
    index: Option<&'a Index>,
    /// The prices in force.
    pub prices: &'a Prices,
    read: &'a BTreeMap<SessionKey, Read<Rows>>,
    unread: &'a HashSet<SessionKey>,
    /// Sources that may hold more and cannot be read.
    pub unreadable: &'a [Failure],
    /// Costs of our own model runs, which no ledger contains.
    pub mining: &'a [SharedRow],
}

/// An empty overlay, for ledgers that come from the index alone.
static NOTHING: BTreeMap<SessionKey, Read<Rows>> = BTreeMap::new();
static NONE: LazyLock<HashSet<SessionKey>> = LazyLock::new(HashSet::new);

impl<'a> Ledgers<'a> {
    /// All ledgers of an index.
    pub fn of(index: &'a Index, prices: &'a Prices) -> Self {
        Ledgers { index: Some(index), prices, read: &NOTHING, unread: &NONE, unreadable: &[], mining: &[] }
    }

    /// The same ledgers, with these sessions marked as having new records that the figures lack.
    pub fn lacking(self, unread: &'a HashSet<SessionKey>) -> Self {
        Ledgers { unread, ..self }
    }

    /// Whether these figures cover every session on this machine.
    pub fn are_complete(&self) -> bool {
        self.unread.is_empty() && self.unreadable.is_empty()
    }

    /// Number of sessions with new records that these figures lack.
    pub fn unread(&self) -> u64 {
        self.unread.len() as u64
    }

    /// Whether a session has new records that these figures lack.
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
                rows.extend(read.made.iter().map(|row| (Arc::clone(&key), Arc::clone(row))));
            }
            rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        }
        Ok(rows)
    }

    /// The sums that reports are built from.
    pub fn cells(&self, mode: Mode) -> Result<Cells, Error> {
        match self.index {
            Some(index) if self.read.is_empty() => cells::cells(index, self.prices, mode),
            _ => Ok(Cells::of(&decide(self.rows()?), self.prices, mode, Grain::Quarter)),
        }
    }
}
