//! Log lines of our own making, as Claude Code and Codex write them: only what
//! tokens and times need.
#![allow(dead_code)]

use serde_json::{Value, json};
use std::path::PathBuf;

/// One line of an answer of Claude Code.
pub struct Answer<'a> {
    pub session: &'a str,
    pub message: &'a str,
    pub at: &'a str,
    pub model: &'a str,
    /// Absent in what a resume of 1.0.x copied.
    pub request: bool,
    pub stop: bool,
    pub usage: Value,
}

impl Default for Answer<'_> {
    fn default() -> Self {
        Answer {
            session: "aaaaaaaa-0000-4000-8000-000000000001",
            message: "msg_1",
            at: "2026-03-01T10:00:00Z",
            model: "claude-sonnet-5",
            request: true,
            stop: true,
            usage: tokens(1000, 100),
        }
    }
}

pub fn tokens(input: u64, output: u64) -> Value {
    json!({ "input_tokens": input, "output_tokens": output })
}

impl Answer<'_> {
    pub fn json(&self) -> Value {
        let mut line = json!({
            "type": "assistant", "sessionId": self.session, "uuid": format!("{}-{}", self.message, self.usage["output_tokens"]),
            "timestamp": self.at, "cwd": "/home/dev/shop", "version": "2.1.63",
            "message": { "id": self.message, "role": "assistant", "type": "message", "model": self.model,
                "content": [{ "type": "text", "text": "Well." }],
                "stop_reason": self.stop.then_some("end_turn"), "usage": self.usage },
        });
        if self.request {
            line["requestId"] = json!(format!("req_{}", self.message));
        }
        line
    }
}

/// The lines of a log.
pub fn log(lines: impl IntoIterator<Item = Value>) -> Vec<u8> {
    lines.into_iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

/// Where Claude Code keeps a session.
pub fn claude_file(session: &str) -> PathBuf {
    PathBuf::from(".claude/projects/-home-dev-shop").join(format!("{session}.jsonl"))
}

/// Where Codex keeps a thread.
pub fn codex_file(thread: &str) -> PathBuf {
    PathBuf::from(".codex/sessions/2026/03/01").join(format!("rollout-2026-03-01T10-00-00-{thread}.jsonl"))
}

/// A record of Codex in its envelope.
pub fn record(at: &str, kind: &str, payload: Value) -> Value {
    json!({ "timestamp": at, "type": kind, "payload": payload })
}

pub fn meta(at: &str, thread: &str, parent: Option<&str>) -> Value {
    record(
        at,
        "session_meta",
        json!({ "id": thread, "timestamp": at, "cwd": "/home/dev/shop", "cli_version": "0.130.0", "source": "cli",
            "originator": "codex_cli_rs", "forked_from_id": parent }),
    )
}

/// A turn of one answer: who asks, what is said, and a token count after it.
pub fn turn(at: &str, turn: Option<&str>, total: [u64; 3], last: [u64; 4]) -> Vec<Value> {
    let counters = |[input, cached, output]: [u64; 3], reasoning: u64| {
        json!({ "input_tokens": input, "cached_input_tokens": cached, "output_tokens": output,
            "reasoning_output_tokens": reasoning, "total_tokens": input + output })
    };
    let said = |kind: &str, text: &str| json!({ "type": kind, "message": text });
    let [input, cached, output, reasoning] = last;
    vec![
        record(at, "event_msg", json!({ "type": "task_started", "turn_id": turn })),
        record(at, "turn_context", json!({ "model": "gpt-5", "cwd": "/home/dev/shop", "turn_id": turn })),
        record(
            at,
            "response_item",
            json!({ "type": "message", "role": "user",
            "content": [{ "type": "input_text", "text": "Go" }] }),
        ),
        record(at, "event_msg", said("user_message", "Go")),
        record(at, "event_msg", said("agent_message", "Gone.")),
        record(
            at,
            "response_item",
            json!({ "type": "message", "role": "assistant",
            "content": [{ "type": "output_text", "text": "Gone." }] }),
        ),
        record(
            at,
            "event_msg",
            json!({ "type": "token_count", "rate_limits": null, "info": {
            "total_token_usage": counters(total, 0),
            "last_token_usage": counters([input, cached, output], reasoning) } }),
        ),
    ]
}
