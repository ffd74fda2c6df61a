//! Writes the actions of the model: its calls, their results, and the sub-agents that it starts.

use serde_json::{Value, json};
use std::path::PathBuf;

use super::pages::time;
use super::story::Session;
use crate::script::Step;

impl Session<'_> {
    /// Writes a call that is about to run. Returns its id and the answer's start time.
    pub(super) fn call(&mut self, name: &str, kind: &str, args: Value, pending: Value) -> (String, i64) {
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
        self.pages.event(
            self.desk,
            "permission_resolved",
            json!({ "tool_name": name, "decision": "allow", "wait_ms": 0 }),
        );
        self.pages.chat.push(json!({ "type": "assistant", "content": "", "model_id": self.model,
            "tool_calls": [{ "id": id, "name": name, "arguments": args.to_string() }] }));
        (id, stream)
    }

    pub(super) fn result(
        &mut self,
        (id, stream): (&str, i64),
        name: &str,
        failed: bool,
        text: &str,
        update: Value,
    ) {
        let mut whole =
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "status": "completed" });
        if let (Some(whole), Value::Object(update)) = (whole.as_object_mut(), update) {
            whole.extend(update);
        }
        self.pages.update(self.desk, whole, Some(stream));
        let outcome = if failed { "error" } else { "success" };
        self.pages.event(
            self.desk,
            "tool_completed",
            json!({ "tool_name": name, "duration_ms": 40, "outcome": outcome, "tool_call_id": id }),
        );
        self.pages.chat.push(json!({ "type": "tool_result", "tool_call_id": id, "content": text }));
    }

    pub(super) fn shell(&mut self, command: &str, output: &str, exit_code: i64) {
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

    /// Writes a command that was still running when the user stopped it.
    pub(super) fn cut_call(&mut self, command: &str) {
        let (id, _) = self.call("run_terminal_command", "execute", json!({ "command": command }), json!({}));
        let text = "Tool execution was halted by the harness (user_cancel); the tool `run_terminal_command` was not executed.";
        self.pages.chat.push(json!({ "type": "tool_result", "tool_call_id": id, "content": text }));
    }

    pub(super) fn read(&mut self, path: &str, content: &str) {
        let path = self.absolute(path);
        let name = "read_file";
        let (id, stream) = self.call(
            name,
            "read",
            json!({ "target_file": path }),
            json!({ "locations": [{ "path": path }] }),
        );
        let shown = format!("1→{content}");
        let update = json!({
            "content": [{ "type": "content", "content": { "type": "text", "text": shown } }],
            "rawOutput": { "type": "ReadFile", "FileContent": { "content": shown, "absolute_path": path } },
        });
        self.result((&id, stream), name, false, &shown, update);
    }

    pub(super) fn edit(&mut self, path: &str, removed: &[String], added: &[String]) {
        let path = self.absolute(path);
        let (old, new) = (removed.join("\n"), added.join("\n"));
        let diff = json!([{ "type": "diff", "path": path, "oldText": old, "newText": new }]);
        let (name, args, done) = match removed.is_empty() {
            true => ("write", json!({ "file_path": path, "content": new }), "created"),
            false => (
                "search_replace",
                json!({ "file_path": path, "old_string": old, "new_string": new }),
                "updated successfully",
            ),
        };
        let pending = json!({ "content": diff, "locations": [{ "path": path }] });
        let (id, stream) = self.call(name, "edit", args, pending);
        let text = format!("The file {path} has been {done}.");
        let update = json!({ "content": diff, "rawOutput": { "type": "SearchReplace", "EditsApplied": {
            "old_string": old, "new_string": new, "absolute_path": path, "tool_output_for_prompt": text } } });
        self.result((&id, stream), name, false, &text, update);
    }

    pub(super) fn subagent(&mut self, task: &str, steps: &[Step]) {
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

    pub(super) fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.script.cwd) }
    }
}
