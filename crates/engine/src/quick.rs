//! Bringing in what is new before a question is answered, within a moment.

use retro_store::{Index, Store};
use retro_usage::{Mode, Prices};
use std::time::{Duration, Instant};

use crate::sync::{self, SyncOptions, sync_asked};
use crate::{Config, Error, World, cells, cold, prices, stages};

/// What a question may spend on reading what is new.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// What a question about costs is answered from.
pub struct Ledgers<'a> {
    /// The store.
    pub store: &'a Store,
    /// Its index, with a ledger for each session that was read.
    pub index: &'a Index,
    /// The prices in force.
    pub prices: &'a Prices,
    /// Sessions that have something new which is not in the ledgers yet.
    pub unread: u64,
}

/// An answer, and whether what was read for it could be kept.
pub struct Answered<T> {
    /// The answer.
    pub answer: T,
    /// Why it could not, if it could not.
    pub kept: Result<(), Error>,
}

/// Reads what is new, newest sessions first, for at most two seconds, and counts it; then
/// asks for the answer, once. Waits for no lock. Where all that was read is counted
/// already, the answer comes before it is written to raw: nobody waits for the disk.
pub fn costs<T>(
    world: &World,
    config: &Config,
    mut answer: impl FnMut(&Ledgers<'_>) -> T,
) -> Result<Answered<T>, Error> {
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    let prices = prices::load(world, config)?;
    let deadline = Instant::now() + PATIENCE;
    let options =
        SyncOptions { until: stages::by_name("turns"), deadline: Some(deadline), ..SyncOptions::default() };
    let mut early = None;
    let mut ready = |index: &Index, ledgers: sync::Ledgers| {
        let unread = ledgers.unread;
        cells::keep_read(index, ledgers.read, &prices, Mode::default())?;
        early = Some(answer(&Ledgers { store: &store, index, prices: &prices, unread }));
        Ok(())
    };
    let synced = sync_asked(world, config, &options, &store, &|_| {}, Some(&mut ready));
    if let Some(answer) = early {
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
    let answer = answer(&Ledgers { store: &store, index: &index, prices: &prices, unread });
    Ok(Answered { answer, kept: Ok(()) })
}
