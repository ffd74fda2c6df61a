//! Compares the index with the files, if the two may have been written at different times.
//!
//! Raw files, session files and ledgers are trusted; the index is a cache. While their marks equal
//! those in the index, no check is needed. If they differ (a backup was restored, the index was
//! deleted, or a program was stopped between the files and the index), every session is compared
//! once: missing rows become due, and rows without files are removed.

use retro_insight::Digest;
use retro_model::SessionKey;
use retro_store::{DIGESTS, FACTS, Index, SessionFile, Slot, SourceRow, Store, Writer};
use std::collections::{BTreeMap, BTreeSet};

use crate::remains::Remains;
use crate::session_row::{facts_of, merged_facts, session_row};
use crate::stage::{Input, Stage, StampInputs, When, Work};
use crate::stages::digest;
use crate::{Config, Error, SyncReport, World, agent_of, family, shared_titles, stamp};

/// Key of the index value that names the versions and settings of all its rows.
pub(crate) const MADE_WITH: &str = "made_with";

/// Compares every session of the store with the index, unless the marks are equal. Unreadable
/// sessions are reported and left alone.
pub(crate) fn reconcile(
    world: &World,
    stages: &[Stage],
    store: &Store,
    index: &Index,
) -> Result<SyncReport, Error> {
    let mut report = SyncReport::default();
    if index.marks()? == store.marks() && !store.is_older() {
        return Ok(report);
    }
    let Some(lock) = world.lock(store)? else { return Ok(report) };
    store.take_over(&lock, &|| world.stopping())?;
    if world.stopping() {
        return Ok(report);
    }
    store.sync_all()?;
    shared_titles::read_all(store, index)?;
    // Sessions that remain in this set have no files.
    let mut known: BTreeSet<SessionKey> = index.session_rows()?.iter().map(|row| row.key()).collect();
    let (mut stale, mut restored) = (Vec::new(), Vec::new());
    let in_store: BTreeSet<SessionKey> = store.session_keys()?.into_iter().chain(store.raw_keys()?).collect();
    for key in in_store {
        let is_known = known.remove(&key);
        if let Some(file) = evicted(store, &key)? {
            // A stop may have interrupted the removal.
            if store.is_half_evicted(&key) {
                store.remove_evicted(&key)?;
            }
            let remains = Remains::read(store, &key)?;
            if !is_known || !evicted_fits(store, index, &key, remains.as_ref())? {
                known.extend(is_known.then(|| key.clone()));
                restored.push((file, remains));
                stale.push(key);
            }
        } else if !is_known {
            stale.push(key);
        } else if !fits(store, index, &key, &mut report)? {
            known.insert(key.clone());
            stale.push(key);
        }
    }
    for key in store.remains_keys()? {
        if evicted(store, &key)?.is_none() {
            store.remove_remains(&key)?;
        }
    }
    store.sync_all()?;
    let marks = store.marks();
    let now_ms = world.now().as_millis();
    index.write(|index| {
        // Their live files are captured as if they had never been seen.
        known.iter().try_for_each(|key| index.forget_session(key))?;
        for (file, remains) in &restored {
            put_remains(index, file, remains.as_ref())?;
        }
        for key in &stale {
            for stage in stages.iter().filter(|stage| is_of_session(stage) && runs_by_itself(stage)) {
                index.put_due(key, stage.name, now_ms, true)?;
            }
        }
        index.put_marks(&marks)
    })?;
    Ok(report)
}

/// The session file of an evicted session.
fn evicted(store: &Store, key: &SessionKey) -> Result<Option<SessionFile>, Error> {
    match store.session(key) {
        Ok(file) => Ok(file.filter(|file| file.evicted_at.is_some())),
        // `fits` reports these.
        Err(retro_store::Error::Damaged { .. } | retro_store::Error::Newer { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Whether the index agrees with the remains and the ledger of an evicted session.
fn evicted_fits(
    store: &Store,
    index: &Index,
    key: &SessionKey,
    remains: Option<&Remains>,
) -> Result<bool, Error> {
    let is_same = remains.map_or(Ok(true), |remains| remains.fits(index))?;
    Ok(is_same && index.sources_of(key)?.is_empty() && ledger_fits(store, index, key)?)
}

/// Puts the list row of an evicted session into the index. Without remains, the session file
/// supplies it.
fn put_remains(
    index: &Writer<'_>,
    file: &SessionFile,
    remains: Option<&Remains>,
) -> Result<(), retro_store::Error> {
    match remains {
        Some(Remains { session, places, .. }) => {
            index.put_session(session)?;
            places.iter().try_for_each(|place| index.put_place(place))
        }
        None => index.put_session(&session_row(file, std::iter::empty(), 0, String::new())),
    }
}

/// Whether the index agrees with the files of a session.
fn fits(store: &Store, index: &Index, key: &SessionKey, report: &mut SyncReport) -> Result<bool, Error> {
    let file = match store.session(key) {
        Ok(Some(file)) => file,
        Ok(None) => return Ok(false),
        Err(error @ retro_store::Error::Newer { .. }) => {
            report.fail(key, &error.into());
            return Ok(true);
        }
        Err(retro_store::Error::Damaged { .. }) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    let rows: BTreeMap<_, SourceRow> =
        index.sources_of(key)?.into_iter().map(|row| ((row.source.clone(), row.revision), row)).collect();
    let slots = file
        .sources
        .iter()
        .flat_map(|(source, entry)| (1..=entry.revisions).map(move |revision| (source.clone(), revision)));
    let mut seen = 0;
    for (source, revision) in slots {
        seen += 1;
        let slot = Slot::Session { key: key.clone(), source: source.clone(), revision };
        let end = match store.archive(&slot).tail() {
            Err(retro_store::Error::Damaged { .. }) => None,
            tail => tail?.map(|commit| commit.end),
        };
        if rows.get(&(source, revision)).map(|row| row.end) != end {
            return Ok(false);
        }
    }
    let merged = merged_facts(rows.values().filter_map(facts_of));
    let is_same_file = file.kept() == SessionFile { facts: merged, ..file.clone() }.kept();
    let is_known = seen == rows.len() && is_same_file;
    Ok(is_known && ledger_fits(store, index, key)? && digest_fits(store, index, key)?)
}

/// True if the ledger file of an up-to-date session has other rows than the index. Each of its lines
/// may be valid: the file may belong to another session, or to another time.
pub(crate) fn is_foreign_ledger(store: &Store, index: &Index, key: &SessionKey) -> Result<bool, Error> {
    let is_behind = index.due_of(key)?.iter().any(|stage| stage == "ledger");
    Ok(!is_behind && !ledger_fits(store, index, key)?)
}

/// Whether the ledger file of a quiet session has the rows of the index.
fn ledger_fits(store: &Store, index: &Index, key: &SessionKey) -> Result<bool, Error> {
    let rows = index.responses_of(key)?;
    match store.ledger(key) {
        Ok(Some(mut ledger)) => {
            ledger.sort_by(|a, b| (&a.event, &a.key).cmp(&(&b.event, &b.key)));
            Ok(ledger == rows)
        }
        // It has no file while it grows.
        Ok(None) => Ok(rows.is_empty() || index.due_of(key)?.iter().any(|stage| stage == "ledger")),
        Err(retro_store::Error::Damaged { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Whether the digest of a session is the one that the index knows. A document may be of
/// another time than the raw files and the index.
fn digest_fits(store: &Store, index: &Index, key: &SessionKey) -> Result<bool, Error> {
    let Some(made) = index.made(key, digest::STAGE.name)? else { return Ok(true) };
    match store.object::<Digest>(&DIGESTS, key) {
        Ok(kept) => Ok(kept.is_some_and(|kept| digest::output_of(&kept) == made.output)),
        Err(retro_store::Error::Damaged { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// If a stage, a parser or a setting changed since the last update of the index, enqueues the
/// outdated stages of every session.
pub(crate) fn enqueue_outdated(
    world: &World,
    config: &Config,
    stages: &'static [Stage],
    store: &Store,
    index: &Index,
) -> Result<(), Error> {
    let made_with = stamp::made_with(stages, config);
    if index.meta(MADE_WITH)?.as_ref() == Some(&made_with) {
        return Ok(());
    }
    let Some(_lock) = world.lock(store)? else { return Ok(()) };
    let outdated = outdated(config, stages, store, index)?;
    index.write(|index| {
        for (key, stage, at_ms) in &outdated {
            index.put_due(key, stage, *at_ms, false)?;
        }
        index.set_meta(MADE_WITH, &made_with)
    })?;
    Ok(())
}

/// Enqueues a stage that runs only on request, for every quiet session whose result is outdated.
pub(crate) fn enqueue_asked(
    world: &World,
    config: &Config,
    stages: &'static [Stage],
    store: &Store,
    index: &Index,
    asked: &Stage,
) -> Result<(), Error> {
    let Some(_lock) = world.lock(store)? else { return Ok(()) };
    let now_ms = world.now().as_millis();
    let outdated = outdated_of(config, stages, store, index, &|stage| stage.name == asked.name)?;
    let may_run = outdated.iter().filter(|(.., at_ms)| *at_ms <= now_ms);
    index.write(|index| {
        may_run.into_iter().try_for_each(|(key, stage, at_ms)| index.put_due(key, stage, *at_ms, false))
    })?;
    Ok(())
}

/// Every outdated stage of every session, with the time at which it may run. Stages that run only
/// on request are left out.
pub fn outdated(
    config: &Config,
    stages: &'static [Stage],
    store: &Store,
    index: &Index,
) -> Result<Vec<(SessionKey, &'static str, i64)>, Error> {
    outdated_of(config, stages, store, index, &runs_by_itself)
}

/// Like [`outdated`], for stages that run only on request.
pub(crate) fn outdated_of(
    config: &Config,
    all: &'static [Stage],
    store: &Store,
    index: &Index,
    is_asked: &dyn Fn(&Stage) -> bool,
) -> Result<Vec<(SessionKey, &'static str, i64)>, Error> {
    let is_asked = |stage: &&Stage| is_of_session(stage) && is_asked(stage);
    let stages: Vec<&'static Stage> = all.iter().filter(is_asked).collect();
    let reads = |wanted: fn(&Input) -> bool| stages.iter().any(|stage| stage.inputs.iter().any(wanted));
    let reads_children = reads(|input| matches!(input, Input::Children));
    let reads_facts = reads(|input| matches!(input, Input::Facts));
    let mut made: Vec<_> = Vec::new();
    for stage in all.iter().filter(|stage| is_of_session(stage)) {
        let is_input = |input: &Input| matches!(input, Input::Made(other) if *other == stage.name);
        if stages.iter().any(|asked| asked.name == stage.name || asked.inputs.iter().any(is_input)) {
            made.push((stage, index.made_by(stage.name)?));
        }
    }
    let mut outdated = Vec::new();
    for row in index.session_rows()? {
        let key = row.key();
        let Some(agent) = agent_of(&key) else { continue };
        let children = match reads_children {
            true => family::children_content(index, &key, 0)?,
            false => String::new(),
        };
        let facts = match reads_facts {
            true => store.name_of(&FACTS, &key)?,
            false => String::new(),
        };
        let of_session: BTreeMap<String, retro_store::Made> = made
            .iter()
            .filter_map(|(stage, made)| Some((stage.name.to_owned(), made.get(&key)?.clone())))
            .collect();
        for stage in &stages {
            let wait_ms = stage.when.wait_ms().or(When::Quiet.wait_ms()).unwrap_or(0);
            let stamp = |is_quiet| {
                let (content, children, facts) = (&*row.content, &*children, &*facts);
                let inputs = StampInputs { config, agent, content, children, facts, is_quiet };
                stamp::stamp(stage, inputs, &of_session)
            };
            let made = of_session.get(stage.name).map(|made| &made.stamp);
            // A result from a growing session runs again once the session is quiet, but is not
            // outdated.
            let is_current = made.is_some_and(|made| *made == stamp(true) || *made == stamp(false));
            if !is_current {
                let at_ms = if wait_ms == 0 { 0 } else { row.mtime_ns / 1_000_000 + wait_ms };
                outdated.push((key.clone(), stage.name, at_ms));
            }
        }
    }
    Ok(outdated)
}

fn is_of_session(stage: &Stage) -> bool {
    matches!(stage.work, Work::Events(_) | Work::Session(_))
}

fn runs_by_itself(stage: &Stage) -> bool {
    stage.when.wait_ms().is_some()
}
