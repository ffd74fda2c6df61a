//! Importing chosen sessions by hand.

use retro_model::{SessionKey, Timestamp};
use retro_store::Store;
use std::collections::HashSet;
use std::path::PathBuf;

use crate::discover::{Few, Keep, Scope, SessionFiles, look};
use crate::exclude::{Excluder, Verdict};
use crate::progress::Progress;
use crate::read::peek;
use crate::report::SyncReport;
use crate::sync::{SyncOptions, sync_store};
use crate::{Config, Error, World};

/// Which sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// The one whose id begins so.
    Id(String),
    /// The newest.
    Latest,
    /// All, newest first, at most so many.
    All(Option<usize>),
}

/// What to import.
#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// The agent.
    pub agent: String,
    /// Which of its sessions.
    pub choice: Choice,
    /// Also those that are captured and unchanged.
    pub force: bool,
    /// Look here instead of in the agent's folders.
    pub from: Option<PathBuf>,
}

/// What was imported.
#[derive(Debug, Clone)]
pub struct Imported {
    /// The sessions that were read, in order.
    pub sessions: Vec<SessionKey>,
    /// Sessions that were captured before and have not changed.
    pub unchanged: Vec<SessionKey>,
    /// Sessions that the configuration leaves out.
    pub excluded: Vec<SessionKey>,
    /// What the sync did.
    pub report: SyncReport,
}

/// Captures the chosen sessions. Those that are captured and unchanged are left
/// alone unless forced; nothing is ever overwritten.
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
    let chosen = choose(&found.sessions, &options.choice, world.now());
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
    // Stopped before it came to them.
    if report.unread as usize >= read.len() {
        read.clear();
    } else if report.unread > 0 {
        read.retain(|key| matches!(store.session(key), Ok(Some(_))));
    }
    Ok(Imported { sessions: read, unchanged: same, excluded, report })
}

/// Discovery gives the newest first, by their files. The latest is the one with the latest
/// time in its log, as in lists; a clock that is a day ahead does not count.
fn choose<'a>(sessions: &'a [SessionFiles], choice: &Choice, now: Timestamp) -> Vec<&'a SessionFiles> {
    let last = |session: &&SessionFiles| {
        let latest = now.as_millis().saturating_add(86_400_000);
        let ended_at = peek(session).ended_at.filter(|ts| ts.as_millis() <= latest);
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
                // A prefix that fits several means none of them.
                if fitting.len() > 1 {
                    fitting.clear();
                }
                fitting
            }
        },
    }
}
