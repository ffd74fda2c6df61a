//! Groups of tools with the same use, defined in the configuration.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Names of buckets with their tools. A tool is a program, a program with its sub-command, or the
/// name of an agent's tool. A `*` at either end matches any text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buckets(BTreeMap<String, Vec<String>>);

/// The bucket of tools that keep machines and environments running.
pub const INFRA: &str = "infra";
/// The bucket of tools that show or change the schema of tables, tools and interfaces.
pub const SCHEMA: &str = "schema";

const DEFAULTS: &[(&str, &[&str])] = &[
    ("http", &["curl", "wget", "http", "httpie", "xh"]),
    (
        INFRA,
        &[
            "docker*",
            "podman*",
            "kubectl*",
            "helm*",
            "minikube*",
            "kind",
            "k3d*",
            "terraform*",
            "tofu*",
            "vagrant*",
            "ansible*",
            "ssh",
            "scp",
            "systemctl*",
            "service",
            "launchctl*",
            "brew*",
            "apt*",
            "dnf*",
            "yum*",
            "nvm*",
            "pyenv*",
            "asdf*",
            "mise*",
            "rustup*",
            "conda*",
            "colima*",
            "orb*",
            "aws*",
            "gcloud*",
            "az",
            "flyctl*",
            "fly",
            "tmux*",
            "direnv*",
        ],
    ),
    ("javascript packages", &["npm*", "yarn*", "pnpm*", "bun*"]),
    ("python packages", &["pip*", "uv*", "poetry*", "conda*", "pipenv*", "pdm*"]),
    (
        SCHEMA,
        &[
            "*migrate*",
            "alembic*",
            "flyway*",
            "dbmate*",
            "goose*",
            "liquibase*",
            "diesel migration*",
            "prisma*",
            "*ToolSearch*",
            "*schema*",
            "*describe_*",
            "*list_tables*",
            "*list_tools*",
        ],
    ),
];

impl Default for Buckets {
    fn default() -> Self {
        let owned = |tools: &[&str]| tools.iter().map(|tool| (*tool).to_owned()).collect();
        Buckets(DEFAULTS.iter().map(|(name, tools)| ((*name).to_owned(), owned(tools))).collect())
    }
}

impl Buckets {
    /// The default buckets, overridden by these where the names are equal.
    pub fn with(own: BTreeMap<String, Vec<String>>) -> Buckets {
        let mut all = Buckets::default();
        all.0.extend(own);
        all
    }

    /// Every bucket with its tools, sorted.
    pub fn all(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.0.iter().map(|(name, tools)| (name.as_str(), tools.as_slice()))
    }

    /// True if a tool is in a bucket.
    pub fn holds(&self, bucket: &str, tool: &str) -> bool {
        self.0.get(bucket).is_some_and(|tools| tools.iter().any(|pattern| fits(pattern, tool)))
    }

    /// The bucket in which tools replace each other. `None` if the tool is only in other buckets.
    pub fn alternatives(&self, tool: &str) -> Option<&str> {
        let mut buckets = self.0.iter().filter(|(name, _)| *name != INFRA && *name != SCHEMA);
        buckets
            .find(|(_, tools)| tools.iter().any(|pattern| fits(pattern, tool)))
            .map(|(name, _)| name.as_str())
    }
}

fn fits(pattern: &str, tool: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(rest), Some(_)) => tool.contains(rest.strip_suffix('*').unwrap_or(rest)),
        (Some(rest), None) => tool.ends_with(rest),
        // `npm*` is npm with any sub-command, not npmrc.
        (None, Some(start)) => {
            tool == start
                || tool.strip_prefix(start).is_some_and(|rest| rest.starts_with([' ', '-', '_', '.']))
        }
        (None, None) => tool == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_with_its_sub_command() {
        let buckets = Buckets::default();
        assert!(buckets.holds(INFRA, "docker compose") && buckets.holds(INFRA, "docker-compose"));
        assert!(!buckets.holds(INFRA, "dockerize"));
        assert_eq!(buckets.alternatives("pnpm install"), Some("javascript packages"));
        assert_eq!(buckets.alternatives("docker"), None, "of other use");
        let own = Buckets::with([(INFRA.to_owned(), vec!["hub".to_owned()])].into());
        assert!(own.holds(INFRA, "hub") && !own.holds(INFRA, "docker"));
    }
}
