//! What each turn came to: models, time, calls and cost.

use retro_engine::stages::ledger;
use retro_model::{Event, Exactness, Kind, Outcome, RowKind, SessionKey, Thread};
use retro_usage::{Mode, NanoUsd, Prices, cost};
use std::collections::HashMap;

use super::entry::TurnFigures;

/// Figures by thread and turn.
pub type Turns = HashMap<(Thread, u32), TurnFigures>;

/// Adds up each turn of a settled stream. Without prices no cost is known.
pub fn turn_figures(session: &SessionKey, events: &[Event], prices: Option<&Prices>) -> Turns {
    let mut turns: HashMap<(Thread, u32), TurnFigures> = HashMap::new();
    let mut times: HashMap<(Thread, u32), (i64, i64)> = HashMap::new();
    let mut turn_of = HashMap::new();
    for event in events {
        let at = (event.thread.clone(), event.turn);
        let figures = turns.entry(at.clone()).or_default();
        match event.kind {
            Kind::ToolCall => figures.calls += 1,
            Kind::ToolResult => {
                let failed = event.result.as_ref().is_some_and(|result| result.outcome == Outcome::Failed);
                figures.failed_calls += u64::from(failed);
            }
            Kind::Usage => {
                if let Some(model) = event.model.as_ref().filter(|model| !figures.models.contains(model)) {
                    figures.models.push(model.clone());
                }
                turn_of.insert(event.id.clone(), at.clone());
            }
            _ => {}
        }
        if let Some(ts) = event.ts.filter(|_| event.copy_of.is_none()) {
            let ms = ts.as_millis();
            let span = times.entry(at).or_insert((ms, ms));
            *span = (span.0.min(ms), span.1.max(ms));
        }
    }
    for (at, (first, last)) in times {
        if let Some(figures) = turns.get_mut(&at) {
            figures.duration_ms = u64::try_from(last - first).ok();
        }
    }
    if let Some(prices) = prices {
        add_costs(session, events, prices, &turn_of, &mut turns);
    }
    turns
}

fn add_costs(
    session: &SessionKey,
    events: &[Event],
    prices: &Prices,
    turn_of: &HashMap<retro_model::EventId, (Thread, u32)>,
    turns: &mut Turns,
) {
    let mut sums: HashMap<&(Thread, u32), (NanoUsd, bool, bool)> = HashMap::new();
    for row in ledger::rows(session, events) {
        if matches!(row.kind, RowKind::Total | RowKind::Side) || row.kind.is_open() {
            continue;
        }
        let Some(at) = turn_of.get(&row.event) else { continue };
        let cost = cost(&row, prices, Mode::Auto);
        let (sum, is_known, is_complete) = sums.entry(at).or_insert((NanoUsd::ZERO, false, true));
        match cost.nano.and_then(|nano| sum.checked_add(nano)) {
            Some(total) => {
                (*sum, *is_known) = (total, true);
                *is_complete &= !cost.bound && row.exactness == Exactness::Exact;
            }
            None => *is_complete &= row.tokens.total() == 0,
        }
    }
    for (at, (sum, is_known, is_complete)) in sums {
        if let Some(figures) = turns.get_mut(at) {
            figures.cost_usd = is_known.then(|| sum.to_usd());
            figures.cost_complete = is_complete;
        }
    }
}
