//! Attributes the time of a thread to activities. Waiting for a person is never work.
//!
//! The time between two events of a log belongs to the activity between them: an open call, the
//! model, a person whose turn it is. Time that the log cannot explain is a class of its own.
//! Signals and views both use [`spans`].

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use retro_model::{Event, Kind, Origin, Outcome, ToolClass};
use serde::Serialize;

/// A longer pause is idle time.
const IDLE_MS: i64 = 30 * 60_000;

/// A call without a logged duration that is open longer may have waited for a person.
const UNSURE_MS: i64 = 10 * 60_000;

/// A call that is open longer than its logged duration plus this has waited for a person.
const SLACK_MS: i64 = 2_000;

/// Ticks that are kept before they are summed.
const TICKS_MAX: usize = 100_000;

/// The activity in a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// The model was generating.
    Model,
    /// A call of this class was running.
    Tool(ToolClass),
    /// A sub-agent was running.
    Child,
    /// The agent was waiting for a person.
    Waiting,
    /// Nothing was happening.
    Idle,
    /// The log does not show it.
    Unknown,
}

impl Doing {
    /// True if the agent was working.
    pub fn is_work(self) -> bool {
        matches!(self, Doing::Model | Doing::Tool(_) | Doing::Child)
    }
}

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Start, in milliseconds since 1970.
    pub from: i64,
    /// End, in milliseconds since 1970.
    pub to: i64,
    /// The activity in this span.
    pub doing: Doing,
    /// The turn that contains it.
    pub turn: u32,
    /// True if several calls were open. The class is that of the first.
    pub is_shared: bool,
}

/// The meaning of an event for the time around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A message of a person.
    Typed,
    /// Any other message.
    Message,
    /// A text of the model.
    Answer,
    /// Reasoning of the model, or an error.
    Model {
        thinks: bool,
    },
    /// A call, by a hash of its id.
    Call(u64, ToolClass),
    /// The result of a call: the hash of its id, whether it was denied, and its duration.
    Result(u64, bool, Option<i64>),
    Interruption,
    /// Any bookkeeping event.
    Other,
}

/// An event, reduced to the facts that the clock needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tick {
    ms: Option<i64>,
    turn: u32,
    what: What,
}

impl Tick {
    /// The tick of an event. `None` for a copy and for an event that only counts tokens.
    pub fn of(event: &Event) -> Option<Tick> {
        if event.copy_of.is_some() || event.kind == Kind::Usage {
            return None;
        }
        let what = match (event.kind, &event.tool, &event.result) {
            (Kind::ToolCall, Some(tool), _) => What::Call(number(&tool.call_id), tool.class),
            (_, _, Some(result)) => {
                let ms = result.duration_ms.and_then(|ms| i64::try_from(ms).ok());
                What::Result(number(&result.call_id), result.outcome == Outcome::Denied, ms)
            }
            (Kind::User, ..) if event.origin == Origin::User => What::Typed,
            (Kind::User, ..) => What::Message,
            (Kind::Assistant, ..) => What::Answer,
            (Kind::Reasoning, ..) => What::Model { thinks: true },
            (Kind::Error, ..) => What::Model { thinks: false },
            (Kind::Interruption, ..) => What::Interruption,
            _ => What::Other,
        };
        Some(Tick { ms: event.ts.map(|ts| ts.as_millis()), turn: event.turn, what })
    }
}

fn number(call_id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    call_id.hash(&mut hasher);
    hasher.finish()
}

/// The spans of a thread, in order.
pub fn spans(ticks: &[Tick]) -> Vec<Span> {
    let answered: HashSet<u64> = ticks
        .iter()
        .filter_map(|tick| match tick.what {
            What::Result(call, ..) => Some(call),
            _ => None,
        })
        .collect();
    let mut spans = Vec::new();
    let mut open: Vec<(u64, ToolClass)> = Vec::new();
    let mut last: Option<i64> = None;
    let mut is_answered = false;
    for tick in ticks {
        if let (Some(from), Some(to)) = (last, tick.ms)
            && to > from
        {
            between(from, to, tick, &open, is_answered, &mut spans);
        }
        last = last.max(tick.ms);
        match tick.what {
            What::Call(call, class) if answered.contains(&call) => open.push((call, class)),
            What::Result(call, ..) => open.retain(|(known, _)| *known != call),
            What::Interruption => open.clear(),
            _ => {}
        }
        // Bookkeeping between an answer and the next message does not end the wait.
        is_answered = match tick.what {
            What::Answer => true,
            What::Typed
            | What::Message
            | What::Call(..)
            | What::Result(..)
            | What::Model { thinks: true } => false,
            _ => is_answered,
        };
    }
    spans
}

fn between(
    from: i64,
    to: i64,
    tick: &Tick,
    open: &[(u64, ToolClass)],
    is_answered: bool,
    spans: &mut Vec<Span>,
) {
    let span = |from, to, doing| Span { from, to, doing, turn: tick.turn, is_shared: open.len() > 1 };
    let is_long = to - from > IDLE_MS;
    let is_of_model = matches!(tick.what, What::Answer | What::Model { .. } | What::Call(..));
    let is_prompt = tick.what == What::Typed || (is_answered && !is_of_model);
    let Some((call, class)) = open.first() else {
        let doing = match (is_prompt, is_long) {
            (_, true) => Doing::Idle,
            (true, false) => Doing::Waiting,
            (false, false) => Doing::Model,
        };
        spans.push(span(from, to, doing));
        return;
    };
    let (is_denied, logged) = match tick.what {
        What::Result(answers, is_denied, ms) if answers == *call => (is_denied, ms),
        _ => (false, None),
    };
    match (class, logged) {
        (ToolClass::Ask, _) => spans.push(span(from, to, Doing::Waiting)),
        _ if is_denied => spans.push(span(from, to, Doing::Waiting)),
        (ToolClass::Subagent, _) => spans.push(span(from, to, Doing::Child)),
        // Time beyond the logged duration was spent waiting for permission.
        (class, Some(ms)) if to - from > ms + SLACK_MS => {
            spans.push(span(from, to - ms, if is_long { Doing::Idle } else { Doing::Waiting }));
            spans.push(span(to - ms, to, Doing::Tool(*class)));
        }
        (class, None) if to - from <= UNSURE_MS => spans.push(span(from, to, Doing::Tool(*class))),
        (_, None) => spans.push(span(from, to, Doing::Unknown)),
        (class, Some(_)) => spans.push(span(from, to, Doing::Tool(*class))),
    }
}

/// Working time of the agent, in milliseconds.
pub fn active_ms(spans: &[Span]) -> i64 {
    spans.iter().filter(|span| span.doing.is_work()).map(|span| span.to - span.from).sum()
}

/// The clock of one thread, with bounded memory: many ticks are summed as they arrive.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    ticks: Vec<Tick>,
    /// Of the ticks that were summed.
    active_ms: i64,
    other_ms: i64,
    timed: u64,
}

impl Clock {
    /// Adds the next event.
    pub(crate) fn push(&mut self, event: &Event) {
        let Some(tick) = Tick::of(event) else { return };
        self.timed += u64::from(tick.ms.is_some());
        self.ticks.push(tick);
        if self.ticks.len() >= TICKS_MAX {
            let (active, other) = self.sums();
            (self.active_ms, self.other_ms) = (active, other);
            self.ticks.drain(..TICKS_MAX - 1);
        }
    }

    /// Milliseconds of work, and of other time. `None` with fewer than two times.
    pub(crate) fn read(&self) -> Option<(i64, i64)> {
        (self.timed > 1).then(|| self.sums())
    }

    fn sums(&self) -> (i64, i64) {
        let spans = spans(&self.ticks);
        let active = active_ms(&spans);
        let all: i64 = spans.iter().map(|span| span.to - span.from).sum();
        (self.active_ms + active, self.other_ms + all - active)
    }

    /// The number of ticks in memory.
    pub fn held(&self) -> usize {
        self.ticks.len()
    }
}
