//! The configuration: one TOML file, overridden by environment and flags, with
//! the origin of each value remembered.
//!
//! Which file: `--config`, else `RETRO_CONFIG`, else `<root>/config.toml`, else
//! `retro/config.toml` in the platform's configuration folder. The root itself
//! cannot come from a file inside the root.

mod detect;
mod embedding;
mod file;
mod insight;
mod keys;
mod memory;
mod prices;
mod put;
mod retention;

use retro_agents::by_name;
use retro_insight::{OwnSignal, Thresholds};
use retro_usage::{Billing, PriceRow};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

use crate::World;
pub use crate::error::ConfigError;
use crate::platform::expand_home;
pub use detect::{Curate, Detect};
pub use embedding::{Embedding, set_embedding};
use file::{minutes, read, read_if_there, read_in_store, text, texts, wrong};
pub use keys::{KEYS, Key};
pub use memory::Mining;
pub use prices::{PriceChange, remove_price, set_price};
pub use put::put;
pub use retention::{Retention, size};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The command line.
    Flag,
    /// This environment variable.
    Env(&'static str),
    /// A configuration file at this path.
    File(PathBuf),
    /// The built-in default.
    Default,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Flag => f.write_str("flag"),
            Origin::Env(name) => write!(f, "environment ({name})"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// A setting and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value in force.
    pub value: T,
    /// The place that set it.
    pub origin: Origin,
}

impl<T> Setting<T> {
    fn default(value: T) -> Self {
        Setting { value, origin: Origin::Default }
    }
}

/// Everything that can be set.
#[derive(Debug, Clone)]
pub struct Config {
    /// The folder of the store.
    pub root: Setting<PathBuf>,
    /// The file that was read, if any.
    pub file: Option<PathBuf>,
    /// How often a scheduler should run `retro sync`, in minutes.
    pub cadence_minutes: Setting<u32>,
    /// Further roots per agent.
    pub sources: Setting<BTreeMap<String, Vec<PathBuf>>>,
    /// Repository name to domain label.
    pub domains: Setting<BTreeMap<String, String>>,
    /// Projects whose sessions are not captured.
    pub exclude_projects: Setting<Vec<String>>,
    /// Folders whose sessions are not captured.
    pub exclude_paths: Setting<Vec<PathBuf>>,
    /// Patterns on working directory and log path; a match is not captured.
    pub exclude_regex: Setting<Vec<String>>,
    /// Whether file histories and paste caches are captured too.
    pub extras: Setting<bool>,
    /// The folder of the dashboard. `None` puts it beside the default store.
    pub dashboard_dir: Setting<Option<PathBuf>>,
    /// Whether a sync keeps an existing dashboard current.
    pub dashboard_keep: Setting<bool>,
    /// Whether git is asked about the repositories of sessions.
    pub facts_git: Setting<bool>,
    /// How the user pays.
    pub billing: Setting<Billing>,
    /// The model that turns text into vectors.
    pub embedding: Setting<Embedding>,
    /// The user's own prices.
    pub prices: Setting<Vec<PriceRow>>,
    /// What makes a session real work, and signals of the user's own.
    pub insight: Setting<Insight>,
    /// Settings of automatic mining and of memories.
    pub mining: Setting<Mining>,
    /// How much room raw bytes may take.
    pub retention: Setting<Retention>,
    /// Settings of the pattern detectors.
    pub detect: Setting<Detect>,
    /// Settings of the catalog of patterns.
    pub curate: Setting<Curate>,
    /// Keys that were accepted and do nothing here, with the reason.
    pub notes: Vec<String>,
}

/// Settings of digests.
#[derive(Debug, Clone, Default)]
pub struct Insight {
    /// What makes a session real work.
    pub thresholds: Thresholds,
    /// Signals of the user's own.
    pub own: Vec<OwnSignal>,
    /// The text of both. A change of it makes digests again.
    pub text: String,
}

/// Settings given on the command line.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--root`.
    pub root: Option<PathBuf>,
    /// `--config`.
    pub config: Option<PathBuf>,
}

impl Config {
    /// Reads the configuration in force.
    pub fn load(world: &World, overrides: &Overrides) -> Result<Config, ConfigError> {
        let env = |name: &str| (world.own_env)(name).filter(|value| !value.is_empty());
        let named = overrides.config.clone().or_else(|| env("RETRO_CONFIG").map(PathBuf::from));
        let outside = match &named {
            Some(path) => Some((path.clone(), read(path)?)),
            None => read_if_there(&platform_file(world))?,
        };
        let root = match (&overrides.root, env("RETRO_ROOT")) {
            (Some(root), _) => Setting { value: root.clone(), origin: Origin::Flag },
            (None, Some(root)) => {
                Setting { value: expand_home(&root, &world.own_home), origin: Origin::Env("RETRO_ROOT") }
            }
            (None, None) => match &outside {
                Some((path, table)) if table.contains_key("root") => Setting {
                    value: text(path, table, "root").map(|root| expand_home(root, &world.own_home))?,
                    origin: Origin::File(path.clone()),
                },
                _ => Setting::default(default_root(world)),
            },
        };
        let chosen = match named {
            Some(_) => outside,
            None => read_in_store(&root.value.join("config.toml"))?.or(outside),
        };
        let mut config = Config::bare(root);
        if let Some((path, table)) = chosen {
            config.take(&path, &table, world)?;
            config.file = Some(path);
        }
        Ok(config)
    }

    /// A configuration of defaults for a store at `root`, for programs that embed us.
    pub fn for_root(root: impl Into<PathBuf>) -> Config {
        Config::bare(Setting { value: root.into(), origin: Origin::Flag })
    }

    fn bare(root: Setting<PathBuf>) -> Config {
        Config {
            root,
            file: None,
            cadence_minutes: Setting::default(15),
            sources: Setting::default(BTreeMap::new()),
            domains: Setting::default(BTreeMap::new()),
            exclude_projects: Setting::default(Vec::new()),
            exclude_paths: Setting::default(Vec::new()),
            exclude_regex: Setting::default(Vec::new()),
            extras: Setting::default(false),
            dashboard_dir: Setting::default(None),
            dashboard_keep: Setting::default(false),
            facts_git: Setting::default(true),
            billing: Setting::default(Billing::default()),
            embedding: Setting::default(Embedding::default()),
            prices: Setting::default(Vec::new()),
            insight: Setting::default(Insight::default()),
            mining: Setting::default(Mining::default()),
            retention: Setting::default(Retention::default()),
            detect: Setting::default(Detect::default()),
            curate: Setting::default(Curate::default()),
            notes: Vec::new(),
        }
    }

    fn take(&mut self, path: &Path, table: &Table, world: &World) -> Result<(), ConfigError> {
        self.notes = keys::check(path, table)?;
        let origin = || Origin::File(path.to_owned());
        if table.contains_key("cadence") {
            let cadence = text(path, table, "cadence")?;
            let minutes = minutes(cadence).ok_or_else(|| {
                wrong(path, "cadence", "a time of at least a minute such as \"15m\" or \"6h\"")
            })?;
            self.cadence_minutes = Setting { value: minutes, origin: origin() };
        }
        if table.contains_key("billing") {
            let value = Billing::named(text(path, table, "billing")?);
            let value = value.ok_or_else(|| wrong(path, "billing", "\"plan\" or \"api\""))?;
            self.billing = Setting { value, origin: origin() };
        }
        if table.contains_key("dashboard_dir") {
            let folder = expand_home(text(path, table, "dashboard_dir")?, &world.own_home);
            self.dashboard_dir = Setting { value: Some(folder), origin: origin() };
        }
        if let Some(value) = table.get("dashboard").and_then(|section| section.get("keep")) {
            let value = value.as_bool().ok_or_else(|| wrong(path, "dashboard.keep", "true or false"))?;
            self.dashboard_keep = Setting { value, origin: origin() };
        }
        if let Some(value) = table.get("embedding").and_then(Value::as_table) {
            self.embedding = Setting { value: embedding::read(path, value, world)?, origin: origin() };
        }
        if table.contains_key("mine") || table.contains_key("memory") {
            self.mining = Setting { value: memory::read(path, table)?, origin: origin() };
        }
        if let Some(value) = table.get("retention").and_then(Value::as_table) {
            self.retention = Setting { value: retention::read(path, value)?, origin: origin() };
        }
        if let Some(value) = table.get("prices") {
            self.prices = Setting { value: prices::read(path, value)?, origin: origin() };
        }
        if let Some(section) = table.get("detect").and_then(Value::as_table) {
            self.detect = Setting { value: detect::detect(path, section)?, origin: origin() };
        }
        if let Some(section) = table.get("curate").and_then(Value::as_table) {
            self.curate = Setting { value: detect::curate(path, section, world)?, origin: origin() };
        }
        let quality = table.get("detect").and_then(|detect| detect.get("quality"));
        if quality.is_some() || table.contains_key("signals") {
            let mut value = Insight::default();
            if let Some(quality) = quality {
                let section = quality
                    .as_table()
                    .ok_or_else(|| wrong(path, "detect.quality", "a section, written [detect.quality]"))?;
                value.thresholds = insight::thresholds(path, section)?;
                value.text.push_str(&quality.to_string());
            }
            if let Some(signals) = table.get("signals") {
                value.own = insight::signals(path, signals)?;
                value.text.push_str(&signals.to_string());
            }
            self.insight = Setting { value, origin: origin() };
        }
        if let Some(value) = table.get("facts").and_then(|facts| facts.get("git")) {
            let value = value.as_bool().ok_or_else(|| wrong(path, "facts.git", "true or false"))?;
            self.facts_git = Setting { value, origin: origin() };
        }
        if let Some(sources) = table.get("sources").and_then(Value::as_table) {
            let mut roots = BTreeMap::new();
            for (name, value) in sources {
                let key = format!("sources.{name}");
                let agent = by_name(name).ok_or_else(|| keys::unknown_agent(path, name))?;
                let list = texts(path, &key, value)?;
                let list = list.iter().map(|root| expand_home(root, &world.own_home)).collect();
                roots.insert(agent.name().to_owned(), list);
            }
            self.sources = Setting { value: roots, origin: origin() };
        }
        if let Some(domains) = table.get("domains").and_then(Value::as_table) {
            let mut labels = BTreeMap::new();
            for (repository, label) in domains {
                let key = format!("domains.{repository}");
                let label = label.as_str().ok_or_else(|| wrong(path, &key, "a text"))?;
                labels.insert(repository.clone(), label.to_owned());
            }
            self.domains = Setting { value: labels, origin: origin() };
        }
        if let Some(capture) = table.get("capture").and_then(Value::as_table) {
            if let Some(value) = capture.get("exclude_projects") {
                let value = texts(path, "capture.exclude_projects", value)?;
                self.exclude_projects = Setting { value, origin: origin() };
            }
            if let Some(value) = capture.get("exclude_paths") {
                let value = texts(path, "capture.exclude_paths", value)?;
                let value = value.iter().map(|folder| expand_home(folder, &world.own_home)).collect();
                self.exclude_paths = Setting { value, origin: origin() };
            }
            if let Some(value) = capture.get("exclude_regex") {
                let value = texts(path, "capture.exclude_regex", value)?;
                if let Some(bad) = value.iter().find(|pattern| regex::Regex::new(pattern).is_err()) {
                    let expected = format!("a list of regular expressions; {bad:?} is none");
                    return Err(wrong(path, "capture.exclude_regex", &expected));
                }
                self.exclude_regex = Setting { value, origin: origin() };
            }
            if let Some(value) = capture.get("extras") {
                let value = value.as_bool().ok_or_else(|| wrong(path, "capture.extras", "true or false"))?;
                self.extras = Setting { value, origin: origin() };
            }
        }
        Ok(())
    }

    /// The domain label of a project, if one was set.
    pub fn domain(&self, project: &str) -> Option<&str> {
        self.domains.value.get(project).map(String::as_str)
    }
}

/// Where the store is if no setting names a place.
pub fn default_root(world: &World) -> PathBuf {
    world.platform.data_dir(&world.own_home, &*world.own_env).join("retro").join("store")
}

/// The configuration file outside the root.
pub fn platform_file(world: &World) -> PathBuf {
    world.platform.config_dir(&world.own_home, &*world.own_env).join("retro").join("config.toml")
}

#[cfg(test)]
mod tests;
