//! Keeping what follows all sessions up to date: the text index, vectors.

use retro_search::Error as SearchError;
use retro_store::{Mark, Store};
use std::time::Duration;

use crate::stages::{Consumer, Everything, STAGES, Stage, Work, up_to};
use crate::{Config, Error, World, stamp};

/// How long others may write before work goes on that lasts.
const BREAK: Duration = Duration::from_millis(100);

/// How to bring consumers up to date.
#[derive(Clone, Copy)]
pub(crate) struct Following<'a> {
    /// All stages there are.
    pub stages: &'static [Stage],
    /// Up to and including this stage.
    pub until: Option<&'a str>,
    /// Leave it to others if somebody else holds the lock.
    pub no_wait: bool,
    /// Make what this stage keeps from the start.
    pub anew: Option<&'a str>,
}

impl Default for Following<'_> {
    fn default() -> Self {
        Following { stages: STAGES, until: None, no_wait: false, anew: None }
    }
}

/// Brings the text index and the vectors of a store up to date, if nobody else is writing.
pub fn catch_up(world: &World, config: &Config) -> Result<(), Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let index = store.index()?;
    let following = Following { no_wait: true, ..Following::default() };
    follow(&Everything { world, config, store: &store, index: &index, progress: &|_| {} }, following)
        .map(drop)
}

/// Brings what is kept over all sessions up to date, one writer at a time. Says what had to
/// be left out: a model that cannot be run holds nothing else up, unless its vectors are what
/// was asked for.
pub(crate) fn follow(all: &Everything<'_>, following: Following<'_>) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for stage in up_to(following.stages, following.until) {
        let Work::Store(consumer) = stage.work else { continue };
        while let Some(note) = follow_one(all, following, stage, consumer)? {
            notes.extend(note);
            if all.world.stopping() || !consumer.is_unfinished(all)? {
                break;
            }
            // Others may write meanwhile.
            std::thread::sleep(BREAK);
        }
    }
    Ok(notes)
}

/// Brings one of them up to date. Nothing if there is nothing to do, or somebody else does it.
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
    // Somebody else may have done some of it meanwhile. Doing that again changes nothing,
    // and looking again would mean to check all that is kept a second time.
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
