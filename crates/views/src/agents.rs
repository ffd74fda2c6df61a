//! The agents retro reads, where it looks for them, and what their records become.

use retro_agents::{AGENTS, Agent, Places, UNSUPPORTED};
use retro_engine::discover::roots;
use retro_engine::{Config, World};
use retro_model::Kind;
use serde::Serialize;

/// All agents.
#[derive(Debug, Clone, Serialize)]
pub struct AgentsView {
    /// `retro.agents/1`.
    pub schema: &'static str,
    /// Those retro reads.
    pub agents: Vec<AgentView>,
    /// Those it recognizes and cannot read yet, and whether they are used here.
    pub unsupported: Vec<UnsupportedView>,
}

/// One agent.
#[derive(Debug, Clone, Serialize)]
pub struct AgentView {
    /// Our name of it.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Other names that work.
    pub aliases: &'static [&'static str],
    /// Number of the parser.
    pub parser_version: u32,
    /// Its folders on this machine.
    pub roots: Vec<String>,
    /// Every folder where its logs are looked for.
    pub looked_in: Vec<String>,
    /// What each kind of its records becomes.
    pub mapping: Vec<MappingRow>,
}

/// One row of an agent's mapping table.
#[derive(Debug, Clone, Serialize)]
pub struct MappingRow {
    /// The record.
    pub record: &'static str,
    /// The events it gives; none means that it is folded.
    pub gives: &'static [Kind],
    /// What to know of it.
    pub note: &'static str,
}

/// An agent that is recognized only.
#[derive(Debug, Clone, Serialize)]
pub struct UnsupportedView {
    /// Its name for people.
    pub title: &'static str,
    /// Whether it is used on this machine.
    pub found: bool,
}

/// Every folder where logs of an agent are looked for, whether it exists or not.
pub(crate) fn looked_in(world: &World, config: &Config, agent: &dyn Agent) -> Vec<String> {
    let extra_roots = config.sources.value.get(agent.name()).cloned().unwrap_or_default();
    let places = Places { home: world.home.clone(), env: &*world.env, extra_roots };
    agent.roots(&places).iter().map(|root| root.display().to_string()).collect()
}

/// Describes every agent.
pub fn agents(world: &World, config: &Config) -> AgentsView {
    let agents = AGENTS.iter().map(|agent| AgentView {
        name: agent.name(),
        title: agent.title(),
        aliases: agent.aliases(),
        parser_version: agent.parser_version(),
        roots: roots(world, config, *agent).iter().map(|root| root.display().to_string()).collect(),
        looked_in: looked_in(world, config, *agent),
        mapping: agent
            .mapping()
            .iter()
            .map(|row| MappingRow { record: row.record, gives: row.gives, note: row.note })
            .collect(),
    });
    let unsupported = UNSUPPORTED
        .iter()
        .map(|agent| UnsupportedView { title: agent.title, found: world.home.join(agent.marker).is_dir() });
    AgentsView { schema: "retro.agents/1", agents: agents.collect(), unsupported: unsupported.collect() }
}
