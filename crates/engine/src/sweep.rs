//! A sync as people and schedules run it: afterwards `raw/` is kept within its limits.

use retro_store::Store;
use std::time::Instant;

use crate::sync::store_bytes;
use crate::{Config, Error, Progress, SyncOptions, SyncReport, World, retain};

/// Runs the stages that are out of date, then gives up raw bytes above the limits.
pub fn sync(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    let mut report = crate::sync::sync(world, config, options, progress)?;
    if !options.is_whole() || world.stopping() {
        return Ok(report);
    }
    let started = Instant::now();
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let index = store.index()?;
    match retain::after_sync(world, config, &store, &index, progress) {
        Ok(retained) => report.retention = retained,
        Err(error @ Error::ClockBehind { .. }) => report.notes.push(error.to_string()),
        Err(error) => return Err(error),
    }
    report.store_bytes = store_bytes(&store, &index)?;
    report.elapsed_ms += started.elapsed().as_millis() as u64;
    Ok(report)
}
