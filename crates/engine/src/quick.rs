//! Bringing in what is new before a question is answered, within a moment.

use retro_store::Store;
use retro_usage::Mode;
use std::time::{Duration, Instant};

use crate::sync::{SyncOptions, sync_store};
use crate::{Config, Error, World, cells, cold, prices, stages};

/// What a question may spend on reading what is new.
pub const PATIENCE: Duration = Duration::from_secs(2);

/// Captures what is new, newest sessions first, and counts it, for at most two
/// seconds. Waits for no lock. Says how many sessions are still unread.
pub fn before_costs(world: &World, config: &Config) -> Result<u64, Error> {
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    let deadline = Instant::now() + PATIENCE;
    let options =
        SyncOptions { until: stages::by_name("turns"), deadline: Some(deadline), ..SyncOptions::default() };
    let report = sync_store(world, config, &options, &store, &|_| {})?;
    let index = store.index()?;
    // Another program that captures holds the index too, until its batch is done.
    let Some(_lock) = store.try_lock()? else { return Ok(report.unread + cold::ledgers_behind(&index)?) };
    let uncounted = cold::refresh_ledgers(world, &store, &index, Some(deadline))?;
    cells::keep(&index, &prices::load(world, config)?, Mode::default())?;
    Ok(report.unread + uncounted)
}
