//! The figures of each turn: models, time, calls and cost.

use retro_engine::stages::ledger;
use retro_model::{Event, Exactness, Kind, Origin, Outcome, RowKind, SessionKey, Thread};
use retro_usage::{Mode, NanoUsd, Prices, cost};
use std::collections::{HashMap, HashSet};

use super::entry::TurnFigures;

/// Figures by thread and turn.
pub type Turns = HashMap<(Thread, u32), TurnFigures>;

/// Sums up each turn of a settled stream. Counts only calls in `counted`. Without prices, all costs
/// are unknown.
pub fn turn_figures(
    session: &SessionKey,
    events: &[Event],
    counted: &HashSet<String>,
    prices: Option<&Prices>,
) -> Turns {
    // Results of counted calls.
    let calls: HashSet<&str> = events
        .iter()
        .filter_map(|event| Some((event, event.tool.as_ref()?)))
        .filter(|(event, _)| counted.contains(&event.id.to_string()))
        .map(|(_, tool)| tool.call_id.as_str())
        .collect();
    let mut turns: HashMap<(Thread, u32), TurnFigures> = HashMap::new();
    let mut times: HashMap<(Thread, u32), (i64, i64)> = HashMap::new();
    let mut turn_of = HashMap::new();
    for event in events {
        let at = (event.thread.clone(), event.turn);
        let figures = turns.entry(at.clone()).or_default();
        match event.kind {
            Kind::ToolCall => {
                let counts = event.tool.as_ref().is_some_and(|tool| calls.contains(tool.call_id.as_str()));
                figures.calls += u64::from(counts);
            }
            Kind::ToolResult => {
                let failed = event.result.as_ref().is_some_and(|result| {
                    result.outcome == Outcome::Failed && calls.contains(result.call_id.as_str())
                });
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
            span.0 = span.0.min(ms);
            if is_of_work(event) {
                span.1 = span.1.max(ms);
            }
        }
    }
    for (at, (first, last)) in times {
        if let Some(figures) = turns.get_mut(&at) {
            figures.duration_ms = u64::try_from((last - first).max(0)).ok();
        }
    }
    if let Some(prices) = prices {
        add_costs(session, events, prices, &turn_of, &mut turns);
    }
    turns
}

/// True if a turn lasts at least until this event. Later notes of a program, such as a session that
/// is reopened the next day, are not work on a turn.
pub fn is_of_work(event: &Event) -> bool {
    match event.kind {
        Kind::User => event.origin != Origin::Harness,
        Kind::Assistant
        | Kind::Reasoning
        | Kind::ToolCall
        | Kind::ToolResult
        | Kind::Plan
        | Kind::Interruption
        | Kind::Denial
        | Kind::Error
        | Kind::Compaction
        | Kind::Subagent => true,
        Kind::Session
        | Kind::Usage
        | Kind::Model
        | Kind::Rewind
        | Kind::Attachment
        | Kind::Note
        | Kind::Unknown => false,
    }
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
