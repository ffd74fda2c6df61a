//! Writes the actions of the model: commands, edits, sub-agents.

use serde_json::{Value, json};

use super::{Log, Writer};
use crate::script::Step;

impl Writer<'_> {
    /// Writes a function call and returns its id.
    fn call(&mut self, log: &mut Log, name: &str, namespace: Option<&str>, args: &Value) -> String {
        let call = format!("call_{}", self.word());
        let id = format!("fc_{}", self.word());
        let mut item = json!({ "type": "function_call", "id": id, "name": name, "arguments": args.to_string(), "call_id": call });
        if let Some(namespace) = namespace {
            item["namespace"] = Value::from(namespace);
        }
        self.item(log, item);
        self.tokens(log);
        call
    }

    fn output(&mut self, log: &mut Log, kind: &str, call: &str, output: &str) {
        let id = format!("out_{}", self.word());
        self.item(log, json!({ "type": kind, "id": id, "call_id": call, "output": output }));
    }

    pub(super) fn command(
        &mut self,
        log: &mut Log,
        command: &str,
        output: &str,
        exit_code: i64,
        parsed: Value,
    ) {
        let call = self.call(log, "exec_command", None, &json!({ "cmd": command }));
        let status = if exit_code == 0 { "completed" } else { "failed" };
        let item = json!({
            "type": "CommandExecution",
            "id": call,
            "process_id": self.count.to_string(),
            "command": ["/bin/bash", "-lc", command],
            "cwd": format!("file://{}", self.script.cwd),
            "parsed_cmd": [parsed],
            "source": "unified_exec_startup",
            "status": status,
            "aggregated_output": output,
            "exit_code": exit_code,
            "duration": { "secs": 1, "nanos": 0 },
        });
        self.completed(log, item);
        let text = format!(
            "Chunk ID: {:06x}\nWall time: 1.0000 seconds\nProcess exited with code {exit_code}\nOriginal token count: {}\nOutput:\n{output}",
            self.count,
            output.len() / 4
        );
        self.output(log, "function_call_output", &call, &text);
    }

    pub(super) fn cut_command(&mut self, log: &mut Log, command: &str) {
        let call = self.call(log, "exec_command", None, &json!({ "cmd": command }));
        self.output(log, "function_call_output", &call, "Wall time: 1.0 seconds\naborted by user");
    }

    pub(super) fn edit(&mut self, log: &mut Log, path: &str, removed: &[String], added: &[String]) {
        let full =
            if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.script.cwd) };
        let lines = |sign: char, lines: &[String]| {
            lines.iter().map(|line| format!("{sign}{line}\n")).collect::<String>()
        };
        let changed = lines('-', removed) + &lines('+', added);
        let (head, change, mark) = match removed.is_empty() {
            true => ("Add", json!({ "type": "add", "content": added.join("\n") + "\n" }), 'A'),
            false => {
                let diff = format!("@@ -1,{} +1,{} @@\n{changed}", removed.len(), added.len());
                ("Update", json!({ "type": "update", "unified_diff": diff, "move_path": null }), 'M')
            }
        };
        let hunk = if removed.is_empty() { "" } else { "@@\n" };
        let patch = format!("*** Begin Patch\n*** {head} File: {path}\n{hunk}{changed}*** End Patch\n");
        let call = format!("call_{}", self.word());
        let id = format!("ctc_{}", self.word());
        self.item(
            log,
            json!({ "type": "custom_tool_call", "id": id, "status": "completed", "call_id": call, "name": "apply_patch", "input": patch }),
        );
        self.tokens(log);
        let done = format!("Success. Updated the following files:\n{mark} {path}\n");
        self.completed(
            log,
            json!({ "type": "FileChange", "id": call, "changes": { full: change }, "status": "completed", "stdout": done, "stderr": "" }),
        );
        let text = format!("Exit code: 0\nWall time: 0 seconds\nOutput:\n{done}");
        self.output(log, "custom_tool_call_output", &call, &text);
    }

    pub(super) fn subagent(&mut self, log: &mut Log, task: &str, steps: &[Step]) {
        let call = self.call(log, "spawn_agent", Some("multi_agent_v1"), &json!({ "message": task }));
        let child = self.uuid();
        let mut inner = Log::new(child.clone(), Some(log.thread.clone()));
        let told: Vec<Step> =
            std::iter::once(Step::User(task.to_owned())).chain(steps.iter().cloned()).collect();
        self.completed(
            log,
            json!({ "type": "CollabAgentToolCall", "id": call, "tool": "spawn_agent", "status": "completed",
                "sender_thread_id": log.thread, "receiver_thread_ids": [child], "prompt": task }),
        );
        self.output(log, "function_call_output", &call, &json!({ "agent_id": child }).to_string());
        self.thread(&mut inner, &told);
        let last = steps.iter().rev().find_map(|step| match step {
            Step::Assistant(text) => Some(text.as_str()),
            _ => None,
        });
        self.children.push(inner);
        let waited = self.call(log, "wait_agent", Some("multi_agent_v1"), &json!({ "targets": [child] }));
        let done =
            json!({ "status": { child: { "completed": last.unwrap_or_default() } }, "timed_out": false });
        self.output(log, "function_call_output", &waited, &done.to_string());
    }
}
