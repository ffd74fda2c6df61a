//! A sync that writes nothing: what would be captured, and how it reads.

use rayon::prelude::*;
use retro_agents::{Format, Parsed, Part, Reader, settle};
use retro_store::{Stamps, Store};
use std::io::Read;
use std::time::Instant;

use super::sieve::Sieve;
use super::{SyncOptions, look};
use crate::discover::{SessionFiles, open};
use crate::report::{Failure, Progress, SyncReport};
use crate::{Config, Error, World};

pub(super) fn run(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SyncReport, Error> {
    let started = Instant::now();
    // A store that does not exist yet is not made for a question.
    let (stamps, in_store) = match Store::open(&config.root.value, world.disk.clone()) {
        Ok(store) => {
            (store.index_if_there()?.map_or(Ok(Stamps::default()), |index| index.stamps())?, Some(store))
        }
        Err(error) if error.is_absent() => (Stamps::default(), None),
        Err(error) => return Err(error.into()),
    };
    let mut sieve = Sieve::new(config, options);
    let found = look(world, config, options, &stamps, &mut sieve)?;
    let mut report = sieve.report(&found);
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

/// Reads a session from its live files.
fn gaps(session: &SessionFiles) -> Result<u64, String> {
    let mut sources: Vec<Parsed> = Vec::new();
    for file in session.files.iter().filter(|file| file.format != Format::Opaque) {
        let part = Part {
            session: session.key.clone(),
            source: file.source.clone(),
            revision: 1,
            format: file.format,
        };
        let mut reader = Reader::new(session.agent, part, None);
        let mut live = open(file).map_err(|error| error.to_string())?;
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
