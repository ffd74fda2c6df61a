//! Marks where a log does not record all usage: responses without figures, and a log that stops in
//! the middle of a turn.
//!
//! One rule serves all agents, because it reads settled events alone. A killed program leaves
//! different traces (Claude Code and Codex end with a call that has no result, Grok with a turn
//! that has no figures, Codex up to 0.29 has none at all), but it is always one of these two. A
//! running session looks the same; the caller knows whether it still grows.

use hashbrown::{HashMap, HashSet};
use retro_model::{
    Event, EventId, Kind, LedgerRow, Origin, Outcome, RowKind, SessionKey, Thread, Timestamp, Usage,
};
use xxhash_rust::xxh3::xxh3_64;

/// Finds open responses in a settled stream. Ids are stored as hashes, to keep it small even for a
/// huge session.
#[derive(Default)]
pub(super) struct Open {
    /// Responses with figures.
    measured: Recent,
    /// First part and text bytes of responses that have no figures yet.
    waiting: HashMap<u64, (At, u64)>,
    /// First part and text bytes of output that belongs to no response.
    unclaimed: Option<(At, u64)>,
    lines: Lines,
    /// Calls by the model.
    calls: Recent,
    /// When the end of each sub-agent was reported. Threads come one after the other, so only times
    /// show the order.
    ended: HashMap<String, Timestamp>,
}

/// State of each thread.
#[derive(Default)]
struct Lines {
    all: HashMap<Thread, Line>,
    /// The thread of the last event. Events of one thread are adjacent.
    current: Option<(Thread, Line)>,
}

#[derive(Default)]
struct Line {
    before: Option<Kind>,
    /// Its last step, and whether that step asks for an answer.
    last: Option<(At, bool)>,
}

impl Lines {
    fn of(&mut self, thread: &Thread) -> &mut Line {
        if self.current.as_ref().is_none_or(|(current, _)| current != thread) {
            let line = self.all.remove(thread).unwrap_or_default();
            self.all.extend(self.current.replace((thread.clone(), line)));
        }
        let (_, line) = self.current.get_or_insert_with(|| (thread.clone(), Line::default()));
        line
    }

    fn each(&self) -> impl Iterator<Item = &Line> {
        self.all.values().chain(self.current.as_ref().map(|(_, line)| line))
    }
}

/// The position of an event.
#[derive(Clone)]
struct At {
    id: EventId,
    ts: Option<Timestamp>,
    thread: Thread,
    seq: u64,
}

/// The most recent ids. Old ones are dropped, because related events are close together.
#[derive(Default)]
struct Recent {
    now: HashSet<u64>,
    before: HashSet<u64>,
}

impl Recent {
    const IDS_MAX: usize = 100_000;

    fn insert(&mut self, id: u64) {
        if self.now.len() >= Self::IDS_MAX {
            self.before = std::mem::take(&mut self.now);
        }
        self.now.insert(id);
    }

    fn contains(&self, id: u64) -> bool {
        self.now.contains(&id) || self.before.contains(&id)
    }
}

impl Open {
    /// Takes the next event, with the number of bytes of text by the model in it.
    pub(super) fn push(&mut self, event: &Event, words: u64) {
        self.look_for_figures(event, words);
        self.look_for_an_end(event);
    }

    /// The open usage: at most one row of each kind.
    pub(super) fn finish(self, session: &SessionKey) -> Vec<LedgerRow> {
        let found = self.waiting.values().chain(&self.unclaimed);
        let first = found.clone().min_by_key(|(at, _)| at.seq);
        let unmeasured = first.map(|(at, _)| {
            let mut row = row(session, at, RowKind::Unmeasured);
            row.text_bytes = found.map(|(_, bytes)| bytes).sum();
            row
        });
        // A sub-agent did answer if its parent recorded its end. Its own last lines may be lost.
        let has_ended = |at: &At| {
            at.ts.is_some_and(|ts| self.ended.get(at.thread.as_str()).is_some_and(|end| *end >= ts))
        };
        let last = self.lines.each().filter_map(|line| line.last.as_ref());
        let asking = last.filter(|(at, asks)| *asks && !has_ended(at)).map(|(at, _)| at);
        let cut_off = asking.max_by_key(|at| at.seq).map(|at| row(session, at, RowKind::CutOff));
        unmeasured.into_iter().chain(cut_off).collect()
    }

    /// Collects the model's output until its figures arrive.
    fn look_for_figures(&mut self, event: &Event, words: u64) {
        let response = event.response.as_ref().map(|response| hash(response));
        if event.kind == Kind::Usage
            && let Some(response) = response
        {
            self.measured.insert(response);
            self.waiting.remove(&response);
        }
        let before = self.lines.of(&event.thread).before.replace(event.kind);
        let is_made = match event.kind {
            Kind::Assistant | Kind::Reasoning => true,
            // A call inside another call is part of that call's answer.
            Kind::ToolCall => event.tool.as_ref().is_some_and(|tool| tool.parent_call.is_none()),
            _ => false,
        };
        // The answer of a sub-agent is repeated after its end, and was measured in its own thread.
        let repeats = event.kind == Kind::Assistant && before == Some(Kind::Subagent);
        if !is_made || event.origin != Origin::Model || event.copy_of.is_some() || repeats {
            return;
        }
        match response {
            Some(response) if self.measured.contains(response) => {}
            Some(response) => self.waiting.entry(response).or_insert_with(|| (At::of(event), 0)).1 += words,
            None => match &mut self.unclaimed {
                Some((_, sum)) => *sum += words,
                None => self.unclaimed = Some((At::of(event), words)),
            },
        }
    }

    /// Keeps the last step of each thread, because it may ask for an answer that never comes.
    fn look_for_an_end(&mut self, event: &Event) {
        if event.kind == Kind::ToolCall
            && event.origin == Origin::Model
            && let Some(tool) = &event.tool
        {
            self.calls.insert(hash(&tool.call_id));
        }
        // A note without a time, from beside the log, shows only that a sub-agent was started.
        if event.kind == Kind::Subagent
            && let (Some(child), Some(ts)) = (&event.child, event.ts)
        {
            let end = self.ended.entry(child.clone()).or_insert(ts);
            *end = ts.max(*end);
        }
        if is_said(event, &self.calls) {
            self.lines.of(&event.thread).last = Some((At::of(event), asks(event)));
        }
    }
}

fn hash(id: &str) -> u64 {
    xxh3_64(id.as_bytes())
}

impl At {
    fn of(event: &Event) -> At {
        At { id: event.id.clone(), ts: event.ts, thread: event.thread.clone(), seq: event.seq }
    }
}

fn row(session: &SessionKey, at: &At, kind: RowKind) -> LedgerRow {
    let what = if kind == RowKind::CutOff { "cut_off" } else { "unmeasured" };
    let key = format!("{session}#{}:{what}", at.id);
    LedgerRow {
        ts: at.ts,
        calls: 0,
        kind,
        ..LedgerRow::of(key, at.id.clone(), at.thread.clone(), &Usage::default())
    }
}

/// Whether an event is a step of the conversation with the model. Commands that a user ran without
/// it (slash commands, a shell) are not.
fn is_said(event: &Event, calls: &Recent) -> bool {
    match event.kind {
        Kind::Assistant | Kind::Interruption | Kind::Error | Kind::Compaction | Kind::Denial => true,
        Kind::User => event.data.as_ref().is_none_or(|data| data.get("shell").is_none()),
        Kind::ToolCall => event.origin == Origin::Model,
        Kind::ToolResult => event.result.as_ref().is_some_and(|result| calls.contains(hash(&result.call_id))),
        _ => false,
    }
}

fn asks(event: &Event) -> bool {
    match event.kind {
        Kind::User => event.live && event.copy_of.is_none(),
        Kind::ToolCall => event.copy_of.is_none(),
        // A call that was refused or cut ends the turn.
        Kind::ToolResult => event
            .result
            .as_ref()
            .is_some_and(|result| !matches!(result.outcome, Outcome::Denied | Outcome::Interrupted)),
        _ => false,
    }
}
