//! The figures of a report's row, and how they are added.
//!
//! Sums are kept as integers and converted to dollars at the end. An unknown cost does not make the
//! sum unknown: the sum then covers the known part, and is marked as incomplete.

use retro_model::{Exactness, LedgerRow, Tokens};
use serde::{Deserialize, Serialize};

use crate::NanoUsd;
use crate::cost::{Cost, CostSource};

/// The sources of a sum of costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SumSource {
    /// All reported by logs.
    Embedded,
    /// All tokens times prices.
    Calculated,
    /// Some of each.
    Mixed,
}

/// Tokens and cost of a set of responses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figures {
    /// Input without the cached part.
    pub input_tokens: u64,
    /// All cache writes.
    pub cache_creation_tokens: u64,
    /// The part of the cache writes that lasts one hour.
    pub cache_creation_1h_tokens: u64,
    /// Input that was read from a cache.
    pub cache_read_tokens: u64,
    /// Output, reasoning included.
    pub output_tokens: u64,
    /// The reasoning part of output.
    pub reasoning_tokens: u64,
    /// Input, cache and output together.
    pub total_tokens: u64,
    /// Number of model responses.
    pub responses: u64,
    /// The cost of the priced part. Null only if no part has a price.
    pub cost_usd: Option<f64>,
    /// The sources of the cost.
    pub cost_source: Option<SumSource>,
    /// True if the cost is complete. If not, it is at least `cost_usd`: a part has no price, was
    /// logged before its end, left no figures in the log, or is not read yet.
    pub cost_complete: bool,
    /// The cost with an estimated output for `lower_bound_responses`.
    pub estimated_cost_usd: Option<f64>,
    /// Responses whose logged output is less than the real output.
    pub lower_bound_responses: u64,
    /// Other reasons why the cost is a lower bound.
    #[serde(skip_serializing_if = "Bounds::is_none")]
    pub bounds: Bounds,
}

/// Why a cost is a lower bound, apart from output that was logged before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Bounds {
    /// Responses without a known price.
    pub unpriced_responses: u64,
    /// Responses whose price depends on facts that the log does not have.
    pub undecided_responses: u64,
    /// True if it includes responses without figures in the log.
    pub has_unlogged_answers: bool,
    /// Whether there are more tokens of a kind than can be counted: the count stopped at the largest
    /// number.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub has_more_tokens: bool,
}

impl Bounds {
    /// True if there are no such reasons.
    pub fn is_none(&self) -> bool {
        *self == Bounds::default()
    }
}

/// A running sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Sum {
    pub(crate) tokens: Tokens,
    pub(crate) responses: u64,
    pub(crate) lower_bound: u64,
    pub(crate) nano: NanoUsd,
    estimated_nano: NanoUsd,
    /// Output with estimates instead of lower bounds.
    pub(crate) estimated_output: u64,
    embedded: bool,
    calculated: bool,
    unknown: bool,
    /// True if it includes responses without known figures.
    #[serde(skip)]
    pub(crate) is_open: bool,
    pub(crate) unpriced_responses: u64,
    pub(crate) unpriced_tokens: u64,
    /// The part of `unpriced_responses` with a price, but too many tokens for any representable
    /// amount.
    pub(crate) beyond_responses: u64,
    /// Responses whose price is a lower bound.
    undecided_responses: u64,
}

impl Sum {
    /// Adds a response. `estimated` is its output and cost with the output estimated.
    pub(crate) fn add(
        &mut self,
        row: &LedgerRow,
        cost: &Cost<'_>,
        estimated: Option<(u64, Option<NanoUsd>)>,
    ) {
        let tokens = row.tokens;
        self.tokens = self.tokens.plus(&tokens);
        self.responses = self.responses.saturating_add(row.calls);
        if row.exactness == Exactness::LowerBound {
            self.lower_bound = self.lower_bound.saturating_add(row.calls);
        }
        let (output, estimated) = estimated.unwrap_or((tokens.output, cost.nano));
        self.estimated_output = self.estimated_output.saturating_add(output);
        // A sum that would overflow keeps its value, and is incomplete.
        let sums = cost.nano.and_then(|nano| {
            Some((self.nano.checked_add(nano)?, self.estimated_nano.checked_add(estimated.unwrap_or(nano))?))
        });
        match sums {
            Some((nano, estimated)) => {
                (self.nano, self.estimated_nano) = (nano, estimated);
                match cost.source {
                    CostSource::Embedded => self.embedded = true,
                    CostSource::Calculated => self.calculated = true,
                }
                if cost.bound {
                    self.unknown = true;
                    self.undecided_responses = self.undecided_responses.saturating_add(row.calls.max(1));
                }
            }
            // A response without tokens costs nothing, whatever its price.
            None if tokens.total() == 0 && tokens.web_searches == 0 => {}
            None => {
                self.unknown = true;
                let responses = row.calls.max(1);
                self.unpriced_responses = self.unpriced_responses.saturating_add(responses);
                if cost.beyond || cost.nano.is_some() {
                    self.beyond_responses = self.beyond_responses.saturating_add(responses);
                }
                self.unpriced_tokens = self.unpriced_tokens.saturating_add(tokens.total());
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Sum) {
        self.tokens = self.tokens.plus(&other.tokens);
        self.responses = self.responses.saturating_add(other.responses);
        self.lower_bound = self.lower_bound.saturating_add(other.lower_bound);
        self.estimated_output = self.estimated_output.saturating_add(other.estimated_output);
        self.embedded |= other.embedded;
        self.calculated |= other.calculated;
        self.unknown |= other.unknown;
        self.is_open |= other.is_open;
        self.unpriced_responses = self.unpriced_responses.saturating_add(other.unpriced_responses);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(other.unpriced_tokens);
        self.beyond_responses = self.beyond_responses.saturating_add(other.beyond_responses);
        self.undecided_responses = self.undecided_responses.saturating_add(other.undecided_responses);
        let sums = (self.nano.checked_add(other.nano), self.estimated_nano.checked_add(other.estimated_nano));
        match sums {
            (Some(nano), Some(estimated)) => (self.nano, self.estimated_nano) = (nano, estimated),
            _ => self.unknown = true,
        }
    }

    fn is_priced(&self) -> bool {
        self.embedded || self.calculated
    }

    /// The cost of the priced part. `None` only if no part has a price.
    pub(crate) fn cost(&self) -> Option<NanoUsd> {
        (self.is_priced() || !self.unknown).then_some(self.nano)
    }

    /// The cost with estimates, if there are lower bounds.
    pub(crate) fn estimated_cost(&self) -> Option<NanoUsd> {
        (self.is_priced() && self.lower_bound > 0).then_some(self.estimated_nano)
    }

    pub(crate) fn figures(&self) -> Figures {
        Figures {
            input_tokens: self.tokens.input,
            cache_creation_tokens: self.tokens.cache_write(),
            cache_creation_1h_tokens: self.tokens.cache_write_1h,
            cache_read_tokens: self.tokens.cache_read,
            output_tokens: self.tokens.output,
            reasoning_tokens: self.tokens.reasoning,
            total_tokens: self.tokens.total(),
            responses: self.responses,
            cost_usd: self.cost().map(NanoUsd::to_usd),
            cost_source: match (self.embedded, self.calculated) {
                (true, true) => Some(SumSource::Mixed),
                (true, false) => Some(SumSource::Embedded),
                (false, true) => Some(SumSource::Calculated),
                (false, false) => None,
            },
            cost_complete: !self.unknown && !self.is_open && self.lower_bound == 0,
            estimated_cost_usd: self.estimated_cost().map(NanoUsd::to_usd),
            lower_bound_responses: self.lower_bound,
            bounds: Bounds {
                unpriced_responses: self.unpriced_responses,
                undecided_responses: self.undecided_responses,
                has_unlogged_answers: self.is_open,
                has_more_tokens: self.tokens.total() == u64::MAX,
            },
        }
    }
}
