//! The writer's log in the form of 0.130, and as 0.166 migrates it.
//!
//! The older form has no ordinals, no ids on items, no record of a response's tokens but the count,
//! and events of many kinds where there is now one kind. Migrating keeps times and items and turns
//! those events into the one kind.

use serde_json::{Value, json};

use super::Log;

const VERSION: &str = "0.130.0";

/// A log in the older form. A fork begins with its parent's records, all with the same write time.
pub(super) fn older(log: &Log) -> String {
    let mut own: Vec<Value> = records(log).filter_map(told_apart).collect();
    if let Some(parent) = log.fork.as_ref().and_then(|origin| origin.copied.as_ref()) {
        let now = own.first().map_or(Value::Null, |meta| meta["timestamp"].clone());
        let copies = older(parent);
        let copies = copies.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let at = own.len().min(1);
        own.splice(
            at..at,
            copies.map(|mut record| {
                record["timestamp"] = now.clone();
                record
            }),
        );
    }
    lines(own)
}

/// The same log after its migration.
pub(super) fn migrated(log: &Log) -> String {
    let numbered = (0u64..).zip(records(log)).map(|(ordinal, mut record)| {
        record["ordinal"] = Value::from(ordinal);
        if record["type"] == "session_meta" {
            record["payload"]["session_id"] = Value::from(log.thread.as_str());
            record["payload"]["history_mode"] = Value::from("paginated");
        }
        // Items get new ids; the id of a change is its call's.
        let item = record["payload"].get_mut("item").filter(|item| item["type"] != "FileChange");
        if let Some(item) = item {
            item["id"] = Value::from(format!("item-{ordinal}"));
        }
        record
    });
    lines(numbered.collect())
}

fn lines(records: Vec<Value>) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// The records that 0.130 wrote too, without fields that it did not write.
fn records(log: &Log) -> impl Iterator<Item = Value> {
    let all = log.lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    all.filter_map(|mut record| {
        let kind = record["type"].as_str().unwrap_or_default().to_owned();
        let done = record["payload"]["item"]["type"].as_str().unwrap_or_default().to_owned();
        if kind == "token_usage_record" || matches!(done.as_str(), "CommandExecution" | "CollabAgentToolCall")
        {
            return None;
        }
        drop_fields(&mut record, &["ordinal", "metadata"]);
        let payload = &mut record["payload"];
        match kind.as_str() {
            "session_meta" => {
                drop_fields(payload, &["session_id", "history_mode"]);
                payload["cli_version"] = Value::from(VERSION);
            }
            "response_item" => drop_fields(payload, &["id", "internal_chat_message_metadata_passthrough"]),
            "compacted" => drop_fields(payload, &["compaction_response_id"]),
            _ => {}
        }
        for figures in ["total_token_usage", "last_token_usage"] {
            if let Some(figures) = payload.get_mut("info").and_then(|info| info.get_mut(figures)) {
                drop_fields(figures, &["cache_write_input_tokens"]);
            }
        }
        Some(record)
    })
}

/// Converts an `item_completed` record to the event that older versions wrote.
fn told_apart(mut record: Value) -> Option<Value> {
    let payload = &record["payload"];
    let Some(item) = payload.get("item") else { return Some(record) };
    let text = |list: &str| item[list][0]["text"].clone();
    let event = match item["type"].as_str()? {
        "UserMessage" => json!({ "type": "user_message", "message": text("content"), "images": [] }),
        "AgentMessage" => {
            json!({ "type": "agent_message", "message": text("content"), "phase": item["phase"] })
        }
        "Reasoning" => json!({ "type": "agent_reasoning", "text": item["summary_text"][0] }),
        "FileChange" => {
            json!({ "type": "patch_apply_end", "call_id": item["id"], "turn_id": payload["turn_id"],
            "stdout": item["stdout"], "stderr": "", "success": true, "changes": item["changes"], "status": "completed" })
        }
        "ContextCompaction" => json!({ "type": "context_compacted" }),
        _ => return None,
    };
    record["payload"] = event;
    Some(record)
}

fn drop_fields(of: &mut Value, names: &[&str]) {
    if let Some(fields) = of.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
}
