//! Writes a script as Claude Code 2.1.325 would have logged it.
//!
//! All values follow from the script: ids are derived from the session's id and a counter, times
//! from the script's clock, tokens from the counter. The same script gives the same bytes.

mod fork;

use retro_model::Timestamp;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

pub(super) use fork::WAYS;

use crate::script::{Script, Step};

const VERSION: &str = "2.1.325";
const MODEL: &str = "claude-sonnet-4-5-20250929";

/// Longest project folder name that is not shortened.
const PROJECT_BYTES_MAX: usize = 200;

pub(super) fn write(script: &Script) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(".claude").join("projects").join(project(&script.cwd));
    let mut writer = Writer {
        script,
        session: script.session.clone(),
        folder,
        count: 0,
        clock_ms: script.start_ms,
        model: MODEL.to_owned(),
        files: Vec::new(),
    };
    let mut main = Log::new(None, String::new());
    writer.side(&mut main, json!({ "type": "permission-mode", "permissionMode": "acceptEdits" }));
    let mut files = Vec::new();
    for (fork, steps) in script.sessions() {
        if let Some(fork) = fork {
            main = writer.fork(&main, fork);
        }
        writer.steps(&mut main, steps);
        let path = writer.folder.join(format!("{}.jsonl", writer.session));
        files.push((path, main.lines.clone().into_bytes()));
        files.append(&mut writer.files);
    }
    files
}

/// The name of a project's folder: its path with all characters but letters and digits replaced by
/// `-`, shortened if it is long.
fn project(cwd: &str) -> String {
    let name: String = cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    match name.get(..PROJECT_BYTES_MAX) {
        Some(head) if name.len() > PROJECT_BYTES_MAX => format!("{head}-{:x}", scattered(cwd, &[])),
        _ => name,
    }
}

/// A number that looks random (FNV-1a), equal in every build: the ids of sample sessions are part
/// of the documentation.
fn scattered(text: &str, more: &[u8]) -> u64 {
    let bytes = text.bytes().chain([0xff]).chain(more.iter().copied());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

struct Writer<'s> {
    script: &'s Script,
    /// The session being written: the script's, or a fork.
    session: String,
    folder: PathBuf,
    count: u64,
    clock_ms: i64,
    model: String,
    /// Files beside the main log.
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// A log that is being written: the session's, or a sub-agent's.
struct Log {
    agent: Option<String>,
    lines: String,
    /// Id of the last record of the chain.
    last: Option<String>,
    /// Id of the current turn.
    prompt: String,
    /// Id of the last response.
    message: String,
}

impl Log {
    fn new(agent: Option<String>, prompt: String) -> Log {
        Log { agent, lines: String::new(), last: None, prompt, message: String::new() }
    }
}

impl Writer<'_> {
    fn steps(&mut self, log: &mut Log, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            let next_cuts = steps.get(at + 1) == Some(&Step::Interrupt);
            match step {
                Step::Time(ms) => self.clock_ms = *ms,
                Step::Title(title) => self.side(log, json!({ "type": "ai-title", "aiTitle": title })),
                Step::Model(model) => self.model = model.clone(),
                Step::User(text) => self.prompt(log, text),
                Step::Assistant(text) => {
                    self.answer(log, json!({ "type": "text", "text": text }), "end_turn", next_cuts);
                }
                Step::Thinking(text) => {
                    self.answer(
                        log,
                        json!({ "type": "thinking", "thinking": text, "signature": "" }),
                        "tool_use",
                        false,
                    );
                }
                // A command that is interrupted without output is the one that was cut off.
                Step::Shell { command, output, exit_code: 0 } if output.is_empty() && next_cuts => {
                    self.cut_call(log, command);
                }
                Step::Shell { command, output, exit_code } => self.shell(log, command, output, *exit_code),
                Step::Read { path, content } => self.read(log, path, content),
                Step::Edit { path, removed, added } => self.edit(log, path, removed, added),
                Step::Subagent { task, steps } => self.subagent(log, task, steps),
                Step::Compaction(summary) => self.compact(log, summary),
                Step::Interrupt => self.interrupt(log, steps.get(..at).and_then(<[_]>::last)),
                // A script is split into sessions at its forks, and a sub-agent cannot be forked.
                Step::Fork(_) => {}
            }
        }
    }

    fn prompt(&mut self, log: &mut Log, text: &str) {
        log.prompt = self.uuid();
        self.chain(
            log,
            json!({
                "type": "user",
                "message": { "role": "user", "content": text },
                "permissionMode": "acceptEdits",
                "promptSource": "typed",
                "turnOrigin": "human",
                "origin": { "kind": "human" },
            }),
        );
    }

    /// Writes a response with one block.
    fn answer(&mut self, log: &mut Log, block: Value, stop_reason: &str, cut: bool) {
        self.count += 1;
        let n = self.count;
        let message = format!("msg_{}", self.word());
        let stop_reason = if cut { Value::Null } else { Value::from(stop_reason) };
        let mut record = json!({
            "type": "assistant",
            "message": {
                "id": message,
                "type": "message",
                "role": "assistant",
                "model": self.model,
                "content": [block],
                "stop_reason": stop_reason,
                "stop_sequence": null,
                "usage": {
                    "input_tokens": 100 + n,
                    "cache_creation_input_tokens": 10 * n,
                    "cache_read_input_tokens": 1000 * n,
                    "output_tokens": if cut { 1 } else { 20 + n },
                    "cache_creation": { "ephemeral_5m_input_tokens": 10 * n, "ephemeral_1h_input_tokens": 0 },
                    "service_tier": "standard",
                    "speed": "standard",
                },
            },
            "requestId": format!("req_{}", self.word()),
        });
        if cut {
            record["isAbortedMidStream"] = Value::from(true);
        }
        log.message = message;
        self.chain(log, record);
    }

    /// Writes a call and returns its id.
    fn call(&mut self, log: &mut Log, name: &str, input: Value) -> String {
        let id = format!("toolu_{}", self.word());
        self.answer(
            log,
            json!({ "type": "tool_use", "id": id, "name": name, "input": input }),
            "tool_use",
            false,
        );
        id
    }

    fn result(&mut self, log: &mut Log, call: &str, content: Value, is_error: Option<bool>, facts: Value) {
        let mut block = json!({ "type": "tool_result", "tool_use_id": call, "content": content });
        if let Some(is_error) = is_error {
            block["is_error"] = Value::from(is_error);
        }
        let mut record = json!({ "type": "user", "message": { "role": "user", "content": [block] } });
        // Logs of sub-agents have the structured result only for an error.
        if log.agent.is_none() || facts.is_string() {
            record["toolUseResult"] = facts;
        }
        self.chain(log, record);
    }

    fn shell(&mut self, log: &mut Log, command: &str, output: &str, exit_code: i64) {
        let call = self.call(log, "Bash", json!({ "command": command }));
        let output = output.trim_end();
        if exit_code == 0 {
            let facts = json!({ "stdout": output, "stderr": "", "interrupted": false, "isImage": false });
            self.result(log, &call, Value::from(output), Some(false), facts);
        } else {
            let text = format!("Exit code {exit_code}\n{output}");
            let facts = Value::from(format!("Error: {text}"));
            self.result(log, &call, Value::from(text), Some(true), facts);
        }
    }

    fn read(&mut self, log: &mut Log, path: &str, content: &str) {
        let path = self.absolute(path);
        let call = self.call(log, "Read", json!({ "file_path": path }));
        let numbered: Vec<String> =
            content.lines().zip(1..).map(|(line, number)| format!("{number}\t{line}")).collect();
        let lines = content.lines().count();
        let facts = json!({ "type": "text", "file": {
            "filePath": path, "content": content, "numLines": lines, "startLine": 1, "totalLines": lines } });
        self.result(log, &call, Value::from(numbered.join("\n")), None, facts);
    }

    fn edit(&mut self, log: &mut Log, path: &str, removed: &[String], added: &[String]) {
        let path = self.absolute(path);
        let (old, new) = (removed.join("\n"), added.join("\n"));
        if removed.is_empty() {
            let content = format!("{new}\n");
            let call = self.call(log, "Write", json!({ "file_path": path, "content": content }));
            let text = format!("File created successfully at: {path}");
            let facts = json!({ "type": "create", "filePath": path, "content": content,
                "structuredPatch": [], "originalFile": null, "userModified": false });
            return self.result(log, &call, Value::from(text), None, facts);
        }
        let input = json!({ "file_path": path, "old_string": old, "new_string": new, "replace_all": false });
        let call = self.call(log, "Edit", input);
        let minus = removed.iter().map(|line| format!("-{line}"));
        let lines: Vec<String> = minus.chain(added.iter().map(|line| format!("+{line}"))).collect();
        let patch = json!([{ "oldStart": 1, "oldLines": removed.len(), "newStart": 1, "newLines": added.len(),
            "lines": lines }]);
        let facts = json!({ "filePath": path, "oldString": old, "newString": new, "originalFile": null,
            "structuredPatch": patch, "userModified": false, "replaceAll": false });
        let text = format!("The file {path} has been updated successfully.");
        self.result(log, &call, Value::from(text), None, facts);
    }

    fn subagent(&mut self, log: &mut Log, task: &str, steps: &[Step]) {
        let description: String = task.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
        let call = self.call(
            log,
            "Agent",
            json!({ "description": description, "prompt": task,
            "subagent_type": "general-purpose" }),
        );
        let agent = format!("a{}", self.word());
        let mut inner = Log::new(Some(agent.clone()), log.prompt.clone());
        self.chain(&mut inner, json!({ "type": "user", "message": { "role": "user", "content": task } }));
        self.steps(&mut inner, steps);
        let last = steps.iter().rev().find_map(|step| match step {
            Step::Assistant(text) => Some(text.as_str()),
            _ => None,
        });
        let folder = self.folder.join(&self.session).join("subagents");
        let meta = json!({ "agentType": "general-purpose", "isBuiltIn": true, "description": description,
            "toolUseId": call, "spawnDepth": 1, "requestShape": "foreground", "finished": true });
        self.files.push((folder.join(format!("agent-{agent}.jsonl")), inner.lines.into_bytes()));
        self.files.push((folder.join(format!("agent-{agent}.meta.json")), meta.to_string().into_bytes()));
        let content = json!([{ "type": "text", "text": last.unwrap_or_default() }]);
        let facts = json!({ "status": "completed", "prompt": task, "agentId": agent,
            "agentType": "general-purpose", "content": content });
        self.result(log, &call, content, None, facts);
    }

    fn compact(&mut self, log: &mut Log, summary: &str) {
        let before = log.last.take();
        self.chain(
            log,
            json!({
                "type": "system",
                "subtype": "compact_boundary",
                "content": "Conversation compacted",
                "logicalParentUuid": before,
                "compactMetadata": { "trigger": "manual", "preTokens": 1000 * self.count },
            }),
        );
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context. {summary}"
        );
        self.chain(
            log,
            json!({
                "type": "user",
                "message": { "role": "user", "content": text },
                "isVisibleInTranscriptOnly": true,
                "isCompactSummary": true,
            }),
        );
    }

    /// Writes a command that was still running when the user stopped it.
    fn cut_call(&mut self, log: &mut Log, command: &str) {
        let call = self.call(log, "Bash", json!({ "command": command }));
        let text = "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP what you are doing and wait for the user to tell you how to proceed.";
        let block = json!({ "type": "tool_result", "tool_use_id": call, "content": text, "is_error": true });
        self.chain(
            log,
            json!({
                "type": "user",
                "message": { "role": "user", "content": [block] },
                "toolUseResult": "User rejected tool use",
                "toolDenialKind": "user-rejected",
            }),
        );
    }

    fn interrupt(&mut self, log: &mut Log, after: Option<&Step>) {
        let text = match after {
            Some(Step::Shell { output, exit_code: 0, .. }) if output.is_empty() => {
                "[Request interrupted by user for tool use]"
            }
            _ => "[Request interrupted by user]",
        };
        self.chain(
            log,
            json!({
                "type": "user",
                "message": { "role": "user", "content": [{ "type": "text", "text": text }] },
                "interruptedMessageId": log.message,
            }),
        );
    }

    /// Writes a record of the chain, one second after the previous record.
    fn chain(&mut self, log: &mut Log, record: Value) {
        let uuid = self.uuid();
        let time = Timestamp::from_millis(self.clock_ms).map(|time| time.to_string());
        self.clock_ms = self.clock_ms.saturating_add(1000);
        let mut fields = Map::new();
        let parent = log.last.replace(uuid.clone());
        fields.insert("parentUuid".to_owned(), Value::from(parent));
        fields.insert("isSidechain".to_owned(), Value::from(log.agent.is_some()));
        if let Some(agent) = &log.agent {
            fields.insert("agentId".to_owned(), Value::from(agent.as_str()));
        }
        for (name, value) in [
            ("uuid", Value::from(uuid)),
            ("timestamp", Value::from(time)),
            ("promptId", Value::from(log.prompt.as_str())),
            ("userType", Value::from("external")),
            ("entrypoint", Value::from("cli")),
            ("cwd", Value::from(self.script.cwd.as_str())),
            ("sessionId", Value::from(self.session.as_str())),
            ("version", Value::from(VERSION)),
            ("gitBranch", Value::from(self.script.branch.as_str())),
        ] {
            fields.insert(name.to_owned(), value);
        }
        if let Value::Object(own) = record {
            fields.extend(own);
        }
        push_line(log, &Value::Object(fields));
    }

    /// Writes a record outside the chain.
    fn side(&mut self, log: &mut Log, mut record: Value) {
        record["sessionId"] = Value::from(self.session.as_str());
        push_line(log, &record);
    }

    fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.script.cwd) }
    }

    /// The next unique word for an id.
    fn word(&mut self) -> String {
        self.count += 1;
        format!("{:016x}", scattered(&self.script.session, &self.count.to_le_bytes()))
    }

    fn uuid(&mut self) -> String {
        let (high, low) = (self.word(), self.word());
        let part = |text: &str, from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
        format!(
            "{}-{}-4{}-8{}-{}",
            part(&high, 0, 8),
            part(&high, 8, 12),
            part(&high, 13, 16),
            part(&low, 1, 4),
            part(&low, 4, 16)
        )
    }
}

fn push_line(log: &mut Log, record: &Value) {
    log.lines.push_str(&record.to_string());
    log.lines.push('\n');
}
