//! Making what is derived anew, from raw.

use retro_model::SessionKey;
use retro_store::Store;
use std::collections::BTreeSet;
use std::time::Instant;

use crate::capture::{from_raw, from_slots};
use crate::stages::Stage;
use crate::sync::{agent_of, backfill};
use crate::{Config, Error, Progress, SyncReport, World, cold, ledger, read, upkeep};

/// Drops what `stage` derived (everything without one) and makes it again, also
/// for sessions that are still growing.
pub fn rebuild(
    world: &World,
    config: &Config,
    stage: Option<&'static Stage>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    let started = Instant::now();
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let mut report = SyncReport { wrote: true, ..SyncReport::default() };
    {
        let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(report) };
        match stage {
            None => {
                // A database of a later retro is not ours to throw away.
                if let Err(error @ retro_store::Error::Newer { .. }) = store.index_if_there() {
                    return Err(error.into());
                }
                store.remove_derived()?;
            }
            Some(stage) => {
                let index = store.index()?;
                index.write(|index| {
                    // Settled events and ledgers are made together.
                    let together = ["ledger", "normalized"].into_iter().filter(|_| stage.name == "ledger");
                    together.chain([stage.name]).try_for_each(|name| index.clear_stage(name))
                })?;
                upkeep::forget(&index)?;
            }
        }
    }
    let index = store.index()?;
    backfill(world, &store, &index, &mut report, progress)?;
    cold::run(world, &store, &index, None, true, &mut report, progress)?;
    report.discovered = index.session_rows()?.len() as u64;
    report.store_bytes = store.sizes()?.total();
    report.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(report)
}

/// Mends what raw files can mend: session files that are gone or damaged, ledgers
/// that are damaged, and an index that cannot be used. Says what it did.
pub fn mend(
    world: &World,
    config: &Config,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<String>, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let mut said = Vec::new();
    {
        let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(said) };
        let whole: BTreeSet<SessionKey> = store
            .session_keys()?
            .into_iter()
            .filter(|key| !matches!(store.session(key), Ok(None) | Err(retro_store::Error::Damaged { .. })))
            .collect();
        for key in store.raw_keys()? {
            if !whole.contains(&key) && mend_session(&store, &key)? {
                said.push(format!("made the session file of {key} anew from its raw files"));
            }
        }
        store.sync_all()?;
        for key in store.session_keys()? {
            if mend_ledger(&store, &key)? {
                said.push(format!("made the ledger of {key} anew from its raw files"));
            }
        }
        store.sync_all()?;
        if let Err(error) = store.index().and_then(|index| index.session_rows())
            && error.is_broken_index()
        {
            store.index_anew()?;
            said.push("made the index anew".to_owned());
        }
    }
    let index = store.index()?;
    let mut report = SyncReport::default();
    backfill(world, &store, &index, &mut report, progress)?;
    said.extend(report.failures.iter().map(|failure| format!("{}: {}", failure.path, failure.reason)));
    if said.is_empty() {
        said.push("nothing to mend".to_owned());
    }
    Ok(said)
}

/// Makes a ledger anew that is not what was written.
fn mend_ledger(store: &Store, key: &SessionKey) -> Result<bool, Error> {
    let damaged = matches!(store.ledger(key), Err(retro_store::Error::Damaged { .. }));
    let Some(agent) = agent_of(key).filter(|_| damaged) else { return Ok(false) };
    match read::session(store, agent, key) {
        Ok(settled) => Ok(store.put_ledger(key, &ledger::rows(key, &settled.events))?),
        Err(error) if error.is_of_one_session() => Ok(false),
        Err(error) => Err(error),
    }
}

fn mend_session(store: &Store, key: &SessionKey) -> Result<bool, Error> {
    let Some(agent) = agent_of(key) else { return Ok(false) };
    let Some(file) = from_slots(store, agent, key)? else { return Ok(false) };
    store.remove_session(key)?;
    store.put_session(&file)?;
    // Its facts come with the rows, which are read from raw.
    from_raw(store, agent, key, 0)?;
    Ok(true)
}
