//! Imports the sessions that a user chooses.

use retro_model::{SessionKey, Timestamp};
use retro_store::Store;
use std::collections::HashSet;
use std::path::PathBuf;

use crate::discover::{Few, Keep, Scope, SessionFiles, look};
use crate::door::Door;
use crate::exclude::{Excluder, Verdict};
use crate::progress::Progress;
use crate::read::peek;
use crate::report::SyncReport;
use crate::sync::{SyncOptions, sync_store};
use crate::{Config, Error, World};

/// The sessions to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The session whose id begins with this text.
    Id(String),
    /// The newest session of the agent.
    Latest,
    /// All sessions, newest first, up to this number.
    All(Option<usize>),
}

/// Options of an import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Name of the agent.
    pub agent: String,
    /// The sessions to import.
    pub choice: Choice,
    /// Also import sessions that are captured and unchanged.
    pub force: bool,
    /// A place to search instead of the agent's folders.
    pub from: Option<PathBuf>,
}

/// The result of an import.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The sessions that were read, in order.
    pub sessions: Vec<SessionKey>,
    /// Sessions that were captured before and have not changed.
    pub unchanged: Vec<SessionKey>,
    /// Sessions that the configuration leaves out.
    pub excluded: Vec<SessionKey>,
    /// Report of the sync.
    pub report: SyncReport,
}

/// Captures the chosen sessions. Captured and unchanged ones are skipped unless forced. Nothing is
/// ever overwritten.
pub fn import(
    world: &World,
    config: &Config,
    options: &ImportOptions,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Imported, Error> {
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    let scope = Scope::new(Some(&options.agent), options.from.as_deref());
    let read = |_: &Few| Ok(store.index_and_stamps()?);
    let (_, _, found) = look(world, config, &scope, Keep::All, read)?;
    let chosen = choose(&Door::of(&store)?, &found.sessions, &options.choice, world.now());
    let mut read = Vec::new();
    let mut same = Vec::new();
    let mut excluded = Vec::new();
    let excluder = Excluder::new(config);
    for session in chosen {
        let list = if excluder.verdict(session) != Verdict::Wanted {
            &mut excluded
        } else if session.news || options.force {
            &mut read
        } else {
            &mut same
        };
        list.push(session.key.clone());
    }
    let sync = SyncOptions {
        agent: Some(options.agent.clone()),
        from: options.from.clone(),
        sessions: Some(read.iter().cloned().collect::<HashSet<_>>()),
        force: options.force,
        ..SyncOptions::default()
    };
    let report = if read.is_empty() {
        SyncReport::default()
    } else {
        sync_store(world, config, &sync, &store, progress)?
    };
    // The sync stopped before it reached them.
    if report.unread as usize >= read.len() {
        read.clear();
    } else if report.unread > 0 {
        read.retain(|key| matches!(store.session(key), Ok(Some(_))));
    }
    Ok(Imported { sessions: read, unchanged: same, excluded, report })
}

/// Chooses among sessions that are sorted by file time, newest first. The latest is the one with
/// the latest time in its log, as in lists. Times more than a day ahead do not count.
fn choose<'a>(
    door: &Door,
    sessions: &'a [SessionFiles],
    choice: &Choice,
    now: Timestamp,
) -> Vec<&'a SessionFiles> {
    let last = |session: &&SessionFiles| {
        let latest = now.as_millis().saturating_add(86_400_000);
        let ended_at = peek(door, session).ended_at.filter(|ts| ts.as_millis() <= latest);
        (ended_at, session.mtime_ns())
    };
    match choice {
        Choice::Latest => sessions.iter().max_by_key(last).into_iter().collect(),
        Choice::All(limit) => sessions.iter().take(limit.unwrap_or(usize::MAX)).collect(),
        Choice::Id(id) => match sessions.iter().find(|session| session.key.id == *id) {
            Some(exact) => vec![exact],
            None => {
                let mut fitting: Vec<_> =
                    sessions.iter().filter(|session| session.key.id.starts_with(id)).collect();
                // A prefix that matches several sessions selects none.
                if fitting.len() > 1 {
                    fitting.clear();
                }
                fitting
            }
        },
    }
}
