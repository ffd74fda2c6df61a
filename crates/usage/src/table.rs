//! The price table: the price of a token, by provider and date.
//!
//! The table is data (`prices.json`), one row per line, each with the source and the date of its
//! figures. Prices are integers in trillionths of a dollar per token, the same as millionths of a
//! dollar per million tokens: the smallest unit in which every published figure is an integer.
//! [`crate::names`] finds the row for a name in a log.
//!
//! Rows are never deleted when a model is retired: old logs stay priced.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use xxhash_rust::xxh3::Xxh3;

use crate::UsageError;

/// The key of an imported row.
pub(crate) type RowName = (String, String, Option<jiff::civil::Date>);

/// Prices by kind of token, in trillionths of a dollar per token. A missing price is unknown, not
/// free. [`crate::cost`] describes the fallbacks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rates {
    /// Input without the cached part.
    pub input: u64,
    /// Output, including reasoning unless that has its own price.
    pub output: u64,
    /// Cache writes that last five minutes, or the only kind of cache writes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_write_5m: Option<u64>,
    /// Cache writes that last one hour.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_write_1h: Option<u64>,
    /// Input that was read from a cache.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_read: Option<u64>,
    /// Reasoning, only if its price differs from that of output.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reasoning: Option<u64>,
}

/// Prices of a request whose whole prompt, cached part included, is longer than `tokens`. They
/// apply to the whole request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The threshold in tokens.
    pub tokens: u64,
    /// Prices above it.
    #[serde(flatten)]
    pub rates: Rates,
}

/// Prices of a service tier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    /// Prices of standard prompts in this tier.
    #[serde(flatten)]
    pub rates: Rates,
    /// Prices of long prompts in this tier.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub above: Vec<Step>,
}

/// Hours of the day with higher prices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Peak {
    /// Ranges of hours in UTC, without the last hour.
    pub hours_utc: Vec<(i8, i8)>,
    /// Factor in thousandths.
    pub multiplier: u32,
}

/// The prices of one model at one provider, since one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceRow {
    /// Name of the model without provider or date, in lower case.
    pub model: String,
    /// The provider that sells it at this price. `*` in a user's own row means any provider.
    pub provider: String,
    /// First day of the price. `None`: valid from the beginning.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub from: Option<Date>,
    /// Where the figures come from.
    pub source: String,
    /// When they were seen there.
    pub date: Date,
    /// A note for people who read the table.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub note: Option<String>,
    /// Prices of a standard request.
    #[serde(flatten)]
    pub rates: Rates,
    /// Prices of long prompts, with ascending thresholds.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub above: Vec<Step>,
    /// Prices of other service tiers, by name: `batch`, `flex`, `priority`, …
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub tiers: BTreeMap<String, Tier>,
    /// Factors in thousandths, by name: `fast`, `us`, and for hosts `regional` and `gov`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub multipliers: BTreeMap<String, u32>,
    /// Hours of the day with higher prices.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub peak: Option<Peak>,
    /// Price of a web search that the provider makes, in billionths of a dollar.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub web_search: Option<u64>,
}

/// A price table: rows, and the names of models in logs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prices {
    /// Day of the newest figures. A response without a time is priced as of this day.
    pub snapshot: Date,
    /// The unit of the numbers, for people.
    pub unit: String,
    /// Other names of models.
    pub(crate) aliases: BTreeMap<String, String>,
    /// Other names of providers.
    pub(crate) providers: BTreeMap<String, String>,
    /// Hosts that sell other makers' models, and the makers whose own price each host charges. A
    /// provider that is not listed charges every maker's price.
    pub(crate) hosts: BTreeMap<String, Vec<String>>,
    /// Names that intentionally have no price, and why.
    pub(crate) unpriced: BTreeMap<String, String>,
    /// Sorted by model, provider, first day.
    pub(crate) rows: Vec<PriceRow>,
    /// The user's own rows, which precede all others.
    #[serde(skip)]
    pub(crate) overrides: Vec<PriceRow>,
    /// Which of `rows` were imported by the user.
    #[serde(skip)]
    pub(crate) imported: BTreeSet<RowName>,
}

/// Marks a user's row that holds for every provider.
pub(crate) const ANY_PROVIDER: &str = "*";

impl Prices {
    /// The built-in table.
    pub fn embedded() -> Result<Prices, UsageError> {
        Prices::parse(include_str!("prices.json"))
    }

    /// Parses and checks a table.
    pub fn parse(text: &str) -> Result<Prices, UsageError> {
        let prices: Prices = serde_json::from_str(text)?;
        check(&prices.rows)?;
        prices.check_makers()?;
        Ok(prices)
    }

    /// The table as JSON, one row per line, as [`Prices::parse`] reads it. The user's own rows are
    /// not included.
    pub fn to_json(&self) -> Result<String, UsageError> {
        let mut whole = serde_json::to_value(self)?;
        let rows: Result<Vec<String>, _> = self.rows.iter().map(serde_json::to_string).collect();
        if let Some(fields) = whole.as_object_mut() {
            fields.remove("rows");
        }
        let head = serde_json::to_string_pretty(&whole)?;
        let head = head.trim_end().trim_end_matches('}').trim_end();
        Ok(format!("{head},\n  \"rows\": [\n    {}\n  ]\n}}\n", rows?.join(",\n    ")))
    }

    /// A hash that is equal only if every price is.
    pub fn fingerprint(&self) -> Result<u64, UsageError> {
        let mut hash = Xxh3::new();
        hash.update(&serde_json::to_vec(self)?);
        hash.update(&serde_json::to_vec(&self.overrides)?);
        Ok(hash.digest())
    }

    /// Every row, the user's own first.
    pub fn rows(&self) -> impl Iterator<Item = &PriceRow> {
        self.overrides.iter().chain(&self.rows)
    }

    /// The reason why a name intentionally has no price.
    pub fn unpriced_reason(&self, model: &str) -> Option<&str> {
        self.unpriced.get(&model.to_lowercase()).map(String::as_str)
    }

    /// Checks that no name has two prices: apart from hosts, one provider sells it.
    fn check_makers(&self) -> Result<(), UsageError> {
        let mut makers: BTreeMap<&str, &str> = BTreeMap::new();
        for row in self.rows.iter().filter(|row| !self.hosts.contains_key(&row.provider)) {
            let maker = makers.entry(&row.model).or_insert(&row.provider);
            if *maker != row.provider {
                return Err(bad(row, format!("stands beside one at {maker:?}, and neither is a host")));
            }
        }
        Ok(())
    }
}

pub(crate) fn order(row: &PriceRow) -> (&str, &str, Option<Date>) {
    (&row.model, &row.provider, row.from)
}

fn bad(row: &PriceRow, problem: impl Into<String>) -> UsageError {
    UsageError::Row { model: row.model.clone(), provider: row.provider.clone(), problem: problem.into() }
}

/// Checks that rows are sorted and unique, and that all figures are possible.
pub(crate) fn check(rows: &[PriceRow]) -> Result<(), UsageError> {
    match rows.iter().find(|row| row.rates.input == 0 || row.rates.output == 0) {
        Some(free) => Err(bad(free, "is zero; a model without a price has no row")),
        None => check_own(rows),
    }
}

/// Checks a user's own rows: a model on one's own machine may cost nothing.
pub(crate) fn check_own(rows: &[PriceRow]) -> Result<(), UsageError> {
    let mut seen = HashSet::new();
    for (row, next) in rows.iter().zip(rows.iter().skip(1).map(Some).chain([None])) {
        if !seen.insert(order(row)) {
            return Err(bad(row, "is there twice for the same day"));
        }
        if next.is_some_and(|next| order(next) < order(row)) {
            return Err(bad(row, "is out of order: rows are sorted by model, provider, first day"));
        }
        if row.model.is_empty() || row.model != row.model.to_lowercase() {
            return Err(bad(row, "has a name that is empty or not in small letters"));
        }
        let steps = |above: &[Step]| above.is_sorted_by(|a, b| a.tokens < b.tokens);
        if !steps(&row.above) || !row.tiers.values().all(|tier| steps(&tier.above)) {
            return Err(bad(row, "has long-context thresholds that do not rise"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_table_is_sound_and_comes_back_from_its_own_json() {
        let prices = Prices::embedded().unwrap();
        assert!(prices.rows.len() > 250);
        assert_eq!(Prices::parse(&prices.to_json().unwrap()).unwrap(), prices);
    }

    /// Checks every published row for plausible values. A typing error breaks one of these rules.
    #[test]
    fn every_row_has_a_sane_shape() {
        for row in Prices::embedded().unwrap().rows() {
            let who = format!("{} at {}", row.model, row.provider);
            let all = std::iter::once(&row.rates)
                .chain(row.above.iter().map(|step| &step.rates))
                .chain(row.tiers.values().map(|tier| &tier.rates));
            for rates in all {
                assert!(rates.output >= rates.input, "{who}: output below input");
                assert!(rates.output <= 100 * rates.input, "{who}: output far above input");
                assert!(rates.cache_read.is_none_or(|read| read <= rates.input), "{who}: cache read");
                assert!(rates.cache_write_5m.is_none_or(|write| write >= rates.input), "{who}: cache write");
                if let (Some(short), Some(long)) = (rates.cache_write_5m, rates.cache_write_1h) {
                    assert_eq!(long, 2 * rates.input, "{who}: 1 h write");
                    assert!(short < long, "{who}: 5 m write");
                }
            }
            assert!(row.above.iter().all(|step| step.rates.input >= row.rates.input), "{who}: long prompts");
            if let Some(batch) = row.tiers.get("batch") {
                assert!(batch.rates.input < row.rates.input, "{who}: batch");
            }
            if let Some(priority) = row.tiers.get("priority") {
                assert!(priority.rates.input > row.rates.input, "{who}: priority");
            }
            assert!(row.input_below_a_thousand_dollars(), "{who}: unit");
            if row.provider == "anthropic" && row.rates.cache_write_5m.is_some() {
                assert!(row.rates.cache_write_1h.is_some(), "{who}: no 1 h write");
            }
        }
    }

    impl PriceRow {
        fn input_below_a_thousand_dollars(&self) -> bool {
            (1_000..1_000_000_000).contains(&self.rates.input)
        }
    }

    fn row(model: &str, from: Option<Date>, input: u64) -> PriceRow {
        PriceRow {
            model: model.into(),
            provider: "maker".into(),
            from,
            source: "test".into(),
            date: jiff::civil::date(2026, 1, 1),
            note: None,
            rates: Rates { input, output: 10, ..Rates::default() },
            above: Vec::new(),
            tiers: BTreeMap::new(),
            multipliers: BTreeMap::new(),
            peak: None,
            web_search: None,
        }
    }

    #[test]
    fn a_table_that_breaks_a_rule_is_refused_and_says_which_row() {
        let day = Some(jiff::civil::date(2026, 2, 1));
        let say = |rows: &[PriceRow]| check(rows).unwrap_err().to_string();
        assert!(check(&[row("a", None, 1), row("a", day, 2), row("b", None, 1)]).is_ok());
        assert!(say(&[row("b", None, 1), row("a", None, 1)]).contains("out of order"));
        assert!(say(&[row("a", None, 1), row("a", None, 1)]).contains("twice"));
        assert!(say(&[row("a", None, 0)]).contains("\"a\" at \"maker\" is zero"));
        assert!(say(&[row("A", None, 1)]).contains("small letters"));
        let step = |tokens| Step { tokens, rates: Rates { input: 1, output: 1, ..Rates::default() } };
        let twice = PriceRow { above: vec![step(9), step(9)], ..row("a", None, 1) };
        assert!(say(&[twice]).contains("do not rise"));
        assert!(Prices::parse("{}").unwrap_err().to_string().contains("cannot be read"));
    }
}
