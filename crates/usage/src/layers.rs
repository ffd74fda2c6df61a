//! Three layers of prices: the built-in table, imported rows over it, and the user's own rows,
//! which override both.
//!
//! Of a built-in and an imported figure for the same model and provider, the newer one counts, so
//! that an old import does not hide newer built-in prices.

use serde::Serialize;
use std::collections::BTreeSet;

use crate::UsageError;
use crate::table::{PriceRow, Prices, RowName, check, check_own, order};

/// The origin of a price row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Part of the program.
    BuiltIn,
    /// Imported by the user from a published table.
    Imported,
    /// The user's own, from the configuration.
    Override,
}

fn name(row: &PriceRow) -> RowName {
    (row.model.clone(), row.provider.clone(), row.from)
}

impl Prices {
    /// The same table with imported rows over it, except those for which it has newer figures.
    pub fn with_imported(mut self, rows: Vec<PriceRow>) -> Result<Prices, UsageError> {
        let is_newer = |known: &PriceRow, row: &PriceRow| {
            known.model == row.model && known.provider == row.provider && known.date > row.date
        };
        let fresh: Vec<PriceRow> =
            rows.into_iter().filter(|row| !self.rows.iter().any(|known| is_newer(known, row))).collect();
        let names: BTreeSet<RowName> = fresh.iter().map(name).collect();
        self.rows.retain(|known| !names.contains(&name(known)));
        for row in &fresh {
            self.snapshot = self.snapshot.max(row.date);
        }
        self.rows.extend(fresh);
        self.rows.sort_by(|a, b| order(a).cmp(&order(b)));
        check(&self.rows)?;
        self.imported.extend(names);
        Ok(self)
    }

    /// The same table with the user's own rows before all others.
    pub fn with_overrides(mut self, mut overrides: Vec<PriceRow>) -> Result<Prices, UsageError> {
        for row in &mut overrides {
            row.model = row.model.to_lowercase();
        }
        overrides.sort_by(|a, b| order(a).cmp(&order(b)));
        check_own(&overrides)?;
        self.overrides = overrides;
        Ok(self)
    }

    /// The layer of a row in this table.
    pub fn layer(&self, row: &PriceRow) -> Layer {
        if self.overrides.iter().any(|own| std::ptr::eq(own, row)) {
            Layer::Override
        } else if self.imported.contains(&name(row)) {
            Layer::Imported
        } else {
            Layer::BuiltIn
        }
    }

    /// The imported rows, for storage.
    pub fn imported_rows(&self) -> impl Iterator<Item = &PriceRow> {
        self.rows.iter().filter(|row| self.imported.contains(&name(row)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Rates;
    use jiff::civil::{Date, date};
    use std::collections::BTreeMap;

    fn row(model: &str, provider: &str, seen: Date, from: Option<Date>, input: u64) -> PriceRow {
        PriceRow {
            model: model.into(),
            provider: provider.into(),
            from,
            source: "test".into(),
            date: seen,
            note: None,
            rates: Rates { input, output: input, ..Rates::default() },
            above: Vec::new(),
            tiers: BTreeMap::new(),
            multipliers: BTreeMap::new(),
            peak: None,
            web_search: None,
        }
    }

    fn found(prices: &Prices, model: &str, at: &str) -> Option<(u64, Layer)> {
        let ts = retro_model::Timestamp::parse(at);
        let found = prices.resolve(model, None, ts)?;
        Some((found.row.rates.input, prices.layer(found.row)))
    }

    #[test]
    fn an_override_beats_an_import_beats_the_program() {
        let day = date(2027, 1, 1);
        let prices = Prices::embedded().unwrap();
        assert_eq!(found(&prices, "gpt-5", "2027-02-01T00:00:00Z"), Some((1_250_000, Layer::BuiltIn)));
        let prices = prices.with_imported(vec![row("gpt-5", "openai", day, Some(day), 7)]).unwrap();
        assert_eq!(found(&prices, "gpt-5", "2027-02-01T00:00:00Z"), Some((7, Layer::Imported)));
        assert_eq!(found(&prices, "gpt-5", "2026-02-01T00:00:00Z"), Some((1_250_000, Layer::BuiltIn)));
        assert_eq!(prices.imported_rows().count(), 1);
        let prices = prices.with_overrides(vec![row("gpt-5", "*", day, None, 9)]).unwrap();
        assert_eq!(found(&prices, "gpt-5", "2027-02-01T00:00:00Z"), Some((9, Layer::Override)));
    }

    #[test]
    fn before_its_first_day_an_override_gives_way() {
        let day = date(2027, 1, 1);
        let own = vec![row("gpt-5", "*", day, Some(day), 9), row("mine", "*", day, Some(day), 3)];
        let prices = Prices::embedded().unwrap().with_overrides(own).unwrap();
        assert_eq!(found(&prices, "gpt-5", "2026-12-31T00:00:00Z"), Some((1_250_000, Layer::BuiltIn)));
        assert_eq!(found(&prices, "gpt-5", "2027-01-01T00:00:00Z"), Some((9, Layer::Override)));
        assert_eq!(found(&prices, "mine", "2026-12-31T00:00:00Z"), None);
        assert_eq!(found(&prices, "mine", "2027-01-01T00:00:00Z"), Some((3, Layer::Override)));
    }

    #[test]
    fn an_old_import_does_not_hide_what_a_newer_program_knows() {
        let old = date(2020, 1, 1);
        let rows = vec![row("gpt-5", "openai", old, Some(old), 7), row("brand-new", "openai", old, None, 8)];
        let prices = Prices::embedded().unwrap().with_imported(rows).unwrap();
        assert_eq!(found(&prices, "gpt-5", "2027-02-01T00:00:00Z"), Some((1_250_000, Layer::BuiltIn)));
        assert_eq!(found(&prices, "brand-new", "2027-02-01T00:00:00Z"), Some((8, Layer::Imported)));
        assert_eq!(prices.snapshot, Prices::embedded().unwrap().snapshot);
    }

    #[test]
    fn a_users_own_price_may_be_nothing() {
        let day = date(2027, 1, 1);
        let free = row("local", "*", day, None, 0);
        assert!(Prices::embedded().unwrap().with_overrides(vec![free.clone()]).is_ok());
        let sold = PriceRow { provider: "openai".into(), ..free };
        assert!(Prices::embedded().unwrap().with_imported(vec![sold]).is_err());
    }
}
