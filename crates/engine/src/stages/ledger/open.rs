//! Where a log cannot tell all that was used: answers without figures, and a log
//! that stops in the middle of a turn.
//!
//! One rule serves all agents, because it looks at settled events alone. What a
//! program that is killed leaves behind differs (Claude Code and Codex end with a
//! call that has no result, Grok with a turn that has no figures, Codex up to 0.29
//! has none at all), but it is always one of these two. A session that is running
//! looks the same; whoever asks knows whether it still grows.

use hashbrown::{HashMap, HashSet};
use retro_model::{
    Event, EventId, Kind, LedgerRow, Origin, Outcome, RowKind, SessionKey, Thread, Timestamp, Usage,
};
use xxhash_rust::xxh3::xxh3_64;

/// Finds what is open in a settled stream. Ids are kept as hashes, so that it stays
/// small beside a session of any size.
#[derive(Default)]
pub(super) struct Open {
    /// Answers whose figures are told.
    measured: Recent,
    /// What answers made whose figures did not come yet.
    waiting: HashMap<u64, (At, u64)>,
    /// What the model made and no answer claims.
    unclaimed: Option<(At, u64)>,
    lines: Lines,
    /// Calls that the model made.
    calls: Recent,
    /// When the end of a sub-agent was told. Threads are told one after the other, so
    /// only times say what came first.
    ended: HashMap<String, Timestamp>,
}

/// What is known of each thread.
#[derive(Default)]
struct Lines {
    all: HashMap<Thread, Line>,
    /// The one that was told of last: events of a thread stand together.
    current: Option<(Thread, Line)>,
}

#[derive(Default)]
struct Line {
    before: Option<Kind>,
    /// Its last step, and whether that asks for an answer.
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

/// Where something stands.
#[derive(Clone)]
struct At {
    id: EventId,
    ts: Option<Timestamp>,
    thread: Thread,
    seq: u64,
}

/// Ids that are remembered for a good while, not for ever: what belongs together
/// stands close together.
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
    /// Takes the next event, and how many bytes of words of a model it has.
    pub(super) fn push(&mut self, event: &Event, words: u64) {
        self.look_for_figures(event, words);
        self.look_for_an_end(event);
    }

    /// What is open: at most one row of each kind.
    pub(super) fn finish(self, session: &SessionKey) -> Vec<LedgerRow> {
        let found = self.waiting.values().chain(&self.unclaimed);
        let first = found.clone().min_by_key(|(at, _)| at.seq);
        let unmeasured = first.map(|(at, _)| {
            let mut row = row(session, at, RowKind::Unmeasured);
            row.text_bytes = found.map(|(_, bytes)| bytes).sum();
            row
        });
        // A sub-agent whose end was told to its parent did answer; its own last lines may be lost.
        let has_ended = |at: &At| {
            at.ts.is_some_and(|ts| self.ended.get(at.thread.as_str()).is_some_and(|end| *end >= ts))
        };
        let last = self.lines.each().filter_map(|line| line.last.as_ref());
        let asking = last.filter(|(at, asks)| *asks && !has_ended(at)).map(|(at, _)| at);
        let cut_off = asking.max_by_key(|at| at.seq).map(|at| row(session, at, RowKind::CutOff));
        unmeasured.into_iter().chain(cut_off).collect()
    }

    /// What the model made, until figures are told of it.
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
            // What runs inside another call is part of that one's answer.
            Kind::ToolCall => event.tool.as_ref().is_some_and(|tool| tool.parent_call.is_none()),
            _ => false,
        };
        // What a sub-agent answered is repeated behind its end, and measured where it was made.
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

    /// The last thing said on each thread: it may ask for an answer that does not come.
    fn look_for_an_end(&mut self, event: &Event) {
        if event.kind == Kind::ToolCall
            && event.origin == Origin::Model
            && let Some(tool) = &event.tool
        {
            self.calls.insert(hash(&tool.call_id));
        }
        // A note beside its log, without a time, tells only that a sub-agent was started.
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

/// Whether an event is a step of the conversation with the model. What a user ran
/// without it (slash commands, a shell) is none.
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
