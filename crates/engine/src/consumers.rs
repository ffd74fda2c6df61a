//! Brings consumers up to date that follow all sessions: the text index and the vectors.

use retro_search::Error as SearchError;
use retro_store::{Mark, Store};
use std::time::Duration;

use crate::stages::{Consumer, Everything, STAGES, Stage, Work, up_to};
use crate::{Config, Error, World, stamp};

/// How long a lasting consumer pauses so that other processes can write.
const BREAK: Duration = Duration::from_millis(100);

/// How to bring consumers up to date.
#[derive(Clone, Copy)]
pub(crate) struct Following<'a> {
    /// All stages there are.
    pub stages: &'static [Stage],
    /// Stop after this stage.
    pub until: Option<&'a str>,
    /// Return if another process holds the lock.
    pub no_wait: bool,
    /// Rebuild the output of this stage.
    pub anew: Option<&'a str>,
}

impl Default for Following<'_> {
    fn default() -> Self {
        Following { stages: STAGES, until: None, no_wait: false, anew: None }
    }
}

/// Brings the text index and the vectors of a store up to date, unless another process is writing.
pub fn catch_up(world: &World, config: &Config) -> Result<(), Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let index = store.index()?;
    let following = Following { no_wait: true, ..Following::default() };
    follow(&Everything { world, config, store: &store, index: &index, progress: &|_| {} }, following)
        .map(drop)
}

/// Brings every consumer up to date, with one writer at a time. Returns notes on skipped ones: a
/// model that cannot be run does not block the others, unless the caller asked for its vectors.
pub(crate) fn follow(all: &Everything<'_>, following: Following<'_>) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for stage in up_to(following.stages, following.until) {
        let Work::Store(consumer) = stage.work else { continue };
        while let Some(note) = follow_one(all, following, stage, consumer)? {
            notes.extend(note);
            if all.world.stopping() || !consumer.is_unfinished(all)? {
                break;
            }
            // Other processes may write in between.
            std::thread::sleep(BREAK);
        }
    }
    Ok(notes)
}

/// Brings one consumer up to date. `None` if it is current or another process is updating it.
fn follow_one(
    all: &Everything<'_>,
    following: Following<'_>,
    stage: &Stage,
    consumer: &dyn Consumer,
) -> Result<Option<Option<String>>, Error> {
    let Everything { world, config, store, index, .. } = all;
    let stamp = stamp::stamp_of_consumer(stage, config);
    let is_anew = following.anew == Some(stage.name);
    let seen = consumer.seen(all)?;
    let mark = if seen.stamp == stamp && !is_anew { seen.mark } else { Mark::default() };
    if !is_anew && index.mark()? == mark {
        return Ok(None);
    }
    let lock = if following.no_wait { store.try_lock()? } else { world.lock(store)? };
    let Some(_lock) = lock else { return Ok(None) };
    // Another process may have done part of the work by now. Repeating that is harmless; looking
    // again would mean a second check of all kept files.
    let changes = index.changes_since(&mark, &stage.follows())?;
    if changes.starts_over || changes.mark != mark {
        match consumer.follow(all, changes, &stamp) {
            Err(Error::Search(SearchError::Embed(error))) if !is_anew => {
                return Ok(Some(Some(format!("no {} were made: {error}", stage.name))));
            }
            result => result?,
        }
    }
    Ok(Some(None))
}
