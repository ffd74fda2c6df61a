//! The contents of the context window, and the cost of keeping them there.

use retro_model::{Event, Kind};
use serde::Serialize;

use super::family::{Family, Line};
use super::items::BYTES_A_TOKEN;
use super::money::{Ledger, nano};
use crate::readable::line;

/// Maximum points of the curve on the page.
const POINTS_MAX: usize = 400;

/// Maximum large items listed.
const LARGEST: usize = 10;

/// The context of the session's main line of work.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Context {
    /// Its size at each response: event name, tokens, turn.
    pub points: Vec<(String, u64, u32)>,
    /// The largest size.
    pub peak: u64,
    /// Events at which it was summarized.
    pub compactions: Vec<String>,
    /// The largest items in it.
    pub largest: Vec<Carried>,
    /// Tokens read again from a cache, over all responses.
    pub reread: u64,
}

/// A large item, and the cost of keeping it in the context.
#[derive(Debug, Clone, Serialize)]
pub struct Carried {
    /// The item's event.
    pub id: String,
    /// A short description.
    pub what: String,
    /// Its tokens, estimated from its bytes.
    pub tokens: u64,
    /// Responses between it and the next summary.
    pub responses: u64,
    /// The estimated cost of reading it again: its tokens at the price of a cache read.
    pub nano: Option<i64>,
}

/// Follows the context of the session's main line of work.
pub fn context(family: &Family, lines: &[Line<'_>], ledger: &Ledger) -> Context {
    let Some(main) = lines.first() else { return Context::default() };
    let own: Vec<_> = ledger.responses.iter().filter(|response| response.line == 0).collect();
    let mut points: Vec<(String, u64, u32)> = own
        .iter()
        .map(|response| {
            let one = &response.explained;
            let size = one.input_tokens + one.cache_creation_tokens + one.cache_read_tokens;
            (response.id.clone(), size, response.turn)
        })
        .filter(|(_, size, _)| *size > 0)
        .collect();
    let peak = points.iter().map(|(_, size, _)| *size).max().unwrap_or(0);
    thin(&mut points);
    let compactions = main.events.iter().filter(|event| event.kind == Kind::Compaction);
    Context {
        points,
        peak,
        compactions: compactions.map(|event| family.name(main.member, &event.id)).collect(),
        largest: largest(family, main, ledger),
        reread: own.iter().map(|response| response.explained.cache_read_tokens).sum(),
    }
}

/// Thins the curve. Keeps the largest point of each stretch.
fn thin(points: &mut Vec<(String, u64, u32)>) {
    if points.len() <= POINTS_MAX {
        return;
    }
    let size = points.len().div_ceil(POINTS_MAX);
    let kept = points.chunks(size).filter_map(|stretch| stretch.iter().max_by_key(|point| point.1).cloned());
    *points = kept.collect();
}

fn largest(family: &Family, main: &Line<'_>, ledger: &Ledger) -> Vec<Carried> {
    let order: std::collections::HashMap<String, usize> =
        main.events.iter().enumerate().map(|(at, event)| (family.name(main.member, &event.id), at)).collect();
    let answered: Vec<(usize, Option<f64>)> = ledger
        .responses
        .iter()
        .filter(|response| response.line == 0)
        .filter_map(|response| {
            let rate = response.explained.rates.as_ref()?.cache_read_usd_per_million;
            Some((*order.get(&response.id)?, rate))
        })
        .collect();
    let ends: Vec<usize> = (0..main.events.len())
        .filter(|at| main.events.get(*at).is_some_and(|e| e.kind == Kind::Compaction))
        .collect();
    let mut things: Vec<(u64, usize, &Event)> = main
        .events
        .iter()
        .enumerate()
        .filter(|(_, event)| matches!(event.kind, Kind::ToolResult | Kind::User | Kind::Attachment))
        .map(|(at, event)| (bytes(event) / BYTES_A_TOKEN, at, *event))
        .filter(|(tokens, ..)| *tokens > 250)
        .collect();
    things.sort_by_key(|(tokens, at, _)| (std::cmp::Reverse(*tokens), *at));
    things.truncate(LARGEST);
    let carried = |(tokens, at, event): (u64, usize, &Event)| {
        let end = ends.iter().copied().find(|end| *end > at).unwrap_or(usize::MAX);
        let after = answered.iter().filter(|(place, _)| *place > at && *place < end);
        let (mut responses, mut usd, mut is_known) = (0, 0.0, true);
        for (_, rate) in after {
            responses += 1;
            match rate {
                Some(rate) => usd += tokens as f64 * rate / 1e6,
                None => is_known = false,
            }
        }
        let nano = (is_known && responses > 0).then(|| nano(usd));
        Carried { id: family.name(main.member, &event.id), what: what(main, event), tokens, responses, nano }
    };
    things.into_iter().map(carried).collect()
}

fn bytes(event: &Event) -> u64 {
    match &event.result {
        Some(result) => result.bytes,
        None => event.text.as_ref().map_or(0, |text| text.given_bytes()),
    }
}

fn what(main: &Line<'_>, event: &Event) -> String {
    let call = event.result.as_ref().and_then(|result| {
        main.events.iter().find_map(|other| other.tool.as_ref().filter(|tool| tool.call_id == result.call_id))
    });
    match call {
        Some(tool) => line(&format!("{} {}", tool.name, crate::call::what(tool, None)), 80),
        None => line(event.text.as_ref().map_or("", |text| text.as_str()), 80),
    }
}
