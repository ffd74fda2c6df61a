//! The cost of one response, by kind of token.
//!
//! A long-context price applies to the whole request whose prompt exceeds the threshold. This is
//! decided for one request. If the log only has the sum of several, it is undecided, and the figure
//! is a lower bound. Reasoning is a part of output and is not paid again.

use hashbrown::HashMap;
use retro_model::{LedgerRow, Timestamp};
use serde::{Deserialize, Serialize};

use crate::NanoUsd;
use crate::names::{Found, Resolved};
use crate::table::{Prices, Rates, Step};

/// The source of the cost figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The cost that the log reports for a response, or else ours.
    #[default]
    Auto,
    /// Only our own calculation.
    Calculate,
    /// Only the cost that the log reports.
    Display,
}

/// The source of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CostSource {
    /// Reported by the log.
    Embedded,
    /// Tokens times prices.
    Calculated,
}

/// The cost by kind of token. All zero if the log reports only a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Parts {
    /// Input without the cached part.
    pub input: NanoUsd,
    /// Cache writes that last five minutes, or a time that is not in the log.
    pub cache_write_5m: NanoUsd,
    /// Cache writes that last one hour.
    pub cache_write_1h: NanoUsd,
    /// Input that was read from a cache.
    pub cache_read: NanoUsd,
    /// Output, reasoning included.
    pub output: NanoUsd,
    /// Searches that are billed separately.
    pub web_search: NanoUsd,
}

impl Parts {
    fn sum(&self) -> Option<NanoUsd> {
        [self.cache_write_5m, self.cache_write_1h, self.cache_read, self.output, self.web_search]
            .into_iter()
            .try_fold(self.input, NanoUsd::checked_add)
    }
}

/// The cost of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost<'p> {
    /// The amount. `None` if it is unknown. A missing price never gives zero.
    pub nano: Option<NanoUsd>,
    /// True if it is unknown because tokens times prices overflow.
    pub beyond: bool,
    /// The source of the amount.
    pub source: CostSource,
    /// The price row it was calculated with.
    pub price_row: Option<Resolved<'p>>,
    /// The amount is only a lower bound: see [`Cost::why_bound`].
    pub bound: bool,
    /// The reason if `bound` is set.
    pub why_bound: Option<&'static str>,
    /// The parts, if the amount was calculated.
    pub parts: Parts,
    /// The prices for its tier and prompt length, if the amount was calculated.
    pub rates: Option<&'p Rates>,
    /// The factor on those prices, in thousandths: tier, place and hour together.
    pub factor: u32,
}

/// The model of lines that Claude Code writes itself: not a response, never priced.
pub const SYNTHETIC: &str = "<synthetic>";

/// Calculates the cost of one response.
pub fn cost<'p>(row: &LedgerRow, prices: &'p Prices, mode: Mode) -> Cost<'p> {
    Pricer::new(prices, mode).cost(row)
}

/// Prices many responses, and looks each model up once.
pub struct Pricer<'p> {
    prices: &'p Prices,
    mode: Mode,
    /// By model, then by provider. There are few of each, with many lookups.
    found: HashMap<String, Vec<ByProvider<'p>>>,
}

/// A provider, and the rows of a model there, if it has a price.
type ByProvider<'p> = (Option<String>, Option<Found<'p>>);

impl<'p> Pricer<'p> {
    /// A pricer for one table and one mode.
    pub fn new(prices: &'p Prices, mode: Mode) -> Pricer<'p> {
        Pricer { prices, mode, found: HashMap::new() }
    }

    /// Calculates the cost of one response.
    pub fn cost(&mut self, row: &LedgerRow) -> Cost<'p> {
        self.cost_with_output(row, row.tokens.output)
    }

    /// Calculates the cost with this output instead of the logged one.
    pub(crate) fn cost_with_output(&mut self, row: &LedgerRow, output: u64) -> Cost<'p> {
        let found = self.resolve(row);
        self.cost_at(row, output, found)
    }

    /// The same with a price that was already looked up.
    pub(crate) fn cost_at(&self, row: &LedgerRow, output: u64, found: Option<Resolved<'p>>) -> Cost<'p> {
        let reported = reported(row).filter(|_| self.mode != Mode::Calculate);
        if self.mode == Mode::Display || reported.is_some() {
            return Cost { nano: reported, source: CostSource::Embedded, ..Cost::unknown() };
        }
        found.map_or_else(Cost::unknown, |found| calculate(row, output, found))
    }

    /// The row a response would be priced with.
    pub fn resolve(&mut self, row: &LedgerRow) -> Option<Resolved<'p>> {
        let model = row.model.as_deref().filter(|model| *model != SYNTHETIC)?;
        if !self.found.contains_key(model) {
            self.found.insert(model.to_owned(), Vec::new());
        }
        let known = self.found.get_mut(model)?;
        let found = match known.iter().find(|(provider, _)| *provider == row.provider) {
            Some((_, found)) => *found,
            None => {
                let found = self.prices.find(model, row.provider.as_deref());
                known.push((row.provider.clone(), found));
                found
            }
        };
        found?.at(row.ts, self.prices.snapshot)
    }
}

/// The cost in the log. Programs write zero for tokens that are not free if they do not know a
/// price (OpenCode, Pi), so a zero is ignored.
fn reported(row: &LedgerRow) -> Option<NanoUsd> {
    let nothing_used = row.tokens.total() == 0;
    row.reported_cost_nano.filter(|&nano| nano > 0 || (nano == 0 && nothing_used)).map(NanoUsd)
}

impl Cost<'_> {
    fn unknown() -> Self {
        Cost {
            nano: None,
            beyond: false,
            source: CostSource::Calculated,
            price_row: None,
            bound: false,
            why_bound: None,
            parts: Parts::default(),
            rates: None,
            factor: 1000,
        }
    }
}

const SUM_OF_CALLS: &str = "the log has one figure for several requests, and a long prompt costs more";
const TIER_WITHOUT_PRICE: &str = "no price is known for its service tier; the standard price is less";
const NO_CACHE_PRICE: &str = "no price is known for a kind of token it used";
const NO_TIME: &str = "the log has no time for it, and some hours cost more";

fn calculate<'p>(row: &LedgerRow, output: u64, resolved: Resolved<'p>) -> Cost<'p> {
    let unknown = Cost { price_row: Some(resolved), ..Cost::unknown() };
    let price = resolved.row;
    let mut why = None;
    let (base, above, tier_multiplier) = match tier_of(row) {
        None => (&price.rates, &price.above, 1000),
        Some(name) => match (price.tiers.get(name), price.multipliers.get(name)) {
            (Some(tier), _) => (&tier.rates, &tier.above, 1000),
            (None, Some(&multiplier)) => (&price.rates, &price.above, multiplier),
            // Both cost more than the standard, in every published price list.
            (None, None) if matches!(name, "fast" | "priority" | "ultrafast") => {
                why = Some(TIER_WITHOUT_PRICE);
                (&price.rates, &price.above, 1000)
            }
            (None, None) => return unknown,
        },
    };
    let (rates, undecided) = of_prompt(row, base, above);
    if undecided {
        why = Some(SUM_OF_CALLS);
    }
    let hour_multiplier = match (&price.peak, row.ts) {
        (None, _) => 1000,
        (Some(peak), Some(ts)) => {
            let hour = hour_utc(ts);
            let is_peak = peak.hours_utc.iter().any(|(from, to)| (*from..*to).contains(&hour));
            if is_peak { peak.multiplier } else { 1000 }
        }
        (Some(_), None) => {
            why = Some(NO_TIME);
            1000
        }
    };
    let factors = [tier_multiplier, resolved.place_multiplier, hour_multiplier];
    let price_of = |tokens: u64, rate: u64| {
        let pico = factors
            .iter()
            .filter(|factor| **factor != 1000)
            .try_fold(u128::from(tokens) * u128::from(rate), |pico, &factor| {
                pico.checked_mul(u128::from(factor)).map(|pico| pico / 1000)
            });
        NanoUsd::from_pico(pico?)
    };
    // A provider without a price for cache writes bills them as input.
    let write_5m = rates.cache_write_5m.unwrap_or(rates.input);
    let write_1h = rates.cache_write_1h.unwrap_or(write_5m);
    if rates.cache_read.is_none() && row.tokens.cache_read > 0
        || price.web_search.is_none() && row.tokens.web_searches > 0
    {
        why = Some(NO_CACHE_PRICE);
    }
    let reasoning = rates.reasoning.map_or(0, |_| row.tokens.reasoning.min(output));
    let parts = || {
        let said = price_of(output - reasoning, rates.output)?;
        let thought = price_of(reasoning, rates.reasoning.unwrap_or(rates.output))?;
        let searches = u128::from(row.tokens.web_searches) * u128::from(price.web_search.unwrap_or(0));
        Some(Parts {
            input: price_of(row.tokens.input, rates.input)?,
            cache_write_5m: price_of(
                row.tokens.cache_write_5m.checked_add(row.tokens.cache_write_unsplit)?,
                write_5m,
            )?,
            cache_write_1h: price_of(row.tokens.cache_write_1h, write_1h)?,
            cache_read: price_of(row.tokens.cache_read, rates.cache_read.unwrap_or(0))?,
            output: said.checked_add(thought)?,
            web_search: NanoUsd(i64::try_from(searches).ok()?),
        })
    };
    // Counters so large that the amount overflows are not evidence of a cost.
    let Some((parts, nano)) = parts().and_then(|parts| Some((parts, parts.sum()?))) else {
        return Cost { beyond: true, ..unknown };
    };
    let factor = factors.iter().fold(1000, |product: u64, factor| product * u64::from(*factor) / 1000);
    let factor = u32::try_from(factor).unwrap_or(u32::MAX);
    let bound = why.is_some();
    Cost { nano: Some(nano), bound, why_bound: why, parts, rates: Some(rates), factor, ..unknown }
}

/// The service tier, by its name in the table.
pub(crate) fn tier_of(row: &LedgerRow) -> Option<&str> {
    match row.tier.as_deref() {
        None | Some("" | "standard" | "default" | "auto") => None,
        Some("batches") => Some("batch"),
        tier => tier,
    }
}

/// The prices for the length of a prompt, and whether the length is undecided.
fn of_prompt<'r>(row: &LedgerRow, base: &'r Rates, above: &'r [Step]) -> (&'r Rates, bool) {
    let prompt = row.tokens.prompt();
    let step = above.iter().rfind(|step| prompt > step.tokens);
    match step {
        Some(step) if row.calls == 1 => (&step.rates, false),
        Some(_) => (base, true),
        None => (base, false),
    }
}

fn hour_utc(ts: Timestamp) -> i8 {
    i8::try_from(ts.as_millis().div_euclid(3_600_000).rem_euclid(24)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Say, row};

    const MILLION: u64 = 1_000_000;

    fn prices() -> Prices {
        Prices::embedded().unwrap()
    }

    fn dollars(row: &LedgerRow) -> Option<f64> {
        cost(row, &prices(), Mode::Auto).nano.map(NanoUsd::to_usd)
    }

    #[test]
    fn each_kind_of_token_has_its_price_and_the_parts_add_up() {
        let mut row = row("k").model("claude-sonnet-4-6").at("2026-05-01T00:00:00Z").tokens(1000, 200);
        (row.tokens.cache_write_5m, row.tokens.cache_write_1h, row.tokens.cache_read) = (2000, 3000, 40_000);
        row.tokens.web_searches = 2;
        let prices = prices();
        let cost = cost(&row, &prices, Mode::Auto);
        assert_eq!(cost.parts.input, NanoUsd(3_000_000));
        assert_eq!(cost.parts.cache_write_5m, NanoUsd(7_500_000));
        assert_eq!(cost.parts.cache_write_1h, NanoUsd(18_000_000));
        assert_eq!(cost.parts.cache_read, NanoUsd(12_000_000));
        assert_eq!(cost.parts.output, NanoUsd(3_000_000));
        assert_eq!(cost.parts.web_search, NanoUsd(20_000_000));
        assert_eq!(cost.nano, Some(NanoUsd(63_500_000)));
        assert_eq!((cost.source, cost.bound), (CostSource::Calculated, false));
        assert_eq!(cost.price_row.unwrap().row.model, "claude-sonnet-4-6");
    }

    #[test]
    fn an_hour_of_cache_costs_twice_the_input_and_an_unknown_life_counts_as_five_minutes() {
        let mut hour = row("k").model("claude-sonnet-4-5").tokens(0, 0);
        hour.tokens.cache_write_1h = 100_000;
        assert_eq!(dollars(&hour), Some(0.6));
        let mut unsplit = row("k").model("claude-sonnet-4-5").tokens(0, 0);
        unsplit.tokens.cache_write_unsplit = 100_000;
        assert_eq!(dollars(&unsplit), Some(0.375));
    }

    #[test]
    fn a_long_prompt_costs_more_as_a_whole() {
        let at = |input, read| {
            let mut row = row("k").model("claude-sonnet-4-5").at("2026-01-01T00:00:00Z").tokens(input, 1000);
            row.tokens.cache_read = read;
            dollars(&row)
        };
        assert_eq!(at(100_000, 100_000), Some(0.345));
        assert_eq!(at(100_001, 100_000), Some(0.682506));
        // The threshold was dropped for this model on this day.
        let after = row("k").model("claude-opus-4-6").at("2026-03-13T00:00:00Z").tokens(300_000, 0);
        let before = row("k").model("claude-opus-4-6").at("2026-03-12T23:59:59Z").tokens(300_000, 0);
        assert_eq!((dollars(&before), dollars(&after)), (Some(3.0), Some(1.5)));
    }

    #[test]
    fn a_threshold_that_only_a_sum_passes_makes_a_bound() {
        let prices = prices();
        let mut sum = row("k").model("grok-4.6").tokens(150_000, 0);
        sum.calls = 3;
        assert!(!cost(&sum, &prices, Mode::Auto).bound, "no single request can have passed it");
        sum.tokens.input = 250_000;
        let cost = cost(&sum, &prices, Mode::Auto);
        assert_eq!((cost.nano, cost.bound), (Some(NanoUsd(500_000_000)), true));
        assert!(cost.why_bound.unwrap().contains("several requests"));
    }

    #[test]
    fn reasoning_is_not_paid_twice() {
        let mut row = row("k").model("gpt-5-codex").tokens(0, MILLION);
        row.tokens.reasoning = 900_000;
        assert_eq!(dollars(&row), Some(10.0));
        let mut apart = crate::testing::row("k").model("qwen-turbo").tokens(0, MILLION);
        apart.tokens.reasoning = 400_000;
        assert_eq!(dollars(&apart), Some(0.6 * 0.2 + 0.4 * 0.5));
    }

    #[test]
    fn tiers_have_their_prices_and_an_unpriced_one_is_a_bound_or_unknown() {
        let prices = prices();
        let of = |model: &str, tier: &str| {
            let mut row = row("k").model(model).tokens(MILLION / 10, 0);
            row.tier = Some(tier.to_owned());
            let cost = cost(&row, &prices, Mode::Auto);
            (cost.nano.map(NanoUsd::to_usd), cost.bound)
        };
        assert_eq!(of("claude-opus-4-8", "fast"), (Some(1.0), false));
        assert_eq!(of("claude-opus-4-8", "standard"), (Some(0.5), false));
        assert_eq!(of("claude-opus-4-8", "batch"), (Some(0.25), false));
        assert_eq!(of("gpt-5.5", "priority"), (Some(1.25), false));
        assert_eq!(of("gpt-5.5", "flex"), (Some(0.25), false));
        assert_eq!(of("claude-opus-4-6", "fast"), (Some(0.5), true));
        assert_eq!(of("claude-opus-4-6", "turbo"), (None, false));
    }

    #[test]
    fn busy_hours_cost_twice() {
        let of = |ts| dollars(&row("k").model("deepseek-v4-pro").at(ts).tokens(MILLION, 0));
        assert_eq!(of("2026-10-01T00:59:59Z"), Some(0.66));
        assert_eq!(of("2026-10-01T01:00:00Z"), Some(1.32));
        assert_eq!(of("2026-10-01T04:00:00Z"), Some(0.66));
        let prices = prices();
        assert!(cost(&row("k").model("deepseek-v4-pro").tokens(MILLION, 0), &prices, Mode::Auto).bound);
    }

    #[test]
    fn no_price_is_unknown_and_never_zero() {
        for model in [Some("gpt-99"), Some(SYNTHETIC), None] {
            let mut row = row("k").tokens(5, 5);
            row.model = model.map(str::to_owned);
            assert_eq!(dollars(&row), None, "{model:?}");
        }
        let huge = row("k").model("gpt-5").tokens(u64::MAX, u64::MAX);
        assert_eq!(dollars(&huge), None);
        assert!(cost(&huge, &prices(), Mode::Auto).beyond, "it has a price");
        assert!(!cost(&row("k").model("gpt-99").tokens(5, 5), &prices(), Mode::Auto).beyond);
        let mut read = row("k").model("grok-4").tokens(0, 10);
        read.tokens.cache_read = 5;
        assert!(cost(&read, &prices(), Mode::Auto).bound, "cached input without a price");
    }

    #[test]
    fn modes_choose_whose_figure_counts() {
        let prices = prices();
        let mut row = row("k").model("gpt-5").tokens(MILLION, 0);
        let of = |row: &LedgerRow, mode| {
            let cost = cost(row, &prices, mode);
            (cost.nano.map(|nano| nano.0), cost.source)
        };
        let ours = (Some(1_250_000_000), CostSource::Calculated);
        assert_eq!(of(&row, Mode::Auto), ours);
        assert_eq!(of(&row, Mode::Display), (None, CostSource::Embedded));
        row.reported_cost_nano = Some(7);
        assert_eq!(of(&row, Mode::Auto), (Some(7), CostSource::Embedded));
        assert_eq!(of(&row, Mode::Calculate), ours);
        assert_eq!(of(&row, Mode::Display), (Some(7), CostSource::Embedded));
        row.reported_cost_nano = Some(0);
        assert_eq!(of(&row, Mode::Auto), ours, "zero for a million tokens is not a cost");
    }
}
