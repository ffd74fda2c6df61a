//! The stages of sessions that have gone quiet: settled events, packed raw files.

use rayon::prelude::*;
use retro_agents::{Agent, Parsed, settle};
use retro_model::{SessionKey, SourceKind, Timestamp};
use retro_store::{Index, Slot, Store};

use crate::stages::{self, PACK_HOURS, QUIET_MINUTES, Stage, runs};
use crate::sync::{Progress, SyncReport, agent_of};
use crate::{Error, World, ledger, read};

/// Sessions settled before the index is written.
const BATCH_SESSIONS_MAX: usize = 100;

/// Whether a session has not changed for long enough to be settled.
pub fn is_quiet(mtime_ns: i64, now: Timestamp) -> bool {
    older_than(mtime_ns, now, QUIET_MINUTES * 60_000)
}

fn older_than(mtime_ns: i64, now: Timestamp, age_ms: i64) -> bool {
    now.as_millis().saturating_sub(mtime_ns / 1_000_000) >= age_ms
}

/// Runs the cold stages that are out of date; `all` also those of sessions that
/// are still growing.
pub fn run(
    world: &World,
    store: &Store,
    index: &Index,
    until: Option<&'static Stage>,
    all: bool,
    report: &mut SyncReport,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(), Error> {
    if runs("normalized", until) {
        normalize(world, store, index, all, report, progress)?;
    }
    if runs("repack", until) {
        repack(world, store, index, report, progress)?;
    }
    Ok(())
}

/// A session with a stage to run.
struct Due {
    key: SessionKey,
    agent: &'static dyn Agent,
    content: String,
}

/// Sessions old enough whose `stage` was not made from what they now hold.
fn due(
    index: &Index,
    stage: &str,
    old_enough: impl Fn(i64) -> bool,
    input: impl Fn(&dyn Agent, &str) -> String,
) -> Result<Vec<Due>, Error> {
    let captured = index.stage_rows("capture")?;
    let made = index.stage_rows(stage)?;
    let mut due = Vec::new();
    for row in index.session_rows()? {
        let key = row.key();
        let (Some(agent), Some((_, content))) = (agent_of(&key), captured.get(&key)) else { continue };
        let current = made.get(&key).is_some_and(|(_, made_from)| *made_from == input(agent, content));
        if !current && old_enough(row.mtime_ns) {
            due.push(Due { key, agent, content: content.clone() });
        }
    }
    Ok(due)
}

fn normalize(
    world: &World,
    store: &Store,
    index: &Index,
    all: bool,
    report: &mut SyncReport,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(), Error> {
    let now = world.now();
    let due = due(index, "normalized", |mtime| all || is_quiet(mtime, now), stages::stamp)?;
    let version = stages::by_name("normalized").map_or(0, |stage| stage.version);
    let total = due.len() as u64;
    let mut done = 0;
    for batch in due.chunks(BATCH_SESSIONS_MAX) {
        if world.stopping() {
            return Ok(());
        }
        let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(()) };
        let made: Vec<Result<String, Error>> = batch
            .par_iter()
            .map(|due| {
                // The session may have grown since it was listed: stamp what is there now.
                let stamp = stages::normalized_stamp(store, due.agent, &due.key)?;
                let sources = read::parse_raw(store, due.agent, &due.key)?;
                settle_into_cache(store, due.agent, &due.key, &stamp, sources)?;
                Ok(stamp)
            })
            .collect();
        store.sync_all()?;
        let mut stamps = Vec::new();
        for (due, result) in batch.iter().zip(made) {
            match result {
                Ok(stamp) => stamps.push((&due.key, stamp)),
                Err(error) => report.fail(&due.key, &error),
            }
        }
        index.write(|index| {
            for (key, stamp) in &stamps {
                index.put_stage(key, "normalized", version, stamp)?;
            }
            Ok(())
        })?;
        report.analyzed += stamps.len() as u64;
        report.wrote = true;
        done += batch.len() as u64;
        progress(Progress { stage: "normalized", done, total, bytes: 0 });
    }
    Ok(())
}

/// Settles a quiet session: caches its stream and keeps its ledger.
fn settle_into_cache(
    store: &Store,
    agent: &dyn Agent,
    key: &SessionKey,
    stamp: &str,
    sources: Vec<Parsed>,
) -> Result<(), Error> {
    let settled = settle(agent, key, sources);
    store.put_normalized(key, stamp, &settled.events)?;
    store.put_ledger(key, &ledger::rows(key, &settled.events))?;
    Ok(())
}

fn repack(
    world: &World,
    store: &Store,
    index: &Index,
    report: &mut SyncReport,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(), Error> {
    let now = world.now();
    let old = |mtime| older_than(mtime, now, PACK_HOURS * 3_600_000);
    let due = due(index, "repack", old, |_, content| content.to_owned())?;
    let version = stages::by_name("repack").map_or(0, |stage| stage.version);
    let total = due.len() as u64;
    let mut done = 0;
    for batch in due.chunks(BATCH_SESSIONS_MAX) {
        if world.stopping() {
            return Ok(());
        }
        let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(()) };
        let packed: Vec<Result<bool, Error>> =
            batch.par_iter().map(|due| pack_session(store, &due.key)).collect();
        store.sync_all()?;
        let mut good = Vec::new();
        for (due, result) in batch.iter().zip(packed) {
            match result {
                Ok(wrote) => {
                    report.wrote |= wrote;
                    good.push(due);
                }
                Err(error) => report.fail(&due.key, &error),
            }
        }
        index.write(|index| {
            for due in &good {
                index.put_stage(&due.key, "repack", version, &due.content)?;
            }
            Ok(())
        })?;
        done += batch.len() as u64;
        progress(Progress { stage: "repack", done, total, bytes: 0 });
    }
    Ok(())
}

fn pack_session(store: &Store, key: &SessionKey) -> Result<bool, Error> {
    let Some(file) = store.session(key)? else { return Ok(false) };
    let mut wrote = false;
    for (source, entry) in &file.sources {
        if entry.kind == SourceKind::State {
            continue;
        }
        for revision in 1..=entry.revisions {
            let slot = Slot::Session { key: key.clone(), source: source.clone(), revision };
            wrote |= store.archive(&slot).repack()?;
        }
    }
    Ok(wrote)
}
