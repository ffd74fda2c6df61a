//! The prices in force: the table in the program, what was imported over it, and
//! the user's own rows from the configuration.
//!
//! An import may hold thousands of rows, so it is kept in a file of its own,
//! `prices.json` beside the configuration file; the few prices a user sets by hand
//! stand in the configuration itself, where a person looks for them.

use jiff::civil::Date;
use retro_usage::{PriceRow, Prices};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use crate::config::{self, platform_file};
use crate::{Config, Error, World};

const SCHEMA: &str = "retro.prices/1";

/// The file of imported prices.
#[derive(Serialize, Deserialize)]
struct Kept {
    schema: String,
    /// Day of the newest imported figures.
    snapshot: Date,
    rows: Vec<PriceRow>,
}

/// Where imported prices are kept: beside the configuration file.
pub fn file(world: &World, config: &Config) -> PathBuf {
    let config = config.file.clone().unwrap_or_else(|| platform_file(world));
    config.with_file_name("prices.json")
}

/// The prices in force.
pub fn load(world: &World, config: &Config) -> Result<Prices, Error> {
    let own = config.prices.value.clone();
    let place = config.file.clone().unwrap_or_default();
    without_own(world, config)?.with_overrides(own).map_err(unusable(&place))
}

/// The same without the user's own rows: what an import is laid over.
pub fn without_own(world: &World, config: &Config) -> Result<Prices, Error> {
    let path = file(world, config);
    let prices = Prices::embedded().map_err(unusable(&path))?;
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(prices),
        Err(source) => return Err(Error::Read { path, source }),
    };
    let kept: Kept = serde_json::from_str(&text).map_err(unusable(&path))?;
    prices.with_imported(kept.rows).map_err(unusable(&path))
}

/// Keeps imported rows in the place of those that were kept before.
pub fn keep(path: &Path, prices: &Prices) -> Result<(), Error> {
    let rows: Vec<&PriceRow> = prices.imported_rows().collect();
    let lines: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
    let lines = lines.map_err(unusable(path))?.join(",\n  ");
    let snapshot = rows.iter().map(|row| row.date).max().unwrap_or(prices.snapshot);
    let text = format!("{{\"schema\":\"{SCHEMA}\",\"snapshot\":\"{snapshot}\",\"rows\":[\n  {lines}\n]}}\n");
    config::put(path, text.as_bytes()).map_err(|source| Error::Write { path: path.to_owned(), source })
}

fn unusable<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> Error {
    let path = path.to_owned();
    move |error| Error::Prices { path: path.clone(), what: error.to_string() }
}

#[cfg(test)]
mod tests;
