//! The keys of the configuration file, and what to say of any other.

use std::path::Path;
use toml::{Table, Value};

use super::ConfigError;

/// One key that can be set.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its full name; `*` stands for a name of the user's.
    pub name: &'static str,
    /// What it does.
    pub help: &'static str,
    /// A value, as TOML.
    pub example: &'static str,
}

/// Every key, sorted. `config init` and the reference page are made from it.
pub const KEYS: &[Key] = &[
    Key {
        name: "billing",
        help: "How you pay: \"plan\" calls amounts list price, \"api\" (billed by use) calls them cost.",
        example: "\"plan\"",
    },
    Key {
        name: "cadence",
        help: "How often a scheduler should run `retro sync`; `retro schedule print` uses it.",
        example: "\"15m\"",
    },
    Key {
        name: "capture.exclude_paths",
        help: "Sessions whose working directory or log is at or below these folders are not captured. While any exclude rule exists, neither are sessions that name no working directory, nor files that serve all projects, such as prompt histories.",
        example: "[\"~/private\"]",
    },
    Key {
        name: "capture.exclude_projects",
        help: "Sessions of these projects (the last part of the working directory) are not captured. See capture.exclude_paths for what else stays out.",
        example: "[\"diary\"]",
    },
    Key {
        name: "capture.exclude_regex",
        help: "Sessions whose working directory or log path matches are not captured. See capture.exclude_paths for what else stays out.",
        example: "[\"/customer-[0-9]+/\"]",
    },
    Key {
        name: "capture.extras",
        help: "Also capture file histories and paste caches: large, and seldom wanted.",
        example: "false",
    },
    Key {
        name: "detect.quality",
        help: "What makes a session real work: a section of its own, [detect.quality].",
        example: "{ min_events = 20, require_repo = true, min_substantive_calls = 3, min_prompt_chars = 25, trivial_prompts = [\"hi\"] }",
    },
    Key { name: "domains.*", help: "A label for the sessions of a repository.", example: "\"backend\"" },
    Key {
        name: "embedding.gpu_layers",
        help: "Layers of the embedding model that a graphics processor computes.",
        example: "0",
    },
    Key {
        name: "embedding.model",
        help: "A GGUF embedding model instead of the built-in table. Needs a retro built with the feature embedding-runtime.",
        example: "\"~/models/embed.gguf\"",
    },
    Key { name: "embedding.threads", help: "Threads that embed one text.", example: "4" },
    Key { name: "embedding.threads_batch", help: "Threads that embed many texts at once.", example: "4" },
    Key {
        name: "prices",
        help: "Your own prices in dollars a million tokens; `retro pricing set` writes them as [[prices]] entries.",
        example: "[{ model = \"my-model\", input = 0.25, output = 2.0 }]",
    },
    Key {
        name: "root",
        help: "The store's folder. Only outside the store's own config.toml.",
        example: "\"~/retro-store\"",
    },
    Key {
        name: "signals",
        help: "Signals of your own, as [[signals]] entries: what to count by kind, class, path, command, text, outcome.",
        example: "[{ name = \"deploys\", group = \"activity\", command = \"kubectl apply\" }]",
    },
    Key {
        name: "sources.*",
        help: "Further folders in which an agent keeps its logs, beside the usual ones.",
        example: "[\"/mnt/old-laptop/.claude\"]",
    },
];

/// Keys of the seeds' configurations that are accepted and do nothing here.
const SEED_KEYS: &[(&str, &str)] = &[
    ("archive_root", "set `root` instead"),
    ("curate.*", "the catalog does not exist yet"),
    ("dashboard_dir", "the dashboard does not exist yet"),
    ("derived_interval_seconds", "derived data is made when a session goes quiet"),
    ("retention.*", "retention does not exist yet"),
    ("store.*", "the store's place is `root`, its schedule `cadence`"),
    ("sync_interval_seconds", "set `cadence` instead"),
    ("sync_on_login", "it never did anything"),
];

/// Checks every key of a file; gives the notes on accepted ones without meaning.
pub(super) fn check(path: &Path, table: &Table) -> Result<Vec<String>, ConfigError> {
    let mut notes = Vec::new();
    for (name, value) in table {
        if let Some((_, why)) = seed_key(name) {
            notes.push(format!("{}: `{name}` has no effect here: {why}", path.display()));
            continue;
        }
        let inside: Vec<&Key> =
            KEYS.iter().filter(|key| key.name.split('.').next() == Some(name.as_str())).collect();
        match (inside.as_slice(), value) {
            ([], _) => return Err(unknown(path, name)),
            ([only], _) if !only.name.contains('.') => {}
            (_, Value::Table(section)) => {
                for inner in section.keys() {
                    let full = format!("{name}.{inner}");
                    if !inside.iter().any(|key| matches(key.name, &full)) {
                        return Err(unknown(path, &full));
                    }
                }
            }
            _ => return Err(super::wrong(path, name, &format!("a section, written [{name}]"))),
        }
    }
    Ok(notes)
}

fn seed_key(name: &str) -> Option<&'static (&'static str, &'static str)> {
    SEED_KEYS.iter().find(|(key, _)| key.strip_suffix(".*").unwrap_or(key) == name)
}

fn matches(key: &str, full: &str) -> bool {
    match key.strip_suffix('*') {
        Some(prefix) => full.starts_with(prefix),
        None => key == full,
    }
}

fn unknown(path: &Path, key: &str) -> ConfigError {
    let names = KEYS.iter().map(|known| known.name.trim_end_matches(".*"));
    let hint = nearest(key, names).map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    ConfigError::UnknownKey { path: path.to_owned(), key: key.to_owned(), hint }
}

/// Keys of `[detect.quality]`.
const THRESHOLDS: &[&str] = &[
    "detect.quality.min_events",
    "detect.quality.min_prompt_chars",
    "detect.quality.min_substantive_calls",
    "detect.quality.require_repo",
    "detect.quality.trivial_prompts",
];

pub(super) fn unknown_threshold(path: &Path, key: &str) -> ConfigError {
    let hint = nearest(key, THRESHOLDS.iter().copied());
    let hint = hint.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    ConfigError::UnknownKey { path: path.to_owned(), key: key.to_owned(), hint }
}

pub(super) fn unknown_agent(path: &Path, name: &str) -> ConfigError {
    let names = retro_agents::AGENTS.iter().map(|agent| agent.name());
    let hint = match nearest(name, names) {
        Some(agent) => format!("; did you mean `sources.{agent}`?"),
        None => "; `retro agents` lists the agents".to_owned(),
    };
    ConfigError::UnknownKey { path: path.to_owned(), key: format!("sources.{name}"), hint }
}

/// The name most like `word`, if any is like it at all.
pub(super) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let last = word.rsplit('.').next().unwrap_or(word);
    names
        .map(|name| {
            let tail = name.rsplit('.').next().unwrap_or(name);
            (strsim::jaro_winkler(word, name).max(strsim::jaro_winkler(last, tail)), name)
        })
        .filter(|(score, _)| *score > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}
