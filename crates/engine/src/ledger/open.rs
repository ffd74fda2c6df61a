//! Where a log cannot tell all that was used: answers without figures, and a log
//! that stops in the middle of a turn.
//!
//! One rule serves all agents, because it looks at settled events alone. What a
//! program that is killed leaves behind differs (Claude Code and Codex end with a
//! call that has no result, Grok with a turn that has no figures, Codex up to 0.29
//! has none at all), but it is always one of these two. A session that is running
//! looks the same; whoever asks knows whether it still grows.

use retro_model::{Event, Kind, LedgerRow, Origin, Outcome, RowKind, SessionKey, Thread, Timestamp, Usage};
use std::collections::{BTreeMap, HashMap, HashSet};

/// What is open in a settled stream: at most one row of each kind.
pub(super) fn rows(session: &SessionKey, events: &[Event]) -> Vec<LedgerRow> {
    let unmeasured = unmeasured(events).map(|(event, bytes)| {
        let mut row = row(session, event, RowKind::Unmeasured);
        row.text_bytes = bytes;
        row
    });
    let cut_off = cut_off(events).map(|event| row(session, event, RowKind::CutOff));
    unmeasured.into_iter().chain(cut_off).collect()
}

fn row(session: &SessionKey, event: &Event, kind: RowKind) -> LedgerRow {
    let what = if kind == RowKind::CutOff { "cut_off" } else { "unmeasured" };
    let key = format!("{session}#{}:{what}", event.id);
    LedgerRow {
        ts: event.ts,
        calls: 0,
        kind,
        ..LedgerRow::of(key, event.id.clone(), event.thread.clone(), &Usage::default())
    }
}

/// The first thing the model made that no figures are told of, and the bytes of
/// text of all such.
fn unmeasured(events: &[Event]) -> Option<(&Event, u64)> {
    let measured: HashSet<&str> = events
        .iter()
        .filter(|event| event.kind == Kind::Usage)
        .filter_map(|event| event.response.as_deref())
        .collect();
    let mut found: Option<(&Event, u64)> = None;
    let mut before: HashMap<&Thread, Kind> = HashMap::new();
    for event in events {
        let before = before.insert(&event.thread, event.kind);
        let is_made = match event.kind {
            Kind::Assistant | Kind::Reasoning => true,
            // What runs inside another call is part of that one's answer.
            Kind::ToolCall => event.tool.as_ref().is_some_and(|tool| tool.parent_call.is_none()),
            _ => false,
        };
        // What a sub-agent answered is repeated behind its end, and measured where it was made.
        let repeats = event.kind == Kind::Assistant && before == Some(Kind::Subagent);
        let is_own = event.origin == Origin::Model && event.copy_of.is_none() && !repeats;
        if is_made && is_own && !event.response.as_deref().is_some_and(|key| measured.contains(key)) {
            let bytes = super::text_bytes(event);
            found = match found {
                Some((first, sum)) => Some((first, sum + bytes)),
                None => Some((event, bytes)),
            };
        }
    }
    found
}

/// The last thing said on a thread, if it asks for an answer that did not come.
fn cut_off(events: &[Event]) -> Option<&Event> {
    let calls: HashSet<&str> = events
        .iter()
        .filter(|event| event.kind == Kind::ToolCall && event.origin == Origin::Model)
        .filter_map(|event| Some(event.tool.as_ref()?.call_id.as_str()))
        .collect();
    let mut last: BTreeMap<&Thread, &Event> = BTreeMap::new();
    for event in events.iter().filter(|event| is_said(event, &calls)) {
        last.insert(&event.thread, event);
    }
    // A sub-agent whose end was told to its parent did answer; its own last lines may be lost.
    // Threads are told one after the other, so only times say what came first.
    let mut ended: HashMap<&str, Timestamp> = HashMap::new();
    for report in events.iter().filter(|event| event.kind == Kind::Subagent) {
        if let (Some(child), Some(ts)) = (report.child.as_deref(), report.ts) {
            let end = ended.entry(child).or_insert(ts);
            *end = ts.max(*end);
        }
    }
    let has_ended = |event: &Event| {
        event.ts.is_some_and(|ts| ended.get(event.thread.as_str()).is_some_and(|end| *end >= ts))
    };
    last.into_values().filter(|event| asks(event) && !has_ended(event)).max_by_key(|event| event.seq)
}

/// Whether an event is a step of the conversation with the model. What a user ran
/// without it (slash commands, a shell) is none.
fn is_said(event: &Event, calls: &HashSet<&str>) -> bool {
    match event.kind {
        Kind::Assistant | Kind::Interruption | Kind::Error | Kind::Compaction | Kind::Denial => true,
        Kind::User => event.data.as_ref().is_none_or(|data| data.get("shell").is_none()),
        Kind::ToolCall => event.origin == Origin::Model,
        Kind::ToolResult => {
            event.result.as_ref().is_some_and(|result| calls.contains(result.call_id.as_str()))
        }
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
