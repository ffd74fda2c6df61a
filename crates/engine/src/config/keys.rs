//! The keys of the configuration file, and the messages about any other.

use std::path::Path;
use toml::{Table, Value};

use super::ConfigError;

/// One key that can be set.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its full name, with `*` for a name that the user chooses.
    pub name: &'static str,
    /// Its effect, for people.
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
        name: "curate.catalog_dir",
        help: "The folder of the catalog, for example in a git repository; without it, patterns/catalog of the store.",
        example: "\"~/notes/patterns\"",
    },
    Key {
        name: "curate.gate",
        help: "What a candidate needs to be written down and handed out: a section of its own, [curate.gate].",
        example: "{ min_frequency = 2, min_sessions = 2, min_cost_impact = 0.0, dist_min_frequency = 3, dist_min_cost_impact = 0.0, dist_require_cross_flavor = true }",
    },
    Key {
        name: "curate.sink",
        help: "A command, with its arguments, that gets each decision as one line of JSON on stdin.",
        example: "[\"tee\", \"-a\", \"/tmp/decisions.jsonl\"]",
    },
    Key {
        name: "dashboard.keep",
        help: "Whether `retro sync` keeps an existing dashboard folder current.",
        example: "true",
    },
    Key {
        name: "dashboard_dir",
        help: "The folder that `retro dashboard` writes to.",
        example: "\"~/retro-dashboard\"",
    },
    Key {
        name: "detect.buckets",
        help: "Tools that belong together, by name: a section of its own, [detect.buckets]. A name of the defaults replaces it.",
        example: "{ infra = [\"docker*\", \"kubectl*\"] }",
    },
    Key {
        name: "detect.exclude",
        help: "Projects in which no patterns are looked for. They are captured all the same.",
        example: "[\"scratch\"]",
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
    Key { name: "embedding.threads", help: "Threads that embed, each one text at a time.", example: "4" },
    Key { name: "embedding.threads_batch", help: "The same; it wins if both are set.", example: "4" },
    Key {
        name: "facts.git",
        help: "Ask git, in the repositories of sessions and at most once a day for each, what became of their commits.",
        example: "true",
    },
    Key {
        name: "memory.retire",
        help: "Let `retro sync` retire memories that were shown often and never helped, instead of proposing it.",
        example: "false",
    },
    Key {
        name: "mine.budget_tokens",
        help: "Tokens a day that methods may use that ask a model (codex_headless, claude_headless).",
        example: "200000",
    },
    Key {
        name: "mine.methods",
        help: "Methods that `retro sync` mines with; `retro methods` lists them. An empty list switches mining off.",
        example: "[\"error_fix\", \"user_rules\", \"repo_commands\"]",
    },
    Key {
        name: "prices",
        help: "Your own prices in dollars a million tokens; `retro pricing set` writes them as [[prices]] entries.",
        example: "[{ model = \"my-model\", input = 0.25, output = 2.0 }]",
    },
    Key {
        name: "retention.distilled_cap_bytes",
        help: "Warn when what stays of sessions after retention (digests, ledgers, memories) is larger. Nothing is removed.",
        example: "\"1GiB\"",
    },
    Key {
        name: "retention.min_free_bytes",
        help: "Capture nothing while the disk of the store has less free space; 0 switches this off. Without the key: the smaller of 5 % of the disk and 1 GiB.",
        example: "\"2GiB\"",
    },
    Key {
        name: "retention.raw_hard_cap_bytes",
        help: "Above this size of raw/ any session is given up; what was not analyzed is analyzed first.",
        example: "\"6GiB\"",
    },
    Key {
        name: "retention.raw_max_age_days",
        help: "Give up the raw bytes of analyzed sessions that are older; 0 or no key: no limit.",
        example: "45",
    },
    Key {
        name: "retention.raw_soft_cap_bytes",
        help: "Above this size of raw/ analyzed sessions are given up, the least recently active first.",
        example: "\"4GiB\"",
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

/// Keys of the seeds' configurations that are accepted and have no effect here.
const SEED_KEYS: &[(&str, &str)] = &[
    ("archive_root", "set `root` instead"),
    ("curate.decision_queue", "decisions wait in patterns/decisions.queue.jsonl of the store"),
    ("curate.review_log", "decisions are kept in patterns/review_log.jsonl of the store"),
    ("derived_interval_seconds", "derived data is made when a session goes quiet"),
    ("store.*", "the store's place is `root`, its schedule `cadence`"),
    ("sync_interval_seconds", "set `cadence` instead"),
    ("sync_on_login", "it never did anything"),
];

/// Checks every key of a file. Returns notes on the accepted keys that have no effect.
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
                    if let Some((_, why)) = seed_key(&full) {
                        notes.push(format!("{}: `{full}` has no effect here: {why}", path.display()));
                        continue;
                    }
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

/// Longest part of a key that is shown, in characters. The longest known key has 40.
const SHOWN_CHARS: usize = 100;

/// A key as a message shows it.
pub(super) fn shown(key: &str) -> String {
    match key.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", key.get(..end).unwrap_or_default()),
        None => key.to_owned(),
    }
}

fn unknown(path: &Path, key: &str) -> ConfigError {
    let key = &*shown(key);
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
    let key = &*shown(key);
    let hint = nearest(key, THRESHOLDS.iter().copied());
    let hint = hint.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    ConfigError::UnknownKey { path: path.to_owned(), key: key.to_owned(), hint }
}

pub(super) fn unknown_agent(path: &Path, name: &str) -> ConfigError {
    let name = &*shown(name);
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
