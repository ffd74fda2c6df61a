//! What the parser remembers between two records of a source.
//!
//! Only what a later record of the same source needs: small, bounded, without
//! secrets, and written as JSON, so that a log can be taken up again where it
//! was left.

use retro_model::Edit;
use retro_text::Redacted;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cell::Cell;

/// Calls that are remembered at one time, answered ones too: what the program
/// tells of a command may come after its output (0.166, interrupted turns).
const CALLS_MAX: usize = 256;

/// Edits that are remembered of a call; what a patch with more files changed is
/// told by its own records.
const EDITS_MAX: usize = 64;

/// Commands, scripts and searches that run at one time.
const RUNNING_MAX: usize = 64;

/// Scripts whose calls are remembered until they are over.
const SCRIPTS_MAX: usize = 16;

/// Ancestors of a fork.
const CHAIN_MAX: usize = 16;

/// What was read so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The thread, and behind it those whose records it copied, youngest first.
    pub chain: Vec<String>,
    /// Time of the last copied record, while a fork's copies are read (0.89 - 0.146).
    pub copied_at: Option<i64>,
    /// Records with a lower ordinal are the parent's (0.166).
    pub inherited_below: Option<u64>,
    /// Whose words the user's side of the thread is.
    pub asker: Asker,
    /// A program composes what is asked: `codex exec`, the SDK, an MCP client.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub composed: bool,
    pub model: Option<String>,
    pub effort: Option<String>,
    /// The service tier that was set last, where it is not the standard one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    pub cwd: Option<Redacted<String>>,
    /// Id of the turn, where the log has one (0.104 on).
    pub turn: Option<String>,
    /// Turns so far, for logs without turn ids.
    pub turns: u64,
    /// Responses counted in this turn.
    pub responses: u64,
    /// The token count that was told last.
    pub counted: Option<u64>,
    /// This turn has usage records: its token counts only repeat them.
    pub recorded: bool,
    /// The next usage is a compaction's.
    pub summarized: bool,
    /// Rate limits as told last, as the data of the event that will tell them.
    #[serde(rename = "limits_data")]
    pub limits: Option<Redacted<Value>>,
    /// A review runs in a child thread.
    pub in_review: bool,
    /// The message that is the user's if its event follows.
    pub held: Option<Held>,
    /// The user's words that were told last, and where.
    pub said: Option<Held>,
    /// The next message of an agent starts a turn.
    pub triggered: bool,
    calls: Vec<Call>,
    /// Commands that still run, by process id, with the call that started each.
    running: Vec<(String, String)>,
    /// Scripts that still run, by cell id, with the call that started each.
    cells: Vec<(String, String)>,
    /// Scripts that are not over, with what they still print.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<Cell>,
    /// Web searches of which only one side was told: what was looked for, and the call.
    searches: Vec<(u64, String)>,
}

/// Whose words the user's side of a thread is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Asker {
    /// A person.
    #[default]
    Person,
    /// A parent agent.
    Agent,
    /// The program, as in a review.
    Harness,
}

/// Words at a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    pub record: u64,
    pub words: u64,
}

/// A call that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Call {
    pub id: String,
    pub name: String,
    /// An MCP tool: what it answers is from outside.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_mcp: bool,
    /// The user is asked before it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// Has its output.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
    /// The call whose command or script it polls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub polls: Option<String>,
    /// What it asked to change, for results that do not say what was changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
}

impl State {
    /// A thread whose records were copied into this one, older than those before.
    pub(super) fn descends_from(&mut self, id: &str) {
        if self.chain.len() < CHAIN_MAX && !self.chain.iter().any(|known| known == id) {
            self.chain.push(id.to_owned());
        }
    }

    /// The thread that owns a turn. Ids of threads and turns begin with their
    /// time (0.42 on), so they compare like it: the youngest thread that is older.
    pub(super) fn owner(&self) -> Option<&str> {
        let owner = match &self.turn {
            Some(turn) if self.chain.len() > 1 => self.chain.iter().find(|id| id.as_str() <= turn.as_str()),
            _ => None,
        };
        let copied = || if self.copied_at.is_some() { self.chain.get(1) } else { self.chain.first() };
        owner.or_else(copied).map(String::as_str)
    }

    /// A call was made.
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

    /// The script that runs now: the call that a nested call hangs on, which the
    /// log tells only by order (0.166).
    pub(super) fn script(&self) -> Option<&str> {
        let open = self
            .calls
            .iter()
            .rev()
            .find(|call| !call.answered && matches!(call.name.as_str(), "exec" | "wait"))?;
        Some(open.polls.as_deref().unwrap_or(&open.id))
    }

    /// A command goes on after its call returned.
    pub(super) fn keeps_running(&mut self, process: &str, call: &str) {
        self.running.retain(|(known, _)| known != process);
        push(&mut self.running, (process.to_owned(), call.to_owned()), RUNNING_MAX);
    }

    /// The call that started a command.
    pub(super) fn started(&self, process: &str) -> Option<&str> {
        self.running.iter().rev().find(|(known, _)| known == process).map(|(_, call)| call.as_str())
    }

    /// A script goes on after its call returned.
    pub(super) fn keeps_cell(&mut self, cell: &str, call: &str) {
        self.cells.retain(|(known, _)| known != cell);
        push(&mut self.cells, (cell.to_owned(), call.to_owned()), RUNNING_MAX);
    }

    /// The call that started a script.
    pub(super) fn cell(&self, cell: &str) -> Option<&str> {
        self.cells.iter().rev().find(|(known, _)| known == cell).map(|(_, call)| call.as_str())
    }

    /// A script runs, or goes on.
    pub(super) fn runs(&mut self, cell: Cell) {
        push(&mut self.scripts, cell, SCRIPTS_MAX);
    }

    /// The script of a call, while it is not over.
    pub(super) fn take_running(&mut self, script: &str) -> Option<Cell> {
        let at = self.scripts.iter().position(|cell| cell.script == script)?;
        Some(self.scripts.remove(at))
    }

    /// One side of a web search: gives the call if the other was told before,
    /// else remembers this one.
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
