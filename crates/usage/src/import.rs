//! Importing a LiteLLM price table.
//!
//! LiteLLM publishes one object per model with a flat list of figures whose names encode their
//! meaning (`input_cost_per_token_above_200k_tokens_priority`). Only prices are imported. A figure
//! that differs from ours becomes a new row that begins on the day of the imported table: earlier
//! use keeps its price. Models that the imported table no longer has stay.

use jiff::civil::Date;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use crate::UsageError;
use crate::table::{PriceRow, Prices, Rates, Step, Tier};

/// A changed price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The name of the model.
    pub model: String,
    /// The provider that sells it.
    pub provider: String,
    /// Its previous prices. `None` for a new model.
    pub was: Option<Rates>,
    /// Its new prices.
    pub now: Rates,
}

/// Counts of the entries of an imported table, by result.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Entries with the same price as ours.
    pub unchanged: u64,
    /// Models whose price in the table is newer than the imported table.
    pub older: u64,
    /// Entries for other modes than text: images, speech, embeddings.
    pub other_modes: u64,
    /// Entries without a price for input and output.
    pub unpriced: u64,
    /// Entries for a reseller's region or account, and repeats of a model.
    pub variants: u64,
    /// Models that are not in our table, if only known ones are imported.
    pub unknown: u64,
    /// Models that a provider other than their maker lists under the bare name.
    pub sold_by_another: u64,
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The new table.
    pub prices: Prices,
    /// The prices that changed.
    pub changes: Vec<Change>,
    /// The rows that the import added, to be saved.
    pub rows: Vec<PriceRow>,
    /// Counts of all entries, by result.
    pub tally: Tally,
}

/// Why an entry gives no row.
enum Skipped {
    OtherMode,
    Unpriced,
    Variant,
}

impl Prices {
    /// Imports the prices of a LiteLLM table of this day, for all models or only for those in the
    /// table.
    pub fn import_litellm(&self, text: &str, day: Date, only_known: bool) -> Result<Import, UsageError> {
        let models: BTreeMap<String, Value> = serde_json::from_str(text)?;
        let mut tally = Tally::default();
        let mut read: BTreeMap<(String, String), PriceRow> = BTreeMap::new();
        for (id, entry) in models.iter().filter_map(|(id, entry)| Some((id, entry.as_object()?))) {
            match self.read_entry(id, entry, day) {
                Ok(row) => match read.entry((row.model.clone(), row.provider.clone())) {
                    Entry::Vacant(free) => {
                        free.insert(row);
                    }
                    Entry::Occupied(_) => tally.variants += 1,
                },
                Err(Skipped::OtherMode) => tally.other_modes += 1,
                Err(Skipped::Unpriced) => tally.unpriced += 1,
                Err(Skipped::Variant) => tally.variants += 1,
            }
        }
        if read.is_empty() {
            return Err(UsageError::NothingToImport);
        }
        let contested = self.contested(&read);
        let mut prices = self.clone();
        let (mut changes, mut rows) = (Vec::new(), Vec::new());
        for ((model, provider), mut row) in read {
            let same = |known: &&mut PriceRow| known.model == model && known.provider == provider;
            if prices.rows.iter_mut().filter(same).any(|known| known.date > day) {
                tally.older += 1;
                continue;
            }
            let in_force = |known: &&mut PriceRow| known.from.is_none_or(|from| from <= day);
            let known = prices.rows.iter_mut().filter(same).rfind(in_force);
            let was = match known {
                Some(known) if figures(known) == figures(&row) => {
                    (known.date, known.source) = (day, row.source);
                    tally.unchanged += 1;
                    continue;
                }
                Some(known) => {
                    row.from = Some(day);
                    row.multipliers.extend(known.multipliers.clone());
                    row.peak = known.peak.clone();
                    row.web_search = row.web_search.or(known.web_search);
                    Some(known.rates.clone())
                }
                None if only_known => {
                    tally.unknown += 1;
                    continue;
                }
                None if self.is_sold_by_another(&row) || contested.contains(&row.model) => {
                    tally.sold_by_another += 1;
                    continue;
                }
                None => None,
            };
            changes.push(Change { model, provider, was, now: row.rates.clone() });
            rows.push(row);
        }
        prices.snapshot = prices.snapshot.max(day);
        let prices = prices.with_imported(rows.clone())?;
        Ok(Import { prices, changes, rows, tally })
    }

    fn read_entry(&self, id: &str, entry: &Map<String, Value>, day: Date) -> Result<PriceRow, Skipped> {
        let mode = entry.get("mode").and_then(Value::as_str).unwrap_or("chat");
        if !matches!(mode, "chat" | "responses" | "completion") {
            return Err(Skipped::OtherMode);
        }
        let seller = entry.get("litellm_provider").and_then(Value::as_str).ok_or(Skipped::Variant)?;
        let seller = seller.to_lowercase();
        let provider = self.providers.get(&seller).cloned().unwrap_or(seller.clone());
        let model = id.to_lowercase();
        let model = model.strip_prefix(&format!("{seller}/")).unwrap_or(&model).to_owned();
        // Deeper paths are regions and accounts of resellers: another product.
        if model.contains('/') || model.is_empty() {
            return Err(Skipped::Variant);
        }
        let mut read = Flat::default();
        for (name, value) in entry {
            read.take(name, value);
        }
        let Part { rates, above } =
            read.parts.remove("").and_then(Loose::settled).ok_or(Skipped::Unpriced)?;
        let tiers = read.parts.into_iter().filter_map(|(name, part)| {
            let Part { rates, above } = part.settled()?;
            Some((name, Tier { rates, above }))
        });
        Ok(PriceRow {
            model,
            provider,
            from: None,
            source: "litellm, imported".to_owned(),
            date: day,
            note: None,
            rates,
            above,
            tiers: tiers.collect(),
            multipliers: BTreeMap::new(),
            peak: None,
            web_search: web_search(entry),
        })
    }

    /// Names that several makers in the imported table sell, so that their price is ambiguous.
    fn contested(&self, read: &BTreeMap<(String, String), PriceRow>) -> BTreeSet<String> {
        let makers = read.keys().filter(|(_, provider)| !self.hosts.contains_key(provider));
        let models: Vec<&String> = makers.map(|(model, _)| model).collect();
        // The map is sorted by model, so rivals are neighbours.
        models.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect()
    }

    /// True if another maker sells the bare name. A second maker would make it ambiguous.
    fn is_sold_by_another(&self, row: &PriceRow) -> bool {
        let is_host = |provider: &String| self.hosts.contains_key(provider);
        !is_host(&row.provider)
            && self.rows.iter().any(|known| {
                known.model == row.model && known.provider != row.provider && !is_host(&known.provider)
            })
    }
}

/// The figures that decide if a price changed.
fn figures(row: &PriceRow) -> (&Rates, &[Step], &BTreeMap<String, Tier>) {
    (&row.rates, &row.above, &row.tiers)
}

fn web_search(entry: &Map<String, Value>) -> Option<u64> {
    let by_size = entry.get("search_context_cost_per_query")?.as_object()?;
    let dollars = by_size.get("search_context_size_medium")?.as_f64()?;
    whole(dollars * 1e9)
}

/// The figures of one tier as read, with thresholds separate.
#[derive(Debug, Default)]
struct Loose {
    base: Rates,
    above: BTreeMap<u64, Rates>,
}

#[derive(Debug, Default)]
struct Part {
    rates: Rates,
    above: Vec<Step>,
}

impl Loose {
    /// The prices, if there is one for input and for output.
    fn settled(self) -> Option<Part> {
        let priced = |rates: &Rates| rates.input > 0 && rates.output > 0;
        let rates = tidy(self.base);
        let above = self.above.into_iter().filter(|(_, rates)| priced(rates));
        let above = above.map(|(tokens, rates)| Step { tokens, rates: tidy(rates) }).collect();
        priced(&rates).then_some(Part { rates, above })
    }
}

/// Removes redundant figures: reasoning at the price of output, and free cache writes.
fn tidy(mut rates: Rates) -> Rates {
    rates.reasoning = rates.reasoning.filter(|reasoning| *reasoning != rates.output);
    rates.cache_write_5m = rates.cache_write_5m.filter(|write| *write > 0);
    rates.cache_write_1h = rates.cache_write_1h.filter(|write| *write > 0);
    rates
}

/// Figures by tier. The standard tier has an empty name.
#[derive(Debug, Default)]
struct Flat {
    parts: BTreeMap<String, Loose>,
}

/// Names of tiers: LiteLLM's and ours.
const TIERS: &[(&str, &str)] =
    &[("_batches", "batch"), ("_flex", "flex"), ("_priority", "priority"), ("_ultrafast", "ultrafast")];

impl Flat {
    fn take(&mut self, name: &str, value: &Value) {
        const FIELDS: &[&str] = &[
            "input_cost_per_token",
            "output_cost_per_token",
            "cache_creation_input_token_cost",
            "cache_read_input_token_cost",
            "output_cost_per_reasoning_token",
        ];
        let Some((field, mut rest)) =
            FIELDS.iter().find_map(|field| Some((*field, name.strip_prefix(field)?)))
        else {
            return;
        };
        let Some(price) = value.as_f64().and_then(|dollars| whole(dollars * 1e12)) else { return };
        let (mut tier, mut tokens, mut hour) = ("", None, false);
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("_above_1hr") {
                (hour, rest) = (true, after);
            } else if let Some((threshold, after)) = threshold(rest) {
                (tokens, rest) = (Some(threshold), after);
            } else if let Some((name, after)) =
                TIERS.iter().find_map(|(theirs, ours)| Some((*ours, rest.strip_prefix(theirs)?)))
            {
                (tier, rest) = (name, after);
            } else {
                return;
            }
        }
        let part = self.parts.entry(tier.to_owned()).or_default();
        let rates = match tokens {
            Some(tokens) => part.above.entry(tokens).or_default(),
            None => &mut part.base,
        };
        match field {
            "input_cost_per_token" => rates.input = price,
            "output_cost_per_token" => rates.output = price,
            "cache_creation_input_token_cost" if hour => rates.cache_write_1h = Some(price),
            "cache_creation_input_token_cost" => rates.cache_write_5m = Some(price),
            "cache_read_input_token_cost" => rates.cache_read = Some(price),
            _ => rates.reasoning = Some(price),
        }
    }
}

/// Parses `_above_200k_tokens…`.
fn threshold(rest: &str) -> Option<(u64, &str)> {
    let (thousands, after) = rest.strip_prefix("_above_")?.split_once("k_tokens")?;
    Some((thousands.parse::<u64>().ok()?.checked_mul(1000)?, after))
}

/// The integer nearest to a figure, if it differs only by rounding noise.
fn whole(figure: f64) -> Option<u64> {
    let nearest = figure.round();
    let fits = (0.0..1e15).contains(&nearest) && (figure - nearest).abs() < 0.01;
    fits.then_some(nearest as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use retro_model::Timestamp;
    use serde_json::json;

    fn import(table: Value, only_known: bool) -> (Prices, Vec<Change>) {
        let prices = Prices::embedded().unwrap();
        let import = prices.import_litellm(&table.to_string(), date(2027, 2, 1), only_known).unwrap();
        assert_eq!(import.rows.len(), import.changes.len());
        (import.prices, import.changes)
    }

    #[test]
    fn a_changed_price_begins_on_the_day_of_the_table() {
        let (prices, changes) = import(
            json!({ "gpt-5.5": { "litellm_provider": "openai", "mode": "chat",
                "input_cost_per_token": 4e-06, "output_cost_per_token": 2e-05, "cache_read_input_token_cost": 4e-07,
                "input_cost_per_token_above_272k_tokens": 8e-06, "output_cost_per_token_above_272k_tokens": 3e-05,
                "input_cost_per_token_above_272k_tokens_flex": 4e-06, "output_cost_per_token_above_272k_tokens_flex": 1.5e-05,
                "input_cost_per_token_flex": 2e-06, "output_cost_per_token_flex": 1e-05 } }),
            true,
        );
        assert_eq!(changes.len(), 1);
        assert_eq!((changes[0].was.as_ref().unwrap().input, changes[0].now.input), (5_000_000, 4_000_000));
        let row = |ts: &str| prices.resolve("gpt-5.5", None, Timestamp::parse(ts)).unwrap().row;
        assert_eq!(row("2027-01-31T23:00:00Z").rates.input, 5_000_000);
        let new = row("2027-02-01T00:00:00Z");
        assert_eq!((new.rates.output, new.rates.cache_read), (20_000_000, Some(400_000)));
        assert_eq!((new.above[0].tokens, new.above[0].rates.input), (272_000, 8_000_000));
        assert_eq!(new.tiers["flex"].above[0].rates.output, 15_000_000);
        assert_eq!((new.date, prices.snapshot), (date(2027, 2, 1), date(2027, 2, 1)));
        assert!(prices.resolve("claude-3-opus", None, None).is_some(), "retired models stay");
    }

    #[test]
    fn an_equal_price_is_only_stamped_and_a_second_import_changes_nothing() {
        let table = json!({ "mistral/devstral-latest": { "litellm_provider": "mistral",
            "input_cost_per_token": 4e-07, "output_cost_per_token": 2e-06, "cache_read_input_token_cost": 4e-08 } });
        let (prices, changes) = import(table, false);
        assert_eq!(changes, []);
        assert_eq!(prices.resolve("devstral-latest", None, None).unwrap().row.date, date(2027, 2, 1));
        let new = json!({ "xai/grok-9": { "litellm_provider": "xai",
            "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06 } });
        let (once, changes) = import(new.clone(), false);
        assert_eq!((changes.len(), &changes[0].was), (1, &None));
        let twice = once.import_litellm(&new.to_string(), date(2027, 3, 1), false).unwrap();
        assert_eq!((twice.changes.as_slice(), twice.tally.unchanged), ([].as_slice(), 1));
        assert_eq!(twice.prices.resolve("grok-9", None, None).unwrap().row.rates.input, 1_000_000);
        let again = Prices::parse(&twice.prices.to_json().unwrap()).unwrap();
        assert!(again.rows().eq(twice.prices.rows()));
    }

    #[test]
    fn a_new_name_that_two_makers_sell_is_left_out() {
        let sold = |seller: &str| json!({ "litellm_provider": seller, "input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06 });
        let (prices, changes) = import(
            json!({ "a/m-1": sold("a"), "b/m-1": sold("b"), "b/m-2": sold("b"), "groq/m-2": sold("groq") }),
            false,
        );
        let new: Vec<_> = changes.iter().map(|change| (&*change.model, &*change.provider)).collect();
        assert_eq!(new, [("m-2", "b"), ("m-2", "groq")]);
        let again = Prices::parse(&prices.to_json().unwrap()).unwrap();
        assert!(again.rows().eq(prices.rows()));
    }

    #[test]
    fn the_hour_of_cache_is_told_from_the_long_prompt() {
        let (prices, _) = import(
            json!({ "claude-nova-9": { "litellm_provider": "anthropic", "input_cost_per_token": 1e-06,
                "output_cost_per_token": 5e-06, "cache_creation_input_token_cost": 1.25e-06,
                "cache_creation_input_token_cost_above_1hr": 2e-06,
                "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 4e-06,
                "input_cost_per_token_above_200k_tokens": 2e-06, "output_cost_per_token_above_200k_tokens": 7.5e-06,
                "search_context_cost_per_query": { "search_context_size_medium": 0.01 } } }),
            false,
        );
        let row = prices.resolve("claude-nova-9", None, None).unwrap().row;
        assert_eq!((row.rates.cache_write_5m, row.rates.cache_write_1h), (Some(1_250_000), Some(2_000_000)));
        assert_eq!((row.above[0].tokens, row.above[0].rates.cache_write_1h), (200_000, Some(4_000_000)));
        assert_eq!(row.web_search, Some(10_000_000));
    }

    #[test]
    fn every_entry_is_accounted_for() {
        let price = |provider: &str| {
            json!({ "litellm_provider": provider, "input_cost_per_token": 9e-06,
            "output_cost_per_token": 9e-06 })
        };
        let table = json!({ "gpt-5.5": price("openai"), "nova": price("openai"), "other/gpt-5": price("other"),
            "a/b/c": price("a"), "img": { "mode": "image_generation", "litellm_provider": "openai" },
            "free": { "litellm_provider": "openai" } });
        let prices = Prices::embedded().unwrap();
        let tally = |only| prices.import_litellm(&table.to_string(), date(2027, 2, 1), only).unwrap().tally;
        let all = Tally { other_modes: 1, unpriced: 1, variants: 1, sold_by_another: 1, ..Tally::default() };
        assert_eq!(tally(false), all);
        assert_eq!(tally(true), Tally { unknown: 2, sold_by_another: 0, ..all });
    }

    #[test]
    fn a_table_that_is_older_than_ours_changes_nothing_we_know() {
        let prices = Prices::embedded().unwrap();
        let table = json!({ "gpt-5.5": { "litellm_provider": "openai", "input_cost_per_token": 9e-06,
            "output_cost_per_token": 9e-06 } });
        let import = prices.import_litellm(&table.to_string(), date(2020, 1, 1), false).unwrap();
        assert_eq!((import.changes.len(), import.tally.older), (0, 1));
    }

    #[test]
    fn what_is_no_price_of_a_known_model_is_left_out() {
        let (prices, changes) = import(
            json!({
                "gpt-5.5": { "litellm_provider": "openai", "mode": "embedding", "input_cost_per_token": 1e-06 },
                "free/model": { "litellm_provider": "free", "input_cost_per_token": 0.0, "output_cost_per_token": 0.0 },
                "fireworks_ai/a/b": { "litellm_provider": "fireworks_ai", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06 },
                "other/gpt-5": { "litellm_provider": "other", "input_cost_per_token": 9e-06, "output_cost_per_token": 9e-06 },
                "sample_spec": { "input_cost_per_token": 0, "litellm_provider": "one of many" },
                "groq/new": { "litellm_provider": "groq", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-06 },
            }),
            false,
        );
        assert_eq!(changes.iter().map(|change| change.model.as_str()).collect::<Vec<_>>(), ["new"]);
        assert_eq!(
            prices.layer(prices.resolve("new", Some("groq"), None).unwrap().row),
            crate::Layer::Imported
        );
        assert_eq!(prices.resolve("gpt-5", None, None).unwrap().row.rates.input, 1_250_000);
        let embedded = Prices::embedded().unwrap();
        let said =
            |text: &str| embedded.import_litellm(text, date(2027, 1, 1), false).unwrap_err().to_string();
        assert!(said("{}").contains("no prices found"));
        assert!(said("[").contains("cannot be read"));
    }
}
