//! The state of the parser between two records of a source.
//!
//! Only data that a later record of the same source needs: small, bounded, without secrets. It is
//! written as JSON, so that reading a log can continue where it ended.

use retro_model::{Edit, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::words::id as clean_id;

/// The most calls that may wait for their result at one time. A result that comes after more calls
/// is still joined by its id, and only its tool's name is lost.
const CALLS_MAX: usize = 256;

/// Requests that may still be answered. In 2.1.325 an answer always belongs to the newest. The rest
/// is room for parallel requests.
const REQUESTS_MAX: usize = 32;

/// The state after the records read so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// Where and how the program runs, once a record shows it.
    pub ground: Option<Ground>,
    /// The model that answered last.
    pub model: Option<String>,
    /// Calls without a result.
    calls: Vec<OpenCall>,
    /// Ids of the newest `api-request` records.
    requests: Vec<String>,
    /// Time of the first `queue-operation`.
    pub first_queued: Option<Timestamp>,
    /// The facts of the last compaction boundary, until its summary comes.
    pub boundary: Option<Boundary>,
    /// Fingerprint of the task list that was shown last.
    pub task_list: Option<u64>,
}

/// Where and how the program runs, from the latest record, without secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ground {
    pub cwd: Option<String>,
    pub branch: Option<String>,
    pub version: Option<String>,
    pub entrypoint: Option<String>,
}

/// A call that has no result yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub id: String,
    pub name: String,
    /// The edits that it requested, for results that do not list the actual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Edit>,
}

/// A compaction boundary that waits for its summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Boundary {
    pub uuid: String,
    pub facts: Value,
}

impl State {
    /// Records a call.
    pub(super) fn open(&mut self, call: OpenCall) {
        if self.calls.len() >= CALLS_MAX {
            self.calls.remove(0);
        }
        self.calls.push(call);
    }

    /// The call that a result answers.
    pub(super) fn close(&mut self, id: &str) -> Option<OpenCall> {
        let at = self.calls.iter().position(|call| call.id == id)?;
        Some(self.calls.remove(at))
    }

    /// Records a request.
    pub(super) fn request(&mut self, id: &str) {
        if self.requests.len() >= REQUESTS_MAX {
            self.requests.remove(0);
        }
        self.requests.push(clean_id(id));
    }

    /// True if this file sent the request recently.
    pub(super) fn requested(&self, id: &str) -> bool {
        let id = clean_id(id);
        self.requests.contains(&id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::save as saved;

    #[test]
    fn it_stays_small_whatever_comes() {
        let mut state = State::default();
        for n in 0..10_000 {
            let id = format!("call-{n}");
            state.request(&id);
            state.open(OpenCall { id, name: "Bash".into(), edits: Vec::new() });
        }
        assert!(saved(&state).len() < 32 * 1024);
        assert!(state.close("call-0").is_none());
        assert_eq!(state.close("call-9999").unwrap().name, "Bash");
        assert!(state.requested("call-9999") && !state.requested("call-0"));
    }
}
