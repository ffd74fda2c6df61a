//! Tokens and dollars of some logs, and how far two programs are apart.

use retro_usage::{Counted, Mode, Prices, Query, report};
use serde_json::Value;

use crate::failure::Failure;

/// What some logs come to. Also a difference, so it may be below zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Tally {
    /// Uncached input, cache written, cache read, output.
    tokens: [i64; 4],
    /// Cost, as far as it is known.
    usd: f64,
}

impl Tally {
    /// Uncached input, cache written, cache read and output, and dollars.
    pub(crate) fn new(tokens: [i64; 4], usd: f64) -> Tally {
        Tally { tokens, usd }
    }

    /// What rows that count come to, at our prices.
    pub(crate) fn ours(counted: &Counted, prices: &Prices) -> Tally {
        let query = Query { mode: Mode::Calculate, ..Query::default() };
        let totals = report(counted, prices, &query).totals;
        let tokens = [
            totals.input_tokens,
            totals.cache_creation_tokens,
            totals.cache_read_tokens,
            totals.output_tokens,
        ];
        Tally {
            tokens: tokens.map(|count| i64::try_from(count).unwrap_or(i64::MAX)),
            usd: totals.cost_usd.unwrap_or_default(),
        }
    }

    /// What `ccusage AGENT session --json` says, and which models it has no price of.
    /// It prints no totals where it finds nothing.
    pub(crate) fn theirs(printed: &str) -> Result<(Tally, Vec<String>), Failure> {
        let answer: Value = serde_json::from_str(printed)
            .map_err(|error| Failure::new(format!("ccusage printed no JSON: {error}")))?;
        let totals = &answer["totals"];
        let unpriced = totals["unpricedModels"].as_array().into_iter().flatten();
        let unpriced = unpriced.filter_map(|model| model.as_str().map(str::to_owned)).collect();
        let names = ["inputTokens", "cacheCreationTokens", "cacheReadTokens", "outputTokens"];
        // Claude's report and Codex's name the cost differently.
        let usd = totals["totalCost"].as_f64().or(totals["costUSD"].as_f64()).unwrap_or_default();
        let tokens = names.map(|name| totals[name].as_i64().unwrap_or_default());
        Ok((Tally { tokens, usd }, unpriced))
    }

    /// Tokens of all kinds.
    pub(crate) fn total(&self) -> i64 {
        self.tokens.iter().sum()
    }

    /// Dollars.
    pub(crate) fn usd(&self) -> f64 {
        self.usd
    }

    /// Whether every kind of token is the same.
    pub(crate) fn has_tokens_of(&self, other: &Tally) -> bool {
        self.tokens == other.tokens
    }

    /// The sum.
    pub(crate) fn plus(mut self, other: &Tally) -> Tally {
        self.tokens.iter_mut().zip(other.tokens).for_each(|(sum, count)| *sum += count);
        self.usd += other.usd;
        self
    }

    /// How much more this is.
    pub(crate) fn minus(mut self, other: &Tally) -> Tally {
        self.tokens.iter_mut().zip(other.tokens).for_each(|(rest, count)| *rest -= count);
        self.usd -= other.usd;
        self
    }

    /// The counts, for what cannot be explained.
    pub(crate) fn kinds(&self) -> String {
        let [input, write, read, output] = self.tokens;
        format!("input {input}, cache write {write}, cache read {read}, output {output}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn their_answer_is_read_with_either_name_of_the_cost() {
        let claude = r#"{"sessions":[],"totals":{"inputTokens":1,"cacheCreationTokens":2,"cacheReadTokens":3,"outputTokens":4,"totalCost":0.5}}"#;
        assert_eq!(Tally::theirs(claude).unwrap(), (Tally::new([1, 2, 3, 4], 0.5), vec![]));
        let codex = r#"{"totals":{"inputTokens":1,"cacheReadTokens":3,"outputTokens":4,"costUSD":0.25,"unpricedModels":["m"]}}"#;
        assert_eq!(Tally::theirs(codex).unwrap(), (Tally::new([1, 0, 3, 4], 0.25), vec!["m".to_owned()]));
        assert_eq!(Tally::theirs(r#"{"sessions":[]}"#).unwrap(), (Tally::default(), vec![]));
        assert!(Tally::theirs("Broken pipe").is_err());
    }

    #[test]
    fn equal_sums_of_different_kinds_are_not_the_same() {
        let (one, two) = (Tally::new([1, 0, 0, 2], 0.0), Tally::new([2, 0, 0, 1], 0.0));
        assert!(!one.has_tokens_of(&two));
        assert_eq!(one.minus(&two), Tally::new([-1, 0, 0, 1], 0.0));
        assert_eq!(one.plus(&two).total(), 6);
        assert_eq!(one.minus(&two).kinds(), "input -1, cache write 0, cache read 0, output 1");
    }
}
