//! The files that a session read and changed, call by call.

use hashbrown::HashMap;
use retro_model::{Access, Event, Kind, Outcome, Timestamp, ToolCall, ToolClass};
use retro_text::calls::understand;
use serde::{Deserialize, Serialize};

/// A file that one call read or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// The call's event.
    pub event: String,
    /// The call's thread.
    pub thread: String,
    /// The turn's number on that thread.
    pub turn: u32,
    /// The path as the log writes it.
    pub path: String,
    /// Read or write access.
    pub access: Access,
    /// Lines added, if the log says.
    pub added: Option<u64>,
    /// Lines removed, if the log says.
    pub removed: Option<u64>,
    /// When the call was made.
    pub at: Option<Timestamp>,
    /// True if the call failed.
    pub failed: bool,
}

/// Collects touches from events as they come.
#[derive(Default)]
pub struct Touches {
    done: Vec<Touch>,
    /// The touches of each call, until its result arrives.
    open: HashMap<String, std::ops::Range<usize>>,
}

impl Touches {
    /// Takes the next settled event.
    pub fn push(&mut self, event: &Event) {
        match event.kind {
            Kind::ToolCall => self.call(event),
            Kind::ToolResult => self.result(event),
            _ => {}
        }
    }

    /// All touches, in the order of the calls.
    pub fn finish(self) -> Vec<Touch> {
        self.done
    }

    fn call(&mut self, event: &Event) {
        let Some(tool) = event.tool.as_ref().filter(|_| event.live && event.copy_of.is_none()) else {
            return;
        };
        let first = self.done.len();
        for edit in &tool.edits {
            self.put(event, &edit.path, Access::Write, edit.added, edit.removed);
            if let Some(to) = &edit.to {
                self.put(event, to, Access::Write, None, None);
            }
        }
        if tool.class == ToolClass::Shell && tool.edits.is_empty() {
            self.written(event, tool);
        }
        for used in &tool.paths {
            let is_known = |touch: &Touch| touch.path == *used.path;
            if !self.done.get(first..).unwrap_or_default().iter().any(is_known) {
                self.put(event, &used.path, used.access, None, None);
            }
        }
        if self.done.len() > first {
            self.open.insert(tool.call_id.clone(), first..self.done.len());
        }
    }

    /// Files that a command line writes: here-documents, redirections, `sed -i`, `mv`, …
    fn written(&mut self, event: &Event, tool: &ToolCall) {
        let Some(script) = tool.script().or_else(|| tool.command.as_ref().map(|line| line.to_string()))
        else {
            return;
        };
        for file in understand(&script).written {
            self.put(event, &file.path, Access::Write, file.added, file.removed);
        }
    }

    fn put(&mut self, event: &Event, path: &str, access: Access, added: Option<u64>, removed: Option<u64>) {
        self.done.push(Touch {
            event: event.id.to_string(),
            thread: event.thread.as_str().to_owned(),
            turn: event.turn,
            path: path.to_owned(),
            access,
            added,
            removed,
            at: event.ts,
            failed: false,
        });
    }

    /// Applies the result: whether the call failed, and the lines it changed.
    fn result(&mut self, event: &Event) {
        let Some(result) = &event.result else { return };
        let Some(range) = self.open.remove(&result.call_id) else { return };
        for touch in self.done.get_mut(range).unwrap_or_default() {
            touch.failed = !matches!(result.outcome, Outcome::Ok | Outcome::Unknown);
            let edit = result.edits.iter().find(|edit| *edit.path == touch.path);
            if let Some(edit) = edit {
                touch.access = Access::Write;
                touch.added = edit.added.or(touch.added);
                touch.removed = edit.removed.or(touch.removed);
            }
        }
    }
}
