//! Where the time of a line of work went. Waiting for a person is never work.
//!
//! The time between two events of a log belongs to what was going on then: a call that was
//! open, the model, a person who had the word. What the log cannot tell is a class of its
//! own.

use retro_model::{Event, Kind, Origin, Outcome, ToolClass};
use serde::Serialize;
use std::collections::HashMap;

/// A pause that is longer is idle: nobody was at work.
const IDLE_MS: i64 = 30 * 60_000;

/// A call without a logged duration that is open longer may have waited for a person.
const UNSURE_MS: i64 = 10 * 60_000;

/// What a call may take beyond its logged duration before somebody must have waited.
const SLACK_MS: i64 = 2_000;

/// What was going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// The model.
    Model,
    /// A call of this class.
    Tool(ToolClass),
    /// A sub-agent.
    Child,
    /// A person had the word.
    Waiting,
    /// Nothing.
    Idle,
    /// The log does not tell.
    Unknown,
}

impl Doing {
    /// Whether somebody worked.
    pub fn is_work(self) -> bool {
        matches!(self, Doing::Model | Doing::Tool(_) | Doing::Child)
    }
}

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// From, in milliseconds since 1970.
    pub from: i64,
    /// To.
    pub to: i64,
    /// What was going on.
    pub doing: Doing,
    /// In which turn.
    pub turn: u32,
    /// Whether several calls were open: the class is that of the first.
    pub is_shared: bool,
}

/// The stretches of a line of work, in order.
pub fn spans(events: &[&Event]) -> Vec<Span> {
    let results: HashMap<&str, &Event> =
        events.iter().filter_map(|event| Some((event.result.as_ref()?.call_id.as_str(), *event))).collect();
    let mut spans = Vec::new();
    let mut open: Vec<(&str, ToolClass)> = Vec::new();
    let mut last: Option<i64> = None;
    let mut is_answered = false;
    for event in events.iter().filter(|event| event.copy_of.is_none() && event.kind != Kind::Usage) {
        if let (Some(from), Some(to)) = (last, event.ts.map(|ts| ts.as_millis()))
            && to > from
        {
            between(from, to, event, &open, is_answered, &mut spans);
        }
        last = last.max(event.ts.map(|ts| ts.as_millis()));
        if let Some(tool) = event.tool.as_ref().filter(|tool| results.contains_key(tool.call_id.as_str())) {
            open.push((&tool.call_id, tool.class));
        }
        if let Some(result) = &event.result {
            open.retain(|(call, _)| *call != result.call_id);
        }
        if event.kind == Kind::Interruption {
            open.clear();
        }
        // Bookkeeping between an answer and the next message does not end the waiting.
        is_answered = match event.kind {
            Kind::Assistant => true,
            Kind::User | Kind::ToolCall | Kind::ToolResult | Kind::Reasoning => false,
            _ => is_answered,
        };
    }
    spans
}

fn between(
    from: i64,
    to: i64,
    event: &Event,
    open: &[(&str, ToolClass)],
    is_answered: bool,
    spans: &mut Vec<Span>,
) {
    let span = |from, to, doing| Span { from, to, doing, turn: event.turn, is_shared: open.len() > 1 };
    let is_long = to - from > IDLE_MS;
    let is_of_model = matches!(event.kind, Kind::Assistant | Kind::Reasoning | Kind::ToolCall | Kind::Error);
    let is_typed = event.kind == Kind::User && event.origin == Origin::User;
    let is_prompt = is_typed || (is_answered && !is_of_model);
    let Some((call, class)) = open.first() else {
        let doing = match (is_prompt, is_long) {
            (_, true) => Doing::Idle,
            (true, false) => Doing::Waiting,
            (false, false) => Doing::Model,
        };
        spans.push(span(from, to, doing));
        return;
    };
    let answers = event.result.as_ref().filter(|result| result.call_id == *call);
    let is_denied = answers.is_some_and(|result| result.outcome == Outcome::Denied);
    let logged = answers.and_then(|result| result.duration_ms).and_then(|ms| i64::try_from(ms).ok());
    match (class, logged) {
        (ToolClass::Ask, _) => spans.push(span(from, to, Doing::Waiting)),
        _ if is_denied => spans.push(span(from, to, Doing::Waiting)),
        (ToolClass::Subagent, _) => spans.push(span(from, to, Doing::Child)),
        // What goes beyond the logged duration is the time until somebody allowed it.
        (class, Some(ms)) if to - from > ms + SLACK_MS => {
            spans.push(span(from, to - ms, if is_long { Doing::Idle } else { Doing::Waiting }));
            spans.push(span(to - ms, to, Doing::Tool(*class)));
        }
        (class, None) if to - from <= UNSURE_MS => spans.push(span(from, to, Doing::Tool(*class))),
        (_, None) => spans.push(span(from, to, Doing::Unknown)),
        (class, Some(_)) => spans.push(span(from, to, Doing::Tool(*class))),
    }
}

/// A row of the time panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// `model`, `shell`, `waiting`, …
    pub what: String,
    /// How long, in milliseconds.
    pub ms: i64,
    /// How many stretches.
    pub spans: usize,
    /// Whether several calls were open in some of it: then it is at most so much.
    pub at_most: bool,
    /// Whether somebody worked.
    pub work: bool,
}

/// What was going on for how long, longest first, work before waiting.
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

/// How a class is called in data.
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

/// The name that serde gives a plain variant.
pub fn word(variant: &impl Serialize) -> String {
    let value = serde_json::to_value(variant).ok();
    value.as_ref().and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

/// Time in which somebody worked.
pub fn active_ms(spans: &[Span]) -> i64 {
    spans.iter().filter(|span| span.doing.is_work()).map(|span| span.to - span.from).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::{answer, call, events, prompt, result};

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
