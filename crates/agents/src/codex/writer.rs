//! Writes a script as Codex 0.166 would have logged it.
//!
//! All values follow from the script: ids are derived from the session's id and a counter, times
//! from the script's clock, tokens from the counter. The same script gives the same bytes. A
//! sub-agent is a thread of its own, in a file of its own, and so is a fork.

mod database;
mod log;
mod older;
mod work;

use retro_model::Timestamp;
use serde_json::{Value, json};
use std::path::PathBuf;
use xxhash_rust::xxh3::xxh3_64;

use crate::Migrated;
use crate::script::{Script, Step};
pub(super) use database::write_database;
use log::Log;

const VERSION: &str = "0.166.0";
const MODEL: &str = "gpt-5.5";

/// `codex fork` (0.166): the history stays in the parent's file.
const BASE: &str = "base";

/// `codex fork` (0.130): the parent's records are copied, in the form of that time.
const COPY: &str = "copy";

/// The ways to fork, sorted.
pub(super) const WAYS: &[&str] = &[BASE, COPY];

pub(super) fn write(script: &Script) -> Vec<(PathBuf, Vec<u8>)> {
    let copies = script.sessions().iter().any(|(fork, _)| fork.is_some_and(|fork| fork.way == COPY));
    let form = if copies { older::older } else { |log: &Log| log.lines.clone() };
    let (logs, index) = logs(script);
    let mut files: Vec<_> = logs.iter().map(|log| log.file(form(log))).collect();
    if !index.is_empty() {
        files.push((PathBuf::from(".codex").join("session_index.jsonl"), index.into_bytes()));
    }
    files
}

/// The session as 0.130 logged it, and after `codex migrate-rollouts --apply` of 0.166.
pub(super) fn write_migrated(script: &Script) -> Migrated {
    let (logs, _) = logs(script);
    let all = |form: fn(&Log) -> String| logs.iter().map(|log| log.file(form(log))).collect();
    Migrated { before: all(older::older), after: all(older::migrated) }
}

/// Every thread of a script (its own, those of its sub-agents, its forks), and
/// the index of their names.
fn logs(script: &Script) -> (Vec<Log>, String) {
    let mut writer = Writer::new(script);
    let mut logs = Vec::new();
    let mut parent: Option<Log> = None;
    for (fork, steps) in script.sessions() {
        let mut log = match (fork, &parent) {
            (Some(fork), Some(parent)) => Log::forked(fork, parent),
            _ => Log::new(script.session.clone(), None),
        };
        writer.thread(&mut log, steps);
        parent = Some(log.clone());
        logs.push(log);
        logs.append(&mut writer.children);
    }
    (logs, writer.index)
}

struct Writer<'s> {
    script: &'s Script,
    count: u64,
    clock_ms: i64,
    model: String,
    /// Threads of sub-agents that are done.
    children: Vec<Log>,
    /// Lines of the index of names.
    index: String,
}

impl<'s> Writer<'s> {
    fn new(script: &'s Script) -> Writer<'s> {
        Writer {
            script,
            count: 0,
            clock_ms: script.start_ms,
            model: MODEL.to_owned(),
            children: Vec::new(),
            index: String::new(),
        }
    }

    fn thread(&mut self, log: &mut Log, steps: &[Step]) {
        if let Some(Step::Time(ms)) = steps.first() {
            self.clock_ms = *ms;
        }
        log.started_at = self.now();
        let mut meta = json!({
            "session_id": self.script.session,
            "id": log.thread,
            "timestamp": log.started_at,
            "cwd": self.script.cwd,
            "originator": "codex-tui",
            "cli_version": VERSION,
            "source": "cli",
            "thread_source": "user",
            "model_provider": "openai",
            "history_mode": "paginated",
            "git": { "branch": self.script.branch },
        });
        if let Some(parent) = log.parent.clone() {
            meta["parent_thread_id"] = Value::from(parent.as_str());
            meta["source"] =
                json!({ "subagent": { "thread_spawn": { "parent_thread_id": parent, "depth": 1 } } });
            meta["thread_source"] = Value::from("subagent");
        }
        if let Some(origin) = &log.fork {
            meta["session_id"] = Value::from(log.thread.as_str());
            meta["forked_from_id"] = Value::from(origin.thread.as_str());
            if origin.copied.is_none() {
                meta["forked_from_ordinal_exclusive"] = Value::from(origin.end_ordinal);
                meta["history_base"] = json!({ "thread_id": origin.thread,
                    "end_ordinal_exclusive": origin.end_ordinal, "end_byte_offset": origin.end_byte });
            }
        }
        self.line(log, "session_meta", meta);
        self.steps(log, steps);
        self.end_turn(log);
    }

    fn steps(&mut self, log: &mut Log, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            let next_cuts = steps.get(at + 1) == Some(&Step::Interrupt);
            match step {
                Step::Time(ms) => self.clock_ms = *ms,
                Step::Title(title) => self.title(log, title),
                Step::Model(model) => {
                    self.model = model.clone();
                    if log.turn.is_some() {
                        self.context(log);
                    }
                }
                Step::User(text) => self.prompt(log, text),
                Step::Assistant(text) => self.answer(log, text),
                Step::Thinking(text) => self.think(log, text),
                // A command that is interrupted without output is the one that was cut off.
                Step::Shell { command, output, exit_code: 0 } if output.is_empty() && next_cuts => {
                    self.cut_command(log, command);
                }
                Step::Shell { command, output, exit_code } => {
                    self.command(
                        log,
                        command,
                        output,
                        *exit_code,
                        json!({ "type": "unknown", "cmd": command }),
                    );
                }
                Step::Read { path, content } => {
                    let command = format!("cat {path}");
                    let parsed = json!({ "type": "read", "cmd": command, "name": path, "path": path });
                    self.command(log, &command, content, 0, parsed);
                }
                Step::Edit { path, removed, added } => self.edit(log, path, removed, added),
                Step::Subagent { task, steps } => self.subagent(log, task, steps),
                Step::Compaction(summary) => self.compact(log, summary),
                Step::Interrupt => self.interrupt(log),
                // A script is split into threads at its forks, and a sub-agent cannot be forked.
                Step::Fork(_) => {}
            }
        }
    }

    fn prompt(&mut self, log: &mut Log, text: &str) {
        self.begin_turn(log);
        let message = format!("msg_{}", self.uuid());
        self.item(
            log,
            json!({
                "type": "message",
                "id": message,
                "role": "user",
                "content": [{ "type": "input_text", "text": text }],
                "internal_chat_message_metadata_passthrough": {
                    "content_item_metadata": [{ "provenance": { "type": "user" } }],
                },
            }),
        );
        let id = self.uuid();
        self.completed(
            log,
            json!({ "type": "UserMessage", "id": id, "content": [{ "type": "text", "text": text }] }),
        );
    }

    fn begin_turn(&mut self, log: &mut Log) {
        self.end_turn(log);
        let turn = self.uuid();
        log.turn = Some(turn.clone());
        let started_at = self.clock_ms / 1000;
        self.event(log, json!({ "type": "task_started", "turn_id": turn, "started_at": started_at }));
        if log.model.is_empty() {
            let text =
                format!("<environment_context>\n  <cwd>{}</cwd>\n</environment_context>", self.script.cwd);
            let id = format!("msg_{}", self.uuid());
            self.item(
                log,
                json!({ "type": "message", "id": id, "role": "user", "content": [{ "type": "input_text", "text": text }] }),
            );
        }
        self.context(log);
    }

    fn context(&mut self, log: &mut Log) {
        log.model = self.model.clone();
        let context = json!({
            "turn_id": log.turn,
            "cwd": self.script.cwd,
            "approval_policy": "on-request",
            "sandbox_policy": { "type": "workspace-write" },
            "model": self.model,
            "summary": "auto",
        });
        self.line(log, "turn_context", context);
    }

    fn end_turn(&mut self, log: &mut Log) {
        if let Some(turn) = log.turn.take() {
            let last = std::mem::take(&mut log.last_answer);
            self.event(log, json!({ "type": "task_complete", "turn_id": turn, "last_agent_message": last }));
        }
    }

    fn answer(&mut self, log: &mut Log, text: &str) {
        let id = format!("msg_{}", self.word());
        log.last_answer = Value::from(text);
        let content = json!([{ "type": "Text", "text": text }]);
        self.completed(
            log,
            json!({ "type": "AgentMessage", "id": id, "content": content, "phase": "final_answer" }),
        );
        let content = json!([{ "type": "output_text", "text": text }]);
        self.item(
            log,
            json!({ "type": "message", "id": id, "role": "assistant", "content": content, "phase": "final_answer" }),
        );
        self.tokens(log);
    }

    fn think(&mut self, log: &mut Log, text: &str) {
        let id = format!("rs_{}", self.word());
        self.completed(
            log,
            json!({ "type": "Reasoning", "id": id, "summary_text": [text], "raw_content": [] }),
        );
        self.item(
            log,
            json!({ "type": "reasoning", "id": id, "summary": [{ "type": "summary_text", "text": text }], "content": null }),
        );
        self.tokens(log);
    }

    fn compact(&mut self, log: &mut Log, summary: &str) {
        let id = format!("msg_{}", self.word());
        let item = json!({ "type": "message", "id": id, "role": "assistant",
            "content": [{ "type": "output_text", "text": summary }] });
        self.marked(log, "response_item", item, Some(json!({ "compaction_output": true })));
        let response = self.tokens(log);
        self.line(
            log,
            "compacted",
            json!({ "message": summary, "replacement_history": [], "compaction_response_id": response }),
        );
        let id = self.uuid();
        self.completed(log, json!({ "type": "ContextCompaction", "id": id }));
    }

    fn interrupt(&mut self, log: &mut Log) {
        let text = "<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>";
        let id = format!("msg_{}", self.uuid());
        self.item(
            log,
            json!({ "type": "message", "id": id, "role": "user", "content": [{ "type": "input_text", "text": text }] }),
        );
        let turn = log.turn.take();
        self.event(log, json!({ "type": "turn_aborted", "turn_id": turn, "reason": "interrupted" }));
    }

    fn title(&mut self, log: &mut Log, title: &str) {
        let now = self.now();
        self.index
            .push_str(&json!({ "id": log.thread, "thread_name": title, "updated_at": now }).to_string());
        self.index.push('\n');
        self.event(
            log,
            json!({ "type": "thread_name_updated", "thread_id": log.thread, "thread_name": title }),
        );
    }

    /// Writes the tokens of the last response and returns its id.
    fn tokens(&mut self, log: &mut Log) -> String {
        self.count += 1;
        let n = self.count;
        let response = format!("resp_{}", self.word());
        let used = [100 + 1000 * n, 1000 * n, 20 + n];
        for (sum, used) in log.sum.iter_mut().zip(used) {
            *sum += used;
        }
        let counters = |[input, cached, output]: [u64; 3]| {
            json!({ "input_tokens": input, "cached_input_tokens": cached, "cache_write_input_tokens": 0,
                "output_tokens": output, "reasoning_output_tokens": 0, "total_tokens": input + output })
        };
        let record = json!({ "thread_id": log.thread, "turn_id": log.turn, "session_id": self.script.session,
            "response_id": response, "usage": counters(used), "thread_token_usage": counters(log.sum) });
        self.line(log, "token_usage_record", record);
        let info = json!({ "total_token_usage": counters(log.sum), "last_token_usage": counters(used) });
        self.event(log, json!({ "type": "token_count", "info": info, "rate_limits": null }));
        response
    }

    fn item(&mut self, log: &mut Log, item: Value) {
        self.line(log, "response_item", item);
    }

    fn event(&mut self, log: &mut Log, event: Value) {
        self.line(log, "event_msg", event);
    }

    fn completed(&mut self, log: &mut Log, item: Value) {
        let (thread, turn) = (log.thread.clone(), log.turn.clone());
        self.event(
            log,
            json!({ "type": "item_completed", "thread_id": thread, "turn_id": turn, "item": item }),
        );
    }

    fn line(&mut self, log: &mut Log, kind: &str, payload: Value) {
        self.marked(log, kind, payload, None);
    }

    /// Writes a record, one second after the previous record.
    fn marked(&mut self, log: &mut Log, kind: &str, payload: Value, metadata: Option<Value>) {
        let mut record =
            json!({ "timestamp": self.now(), "ordinal": log.ordinal, "type": kind, "payload": payload });
        if let Some(metadata) = metadata {
            record["metadata"] = metadata;
        }
        self.clock_ms = self.clock_ms.saturating_add(1000);
        log.ordinal += 1;
        log.lines.push_str(&record.to_string());
        log.lines.push('\n');
    }

    fn now(&self) -> String {
        Timestamp::from_millis(self.clock_ms).map(|time| time.to_string()).unwrap_or_default()
    }

    /// The next unique word for an id.
    fn word(&mut self) -> String {
        self.count += 1;
        format!("{:016x}", xxh3_64(format!("{} {}", self.script.session, self.count).as_bytes()))
    }

    /// A uuid that begins with the time, as the program makes them.
    fn uuid(&mut self) -> String {
        let word = self.word();
        let time = format!("{:012x}", self.clock_ms.max(0));
        let part = |text: &str, from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
        format!(
            "{}-{}-7{}-8{}-{}",
            part(&time, 0, 8),
            part(&time, 8, 12),
            part(&word, 0, 3),
            part(&word, 3, 6),
            part(&word, 4, 16)
        )
    }
}
