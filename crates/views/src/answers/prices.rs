//! Answers about prices.

use retro_usage::{Import, Layer, PriceRow, Prices};
use serde::Serialize;

use super::Schema;

/// The table of prices.
#[derive(Debug, Serialize)]
pub struct PriceTable<'a> {
    /// The newest day of its figures.
    pub snapshot: String,
    /// What a figure means.
    pub unit: &'a str,
    /// Its rows.
    pub rows: Vec<&'a PriceRow>,
}

impl Schema for PriceTable<'_> {
    const NAME: &'static str = "retro.pricing/1";
}

impl<'a> From<&'a Prices> for PriceTable<'a> {
    fn from(prices: &'a Prices) -> PriceTable<'a> {
        PriceTable {
            snapshot: prices.snapshot.to_string(),
            unit: &prices.unit,
            rows: prices.rows().collect(),
        }
    }
}

/// The price of a model, and why it is that one.
#[derive(Debug, Serialize)]
pub struct ModelPrice<'a> {
    /// What was asked for.
    pub asked: &'a str,
    /// Where the row is from.
    pub layer: Layer,
    /// In a sentence.
    pub why: &'a str,
    /// The row.
    pub row: &'a PriceRow,
    /// The row of the program that it replaces.
    pub instead_of: Option<&'a PriceRow>,
}

impl Schema for ModelPrice<'_> {
    const NAME: &'static str = "retro.price/1";
}

/// A price was set or removed.
#[derive(Debug, Clone, Serialize)]
pub struct PriceSet<'a> {
    /// The model.
    pub model: &'a str,
    /// What was done.
    pub done: &'static str,
    /// The file of settings.
    pub file: String,
}

impl Schema for PriceSet<'_> {
    const NAME: &'static str = "retro.pricing.set/1";
}

/// Prices were taken from a table of another project.
#[derive(Debug, Serialize)]
pub struct PricesImported<'a> {
    /// The day of the figures.
    pub snapshot: String,
    /// Whether they were kept.
    pub written: bool,
    /// The file.
    pub file: String,
    /// What changed, and how many of each.
    #[serde(flatten)]
    pub import: PriceChanges<'a>,
}

/// What an import of prices changes.
#[derive(Debug, Serialize)]
pub struct PriceChanges<'a> {
    changes: &'a [retro_usage::Change],
    tally: &'a retro_usage::Tally,
}

impl<'a> From<&'a Import> for PriceChanges<'a> {
    fn from(import: &'a Import) -> PriceChanges<'a> {
        PriceChanges { changes: &import.changes, tally: &import.tally }
    }
}

impl Schema for PricesImported<'_> {
    const NAME: &'static str = "retro.pricing.import/1";
}
