//! The supported agents, the folders retro searches for their logs, and the mapping of their
//! records.

use retro_agents::{AGENTS, Agent, Places, UNSUPPORTED};
use retro_engine::discover::roots;
use retro_engine::{Config, World};
use retro_model::Kind;
use serde::Serialize;

/// The result of `retro agents`.
#[derive(Debug, Clone, Serialize)]
pub struct AgentsView {
    /// `retro.agents/1`.
    pub schema: &'static str,
    /// Agents whose logs retro reads.
    pub agents: Vec<AgentView>,
    /// Agents that retro recognizes but cannot read yet, and whether this machine has them.
    pub unsupported: Vec<UnsupportedView>,
}

/// An agent whose logs retro reads.
#[derive(Debug, Clone, Serialize)]
pub struct AgentView {
    /// retro's name for the agent.
    pub name: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// Other names that work.
    pub aliases: &'static [&'static str],
    /// Version of the parser.
    pub parser_version: u32,
    /// Its folders on this machine.
    pub roots: Vec<String>,
    /// Every folder that is searched for its logs.
    pub looked_in: Vec<String>,
    /// The events that each kind of record becomes.
    pub mapping: Vec<MappingRow>,
}

/// One row of an agent's mapping table.
#[derive(Debug, Clone, Serialize)]
pub struct MappingRow {
    /// The kind of record.
    pub record: &'static str,
    /// The events it becomes. Empty if the record is folded into another one.
    pub gives: &'static [Kind],
    /// A remark for readers of the table.
    pub note: &'static str,
}

/// An agent that retro only recognizes.
#[derive(Debug, Clone, Serialize)]
pub struct UnsupportedView {
    /// Its display name.
    pub title: &'static str,
    /// Whether it is used on this machine.
    pub found: bool,
}

/// Every folder that is searched for an agent's logs, whether it exists or not.
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
