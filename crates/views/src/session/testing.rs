//! Events for tests, in a line each.

use retro_model::{Event, Outcome, ToolClass};
use serde_json::{Value, json};

/// Numbers events in order and reads them.
pub fn events(list: Vec<Value>) -> Vec<Event> {
    let mut turn = 0;
    let number = |(at, mut value): (usize, Value)| {
        if value["kind"] == "user" {
            turn += 1;
        }
        let record = at + 1;
        value["id"] = json!(format!("m:{record}"));
        value["seq"] = json!(record);
        value["turn"] = json!(turn);
        value["thread"] = json!("main");
        value["live"] = json!(true);
        value["raw"] = json!({"source": "m", "revision": 1, "record": record, "offset": 0, "length": 1});
        serde_json::from_value(value).unwrap()
    };
    list.into_iter().enumerate().map(number).collect()
}

fn at(ms: i64) -> Value {
    json!(retro_model::Timestamp::from_millis(1_772_000_000_000 + ms).unwrap().to_string())
}

pub fn prompt(ms: i64, text: &str) -> Value {
    json!({"ts": at(ms), "kind": "user", "origin": "user", "text": text})
}

pub fn answer(ms: i64, text: &str) -> Value {
    json!({"ts": at(ms), "kind": "assistant", "origin": "model", "text": text})
}

pub fn call(ms: i64, id: &str, class: ToolClass) -> Value {
    json!({"ts": at(ms), "kind": "tool_call", "origin": "model",
        "tool": {"call_id": id, "name": "x", "class": class, "command": "make test"}})
}

pub fn result(ms: i64, id: &str, outcome: Outcome, took: Option<u64>) -> Value {
    let mut result = json!({"call_id": id, "outcome": outcome, "bytes": 3});
    if let Some(took) = took {
        result["duration_ms"] = json!(took);
    }
    json!({"ts": at(ms), "kind": "tool_result", "origin": "tool", "text": "out", "result": result})
}
