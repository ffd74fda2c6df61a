//! The stages, their versions and what still has to be done.

use retro_agents::by_name;
use retro_engine::discover::{Keep, Scope, look};
use retro_engine::stages::{STAGES, ledger_input, stamp};
use retro_engine::{Config, World};
use serde::Serialize;

use crate::Error;
use crate::list::stored;
use retro_store::{RealDisk, Store};
use std::sync::Arc;

/// All stages.
#[derive(Debug, Clone, Serialize)]
pub struct StagesView {
    /// `retro.stages/1`.
    pub schema: &'static str,
    /// In the order in which they run.
    pub stages: Vec<StageView>,
}

/// One stage.
#[derive(Debug, Clone, Serialize)]
pub struct StageView {
    /// Its name.
    pub name: &'static str,
    /// Its version.
    pub version: u32,
    /// Whether it runs on every append.
    pub hot: bool,
    /// What it does.
    pub help: &'static str,
    /// Sessions for which it is current.
    pub current: u64,
    /// Sessions for which it is not.
    pub backlog: u64,
}

/// Says how far each stage is. Discovers, writes nothing.
pub fn stages(world: &World, config: &Config) -> Result<StagesView, Error> {
    let (rows, _, found) = look(world, config, &Scope::new(None, None), Keep::All, || stored(config))?;
    let unread = found.sessions.iter().filter(|session| session.news).count() as u64;
    let index = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store.index_if_there()?,
        Err(error) if error.is_absent() => None,
        Err(error) => return Err(error.into()),
    };
    let mut views = Vec::new();
    for stage in STAGES {
        let (current, backlog) = match (stage.name, &index) {
            ("discover", _) => (found.sessions.len() as u64, 0),
            ("capture", _) => (rows.len() as u64, unread),
            (_, None) => (0, 0),
            (name, Some(index)) => {
                let captured = index.stage_rows("capture")?;
                let made = index.stage_rows(name)?;
                let is_current = |key: &retro_model::SessionKey, content: &String| {
                    let Some((version, input)) = made.get(key) else { return false };
                    let Some(agent) = by_name(&key.agent) else { return true };
                    match name {
                        "ledger" => *input == ledger_input(agent, content),
                        "turns" => *version == agent.parser_version(),
                        "normalized" => *input == stamp(agent, content),
                        _ => input == content,
                    }
                };
                let current = captured.iter().filter(|(key, (_, content))| is_current(key, content)).count();
                (current as u64, (captured.len() - current) as u64)
            }
        };
        views.push(StageView {
            name: stage.name,
            version: stage.version,
            hot: stage.hot,
            help: stage.help,
            current,
            backlog,
        });
    }
    Ok(StagesView { schema: "retro.stages/1", stages: views })
}
