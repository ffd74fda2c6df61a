//! A sync that writes nothing: it counts the sessions that would be captured, and their gaps.

use rayon::prelude::*;
use retro_agents::{Parsed, Part, Reader, settle};
use retro_store::{Stamps, Store};
use std::io::Read;
use std::time::Instant;

use super::SyncOptions;
use super::filter::SessionFilter;
use crate::discover::{Cut, Few, SessionFiles, look};
use crate::door::Door;
use crate::progress::Progress;
use crate::report::{Failure, SyncReport};
use crate::{Config, Error, World};

pub(super) fn run(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    let started = Instant::now();
    let mut filter = SessionFilter::new(config, options);
    let read = |few: &Few| stamps_if_there(world, config, few);
    let (in_store, _, mut found) = look(world, config, &options.scope(), filter.keep(), read)?;
    found.sessions.retain(|session| filter.keeps(session));
    let mut report = filter.report(&found);
    let changed = found.sessions;
    for session in &changed {
        let stored = match &in_store {
            Some(store) => store.session(&session.key)?.is_some(),
            None => false,
        };
        if stored {
            report.appended += 1;
        } else {
            report.ingested += 1;
        }
    }
    let total = changed.len() as u64;
    let done = std::sync::atomic::AtomicU64::new(0);
    let read: Vec<Result<u64, String>> = changed
        .par_iter()
        .map(|session| {
            let result = gaps(session);
            let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            progress(Progress { stage: "capture", done, total, bytes: 0 });
            result
        })
        .collect();
    for (session, result) in changed.iter().zip(read) {
        match result {
            Ok(gaps) => report.gaps += gaps,
            Err(reason) => {
                report.failed += 1;
                report.failures.push(Failure {
                    agent: session.key.agent.clone(),
                    path: session.files.first().map_or(String::new(), |f| f.path.display().to_string()),
                    reason,
                });
            }
        }
    }
    report.elapsed_ms = started.elapsed().as_millis() as u64;
    Ok(report)
}

/// The store and its stamps of files. A question does not create a missing store.
fn stamps_if_there(world: &World, config: &Config, few: &Few) -> Result<(Option<Store>, Stamps), Error> {
    match Store::open(&config.root.value, world.disk.clone()) {
        Ok(store) => {
            let stamps = store.index_if_there()?.map_or(Ok(Stamps::default()), |index| few.stamps(&index))?;
            Ok((Some(store), stamps))
        }
        Err(error) if error.is_absent() => Ok((None, Stamps::default())),
        Err(error) => Err(error.into()),
    }
}

/// Reads a session from its live files.
fn gaps(session: &SessionFiles) -> Result<u64, String> {
    let mut sources: Vec<Parsed> = Vec::new();
    for file in session.files.iter().filter(|file| file.format.has_records()) {
        let part = Part {
            session: session.key.clone(),
            source: file.source.clone(),
            revision: 1,
            format: file.format,
        };
        let mut reader = Reader::new(session.agent, part, None);
        let mut live = Door::default().open(file, &Cut::default()).map_err(|error| error.to_string())?;
        let mut buffer = vec![0; 256 * 1024];
        loop {
            let count = live.read(&mut buffer).map_err(|error| error.to_string())?;
            if count == 0 {
                break;
            }
            reader.feed(&buffer[..count]);
        }
        sources.push(reader.finish());
    }
    Ok(settle(session.agent, &session.key, sources).gaps.len() as u64)
}
