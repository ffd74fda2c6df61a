//! The time spent in a line of work, as the page shows it. The clock is the one that signals use.

use retro_insight::clock;
pub use retro_insight::clock::{Doing, Span, active_ms};
use retro_model::Event;
use serde::Serialize;
use std::collections::HashMap;

/// The stretches of a line of work, in order.
pub fn spans(events: &[&Event]) -> Vec<Span> {
    let ticks: Vec<clock::Tick> = events.iter().filter_map(|event| clock::Tick::of(event)).collect();
    clock::spans(&ticks)
}

/// A row of the time panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// `model`, `shell`, `waiting`, …
    pub what: String,
    /// Total duration in milliseconds.
    pub ms: i64,
    /// Number of stretches.
    pub spans: usize,
    /// True if several calls overlapped at some point: the duration is then an upper bound.
    pub at_most: bool,
    /// True if the model or a tool was working.
    pub work: bool,
}

/// The time spent on each activity, longest first, work before waiting.
pub fn rows(spans: &[Span]) -> Vec<Row> {
    let mut sums: HashMap<Doing, Row> = HashMap::new();
    for span in spans {
        let row = sums.entry(span.doing).or_insert_with(|| Row {
            what: name(span.doing),
            ms: 0,
            spans: 0,
            at_most: false,
            work: span.doing.is_work(),
        });
        row.ms += span.to - span.from;
        row.spans += 1;
        row.at_most |= span.is_shared;
    }
    let mut rows: Vec<Row> = sums.into_values().collect();
    rows.sort_by(|a, b| (b.work, b.ms, &a.what).cmp(&(a.work, a.ms, &b.what)));
    rows
}

/// The name of an activity in data.
pub fn name(doing: Doing) -> String {
    match doing {
        Doing::Model => "model".to_owned(),
        Doing::Tool(class) => word(&class),
        Doing::Child => "sub-agents".to_owned(),
        Doing::Waiting => "waiting for you".to_owned(),
        Doing::Idle => "idle".to_owned(),
        Doing::Unknown => "not known".to_owned(),
    }
}

/// The serde name of a unit variant.
pub fn word(variant: &impl Serialize) -> String {
    let value = serde_json::to_value(variant).ok();
    value.as_ref().and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::{answer, call, events, prompt, result};
    use retro_model::{Outcome, ToolClass};

    fn told(list: Vec<Event>) -> Vec<(String, i64)> {
        let list: Vec<&Event> = list.iter().collect();
        rows(&spans(&list)).into_iter().map(|row| (row.what, row.ms)).collect()
    }

    #[test]
    fn waiting_is_not_work() {
        let list = events(vec![
            prompt(0, "go"),
            answer(4_000, "ok"),
            prompt(64_000, "and now?"),
            call(70_000, "c1", ToolClass::Shell),
            result(80_000, "c1", Outcome::Ok, Some(3_000)),
            answer(81_000, "done"),
        ]);
        assert_eq!(
            told(list),
            [
                ("model".to_owned(), 11_000),
                ("shell".to_owned(), 3_000),
                ("waiting for you".to_owned(), 67_000)
            ]
        );
    }

    #[test]
    fn bookkeeping_after_an_answer_is_no_work() {
        let note = |ms| {
            let mut note = answer(ms, "context");
            note["kind"] = "note".into();
            note["origin"] = "harness".into();
            note
        };
        let list = events(vec![
            prompt(0, "go"),
            answer(1_000, "ok"),
            note(601_000),
            prompt(602_000, "next"),
            answer(605_000, "done"),
        ]);
        assert_eq!(told(list), [("model".to_owned(), 4_000), ("waiting for you".to_owned(), 601_000)]);
    }

    #[test]
    fn a_night_is_idle_and_a_long_silent_call_is_not_known() {
        let list = events(vec![
            prompt(0, "go"),
            answer(1_000, "ok"),
            prompt(40_000_000, "good morning"),
            call(40_001_000, "c1", ToolClass::Shell),
            result(41_001_000, "c1", Outcome::Ok, None),
        ]);
        let told = told(list);
        assert!(told.contains(&("idle".to_owned(), 39_999_000)), "{told:?}");
        assert!(told.contains(&("not known".to_owned(), 1_000_000)), "{told:?}");
    }
}
