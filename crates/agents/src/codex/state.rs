//! The state of the parser between two records of a source.
//!
//! Only data that a later record of the same source needs: small, bounded, without secrets. It is
//! written as JSON, so that reading a log can continue where it ended.

use retro_model::Edit;
use retro_text::Redacted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cell::Cell;

/// The most calls that are remembered at one time, answered ones too: the program's own record of a
/// command may come after its output (0.166, interrupted turns).
const CALLS_MAX: usize = 256;

/// The most edits that are remembered of a call. For a patch with more files, the program's own
/// records have the changes.
const EDITS_MAX: usize = 64;

/// The most commands, scripts and searches that are tracked at one time.
const RUNNING_MAX: usize = 64;

/// The most scripts whose calls are remembered until they end.
const SCRIPTS_MAX: usize = 16;

/// The most ancestors of a fork.
const CHAIN_MAX: usize = 16;

/// The state after the records read so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The thread, followed by those whose records it copied, youngest first.
    pub chain: Vec<String>,
    /// Time of the last copied record, while a fork's copies are read (0.89 - 0.146).
    pub copied_at: Option<i64>,
    /// Records with a lower ordinal are the parent's (0.166).
    pub inherited_below: Option<u64>,
    /// The author of messages in the user role.
    pub asker: Asker,
    /// True if a program composes the prompts: `codex exec`, the SDK, an MCP client.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub composed: bool,
    pub model: Option<String>,
    pub effort: Option<String>,
    /// The service tier that was set last. `None` for the standard one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    pub cwd: Option<Redacted<String>>,
    /// Id of the turn, if the log has turn ids (0.104 on).
    pub turn: Option<String>,
    /// Turns so far, for logs without turn ids.
    pub turns: u64,
    /// Number of responses counted in this turn.
    pub responses: u64,
    /// A hash of the last token count.
    pub counted: Option<u64>,
    /// True if this turn has usage records, which its token counts only repeat.
    pub recorded: bool,
    /// True if the next usage belongs to a compaction.
    pub summarized: bool,
    /// The last rate limits, in the form of an event's data.
    #[serde(rename = "limits_data")]
    pub limits: Option<Redacted<Value>>,
    /// True while a review runs in a child thread.
    pub in_review: bool,
    /// The message that is the user's if its event follows.
    pub held: Option<Held>,
    /// The last message of the user, and its position.
    pub said: Option<Held>,
    /// True if the next message of an agent starts a turn.
    pub triggered: bool,
    calls: Vec<Call>,
    /// Running commands: process id, and the call that started each.
    running: Vec<(String, String)>,
    /// Running scripts: cell id, and the call that started each.
    cells: Vec<(String, String)>,
    /// Scripts that have not ended, with the output still to come.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<Cell>,
    /// Web searches of which only one side was read: a hash of the query, and the call.
    searches: Vec<(u64, String)>,
}

/// The author of messages in the user role of a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Asker {
    /// A person types the prompts.
    #[default]
    Person,
    /// A parent agent sends the prompts.
    Agent,
    /// The program sends the prompts, as in a review.
    Harness,
}

/// A text and the record that contains it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    pub record: u64,
    pub words: u64,
}

/// A call and the facts that its result needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Call {
    pub id: String,
    pub name: String,
    /// True for an MCP tool, whose answer comes from outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_mcp: bool,
    /// True if the user is asked before it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// True if its output was read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
    /// The call whose command or script it polls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<String>,
    /// The edits that it requested, for results that do not list the actual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
}

impl State {
    /// Adds a thread whose records were copied into this one. It is older than those added before.
    pub(super) fn descends_from(&mut self, id: &str) {
        if self.chain.len() < CHAIN_MAX && !self.chain.iter().any(|known| known == id) {
            self.chain.push(id.to_owned());
        }
    }

    /// The thread that owns a turn. Ids of threads and turns begin with their time (0.42 on) and
    /// sort by it. The owner is the youngest thread that is older than the turn.
    pub(super) fn owner(&self) -> Option<&str> {
        let owner = match &self.turn {
            Some(turn) if self.chain.len() > 1 => self.chain.iter().find(|id| id.as_str() <= turn.as_str()),
            _ => None,
        };
        let copied = || if self.copied_at.is_some() { self.chain.get(1) } else { self.chain.first() };
        owner.or_else(copied).map(String::as_str)
    }

    /// Records a call.
    pub(super) fn open(&mut self, mut call: Call) {
        call.edits.truncate(EDITS_MAX);
        push(&mut self.calls, call, CALLS_MAX);
    }

    /// The call that an output answers.
    pub(super) fn answer(&mut self, id: &str) -> Option<Call> {
        let call = self.calls.iter_mut().rev().find(|call| call.id == id)?;
        call.answered = true;
        Some(Call { edits: std::mem::take(&mut call.edits), ..call.clone() })
    }

    /// The script that runs now: the parent of a nested call, which the log shows only by order
    /// (0.166).
    pub(super) fn script(&self) -> Option<&str> {
        let open = self
            .calls
            .iter()
            .rev()
            .find(|call| !call.answered && matches!(call.name.as_str(), "exec" | "wait"))?;
        Some(open.polls.as_deref().unwrap_or(&open.id))
    }

    /// Records that a command continues after its call returned.
    pub(super) fn keeps_running(&mut self, process: &str, call: &str) {
        self.running.retain(|(known, _)| known != process);
        push(&mut self.running, (process.to_owned(), call.to_owned()), RUNNING_MAX);
    }

    /// The call that started a command.
    pub(super) fn started(&self, process: &str) -> Option<&str> {
        self.running.iter().rev().find(|(known, _)| known == process).map(|(_, call)| call.as_str())
    }

    /// Records that a script continues after its call returned.
    pub(super) fn keeps_cell(&mut self, cell: &str, call: &str) {
        self.cells.retain(|(known, _)| known != cell);
        push(&mut self.cells, (cell.to_owned(), call.to_owned()), RUNNING_MAX);
    }

    /// The call that started a script.
    pub(super) fn cell(&self, cell: &str) -> Option<&str> {
        self.cells.iter().rev().find(|(known, _)| known == cell).map(|(_, call)| call.as_str())
    }

    /// Records that a script runs, or continues.
    pub(super) fn runs(&mut self, cell: Cell) {
        push(&mut self.scripts, cell, SCRIPTS_MAX);
    }

    /// Takes the script of a call if it has not ended.
    pub(super) fn take_running(&mut self, script: &str) -> Option<Cell> {
        let at = self.scripts.iter().position(|cell| cell.script == script)?;
        Some(self.scripts.remove(at))
    }

    /// Reads one side of a web search. Returns the call if the other side was read before, else
    /// remembers this one.
    pub(super) fn search(&mut self, sought: u64, call: &str) -> Option<String> {
        match self.searches.iter().position(|(known, _)| *known == sought) {
            Some(at) => Some(self.searches.remove(at).1),
            None => {
                push(&mut self.searches, (sought, call.to_owned()), RUNNING_MAX);
                None
            }
        }
    }
}

fn push<T>(list: &mut Vec<T>, item: T, max: usize) {
    if list.len() >= max {
        list.remove(0);
    }
    list.push(item);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::save as saved;

    fn call(id: &str, name: &str) -> Call {
        let name = name.to_owned();
        Call {
            id: id.to_owned(),
            name,
            is_mcp: false,
            asks: false,
            answered: false,
            polls: None,
            edits: Vec::new(),
        }
    }

    #[test]
    fn it_stays_small_whatever_comes() {
        let mut state = State::default();
        for n in 0..10_000 {
            let id = format!("call-{n}");
            state.open(call(&id, "exec"));
            state.keeps_running(&id, &id);
            state.keeps_cell(&id, &id);
            state.search(n, &id);
            state.descends_from(&id);
        }
        assert!(saved(&state).len() < 64 * 1024);
        assert!(state.answer("call-0").is_none());
        assert_eq!(state.started("call-9999"), Some("call-9999"));
    }

    #[test]
    fn a_nested_call_hangs_on_the_script_that_runs() {
        let mut state = State::default();
        assert_eq!(state.script(), None);
        state.open(call("c1", "exec"));
        assert_eq!(state.script(), Some("c1"));
        state.answer("c1");
        assert_eq!(state.script(), None);
        state.open(Call { polls: Some("c1".into()), ..call("c2", "wait") });
        assert_eq!(state.script(), Some("c1"));
    }

    #[test]
    fn a_turn_belongs_to_the_youngest_thread_that_is_older() {
        let chain = ["0003".to_owned(), "0002".to_owned(), "0001".to_owned()].to_vec();
        let mut state = State { chain, turn: Some("0002-5".into()), ..State::default() };
        assert_eq!(state.owner(), Some("0002"));
        state.turn = Some("0004".into());
        assert_eq!(state.owner(), Some("0003"));
        state.turn = None;
        assert_eq!(state.owner(), Some("0003"));
        state.copied_at = Some(1);
        assert_eq!(state.owner(), Some("0002"));
    }
}
