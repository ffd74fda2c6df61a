//! Small words for the records of a thread, so that a test reads like a story.
#![allow(dead_code)]

use retro_agents::Settled;
use retro_model::{Event, Kind};
use serde_json::{Value, json};

use super::{THREAD, codex, log};
use crate::home::settled;

pub(crate) const PARENT: &str = "00000000-0000-7000-8000-000000000001";

pub(crate) fn tell(records: Vec<Value>) -> Settled {
    settled(codex(), THREAD, &[log("m", records)])
}

pub(crate) fn of(settled: &Settled, kind: Kind) -> Vec<&Event> {
    settled.events.iter().filter(|event| event.kind == kind).collect()
}

pub(crate) fn text(event: &Event) -> &str {
    event.text.as_ref().map_or("", |text| text.as_str())
}

pub(crate) fn texts(settled: &Settled, kind: Kind) -> Vec<&str> {
    of(settled, kind).into_iter().map(text).collect()
}

pub(crate) fn meta() -> Value {
    json!({ "type": "session_meta", "payload": { "id": THREAD, "cwd": "/w", "cli_version": "0.130.0", "source": "cli" } })
}

pub(crate) fn turn(id: &str) -> Value {
    json!({ "event": { "type": "task_started", "turn_id": id } })
}

pub(crate) fn asks(words: &str) -> [Value; 2] {
    [
        json!({ "item": { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": words }] } }),
        json!({ "event": { "type": "user_message", "message": words } }),
    ]
}

pub(crate) fn says(words: &str) -> [Value; 2] {
    [
        json!({ "event": { "type": "agent_message", "message": words } }),
        json!({ "item": { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": words }] } }),
    ]
}

pub(crate) fn calls(id: &str, name: &str, args: Value) -> Value {
    json!({ "item": { "type": "function_call", "name": name, "arguments": args.to_string(), "call_id": id } })
}

pub(crate) fn answers(id: &str, output: &str) -> Value {
    json!({ "item": { "type": "function_call_output", "call_id": id, "output": output } })
}

pub(crate) fn counts(total: u64, last: u64) -> Value {
    json!({ "event": { "type": "token_count", "info": {
        "total_token_usage": { "input_tokens": total, "output_tokens": total },
        "last_token_usage": { "input_tokens": last, "cached_input_tokens": 1, "output_tokens": last } } } })
}

pub(crate) fn records(id: &str, input: u64) -> Value {
    json!({ "type": "token_usage_record", "payload": { "thread_id": THREAD, "response_id": id,
        "usage": { "input_tokens": input, "output_tokens": 1 } } })
}

pub(crate) fn story(parts: impl IntoIterator<Item = Vec<Value>>) -> Settled {
    tell(std::iter::once(vec![meta()]).chain(parts).flatten().collect())
}
