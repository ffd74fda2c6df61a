//! Staying: a sync whenever an agent writes.

use notify::{RecursiveMode, Watcher};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use crate::discover::roots;
use crate::{Config, Error, Progress, SyncOptions, SyncReport, World, sync};
use retro_agents::AGENTS;

/// How long changes are collected before a sync.
const SETTLE: Duration = Duration::from_millis(150);

/// How often the wish to stop is looked at.
const TICK: Duration = Duration::from_millis(200);

/// A sweep without a sign, for file systems that send none and roots that come later.
const SWEEP: Duration = Duration::from_secs(30);

/// Syncs now and whenever something changes, until the world wants to stop.
/// `report` is called after each sync that did something, and after the first.
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
            // Nobody listens any more once the watch has ended.
            let _ = send.send(());
        }
    })
    .map_err(|error| Error::Watch(error.to_string()))?;
    let mut watched = std::collections::HashSet::new();
    let mut first = true;
    loop {
        for agent in AGENTS.iter().copied() {
            for root in roots(world, config, agent) {
                if watched.insert(root.clone()) {
                    let result = watcher.watch(&root, RecursiveMode::Recursive);
                    result.map_err(|error| Error::Watch(format!("{}: {error}", root.display())))?;
                }
            }
        }
        let done = sync(world, config, options, progress)?;
        if first || done.ingested + done.appended + done.failed > 0 {
            report(&done);
        }
        first = false;
        let since = Instant::now();
        loop {
            if world.stopping() {
                return Ok(());
            }
            match changes.recv_timeout(TICK) {
                Ok(()) => {
                    // Agents write in bursts: take what comes within a moment together.
                    let until = Instant::now() + SETTLE;
                    while let Some(left) = until.checked_duration_since(Instant::now()) {
                        if changes.recv_timeout(left).is_err() {
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
