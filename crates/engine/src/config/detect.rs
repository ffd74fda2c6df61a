//! Settings of the detectors of patterns and of the catalog.

use retro_patterns::{Buckets, Gate};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

use super::keys::nearest;
use super::{ConfigError, texts, wrong};
use crate::World;
use crate::platform::expand_home;

/// Settings of detectors.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Detect {
    /// Projects that are left out.
    pub exclude: Vec<String>,
    /// Tools that belong together.
    pub buckets: Buckets,
}

/// Settings of the catalog.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curate {
    /// The folder of the catalog. `None` uses the store's own.
    pub catalog_dir: Option<PathBuf>,
    /// The command that gets decisions.
    pub sink: Vec<String>,
    /// Thresholds that a candidate must reach.
    pub gate: Gate,
}

/// Reads `[detect]`, except `quality`.
pub(super) fn detect(path: &Path, section: &Table) -> Result<Detect, ConfigError> {
    let mut detect = Detect::default();
    if let Some(value) = section.get("exclude") {
        detect.exclude = texts(path, "detect.exclude", value)?;
    }
    if let Some(value) = section.get("buckets") {
        let table = value.as_table().ok_or_else(|| {
            wrong(path, "detect.buckets", "a section of lists of tools, written [detect.buckets]")
        })?;
        let mut own = BTreeMap::new();
        for (name, value) in table {
            own.insert(name.clone(), texts(path, &format!("detect.buckets.{name}"), value)?);
        }
        detect.buckets = Buckets::with(own);
    }
    Ok(detect)
}

/// Reads `[curate]`.
pub(super) fn curate(path: &Path, section: &Table, world: &World) -> Result<Curate, ConfigError> {
    let mut curate = Curate::default();
    if let Some(value) = section.get("catalog_dir") {
        let folder = value.as_str().ok_or_else(|| wrong(path, "curate.catalog_dir", "a folder"))?;
        curate.catalog_dir = Some(expand_home(folder, &world.own_home));
    }
    if let Some(value) = section.get("sink") {
        curate.sink = texts(path, "curate.sink", value)?;
    }
    if let Some(value) = section.get("gate") {
        let table =
            value.as_table().ok_or_else(|| wrong(path, "curate.gate", "a section, written [curate.gate]"))?;
        curate.gate = gate(path, table)?;
    }
    Ok(curate)
}

/// Keys of `[curate.gate]`.
const GATE: &[&str] = &[
    "curate.gate.dist_min_cost_impact",
    "curate.gate.dist_min_frequency",
    "curate.gate.dist_require_cross_flavor",
    "curate.gate.min_cost_impact",
    "curate.gate.min_frequency",
    "curate.gate.min_sessions",
];

fn gate(path: &Path, table: &Table) -> Result<Gate, ConfigError> {
    let mut gate = Gate::default();
    for (name, value) in table {
        let key = format!("curate.gate.{name}");
        let count = || {
            let count = value.as_integer().and_then(|count| u32::try_from(count).ok());
            count.ok_or_else(|| wrong(path, &key, "a number from 0 on"))
        };
        let dollars = || {
            let dollars = value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64));
            let dollars = dollars.filter(|dollars| dollars.is_finite() && *dollars >= 0.0);
            dollars.ok_or_else(|| wrong(path, &key, "an amount of dollars from 0 on"))
        };
        match name.as_str() {
            "min_frequency" => gate.min_frequency = count()?,
            "min_sessions" => gate.min_sessions = count()?,
            "min_cost_impact" => gate.min_cost_impact = dollars()?,
            "dist_min_frequency" => gate.dist_min_frequency = count()?,
            "dist_min_cost_impact" => gate.dist_min_cost_impact = dollars()?,
            "dist_require_cross_flavor" => {
                gate.dist_require_cross_flavor =
                    Value::as_bool(value).ok_or_else(|| wrong(path, &key, "true or false"))?;
            }
            _ => {
                let hint = nearest(&key, GATE.iter().copied());
                let hint = hint.map_or(String::new(), |name| format!("; did you mean `{name}`?"));
                return Err(ConfigError::UnknownKey { path: path.to_owned(), key, hint });
            }
        }
    }
    Ok(gate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_key_of_the_gate_is_named() {
        let table: Table = "min_frequenzy = 3".parse().unwrap();
        let error = gate(Path::new("c.toml"), &table).unwrap_err().to_string();
        assert!(error.contains("did you mean `curate.gate.min_frequency`"), "{error}");
        let table: Table = "min_frequency = 4\nmin_cost_impact = 1".parse().unwrap();
        let read = gate(Path::new("c.toml"), &table).unwrap();
        assert_eq!((read.min_frequency, read.min_cost_impact), (4, 1.0));
    }
}
