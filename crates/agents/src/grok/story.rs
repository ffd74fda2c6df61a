//! A session while it is written from a script: its turns, the model's texts, its compactions. The
//! model's actions are in `work`.

use serde_json::{Value, json};
use std::path::PathBuf;

use super::pages::{Desk, Pages, Tokens, time};
use crate::script::{Script, Step};

const MODEL: &str = "grok-code-fast-1";

/// A session being written.
pub(super) struct Session<'s> {
    pub(super) script: &'s Script,
    pub(super) desk: &'s mut Desk,
    pub(super) pages: Pages,
    /// The task that a parent session gives to this one.
    pub(super) task: Option<&'s str>,
    pub(super) title: Option<String>,
    pub(super) model: String,
    pub(super) prompts: u64,
    /// The model and tokens of the open turn, if one is open.
    pub(super) turn: Option<(String, Tokens)>,
    /// Start time of the answer, if it began with reasoning.
    pub(super) stream: Option<i64>,
    pub(super) cancelled: bool,
    pub(super) total: Tokens,
    pub(super) answers: u64,
    pub(super) last_prompt: String,
    pub(super) children: Vec<(PathBuf, Vec<u8>)>,
    /// The session whose history this one begins with, and the time of the fork.
    forked: Option<(String, i64)>,
}

/// The history that a fork inherits from its parent.
pub(super) struct History {
    parent: String,
    updates: String,
    chat: Vec<Value>,
    model: String,
    prompts: u64,
    total: Tokens,
    answers: u64,
    last_prompt: String,
}

impl<'s> Session<'s> {
    pub(super) fn new(
        script: &'s Script,
        id: &str,
        task: Option<&'s str>,
        desk: &'s mut Desk,
    ) -> Session<'s> {
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
            forked: None,
        }
    }

    /// The history for a fork at this point.
    pub(super) fn history(&mut self) -> History {
        self.end_turn("end_turn");
        History {
            parent: self.pages.session.clone(),
            updates: self.pages.updates.clone(),
            chat: self.pages.chat.clone(),
            model: self.model.clone(),
            prompts: self.prompts,
            total: self.total,
            answers: self.answers,
            last_prompt: self.last_prompt.clone(),
        }
    }

    /// Starts a session with the history of another: every line is copied and belongs to it, except
    /// for the event id.
    pub(super) fn forked(script: &'s Script, id: &str, history: History, desk: &'s mut Desk) -> Session<'s> {
        let mut session = Session::new(script, id, None, desk);
        for line in history.updates.lines() {
            let Ok(mut update) = serde_json::from_str::<Value>(line) else { continue };
            update["params"]["sessionId"] = Value::from(id);
            session.pages.updates.push_str(&update.to_string());
            session.pages.updates.push('\n');
        }
        session.pages.chat = history.chat;
        session.model = history.model;
        session.prompts = history.prompts;
        session.total = history.total;
        session.answers = history.answers;
        session.last_prompt = history.last_prompt;
        session.forked = Some((history.parent, session.desk.clock_ms));
        session
    }

    pub(super) fn steps(&mut self, steps: &[Step]) {
        for (at, step) in steps.iter().enumerate() {
            let next_cuts = steps.get(at + 1) == Some(&Step::Interrupt);
            match step {
                Step::Time(ms) => self.desk.clock_ms = *ms,
                Step::Title(title) => self.title = Some(title.clone()),
                Step::Model(model) => self.model = model.clone(),
                Step::User(text) => self.prompt(text),
                Step::Assistant(text) => self.say(text),
                Step::Thinking(text) => self.think(text),
                Step::Shell { command, output, exit_code: 0 } if output.is_empty() && next_cuts => {
                    self.cut_call(command)
                }
                Step::Shell { command, output, exit_code } => self.shell(command, output, *exit_code),
                Step::Read { path, content } => self.read(path, content),
                Step::Edit { path, removed, added } => self.edit(path, removed, added),
                Step::Subagent { task, steps } => self.subagent(task, steps),
                Step::Compaction(summary) => self.compact(summary),
                Step::Interrupt => self.end_turn("cancelled"),
                // A script is split into sessions at its forks, and a sub-agent cannot be forked.
                Step::Fork(_) => {}
            }
            if !matches!(step, Step::Time(_) | Step::Title(_) | Step::Model(_)) {
                self.desk.clock_ms = self.desk.clock_ms.saturating_add(1000);
            }
        }
    }

    pub(super) fn prompt(&mut self, text: &str) {
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

    pub(super) fn open_turn(&mut self) {
        self.pages.turn = self.desk.uuid();
        let mut fields = json!({ "session_id": self.pages.session, "turn_number": self.prompts,
            "model_id": self.model, "session_relationship": "primary", "schema_version": "1.0" });
        if std::mem::take(&mut self.cancelled) {
            fields["redirect_kind"] = Value::from("cancel_then_send");
        }
        self.pages.event(self.desk, "turn_started", fields);
        self.turn = Some((self.model.clone(), Tokens::default()));
    }

    /// Counts one answer of the model, and returns its start time.
    pub(super) fn answer(&mut self) -> i64 {
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

    pub(super) fn think(&mut self, text: &str) {
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

    pub(super) fn say(&mut self, text: &str) {
        let stream = self.answer();
        self.pages.update(
            self.desk,
            json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": text } }),
            Some(stream),
        );
        self.pages.chat.push(json!({ "type": "assistant", "content": text, "model_id": self.model }));
    }

    pub(super) fn compact(&mut self, summary: &str) {
        let checkpoint = self.desk.uuid();
        self.pages.own_update(
            self.desk,
            json!({ "sessionUpdate": "auto_compact_started", "tokens_used": 180_000,
            "context_window": 200_000, "percentage": 90, "reason": "Context window 90% full" }),
        );
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
        self.pages.own_update(
            self.desk,
            json!({ "sessionUpdate": "compaction_checkpoint", "checkpoint_id": checkpoint,
            "prompt_index_at_compaction": self.prompts, "checkpoint_file": file, "schema_version": 1 }),
        );
        self.pages.beside.push((PathBuf::from(file), document.to_string().into_bytes()));
        self.pages.own_update(
            self.desk,
            json!({ "sessionUpdate": "auto_compact_completed", "tokens_before": 180_000,
            "tokens_after": 9_000, "elapsed_ms": 900, "summary_preview": null }),
        );
    }

    /// Ends the turn if one is open.
    pub(super) fn end_turn(&mut self, stop: &str) {
        let Some((model, tokens)) = self.turn.take() else { return };
        self.stream = None;
        self.cancelled = stop == "cancelled";
        let outcome = if self.cancelled {
            json!({ "outcome": "cancelled", "cancellation_category": "mid_turn_abort" })
        } else {
            json!({ "outcome": "completed" })
        };
        self.pages.event(self.desk, "turn_ended", outcome);
        let mut usage = tokens.json();
        let mut by_model = serde_json::Map::new();
        by_model.insert(model, tokens.json());
        usage["modelUsage"] = Value::Object(by_model);
        self.pages.own_update(
            self.desk,
            json!({ "sessionUpdate": "turn_completed", "prompt_id": self.pages.turn,
            "stop_reason": stop, "usage": usage, "elapsed_ms": 1000 }),
        );
        self.total.add(tokens);
    }

    /// Writes the session's files, relative to its folder, and returns its tokens.
    pub(super) fn finish(mut self, files: &mut Vec<(PathBuf, Vec<u8>)>) -> Tokens {
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
        if let Some((parent, at)) = &self.forked {
            summary["parent_session_id"] = Value::from(parent.as_str());
            summary["forked_at"] = Value::from(time(*at));
            summary["created_at"] = Value::from(time(*at));
        }
        let usage = json!({ "sessionId": id, "session": self.total.json() });
        let total = self.total;
        let own = self.pages.into_files(&summary, Some(&usage));
        files.extend(own.into_iter().map(|(path, bytes)| (PathBuf::from(&id).join(path), bytes)));
        files.extend(self.children);
        total
    }
}
