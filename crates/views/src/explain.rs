//! Every response of a session and the parts of its cost: tokens, prices, the line of the log, and
//! the sum. A reader can check the arithmetic by hand.

use retro_engine::ask::Ledgers;
use retro_engine::discover::discover;
use retro_engine::{Config, World};
use retro_model::{EventId, Exactness, SessionKey, SourceKey, Timestamp};
use retro_store::{RealDisk, Stamps, Store};
use retro_usage::{Cost, CostSource, Counted, CountedRow, Mode, NanoUsd, Prices, cost, decide};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Error;

/// The result of `retro usage explain`.
#[derive(Debug, Clone, Serialize)]
pub struct ExplainView {
    /// `retro.usage.explain/1`.
    pub schema: &'static str,
    /// The session's id.
    pub session: String,
    /// Responses that count in this session.
    pub responses: Vec<Explained>,
    /// The totals of these responses.
    pub totals: ExplainTotals,
    /// Copies that count in another session.
    pub dropped: Vec<Dropped>,
    /// Sessions whose latest changes these figures do not include yet.
    pub unread_sessions: u64,
}

/// The totals over the responses of a session.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ExplainTotals {
    /// The number of responses.
    pub responses: u64,
    /// Uncached input tokens.
    pub input_tokens: u64,
    /// Input tokens written to a cache.
    pub cache_creation_tokens: u64,
    /// Input tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Web searches, which are billed separately.
    pub web_searches: u64,
    /// The sum of the known costs. Null if none is known.
    pub cost_usd: Option<f64>,
    /// True if the cost covers everything.
    pub cost_complete: bool,
}

/// A response that counts.
#[derive(Debug, Clone, Serialize)]
pub struct Explained {
    /// Source and record of the log entry.
    pub event: EventId,
    /// The file of that record, if known.
    pub file: Option<String>,
    /// Its line in that file, counted from 1.
    pub line: u64,
    /// The response's global identity.
    pub key: String,
    /// When it was logged.
    pub ts: Option<Timestamp>,
    /// The model, as logged.
    pub model: Option<String>,
    /// The service tier, unless it is the standard one.
    pub tier: Option<String>,
    /// Uncached input tokens.
    pub input_tokens: u64,
    /// Tokens written to a cache, of any lifetime.
    pub cache_creation_tokens: u64,
    /// The part written for five minutes, or for a lifetime that the log does not give.
    pub cache_creation_5m_tokens: u64,
    /// The part written for one hour.
    pub cache_creation_1h_tokens: u64,
    /// Tokens read from a cache.
    pub cache_read_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Web searches, which are billed separately.
    pub web_searches: u64,
    /// True if the output count is complete. If false, it is a lower bound.
    pub exact: bool,
    /// Its cost. Null if no price is known.
    pub cost_usd: Option<f64>,
    /// The cost of each kind of token. Null if the log reports only a sum.
    pub parts_usd: Option<PartsUsd>,
    /// The origin of the cost.
    pub cost_source: CostSource,
    /// The price row that was applied: provider, model, first day, source.
    pub price: Option<String>,
    /// That row's prices for this tier and prompt length.
    pub rates: Option<RatesUsd>,
    /// Why the cost is only a lower bound. Null if it is exact.
    pub bound: Option<&'static str>,
}

/// The applied prices, in dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RatesUsd {
    /// Uncached input tokens.
    pub input_usd_per_million: f64,
    /// Writes to a five-minute cache.
    pub cache_write_5m_usd_per_million: f64,
    /// Writes to a one-hour cache.
    pub cache_write_1h_usd_per_million: f64,
    /// Cache reads. Null if no price is known.
    pub cache_read_usd_per_million: Option<f64>,
    /// Output tokens, without reasoning where that has its own price.
    pub output_usd_per_million: f64,
    /// Reasoning tokens, where their price differs from output.
    pub reasoning_usd_per_million: Option<f64>,
    /// One web search. Null if no price is known.
    pub web_search_usd: Option<f64>,
    /// The factor applied to all prices but the search: tier, region and hour.
    pub multiplier: f64,
}

/// The cost of each kind of token of a response, in dollars.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
pub struct PartsUsd {
    pub input: f64,
    pub cache_write_5m: f64,
    pub cache_write_1h: f64,
    pub cache_read: f64,
    pub output: f64,
    pub web_search: f64,
}

/// A copy that does not count here.
#[derive(Debug, Clone, Serialize)]
pub struct Dropped {
    /// Where the copy was logged.
    pub event: EventId,
    /// The identity that both share.
    pub key: String,
    /// The response that counts instead.
    pub twin: String,
}

/// Explains the figures of a session. `places` maps each source to its file.
pub fn explain(
    ledgers: &Ledgers<'_>,
    mode: Mode,
    key: &SessionKey,
    places: &BTreeMap<SourceKey, String>,
) -> Result<ExplainView, Error> {
    let mut view = explain_counted(&decide(ledgers.rows()?), ledgers.prices, mode, key, places);
    view.unread_sessions = ledgers.unread();
    view.totals.cost_complete &= ledgers.unread() == 0;
    Ok(view)
}

/// Like [`explain`], for callers that explain many sessions: they decide once which responses
/// count, and no session is unread.
pub fn explain_counted(
    counted: &Counted,
    prices: &Prices,
    mode: Mode,
    key: &SessionKey,
    places: &BTreeMap<SourceKey, String>,
) -> ExplainView {
    let mut totals = ExplainTotals { cost_complete: true, ..ExplainTotals::default() };
    let mut sum = NanoUsd::ZERO;
    let mut responses = Vec::new();
    let first = counted.rows.partition_point(|row| *row.session < *key);
    let rows = counted.rows.iter().skip(first).take_while(|row| *row.session == *key);
    for row in rows {
        let cost = cost(row.own_row(), prices, mode);
        let one = explained(row, &cost, places);
        totals.responses += row.own_row().calls;
        totals.input_tokens += one.input_tokens;
        totals.cache_creation_tokens += one.cache_creation_tokens;
        totals.cache_read_tokens += one.cache_read_tokens;
        totals.output_tokens += one.output_tokens;
        totals.web_searches += one.web_searches;
        match cost.nano.and_then(|nano| sum.checked_add(nano)) {
            Some(nano) => {
                sum = nano;
                totals.cost_usd = Some(sum.to_usd());
                totals.cost_complete &= one.exact && !cost.bound;
            }
            None => totals.cost_complete &= row.own_row().tokens.total() == 0,
        }
        responses.push(one);
    }
    // Sorted by place, and places by session.
    let first = counted.duplicates.partition_point(|copy| copy.place.session < *key);
    let copies = counted.duplicates.iter().skip(first).take_while(|copy| copy.place.session == *key);
    let dropped = copies.map(|copy| Dropped {
        event: copy.place.event.clone(),
        key: copy.key.clone(),
        twin: format!("{}#{}", copy.twin.session, copy.twin.event),
    });
    ExplainView {
        schema: "retro.usage.explain/1",
        session: key.to_string(),
        responses,
        totals,
        dropped: dropped.collect(),
        unread_sessions: 0,
    }
}

fn explained(counted: &CountedRow, cost: &Cost<'_>, places: &BTreeMap<SourceKey, String>) -> Explained {
    let row = counted.own_row();
    let address = row.event.address();
    let dollars = |rate: u64| rate as f64 / 1e6;
    Explained {
        event: row.event.clone(),
        file: places.get(&address.source).cloned(),
        line: address.record,
        key: row.key.clone(),
        ts: row.ts,
        model: row.model.clone(),
        tier: row.tier.clone(),
        input_tokens: row.tokens.input,
        cache_creation_tokens: row.tokens.cache_write(),
        cache_creation_5m_tokens: row.tokens.cache_write_5m.saturating_add(row.tokens.cache_write_unsplit),
        cache_creation_1h_tokens: row.tokens.cache_write_1h,
        cache_read_tokens: row.tokens.cache_read,
        output_tokens: row.tokens.output,
        web_searches: row.tokens.web_searches,
        exact: row.exactness == Exactness::Exact,
        cost_usd: cost.nano.map(NanoUsd::to_usd),
        parts_usd: cost.rates.map(|_| PartsUsd {
            input: cost.parts.input.to_usd(),
            cache_write_5m: cost.parts.cache_write_5m.to_usd(),
            cache_write_1h: cost.parts.cache_write_1h.to_usd(),
            cache_read: cost.parts.cache_read.to_usd(),
            output: cost.parts.output.to_usd(),
            web_search: cost.parts.web_search.to_usd(),
        }),
        cost_source: cost.source,
        price: cost.price_row.map(|found| {
            let from = found.row.from.map_or(String::new(), |from| format!(" from {from}"));
            format!("{} {}{from} ({})", found.row.provider, found.row.model, found.row.source)
        }),
        rates: cost.rates.map(|rates| {
            let write_5m = rates.cache_write_5m.unwrap_or(rates.input);
            RatesUsd {
                input_usd_per_million: dollars(rates.input),
                cache_write_5m_usd_per_million: dollars(write_5m),
                cache_write_1h_usd_per_million: dollars(rates.cache_write_1h.unwrap_or(write_5m)),
                cache_read_usd_per_million: rates.cache_read.map(dollars),
                output_usd_per_million: dollars(rates.output),
                reasoning_usd_per_million: rates.reasoning.map(dollars),
                web_search_usd: cost
                    .price_row
                    .and_then(|found| found.row.web_search)
                    .map(|nano| nano as f64 / 1e9),
                multiplier: f64::from(cost.factor) / 1000.0,
            }
        }),
        bound: cost.why_bound,
    }
}

/// The file of each source of a session: from the store, else as found on disk.
pub fn source_places(
    world: &World,
    config: &Config,
    key: &SessionKey,
) -> Result<BTreeMap<SourceKey, String>, Error> {
    let file = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store.session(key)?,
        Err(error) if error.is_absent() => None,
        Err(error) => return Err(error.into()),
    };
    if let Some(file) = file {
        let place = |(source, entry): (SourceKey, retro_store::SourceEntry)| {
            Some((source, entry.places.into_iter().next()?))
        };
        return Ok(file.sources.into_iter().filter_map(place).collect());
    }
    let found = discover(world, config, Some(&key.agent), &Stamps::default());
    let files = found.sessions.into_iter().filter(|session| session.key == *key).flat_map(|s| s.files);
    Ok(files.map(|file| (file.source, file.path.display().to_string())).collect())
}
