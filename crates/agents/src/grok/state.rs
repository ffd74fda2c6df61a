//! The state of the parser between two records of a source.
//!
//! Small, bounded, and written as JSON, so that reading a log can continue where it ended. Nearly
//! all joining is done when the session settles, since lines of one call are in three files and not
//! always in order.

use serde::{Deserialize, Serialize};

/// The most sub-agents that may end within one turn.
const FINISHED_MAX: usize = 256;

/// The state after the records read so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The model of the last prompt (updates) or turn (events).
    pub model: Option<String>,
    /// Sub-agents that ended since the end of the last turn.
    finished: Vec<String>,
}

impl State {
    /// Records that a sub-agent ended.
    pub(super) fn finish(&mut self, child: &str) {
        if self.finished.len() < FINISHED_MAX && !self.finished.iter().any(|known| known == child) {
            self.finished.push(child.to_owned());
        }
    }

    /// The sub-agents whose tokens are in the turn that ends now.
    pub(super) fn take_finished(&mut self) -> Vec<String> {
        std::mem::take(&mut self.finished)
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
            state.finish(&format!("child-{n}"));
        }
        assert!(saved(&state).len() < 8 * 1024);
        assert_eq!(state.take_finished().len(), FINISHED_MAX);
        assert!(state.take_finished().is_empty());
    }
}
