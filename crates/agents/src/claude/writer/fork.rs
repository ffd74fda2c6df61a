//! Sessions that begin with another's history, in the three ways that the program has had.
//!
//! All of them copy the records of the conversation, with their ids, into a file of the new
//! session; the changes on the way differ, and so does the way to recognize the copies.

use retro_model::Timestamp;
use serde_json::{Value, json};
use std::collections::HashMap;

use super::{Log, Writer, push_line};
use crate::script::Fork;

/// `/branch` (2.1.325): each copy names its original.
const BRANCH: &str = "branch";

/// `--resume` (1.0.117): the copies have the time of the resume and no request id.
const RESUME: &str = "resume";

/// `--fork-session` (2.1.63 on): the copies are older than the file's first prompt.
const SESSION: &str = "session";

/// All ways, sorted by name.
pub(crate) const WAYS: &[&str] = &[BRANCH, RESUME, SESSION];

impl Writer<'_> {
    /// Begins the log of a fork with copies of the records of `from`.
    pub(super) fn fork(&mut self, from: &Log, fork: &Fork) -> Log {
        let parent = std::mem::replace(&mut self.session, fork.session.clone());
        let now = Timestamp::from_millis(self.clock_ms).map(|time| time.to_string());
        let mut log = Log::new(None, String::new());
        if fork.way == SESSION {
            let queued = json!({ "type": "queue-operation", "operation": "enqueue", "timestamp": now });
            self.side(&mut log, queued);
        }
        let mut prompts: HashMap<String, String> = HashMap::new();
        for line in from.lines.lines() {
            let Ok(mut record) = serde_json::from_str::<Value>(line) else { continue };
            let Some(uuid) = record.get("uuid").cloned() else { continue };
            record["sessionId"] = Value::from(self.session.as_str());
            match fork.way.as_str() {
                BRANCH => record["forkedFrom"] = json!({ "sessionId": parent, "messageUuid": uuid }),
                RESUME => resumed(&mut record, now.as_deref()),
                _ => {
                    let old = record["promptId"].as_str().unwrap_or_default().to_owned();
                    let new = prompts.entry(old).or_insert_with(|| self.uuid());
                    record["promptId"] = Value::from(new.as_str());
                }
            }
            push_line(&mut log, &record);
        }
        log.last = from.last.clone();
        log.message = from.message.clone();
        log
    }
}

/// A record after a resume of 1.0.117.
fn resumed(record: &mut Value, now: Option<&str>) {
    record["timestamp"] = Value::from(now);
    if let Some(fields) = record.as_object_mut() {
        fields.remove("requestId");
        fields.remove("toolUseResult");
    }
    if let Some(content) = record.get_mut("message").and_then(|message| message.get_mut("content"))
        && let Some(text) = content.as_str()
    {
        *content = json!([{ "type": "text", "text": text }]);
    }
}
