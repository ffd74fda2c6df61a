//! The supported agents, and those that are only recognized.

use crate::Agent;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::grok::Grok;

/// Every supported agent, sorted by name.
pub static AGENTS: &[&dyn Agent] = &[&Claude, &Codex, &Grok];

/// The agent with this name or alias.
pub fn by_name(name: &str) -> Option<&'static dyn Agent> {
    let name = name.to_ascii_lowercase();
    AGENTS.iter().copied().find(|agent| agent.name() == name || agent.aliases().contains(&name.as_str()))
}

/// An agent whose logs retro cannot read yet.
#[derive(Debug, Clone, Copy)]
pub struct Unsupported {
    /// Its name for people.
    pub title: &'static str,
    /// A folder below the home directory that shows that the agent is used.
    pub marker: &'static str,
}

/// Agents that are recognized but not read, sorted by title.
pub static UNSUPPORTED: &[Unsupported] = &[
    Unsupported { title: "Cline", marker: ".cline" },
    Unsupported { title: "Copilot CLI", marker: ".copilot/session-state" },
    Unsupported { title: "Cursor", marker: ".cursor/projects" },
    Unsupported { title: "Gemini CLI", marker: ".gemini/tmp" },
    Unsupported { title: "OpenCode", marker: ".local/share/opencode" },
    Unsupported { title: "Pi", marker: ".pi/agent/sessions" },
    Unsupported { title: "Qwen Code", marker: ".qwen/projects" },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registries_are_sorted_and_names_are_unique() {
        assert!(AGENTS.is_sorted_by_key(|agent| agent.name()));
        assert!(UNSUPPORTED.is_sorted_by_key(|agent| agent.title));
        let mut names: Vec<_> = AGENTS
            .iter()
            .flat_map(|a| a.aliases().iter().chain(std::iter::once(&*Box::leak(Box::new(a.name())))))
            .collect();
        names.sort();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
