//! Writes a script as Grok Build 1.0.41 would have logged it.
//!
//! Everything follows from the script: ids are derived from the session's id and
//! a counter, times from the script's clock, tokens from the number of answers.
//! The same script gives the same bytes. A sub-agent is a session of its own in
//! a folder beside its parent's; a compaction leaves the chat without what was
//! before it.

use serde_json::{Value, json};
use std::path::PathBuf;

use super::pages::{Desk, Pages, Tokens, time};
use crate::script::{Script, Step};

const MODEL: &str = "grok-code-fast-1";

/// Longest group name that is not shortened.
const GROUP_BYTES_MAX: usize = 255;

pub(super) fn write(script: &Script) -> Vec<(PathBuf, Vec<u8>)> {
    let group = PathBuf::from(".grok").join("sessions").join(group(&script.cwd));
    let mut desk = Desk::new(&script.session, script.start_ms);
    let mut files = Vec::new();
    let mut session = Session::new(script, &script.session, None, &mut desk);
    session.steps(&script.steps);
    session.finish(&mut files);
    let mut all: Vec<(PathBuf, Vec<u8>)> = files.into_iter().map(|(path, bytes)| (group.join(path), bytes)).collect();
    if encoded(&script.cwd).len() > GROUP_BYTES_MAX {
        all.push((group.join(".cwd"), script.cwd.clone().into_bytes()));
    }
    all
}

/// The name of a working directory's folder.
fn group(cwd: &str) -> String {
    let name = encoded(cwd);
    if name.len() <= GROUP_BYTES_MAX {
        return name;
    }
    let last = cwd.rsplit('/').next().unwrap_or_default();
    let slug: String = last.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(64).collect();
    format!("{slug}-{:016x}", xxhash_rust::xxh3::xxh3_64(cwd.as_bytes()))
}

fn encoded(cwd: &str) -> String {
    let mut name = String::new();
    for byte in cwd.bytes() {
        match byte {
            b'-' | b'_' | b'.' | b'~' => name.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => name.push(char::from(byte)),
            byte => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name
}

/// A session being written.
struct Session<'s> {
    script: &'s Script,
    desk: &'s mut Desk,
    pages: Pages,
    /// What a parent session asks of this one.
    task: Option<&'s str>,
    title: Option<String>,
    model: String,
    prompts: u64,
    /// Model of the open turn and its tokens, if one is open.
    turn: Option<(String, Tokens)>,
    /// When the answer began that a thought opened.
    stream: Option<i64>,
    cancelled: bool,
    total: Tokens,
    answers: u64,
    last_prompt: String,
    children: Vec<(PathBuf, Vec<u8>)>,
}

impl<'s> Session<'s> {
    fn new(script: &'s Script, id: &str, task: Option<&'s str>, desk: &'s mut Desk) -> Session<'s> {
        Session {
            script,
            desk,
            pages: Pages::new(id),
            task,
            title: None,
            model: MODEL.to_owned(),
            prompts: 0,
            turn: None,
            stream: None,
            cancelled: false,
            total: Tokens::default(),
            answers: 0,
            last_prompt: String::new(),
            children: Vec::new(),
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            let next_cuts = steps.get(at + 1) == Some(&Step::Interrupt);
            match step {
                Step::Time(ms) => self.desk.clock_ms = *ms,
                Step::Title(title) => self.title = Some(title.clone()),
                Step::Model(model) => self.model = model.clone(),
                Step::User(text) => self.prompt(text),
                Step::Assistant(text) => self.say(text),
                Step::Thinking(text) => self.think(text),
                Step::Shell { command, output, exit_code: 0 } if output.is_empty() && next_cuts => self.cut_call(command),
                Step::Shell { command, output, exit_code } => self.shell(command, output, *exit_code),
                Step::Read { path, content } => self.read(path, content),
                Step::Edit { path, removed, added } => self.edit(path, removed, added),
                Step::Subagent { task, steps } => self.subagent(task, steps),
                Step::Compaction(summary) => self.compact(summary),
                Step::Interrupt => self.end_turn("cancelled"),
            }
            if !matches!(step, Step::Time(_) | Step::Title(_) | Step::Model(_)) {
                self.desk.clock_ms = self.desk.clock_ms.saturating_add(1000);
            }
        }
    }

    fn prompt(&mut self, text: &str) {
        self.end_turn("end_turn");
        self.pages.update(
            self.desk,
            json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": text },
                "_meta": { "modelId": self.model, "promptIndex": self.prompts } }),
            None,
        );
        self.open_turn();
        let wrapped = match self.task {
            Some(_) => text.to_owned(),
            None => format!("<user_query>\n{text}\n</user_query>"),
        };
        self.pages.chat.push(
            json!({ "type": "user", "content": [{ "type": "text", "text": wrapped }], "prompt_index": self.prompts }),
        );
        self.prompts += 1;
        self.last_prompt = wrapped;
    }

    fn open_turn(&mut self) {
        self.pages.turn = self.desk.uuid();
        let mut fields = json!({ "session_id": self.pages.session, "turn_number": self.prompts,
            "model_id": self.model, "session_relationship": "primary", "schema_version": "1.0" });
        if std::mem::take(&mut self.cancelled) {
            fields["redirect_kind"] = Value::from("cancel_then_send");
        }
        self.pages.event(self.desk, "turn_started", fields);
        self.turn = Some((self.model.clone(), Tokens::default()));
    }

    /// One answer of the model: counts it, and tells when it began.
    fn answer(&mut self) -> i64 {
        if self.turn.is_none() {
            self.open_turn();
        }
        self.answers += 1;
        let n = self.answers;
        let tokens = Tokens { input: 100 + n, cache_read: 1000 * n, output: 20 + n, reasoning: 0, calls: 1 };
        if let Some((_, sum)) = &mut self.turn {
            sum.add(tokens);
        }
        self.stream.take().unwrap_or(self.desk.clock_ms)
    }

    fn think(&mut self, text: &str) {
        let stream = match self.stream {
            Some(stream) => stream,
            None => {
                if self.turn.is_none() {
                    self.open_turn();
                }
                self.desk.clock_ms
            }
        };
        self.stream = Some(stream);
        self.pages.update(
            self.desk,
            json!({ "sessionUpdate": "agent_thought_chunk", "content": { "type": "text", "text": text } }),
            Some(stream),
        );
        let word = self.desk.word();
        self.pages.chat.push(json!({ "type": "reasoning", "id": format!("rs_{word}"),
            "summary": [{ "type": "summary_text", "text": text }], "status": "completed" }));
    }

    fn say(&mut self, text: &str) {
        let stream = self.answer();
        self.pages.update(
            self.desk,
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
            Some(stream),
        );
        self.pages.chat.push(json!({ "type": "assistant", "content": text, "model_id": self.model }));
    }

    /// A call that is about to run; gives its id and the answer's beginning.
    fn call(&mut self, name: &str, kind: &str, args: Value, pending: Value) -> (String, i64) {
        let stream = self.answer();
        let id = format!("call_{}", self.desk.word());
        let about = json!({ "x.ai/tool": { "name": name, "kind": kind } });
        self.pages.update(
            self.desk,
            json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": name, "rawInput": args, "_meta": about }),
            Some(stream),
        );
        let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "kind": kind, "title": name,
            "locations": [], "rawInput": args });
        if let (Some(update), Value::Object(pending)) = (update.as_object_mut(), pending) {
            update.extend(pending);
        }
        self.pages.update(self.desk, update, Some(stream));
        self.pages.event(self.desk, "tool_started", json!({ "tool_name": name }));
        self.pages.event(self.desk, "permission_resolved", json!({ "tool_name": name, "decision": "allow", "wait_ms": 0 }));
        self.pages.chat.push(json!({ "type": "assistant", "content": "", "model_id": self.model,
            "tool_calls": [{ "id": id, "name": name, "arguments": args.to_string() }] }));
        (id, stream)
    }

    fn result(&mut self, (id, stream): (&str, i64), name: &str, failed: bool, text: &str, update: Value) {
        let mut whole = json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed" });
        if let (Some(whole), Value::Object(update)) = (whole.as_object_mut(), update) {
            whole.extend(update);
        }
        self.pages.update(self.desk, whole, Some(stream));
        let outcome = if failed { "error" } else { "success" };
        self.pages.event(self.desk, "tool_completed",
            json!({ "tool_name": name, "duration_ms": 40, "outcome": outcome, "tool_call_id": id }));
        self.pages.chat.push(json!({ "type": "tool_result", "tool_call_id": id, "content": text }));
    }

    fn shell(&mut self, command: &str, output: &str, exit_code: i64) {
        let name = "run_terminal_command";
        let (id, stream) = self.call(name, "execute", json!({ "command": command }), json!({}));
        let file = format!("terminal/{id}.log");
        let text = format!("exit: {exit_code}\n{output}");
        let update = json!({
            "content": [{ "type": "content", "content": { "type": "text", "text": output } }],
            "rawOutput": { "type": "Bash", "output": output.as_bytes(), "output_for_prompt": text,
                "exit_code": exit_code, "command": command, "truncated": false, "signal": null, "timed_out": false,
                "current_dir": self.script.cwd, "output_file": format!("/home/dev/.grok/{file}"),
                "total_bytes": output.len() },
        });
        self.result((&id, stream), name, exit_code != 0, &text, update);
        self.pages.beside.push((PathBuf::from(file), output.as_bytes().to_vec()));
    }

    /// A command that was still running when the user stopped it.
    fn cut_call(&mut self, command: &str) {
        let (id, _) = self.call("run_terminal_command", "execute", json!({ "command": command }), json!({}));
        let text = "Tool execution was halted by the harness (user_cancel); the tool `run_terminal_command` was not executed.";
        self.pages.chat.push(json!({ "type": "tool_result", "tool_call_id": id, "content": text }));
    }

    fn read(&mut self, path: &str, content: &str) {
        let path = self.absolute(path);
        let name = "read_file";
        let (id, stream) = self.call(name, "read", json!({ "target_file": path }), json!({ "locations": [{ "path": path }] }));
        let shown = format!("1→{content}");
        let update = json!({
            "content": [{ "type": "content", "content": { "type": "text", "text": shown } }],
            "rawOutput": { "type": "ReadFile", "FileContent": { "content": shown, "absolute_path": path } },
        });
        self.result((&id, stream), name, false, &shown, update);
    }

    fn edit(&mut self, path: &str, removed: &[String], added: &[String]) {
        let path = self.absolute(path);
        let (old, new) = (removed.join("\n"), added.join("\n"));
        let diff = json!([{ "type": "diff", "path": path, "oldText": old, "newText": new }]);
        let (name, args, done) = match removed.is_empty() {
            true => ("write", json!({ "file_path": path, "content": new }), "created"),
            false => ("search_replace", json!({ "file_path": path, "old_string": old, "new_string": new }), "updated successfully"),
        };
        let pending = json!({ "content": diff, "locations": [{ "path": path }] });
        let (id, stream) = self.call(name, "edit", args, pending);
        let text = format!("The file {path} has been {done}.");
        let update = json!({ "content": diff, "rawOutput": { "type": "SearchReplace", "EditsApplied": {
            "old_string": old, "new_string": new, "absolute_path": path, "tool_output_for_prompt": text } } });
        self.result((&id, stream), name, false, &text, update);
    }

    fn subagent(&mut self, task: &str, steps: &[Step]) {
        let name = "spawn_subagent";
        let description: String = task.split_whitespace().take(4).collect::<Vec<_>>().join(" ");
        let args = json!({ "prompt": task, "description": description, "background": false });
        let (id, stream) = self.call(name, "task", args, json!({}));
        let child_id = self.desk.uuid();
        let about = json!({ "subagent_id": child_id, "child_session_id": child_id, "attempt_id": format!("at1.{child_id}"),
            "parent_session_id": self.pages.session, "subagent_type": "general-purpose", "description": description });
        let mut spawned = about.clone();
        spawned["sessionUpdate"] = Value::from("subagent_spawned");
        spawned["parent_prompt_id"] = Value::from(self.pages.turn.as_str());
        self.pages.own_update(self.desk, spawned);
        let started = time(self.desk.clock_ms);

        let mut child = Session::new(self.script, &child_id, Some(task), self.desk);
        child.model.clone_from(&self.model);
        child.prompt(task);
        child.steps(steps);
        let tokens = child.finish(&mut self.children);
        if let Some((_, sum)) = &mut self.turn {
            sum.add(tokens);
        }
        let said = steps.iter().rev().find_map(|step| match step {
            Step::Assistant(text) => Some(text.as_str()),
            _ => None,
        });
        let output = said.unwrap_or_default();
        let mut finished = about.clone();
        finished["sessionUpdate"] = Value::from("subagent_finished");
        finished["status"] = Value::from("completed");
        finished["output"] = Value::from(output);
        self.pages.own_update(self.desk, finished);
        let mut meta = about;
        meta["prompt"] = Value::from(task);
        meta["status"] = Value::from("completed");
        meta["started_at"] = Value::from(started);
        let folder = PathBuf::from("subagents").join(&child_id);
        self.pages.beside.push((folder.join("meta.json"), meta.to_string().into_bytes()));
        let last = json!({ "schema_version": 1, "output": output });
        self.pages.beside.push((folder.join("output.json"), last.to_string().into_bytes()));
        let update = json!({ "content": [{ "type": "content", "content": { "type": "text", "text": output } }],
            "rawOutput": { "type": "SubagentCompleted", "output": output, "subagent_id": child_id,
                "subagent_type": "general-purpose" } });
        self.result((&id, stream), name, false, output, update);
    }

    fn compact(&mut self, summary: &str) {
        let checkpoint = self.desk.uuid();
        self.pages.own_update(self.desk, json!({ "sessionUpdate": "auto_compact_started", "tokens_used": 180_000,
            "context_window": 200_000, "percentage": 90, "reason": "Context window 90% full" }));
        let text = format!(
            "This session is being continued from a previous conversation that ran out of context.\n\nSummary:\n{summary}"
        );
        let item = |text: &str| json!({ "type": "user", "content": [{ "type": "text", "text": text }] });
        let mut told = item(&text);
        told["synthetic_reason"] = Value::from("compaction_meta");
        self.pages.chat.truncate(2);
        self.pages.chat.extend([item(&self.last_prompt), told]);
        let file = format!("compaction_checkpoints/{checkpoint}.json");
        let document = json!({ "checkpoint_id": checkpoint, "prompt_index_at_compaction": self.prompts,
            "compacted_history": self.pages.chat, "schema_version": 1 });
        self.pages.own_update(self.desk, json!({ "sessionUpdate": "compaction_checkpoint", "checkpoint_id": checkpoint,
            "prompt_index_at_compaction": self.prompts, "checkpoint_file": file, "schema_version": 1 }));
        self.pages.beside.push((PathBuf::from(file), document.to_string().into_bytes()));
        self.pages.own_update(self.desk, json!({ "sessionUpdate": "auto_compact_completed", "tokens_before": 180_000,
            "tokens_after": 9_000, "elapsed_ms": 900, "summary_preview": null }));
    }

    /// Ends the turn, if one is open.
    fn end_turn(&mut self, stop: &str) {
        let Some((model, tokens)) = self.turn.take() else { return };
        self.stream = None;
        self.cancelled = stop == "cancelled";
        let outcome = if self.cancelled { json!({ "outcome": "cancelled", "cancellation_category": "mid_turn_abort" }) } else { json!({ "outcome": "completed" }) };
        self.pages.event(self.desk, "turn_ended", outcome);
        let mut usage = tokens.json();
        let mut by_model = serde_json::Map::new();
        by_model.insert(model, tokens.json());
        usage["modelUsage"] = Value::Object(by_model);
        self.pages.own_update(self.desk, json!({ "sessionUpdate": "turn_completed", "prompt_id": self.pages.turn,
            "stop_reason": stop, "usage": usage, "elapsed_ms": 1000 }));
        self.total.add(tokens);
    }

    /// Writes the session's files below its folder's name; gives its tokens.
    fn finish(mut self, files: &mut Vec<(PathBuf, Vec<u8>)>) -> Tokens {
        self.end_turn("end_turn");
        let id = self.pages.session.clone();
        let mut summary = json!({
            "info": { "id": id, "cwd": self.script.cwd },
            "created_at": time(self.script.start_ms), "updated_at": time(self.desk.clock_ms),
            "last_active_at": time(self.desk.clock_ms), "current_model_id": self.model, "chat_format_version": 1,
            "agent_name": "grok-build-plan", "sandbox_profile": "off", "head_branch": self.script.branch,
        });
        if let Some(title) = &self.title {
            summary["generated_title"] = Value::from(title.as_str());
        }
        if self.task.is_some() {
            summary["session_kind"] = Value::from("subagent");
        }
        let usage = json!({ "sessionId": id, "session": self.total.json() });
        let total = self.total;
        let own = self.pages.into_files(&summary, Some(&usage));
        files.extend(own.into_iter().map(|(path, bytes)| (PathBuf::from(&id).join(path), bytes)));
        files.extend(self.children);
        total
    }

    fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.script.cwd) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_like_the_programs() {
        assert_eq!(group("/home/dev/my é"), "%2Fhome%2Fdev%2Fmy%20%C3%A9");
        let long = format!("/{}/last one", "x".repeat(300));
        assert!(group(&long).starts_with("lastone-") && group(&long).len() < 40);
        let script = Script { cwd: long.clone(), ..Script::parse("> hi").unwrap() };
        assert!(write(&script).iter().any(|(path, bytes)| path.ends_with(".cwd") && bytes == long.as_bytes()));
    }

    #[test]
    fn the_same_script_gives_the_same_bytes() {
        let script = Script::parse("> a\n? hm\n$ ls\n| x\n& look\n. < found\n= so far\n< done\n^").unwrap();
        assert_eq!(write(&script), write(&script));
    }
}
