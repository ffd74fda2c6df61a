//! The prices in force: the built-in table, the prices imported over it, and the user's own rows
//! from the configuration.
//!
//! An import may hold thousands of rows, so it has its own file, `prices.json` beside the
//! configuration file. The few prices that a user sets by hand are in the configuration itself,
//! where people look for them.

use jiff::civil::Date;
use retro_agents::open_regular;
use retro_usage::{PriceRow, Prices};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::config::{self, platform_file};
use crate::{Config, Error, World};

const SCHEMA: &str = "retro.prices/1";

/// Largest file of prices that is read. A table of all prices on the market has a few million
/// bytes.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The file of imported prices.
#[derive(Serialize, Deserialize)]
struct Kept {
    schema: String,
    /// Day of the newest imported figures.
    snapshot: Date,
    rows: Vec<PriceRow>,
}

/// The path of the file of imported prices, beside the configuration file.
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

/// The prices without the user's own rows. An import is applied to these.
pub fn without_own(world: &World, config: &Config) -> Result<Prices, Error> {
    let path = file(world, config);
    let prices = Prices::embedded().map_err(unusable(&path))?;
    // A file beside a configuration in a store belongs to the store, which may come from another
    // person.
    let is_link = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink());
    if is_link && path.starts_with(&config.root.value) {
        let source = io::Error::other("it is a link, and retro follows none inside a store");
        return Err(Error::Read { path, source });
    }
    let mut text = String::new();
    // A pipe would block us, and a device would never end.
    match open_regular(&path).and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(prices),
        Err(source) => return Err(Error::Read { path, source }),
    }
    let kept: Kept = serde_json::from_str(&text).map_err(unusable(&path))?;
    prices.with_imported(kept.rows).map_err(unusable(&path))
}

/// Stores imported rows, replacing those of earlier imports.
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
