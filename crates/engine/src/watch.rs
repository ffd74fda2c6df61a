//! Watches the agents' folders and syncs whenever an agent writes.

use notify::{RecursiveMode, Watcher};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::discover::roots;
use crate::{Config, Error, Progress, SyncOptions, SyncReport, World, sync};
use retro_agents::AGENTS;

/// How long changes are collected before a sync.
const SETTLE: Duration = Duration::from_millis(150);

/// The least time between two syncs: an agent that writes all the time is followed once a second,
/// and the first words after a pause at once.
const PACE: Duration = Duration::from_secs(1);

/// Interval between checks for a stop request.
const TICK: Duration = Duration::from_millis(200);

/// Interval between searches for new folders of agents.
const LOOK: Duration = Duration::from_secs(1);

/// Interval between syncs without a change event, for file systems that send none.
const SWEEP: Duration = Duration::from_secs(30);

/// Syncs now and at every change, until a stop is requested. Calls `report` after each sync that
/// did something, and after the first.
pub fn watch(
    world: &World,
    config: &Config,
    options: &SyncOptions,
    progress: &(dyn Fn(Progress) + Sync),
    report: &mut dyn FnMut(&SyncReport),
) -> Result<(), Error> {
    let (send, changes) = channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            // The receiver is gone once the watch has ended.
            let _ = send.send(());
        }
    })
    .map_err(|error| Error::Watch(error.to_string()))?;
    let mut watched: HashSet<PathBuf> = HashSet::new();
    let mut first = true;
    loop {
        // A folder that is gone may be created again as another one.
        let gone: Vec<PathBuf> = watched.iter().filter(|root| !root.is_dir()).cloned().collect();
        for root in gone {
            let _ = watcher.unwatch(&root);
            watched.remove(&root);
        }
        for root in unwatched(world, config, &watched) {
            let result = watcher.watch(&root, RecursiveMode::Recursive);
            result.map_err(|error| Error::Watch(format!("{}: {error}", root.display())))?;
            watched.insert(root);
        }
        let begun = Instant::now();
        let done = sync(world, config, options, progress)?;
        if first || done.ingested + done.appended + done.failed > 0 {
            report(&done);
        }
        first = false;
        let since = Instant::now();
        let mut looked = since;
        loop {
            if world.stopping() {
                return Ok(());
            }
            if looked.elapsed() >= LOOK {
                looked = Instant::now();
                if !unwatched(world, config, &watched).is_empty() {
                    break;
                }
            }
            match changes.recv_timeout(TICK) {
                Ok(()) => {
                    // Agents write in bursts, so changes within a moment are handled together.
                    let until = (Instant::now() + SETTLE).max(begun + PACE);
                    while let Some(left) = until.checked_duration_since(Instant::now()) {
                        if world.stopping() {
                            return Ok(());
                        }
                        if changes.recv_timeout(left.min(TICK)) == Err(RecvTimeoutError::Disconnected) {
                            break;
                        }
                    }
                    break;
                }
                Err(RecvTimeoutError::Timeout) if since.elapsed() >= SWEEP => break,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Error::Watch("the watcher ended".to_owned()));
                }
            }
        }
    }
}

/// The existing folders of agents that are not watched yet.
fn unwatched(world: &World, config: &Config, watched: &HashSet<PathBuf>) -> Vec<PathBuf> {
    let all = AGENTS.iter().flat_map(|agent| roots(world, config, *agent));
    all.filter(|root| !watched.contains(root)).collect()
}
