//! The cost of a session and its sub-agents, response by response.

use crate::{Dropped, Explained, explain_counted};
use retro_model::SourceKey;
use retro_usage::{Counted, Mode, Prices};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

use super::family::Family;

/// One response, with its place in the family.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// The name of its event in the family.
    pub id: String,
    /// Its line of work.
    pub line: usize,
    /// Its turn on that line.
    pub turn: u32,
    /// Tokens, prices and cost, as in `usage explain`.
    #[serde(flatten)]
    pub explained: Explained,
}

/// The ledger of a family.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Ledger {
    /// Responses that count, in the order of the log.
    pub responses: Vec<Response>,
    /// Copies that count in another session.
    pub dropped: Vec<Dropped>,
}

/// Totals over some responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Sum {
    /// Billionths of a dollar. Null if no price is known.
    pub nano: Option<i64>,
    /// True if part of it has no price or no complete figures.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_least: bool,
    /// Uncached input tokens.
    pub input: u64,
    /// Tokens written to a cache.
    pub cache_write: u64,
    /// Tokens read from a cache.
    pub cache_read: u64,
    /// Output tokens, reasoning included.
    pub output: u64,
    /// The number of responses.
    pub responses: u64,
}

impl Sum {
    /// Adds one response.
    pub fn add(&mut self, one: &Explained) {
        self.input += one.input_tokens;
        self.cache_write += one.cache_creation_tokens;
        self.cache_read += one.cache_read_tokens;
        self.output += one.output_tokens;
        self.responses += 1;
        match one.cost_usd {
            Some(usd) => self.nano = Some(self.nano.unwrap_or(0).saturating_add(nano(usd))),
            None => self.at_least |= one.input_tokens + one.cache_read_tokens + one.output_tokens > 0,
        }
        self.at_least |= !one.exact || one.bound.is_some();
    }

    /// The total of all tokens.
    pub fn tokens(&self) -> u64 {
        self.input + self.cache_write + self.cache_read + self.output
    }
}

/// Rounds dollars to whole billionths, so that sums are exact.
pub fn nano(usd: f64) -> i64 {
    (usd * 1e9).round() as i64
}

/// The places of a family's events.
pub struct Places<'f> {
    /// Line and turn of each event, by its name in the family.
    pub of: HashMap<String, (usize, u32)>,
    /// The session's family.
    pub family: &'f Family,
}

/// Explains every response of a family.
pub fn ledger(counted: &Counted, prices: &Prices, mode: Mode, places: &Places<'_>) -> Ledger {
    let mut ledger = Ledger::default();
    let files: BTreeMap<SourceKey, String> = BTreeMap::new();
    for (number, member) in places.family.members.iter().enumerate() {
        let told = explain_counted(counted, prices, mode, &member.key, &files);
        for explained in told.responses {
            let id = places.family.name(number, &explained.event);
            let (line, turn) = places.of.get(&id).copied().unwrap_or((0, 0));
            ledger.responses.push(Response { id, line, turn, explained });
        }
        ledger.dropped.extend(told.dropped);
    }
    ledger
}

/// Totals by line and turn.
pub fn by_turn(ledger: &Ledger) -> HashMap<(usize, u32), Sum> {
    let mut sums: HashMap<(usize, u32), Sum> = HashMap::new();
    for response in &ledger.responses {
        sums.entry((response.line, response.turn)).or_default().add(&response.explained);
    }
    sums
}

/// A row of the money panel.
#[derive(Debug, Clone, Serialize)]
pub struct ModelSum {
    /// The model as logged.
    pub model: String,
    /// The model's totals.
    #[serde(flatten)]
    pub sum: Sum,
}

/// Totals by model, most expensive first.
pub fn by_model(ledger: &Ledger) -> Vec<ModelSum> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for response in &ledger.responses {
        let model = response.explained.model.clone().unwrap_or_else(|| "unknown".to_owned());
        sums.entry(model).or_default().add(&response.explained);
    }
    let mut rows: Vec<ModelSum> = sums.into_iter().map(|(model, sum)| ModelSum { model, sum }).collect();
    rows.sort_by_key(|row| std::cmp::Reverse((row.sum.nano, row.sum.tokens())));
    rows
}

/// The cost of each kind of token, in billionths of a dollar.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Kinds {
    /// Uncached input tokens.
    pub input: i64,
    /// Cache writes of any lifetime.
    pub cache_write: i64,
    /// Cache reads of any age.
    pub cache_read: i64,
    /// Output, reasoning included.
    pub output: i64,
    /// Web searches, and costs that the log reports only as a sum.
    pub other: i64,
}

/// Splits the cost by kind of token.
pub fn by_kind(ledger: &Ledger) -> Kinds {
    let mut kinds = Kinds::default();
    for one in ledger.responses.iter().map(|response| &response.explained) {
        match &one.parts_usd {
            Some(parts) => {
                kinds.input += nano(parts.input);
                kinds.cache_write += nano(parts.cache_write_5m) + nano(parts.cache_write_1h);
                kinds.cache_read += nano(parts.cache_read);
                kinds.output += nano(parts.output);
                kinds.other += nano(parts.web_search);
            }
            None => kinds.other += one.cost_usd.map_or(0, nano),
        }
    }
    kinds
}
