//! Results of commands on prices.

use retro_usage::{Import, Layer, PriceRow, Prices};
use serde::Serialize;

use super::Schema;

/// The price table.
#[derive(Debug, Serialize)]
pub struct PriceTable<'a> {
    /// The most recent day of its prices.
    pub snapshot: String,
    /// The unit of its prices.
    pub unit: &'a str,
    /// The table's rows.
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

/// The price of a model, and why that price applies.
#[derive(Debug, Serialize)]
pub struct ModelPrice<'a> {
    /// The model that was asked for.
    pub asked: &'a str,
    /// The origin of the row.
    pub layer: Layer,
    /// The reason, in a sentence.
    pub why: &'a str,
    /// The row that applies.
    pub row: &'a PriceRow,
    /// The built-in row that it overrides, if any.
    pub instead_of: Option<&'a PriceRow>,
}

impl Schema for ModelPrice<'_> {
    const NAME: &'static str = "retro.price/1";
}

/// The result of setting or removing a price.
#[derive(Debug, Clone, Serialize)]
pub struct PriceSet<'a> {
    /// The model's name.
    pub model: &'a str,
    /// The action: set or removed.
    pub done: &'static str,
    /// The settings file.
    pub file: String,
}

impl Schema for PriceSet<'_> {
    const NAME: &'static str = "retro.pricing.set/1";
}

/// The result of importing another project's price table.
#[derive(Debug, Serialize)]
pub struct PricesImported<'a> {
    /// The day of the imported prices.
    pub snapshot: String,
    /// True if they were written.
    pub written: bool,
    /// The file with the imported prices.
    pub file: String,
    /// The changes, and the number of each kind.
    #[serde(flatten)]
    pub import: PriceChanges<'a>,
}

/// The changes that an import makes to the prices.
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
