//! The stages of sessions that have gone quiet: settled events, packed raw files.

use rayon::prelude::*;
use retro_agents::Agent;
use retro_model::{Event, LedgerRow, SessionKey, SourceKind, Timestamp};
use retro_store::{Comparison, Index, PlaceRow, Slot, Stamps, Store, Writer};
use std::borrow::Borrow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::large::{self, Wanted};
use crate::read::{self, LARGE_BYTES};
use crate::stages::{self, PACK_HOURS, QUIET_MINUTES, Stage, runs};
use crate::sync::{Progress, SyncReport, agent_of};
use crate::{Error, World, ledger};

/// Sessions settled before the index is written.
const BATCH_SESSIONS_MAX: usize = 100;

/// A session larger than this is not read while somebody waits for an answer.
const PATIENT_BYTES_MAX: u64 = 128 * 1024 * 1024;

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
    } else if runs("ledger", until) {
        refresh_ledgers(world, store, index, None)?;
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
    mtime_ns: i64,
    bytes: u64,
}

impl Due {
    fn is_large(&self) -> bool {
        self.bytes > LARGE_BYTES
    }
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
            let (mtime_ns, bytes) = (row.mtime_ns, row.bytes);
            due.push(Due { key, agent, content: content.clone(), mtime_ns, bytes });
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
    let (large, due): (Vec<Due>, Vec<Due>) = due.into_iter().partition(Due::is_large);
    for due in large {
        if world.stopping() {
            return Ok(());
        }
        let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(()) };
        let wanted = Wanted { turns: false, normalized: true };
        match large::settle(store, index, due.agent, &due.key, wanted) {
            Ok(()) => report.analyzed += 1,
            Err(error) => report.fail(&due.key, &error),
        }
        report.wrote = true;
        done += 1;
        progress(Progress { stage: "normalized", done, total, bytes: 0 });
    }
    for batch in due.chunks(BATCH_SESSIONS_MAX) {
        if world.stopping() {
            return Ok(());
        }
        let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(()) };
        let made: Vec<Result<Made, Error>> = batch
            .par_iter()
            .map(|due| {
                let (made, events) = settle_due(store, due)?;
                store.put_normalized(&due.key, &stages::stamp(due.agent, &made.content), &events)?;
                store.put_ledger(&due.key, &made.ledger)?;
                Ok(made)
            })
            .collect();
        store.sync_all()?;
        let mut good = Vec::new();
        for (due, result) in batch.iter().zip(made) {
            match result {
                Ok(made) => good.push((due, made)),
                Err(error) => report.fail(&due.key, &error),
            }
        }
        index.write(|index| {
            for (due, made) in &good {
                index.put_stage(&due.key, "normalized", version, &stages::stamp(due.agent, &made.content))?;
                put_ledger(index, &due.key, &made.content, &made.ledger)?;
            }
            Ok(())
        })?;
        report.analyzed += good.len() as u64;
        report.wrote = true;
        done += batch.len() as u64;
        progress(Progress { stage: "normalized", done, total, bytes: 0 });
    }
    Ok(())
}

/// What settling a session from raw gave, and what it was made of.
struct Made {
    content: String,
    ledger: Vec<LedgerRow>,
}

/// Settles a session from raw. It may have grown since it was listed, so what is
/// there now is what counts.
fn settle_due(store: &Store, due: &Due) -> Result<(Made, Vec<Event>), Error> {
    let file = store.session(&due.key)?.ok_or_else(|| Error::NoSession(due.key.to_string()))?;
    let content = stages::content(store, &file)?;
    let events = read::session(store, due.agent, &due.key)?.events;
    let ledger = ledger::rows(&due.key, &events);
    Ok((Made { content, ledger }, events))
}

/// Puts a session's ledger into the index, with what it was made of.
pub(crate) fn put_ledger<R: Borrow<LedgerRow>>(
    index: &Writer<'_>,
    key: &SessionKey,
    content: &str,
    rows: &[R],
) -> Result<(), retro_store::Error> {
    index.put_responses(key, rows)?;
    put_ledger_stage(index, key, content)
}

/// Says that a session's ledger in the index was made of this content.
pub(crate) fn put_ledger_stage(
    index: &Writer<'_>,
    key: &SessionKey,
    content: &str,
) -> Result<(), retro_store::Error> {
    let agent = agent_of(key);
    let version = stages::by_name("ledger").map_or(0, |stage| stage.version);
    let input = agent.map_or(String::new(), |agent| stages::ledger_input(agent, content));
    index.put_stage(key, "ledger", version, &input)
}

/// How many sessions have a ledger in the index that is not up to date.
pub(crate) fn ledgers_behind(index: &Index) -> Result<u64, Error> {
    Ok(due(index, "ledger", |_| true, stages::ledger_input)?.len() as u64)
}

/// Brings the ledgers in the index up to date, those of growing sessions too: for
/// whoever asks what something cost. Says how many sessions are left when
/// `deadline` has passed.
pub fn refresh_ledgers(
    world: &World,
    store: &Store,
    index: &Index,
    deadline: Option<Instant>,
) -> Result<u64, Error> {
    let mut due = due(index, "ledger", |_| true, stages::ledger_input)?;
    due.sort_by_key(|due| std::cmp::Reverse(due.mtime_ns));
    let mut left = due.len() as u64;
    let late = || world.stopping() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let (large, due): (Vec<Due>, Vec<Due>) = due.into_iter().partition(Due::is_large);
    for batch in due.chunks(BATCH_SESSIONS_MAX / 4) {
        if late() {
            return Ok(left);
        }
        let made: Vec<Result<Made, Error>> =
            batch.par_iter().map(|due| Ok(settle_due(store, due)?.0)).collect();
        index.write(|index| {
            for (due, made) in batch.iter().zip(&made) {
                if let Ok(made) = made {
                    put_ledger(index, &due.key, &made.content, &made.ledger)?;
                }
            }
            Ok(())
        })?;
        left -= made.iter().filter(|made| made.is_ok()).count() as u64;
    }
    // One that takes longer than anybody would wait is left to a sync.
    let soon_enough = |due: &&Due| deadline.is_none() || due.bytes <= PATIENT_BYTES_MAX;
    for due in large.iter().filter(soon_enough) {
        if late() {
            return Ok(left);
        }
        let made = large::settle(store, index, due.agent, &due.key, Wanted::default());
        left -= u64::from(made.is_ok());
    }
    Ok(left)
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
    let stamps = if due.is_empty() { Stamps::default() } else { index.stamps()? };
    for batch in due.chunks(BATCH_SESSIONS_MAX) {
        if world.stopping() {
            return Ok(());
        }
        let Some(_lock) = store.lock(&|| world.stopping())? else { return Ok(()) };
        let packed: Vec<Result<(bool, Vec<PathBuf>), Error>> =
            batch.par_iter().map(|due| pack_session(store, &due.key, &stamps)).collect();
        store.sync_all()?;
        let mut good = Vec::new();
        let mut odd = Vec::new();
        for (due, result) in batch.iter().zip(packed) {
            match result {
                Ok((wrote, rewritten)) => {
                    report.wrote |= wrote;
                    odd.extend(rewritten);
                    good.push(due);
                }
                Err(error) => report.fail(&due.key, &error),
            }
        }
        index.write(|index| {
            for due in &good {
                index.put_stage(&due.key, "repack", version, &due.content)?;
            }
            // The next sync looks at these as if it had never seen them.
            for path in &odd {
                index.forget_place(path)?;
            }
            Ok(())
        })?;
        done += batch.len() as u64;
        progress(Progress { stage: "repack", done, total, bytes: 0 });
    }
    Ok(())
}

/// Packs the raw files of a session. Says whether it wrote anything, and which
/// live logs are no longer what was captured though nothing showed it: rewritten
/// in place with the same size and time.
fn pack_session(store: &Store, key: &SessionKey, stamps: &Stamps) -> Result<(bool, Vec<PathBuf>), Error> {
    let Some(file) = store.session(key)? else { return Ok((false, Vec::new())) };
    let mut wrote = false;
    let mut odd = Vec::new();
    for (source, entry) in &file.sources {
        if entry.kind == SourceKind::State {
            continue;
        }
        for revision in 1..=entry.revisions {
            let slot = Slot::Session { key: key.clone(), source: source.clone(), revision };
            let archive = store.archive(&slot);
            let here = |row: &PlaceRow| row.source == *source && row.revision == revision;
            let live = entry.places.iter().filter_map(|path| stamps.get(Path::new(path))).filter(here);
            for place in live.filter(|place| place.path.extension().is_none_or(|ext| ext != "zst")) {
                // What stands there now may be anything; a pipe would make us wait.
                if std::fs::metadata(&place.path).is_ok_and(|meta| meta.is_file())
                    && let Ok(mut bytes) = std::fs::File::open(&place.path)
                    && archive.compare(&mut bytes)? == Comparison::Differs
                {
                    odd.push(place.path);
                }
            }
            wrote |= archive.repack()?;
        }
    }
    Ok((wrote, odd))
}
