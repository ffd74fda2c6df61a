//! Judges if a session was real work. Later stages use this as a filter.

use retro_model::ToolClass;
use serde::{Deserialize, Serialize};

use crate::trace::Trace;

/// The criteria of real work. The defaults are those of `[detect.quality]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thresholds {
    /// The least number of events.
    pub min_events: u64,
    /// True if the working directory must be known.
    pub require_repo: bool,
    /// The least number of calls that read, search, edit or run something.
    pub min_substantive_calls: u64,
    /// The length of a prompt that is a clear request by itself. A shorter one needs work after it.
    pub min_prompt_chars: usize,
    /// Prompts that ask for nothing, in lower case.
    pub trivial_prompts: Vec<String>,
}

impl Default for Thresholds {
    fn default() -> Self {
        let trivial = [
            "hi",
            "hello",
            "hey",
            "test",
            "ping",
            "say hi",
            "say hello",
            "ok",
            "are you there",
            "what model are you",
        ];
        Thresholds {
            min_events: 20,
            require_repo: true,
            min_substantive_calls: 3,
            min_prompt_chars: 25,
            trivial_prompts: trivial.map(str::to_owned).to_vec(),
        }
    }
}

/// The verdict and the rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality {
    /// True if it was real work.
    pub real: bool,
    /// The rule: `real`, or the missing criterion.
    pub rule: String,
}

/// A short prompt needs this many times the calls of a long one.
const WORK_FACTOR: u64 = 2;
/// A smaller change may have been dictated to try the agent.
const MADE_LINES_MIN: u64 = 6;

/// Judges if a session was real work, by its actions and not by the form of the request: changed
/// lines and commits count as work, in any number of steps.
pub(crate) fn judge(trace: &Trace, thresholds: &Thresholds) -> Quality {
    let verdict = |real, rule: &str| Quality { real, rule: rule.to_owned() };
    let substantive = trace.calls().filter(|(_, call)| is_substantive(call.class)).count() as u64;
    let changes = || trace.calls().filter(|(_, call)| call.changed_files());
    let lines: u64 = changes()
        .flat_map(|(_, call)| &call.edits)
        .map(|edit| edit.added.max(edit.removed))
        .fold(0, u64::saturating_add);
    let made = lines >= MADE_LINES_MIN || !trace.commits.is_empty();
    let worked =
        made || changes().next().is_some() || substantive >= thresholds.min_substantive_calls * WORK_FACTOR;
    let mut requests = trace.requests().map(|(_, text)| text.trim()).peekable();
    // Calls without a request and without a change are part of another session's work.
    if requests.peek().is_none() && !made && changes().next().is_none() {
        return verdict(false, "no_prompt");
    }
    if thresholds.require_repo && trace.cwd.is_none() {
        return verdict(false, "no_repository");
    }
    if made {
        return verdict(true, "real");
    }
    if trace.events() < thresholds.min_events {
        return verdict(false, "too_few_events");
    }
    if substantive < thresholds.min_substantive_calls {
        return verdict(false, "too_few_calls");
    }
    let says = |text: &str| {
        let bare = text.trim_end_matches(['.', '!', '?']).to_lowercase();
        text.chars().count() >= thresholds.min_prompt_chars && !thresholds.trivial_prompts.contains(&bare)
    };
    if !requests.any(says) && !worked {
        return verdict(false, "trivial_prompt");
    }
    verdict(true, "real")
}

fn is_substantive(class: ToolClass) -> bool {
    matches!(
        class,
        ToolClass::Shell
            | ToolClass::Read
            | ToolClass::Search
            | ToolClass::Edit
            | ToolClass::Web
            | ToolClass::Mcp
            | ToolClass::Subagent
    )
}
