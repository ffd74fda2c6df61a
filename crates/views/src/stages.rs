//! The stages, their versions, and the sessions they have still to process.

use retro_engine::discover::{Keep, Scope, look};
use retro_engine::stages::{STAGES, Stage, When, Work};
use retro_engine::{Config, World, reconcile::outdated};
use retro_store::{RealDisk, Store};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::Arc;

use crate::Error;
use crate::list::stored;

/// The result of `retro stages`.
#[derive(Debug, Clone, Serialize)]
pub struct StagesView {
    /// `retro.stages/1`.
    pub schema: &'static str,
    /// Every stage, in the order in which they run.
    pub stages: Vec<StageView>,
}

/// A stage and its progress.
#[derive(Debug, Clone, Serialize)]
pub struct StageView {
    /// The stage's name.
    pub name: &'static str,
    /// The stage's version.
    pub version: u32,
    /// True if it runs on every append.
    pub hot: bool,
    /// True if it runs only on request, by `sync --until` or `rebuild`.
    pub asked: bool,
    /// A short description.
    pub help: &'static str,
    /// Sessions that it has processed at this version.
    pub current: u64,
    /// Sessions that it has still to process.
    pub backlog: u64,
}

/// Reports the progress of each stage. Discovers sessions, writes nothing.
pub fn stages(world: &World, config: &Config) -> Result<StagesView, Error> {
    let (rows, _, found) = look(world, config, &Scope::new(None, None), Keep::All, |_| stored(config))?;
    let unread = found.sessions.iter().filter(|session| session.news).count() as u64;
    let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store.index_if_there()?.map(|index| (store, index)),
        Err(error) if error.is_absent() => None,
        Err(error) => return Err(error.into()),
    };
    // Sessions whose output differs from a new run of the stage, whether or not it may run yet.
    let mut backlog: HashMap<&str, u64> = HashMap::new();
    if let Some((store, index)) = &store {
        // Git knows more about a commit when it is a week old. Until then nothing is overdue.
        let due = index.due(world.now().as_millis())?;
        let waiting = due.values().filter(|stages| stages.iter().any(|name| name == "facts")).count();
        backlog.insert("facts", waiting as u64);
        for (_, stage, _) in outdated(config, STAGES, store, index)? {
            *backlog.entry(stage).or_default() += 1;
        }
    }
    let mut asked: HashMap<&str, u64> = HashMap::new();
    for stage in STAGES.iter().filter(|stage| is_asked(stage)) {
        let made = store.as_ref().map(|(_, index)| index.made_by(stage.name)).transpose()?;
        asked.insert(stage.name, made.map_or(0, |made| made.len() as u64));
    }
    let sessions = rows.len() as u64;
    let views = STAGES.iter().map(|stage| {
        let (current, backlog) = match (stage.name, &stage.work) {
            ("discover", _) => (found.sessions.len() as u64, 0),
            (_, Work::Sync) => (sessions, unread),
            (name, _) if is_asked(stage) => (asked.get(name).copied().unwrap_or(0), 0),
            (name, _) => {
                let backlog = backlog.get(name).copied().unwrap_or(0);
                (sessions.saturating_sub(backlog), backlog)
            }
        };
        StageView {
            name: stage.name,
            version: stage.version,
            hot: stage.when.is_hot(),
            asked: is_asked(stage),
            help: stage.help,
            current,
            backlog,
        }
    });
    Ok(StagesView { schema: "retro.stages/1", stages: views.collect() })
}

fn is_asked(stage: &Stage) -> bool {
    stage.when == When::Asked && !matches!(stage.work, Work::Sync)
}
