//! Bringing in what is new before a question is answered, within a moment.

use retro_store::{Index, SessionRow, Store};
use retro_usage::{Cells, Mode, Prices, SharedRow};
use std::borrow::Cow;
use std::time::{Duration, Instant};

use crate::cells::Fresh;
use crate::sync::{Read, SyncOptions, Waiting, sync_asked};
use crate::{Config, Error, World, cells, cold, prices, stages};

/// What a question may spend on reading what is new.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// What a question about costs is answered from.
#[derive(Clone, Copy)]
pub struct Ledgers<'a> {
    index: &'a Index,
    /// The prices in force.
    pub prices: &'a Prices,
    /// Sessions that have something new which is not in the ledgers yet.
    pub unread: u64,
    /// All there is, while the index has nothing of it yet.
    fresh: Option<&'a Fresh>,
}

impl<'a> Ledgers<'a> {
    /// All that the index has.
    pub fn of(index: &'a Index, prices: &'a Prices) -> Self {
        Ledgers { index, prices, unread: 0, fresh: None }
    }

    /// Every session, by agent and id.
    pub fn sessions(&self) -> Result<Vec<SessionRow>, Error> {
        match self.fresh {
            Some(fresh) => Ok(fresh.sessions()),
            None => Ok(self.index.session_rows()?),
        }
    }

    /// Every row of every session.
    pub fn rows(&self) -> Result<Vec<SharedRow>, Error> {
        match self.fresh {
            Some(fresh) => Ok(fresh.rows()),
            None => Ok(self.index.responses()?.into_iter().map(|(key, row)| (key, row.into())).collect()),
        }
    }

    /// What reports are made of.
    pub fn cells(&self, mode: Mode) -> Result<Cow<'a, Cells>, Error> {
        match self.fresh {
            Some(fresh) => Ok(fresh.cells(self.prices, mode)),
            None => cells::cells(self.index, self.prices, mode).map(Cow::Owned),
        }
    }
}

/// An answer, and whether what was read for it could be kept.
pub struct Answered<T> {
    /// The answer.
    pub answer: T,
    /// Why it could not, if it could not.
    pub kept: Result<(), Error>,
}

/// Somebody who asked what something cost.
struct Asked<'a, T, F> {
    prices: &'a Prices,
    ask: F,
    answer: Option<T>,
    fresh: Option<Fresh>,
}

impl<T, F: FnMut(&Ledgers<'_>) -> T> Waiting for Asked<'_, T, F> {
    fn ready(&mut self, index: &Index, read: Read) -> Result<(), Error> {
        self.fresh = read.first.map(Fresh::new);
        if self.fresh.is_none() {
            cells::keep(index, self.prices, Mode::default())?;
        }
        let (prices, unread, fresh) = (self.prices, read.unread, self.fresh.as_ref());
        self.answer = Some((self.ask)(&Ledgers { index, prices, unread, fresh }));
        Ok(())
    }

    fn kept(&mut self, index: &Index) -> Result<(), Error> {
        self.fresh.take().map_or(Ok(()), |fresh| fresh.keep(index, self.prices))
    }
}

/// Reads what is new, newest sessions first, for at most two seconds, and counts it; then
/// asks for the answer, once. Waits for no lock. Where all that was read is counted
/// already, the answer comes before it is written: nobody waits for the disk.
pub fn costs<T>(
    world: &World,
    config: &Config,
    ask: impl FnMut(&Ledgers<'_>) -> T,
) -> Result<Answered<T>, Error> {
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    let prices = prices::load(world, config)?;
    let deadline = Instant::now() + PATIENCE;
    let options =
        SyncOptions { until: stages::by_name("turns"), deadline: Some(deadline), ..SyncOptions::default() };
    let mut asked = Asked { prices: &prices, ask, answer: None, fresh: None };
    let synced = sync_asked(world, config, &options, &store, &|_| {}, Some(&mut asked));
    if let Some(answer) = asked.answer {
        return Ok(Answered { answer, kept: synced.map(drop) });
    }
    let mut unread = synced?.unread;
    let index = store.index()?;
    match store.try_lock()? {
        Some(_lock) => {
            unread += cold::refresh_ledgers(world, &store, &index, Some(deadline))?;
            cells::keep(&index, &prices, Mode::default())?;
        }
        // Another program that captures holds the index too, until its batch is done.
        None => unread += cold::ledgers_behind(&index)?,
    }
    let answer = (asked.ask)(&Ledgers { unread, ..Ledgers::of(&index, &prices) });
    Ok(Answered { answer, kept: Ok(()) })
}
