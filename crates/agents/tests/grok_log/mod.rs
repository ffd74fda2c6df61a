//! Grok's files from a few words: what a test leaves out of a line is added as
//! the program would.
#![allow(dead_code)]

use retro_agents::script::Script;
use retro_agents::{Agent, Settled, by_name};
use retro_model::{Event, Kind, SourceKey};
use serde_json::{Value, json};

use super::home::{Home, Source, settled};

/// The clock of all tests, in milliseconds.
pub(crate) const START_MS: i64 = 1_772_359_200_000;

pub(crate) fn grok() -> &'static dyn Agent {
    by_name("grok").unwrap()
}

/// A source of the session `s1`: a log with these records, or a document.
pub(crate) fn source(key: &str, records: Vec<Value>) -> Source {
    let lines: String = match key {
        "m" => (1..).zip(records).map(|(n, update)| format!("{}\n", line(n, update))).collect(),
        "events" => (1..).zip(records).map(|(n, event)| format!("{}\n", timed(n, event))).collect(),
        _ => records.iter().map(|record| format!("{record}\n")).collect(),
    };
    let key = SourceKey::new(key);
    let format = grok().source_form(&key).1;
    Source { path: key.as_str().into(), key, revision: 1, format, bytes: lines.into_bytes() }
}

/// The source as it was rewritten later.
pub(crate) fn rewritten(revision: u32, source: Source) -> Source {
    Source { revision, ..source }
}

/// A line of the updates. `@` in an update sets what stands around it: `n` its
/// number, `ms` its time after the start, `owner` the session that wrote it, and
/// fields of `_meta` by their names.
fn line(n: i64, mut update: Value) -> Value {
    let mut around = update.as_object_mut().and_then(|update| update.remove("@")).unwrap_or(json!({}));
    let fields = around.as_object_mut().unwrap();
    let number = fields.remove("n").and_then(|n| n.as_i64()).unwrap_or(n);
    let after = fields.remove("ms").and_then(|ms| ms.as_i64()).unwrap_or(number * 1000);
    let owner = fields.remove("owner");
    let owner = owner.as_ref().and_then(Value::as_str).unwrap_or("s1");
    let mut meta = json!({ "eventId": format!("{owner}-{number}"), "agentTimestampMs": START_MS + after });
    let of_model = ["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "plan"];
    if of_model.iter().any(|kind| update["sessionUpdate"] == *kind) {
        meta["promptId"] = json!("t1");
        meta["streamStartMs"] = json!(START_MS + after);
    }
    meta.as_object_mut().unwrap().extend(fields.clone());
    json!({ "timestamp": (START_MS + after) / 1000, "method": "session/update",
        "params": { "sessionId": "s1", "update": update, "_meta": meta } })
}

/// A record of the event log; `ms` is its time after the start.
fn timed(n: i64, mut event: Value) -> Value {
    let after = event.as_object_mut().unwrap().remove("ms").and_then(|ms| ms.as_i64()).unwrap_or(n * 1000);
    let ts = retro_model::Timestamp::from_millis(START_MS + after).unwrap();
    event["ts"] = json!(ts.to_string());
    event
}

/// The same value with more fields.
pub(crate) fn with(mut value: Value, fields: Value) -> Value {
    value.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    value
}

pub(crate) fn prompt(index: u64, text: &str) -> Value {
    json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": text },
        "_meta": { "modelId": "model-a", "promptIndex": index } })
}

pub(crate) fn says(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } })
}

pub(crate) fn thinks(text: &str) -> Value {
    json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": text } })
}

pub(crate) fn calls(id: &str, name: &str, args: Value) -> Value {
    json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": name, "rawInput": args })
}

pub(crate) fn answers(id: &str, status: &str, output: Value) -> Value {
    json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "rawOutput": output })
}

pub(crate) fn ends(turn: &str, stop: &str) -> Value {
    json!({ "sessionUpdate": "turn_completed", "prompt_id": turn, "stop_reason": stop,
        "usage": { "inputTokens": 100, "outputTokens": 9, "modelUsage": { "model-a": {
            "inputTokens": 100, "cachedReadTokens": 60, "cacheCreationTokens": 10, "outputTokens": 9,
            "reasoningTokens": 2, "modelCalls": 3 } } } })
}

/// The session `s1` with these sources.
pub(crate) fn read(sources: &[Source]) -> Settled {
    settled(grok(), "s1", sources)
}

/// The session `s1` with only these updates.
pub(crate) fn updates(lines: Vec<Value>) -> Settled {
    read(&[source("m", lines)])
}

/// A script, written to a disk as the program would, found and read again.
pub(crate) fn home_of(script: &Script) -> Home {
    let home = tempfile::tempdir().unwrap();
    for (path, bytes) in grok().write(script) {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    Home::read(grok(), home.path())
}

pub(crate) fn kinds(settled: &Settled) -> Vec<Kind> {
    settled.events.iter().map(|event| event.kind).collect()
}

pub(crate) fn of_kind(settled: &Settled, kind: Kind) -> Vec<&Event> {
    settled.events.iter().filter(|event| event.kind == kind).collect()
}

pub(crate) fn text(event: &Event) -> &str {
    event.text.as_ref().map_or("", |text| text.as_str())
}

pub(crate) fn texts(settled: &Settled, kind: Kind) -> Vec<&str> {
    of_kind(settled, kind).into_iter().map(text).collect()
}
