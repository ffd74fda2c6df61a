//! The actions of a session as a sequence of steps, each with its purpose.

use retro_model::{Outcome, ToolClass};
use retro_text::calls::Purpose;
use retro_text::fingerprint;

use crate::trace::{Beat, Call, Trace, What};

/// The purpose of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Category {
    Explore,
    Search,
    Locate,
    Reproduce,
    GenerateFix,
    RunTests,
    Refactor,
    Explain,
    Permission,
    Error,
    Other,
}

impl Category {
    /// Its name in the ids of signals.
    pub fn as_str(self) -> &'static str {
        match self {
            Category::Explore => "explore",
            Category::Search => "search",
            Category::Locate => "locate",
            Category::Reproduce => "reproduce",
            Category::GenerateFix => "generate_fix",
            Category::RunTests => "run_tests",
            Category::Refactor => "refactor",
            Category::Explain => "explain",
            Category::Permission => "permission",
            Category::Error => "error",
            Category::Other => "other",
        }
    }

    /// True for a phase of work, and false for an accident.
    pub fn is_core(self) -> bool {
        !matches!(self, Category::Permission | Category::Error | Category::Other)
    }

    /// True for steps that gather information.
    pub fn explores(self) -> bool {
        matches!(self, Category::Explore | Category::Search | Category::Locate | Category::Explain)
    }

    /// True for steps that work on the result.
    pub fn exploits(self) -> bool {
        matches!(self, Category::Reproduce | Category::GenerateFix | Category::RunTests | Category::Refactor)
    }
}

/// One action with the thought before it and its result.
#[derive(Debug, Clone)]
pub struct Step {
    /// The event of the action.
    pub id: String,
    /// The number of its thread.
    pub thread: u32,
    /// The purpose of the step.
    pub category: Category,
    /// Equal for equal actions.
    pub key: String,
    /// True if the action failed.
    pub failed: bool,
    /// Thought and action, in lower case.
    pub words: String,
    /// Terms of its result, one per line.
    pub terms: String,
}

/// The most characters of a thought that are read.
const THOUGHT_CHARS: usize = 500;
/// The most texts of the agent before an action that count as its thought.
const THOUGHTS_MAX: usize = 3;

/// The steps of all threads, one thread after the other.
pub(crate) fn steps(trace: &Trace) -> Vec<Step> {
    let mut steps = Vec::new();
    for thread in trace.threads() {
        let mut thoughts: Vec<&str> = Vec::new();
        for beat in thread {
            match &beat.what {
                What::Said { text, .. } | What::Thought { text } => thoughts.push(text),
                What::Call(call) if !call.has_nested => {
                    let from = thoughts.len().saturating_sub(THOUGHTS_MAX);
                    steps.push(step(beat, call, thoughts.get(from..).unwrap_or_default()));
                    thoughts.clear();
                }
                What::Error { text } => steps.push(Step {
                    id: beat.id.clone(),
                    thread: beat.thread,
                    category: Category::Error,
                    key: format!("error {}", fingerprint::normal(text)),
                    failed: true,
                    words: String::new(),
                    terms: String::new(),
                }),
                _ => {}
            }
        }
    }
    steps
}

fn step(beat: &Beat, call: &Call, thoughts: &[&str]) -> Step {
    let mut words = String::new();
    for thought in thoughts {
        words.extend(thought.chars().take(THOUGHT_CHARS));
        words.push('\n');
    }
    let thought = words.to_lowercase();
    let action = action(call);
    let mut words = thought.clone();
    words.push_str(&action.to_lowercase());
    Step {
        id: beat.id.clone(),
        thread: beat.thread,
        category: category(call, &thought),
        key: key(call),
        failed: call.is_failed(),
        words,
        terms: call.terms.clone(),
    }
}

/// Name, command and paths of a call.
fn action(call: &Call) -> String {
    let paths = call.reads.iter().chain(call.edits.iter().map(|edit| &edit.path));
    let paths: Vec<&str> = paths.map(String::as_str).collect();
    format!("{} {} {}", call.name, call.command.as_deref().unwrap_or_default(), paths.join(" "))
}

/// A key that is equal for the same command, ignoring case and spacing, or the same tool on the
/// same files.
fn key(call: &Call) -> String {
    let paths: Vec<&str> =
        call.reads.iter().chain(call.edits.iter().map(|edit| &edit.path)).map(String::as_str).collect();
    match &call.command {
        Some(command) => command.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase(),
        None => format!("{} {}", call.name, paths.join(" ")),
    }
}

fn category(call: &Call, thought: &str) -> Category {
    let says = |words: &[&str]| words.iter().any(|word| thought.contains(word));
    if call.outcome == Some(Outcome::Denied) {
        return Category::Permission;
    }
    if !call.edits.is_empty() || call.class == ToolClass::Edit {
        let moves = says(&["refactor", "rename", "reformat", "doc-only", "comments only", "clean up the"]);
        return if moves { Category::Refactor } else { Category::GenerateFix };
    }
    match (call.class, call.purpose) {
        (ToolClass::Shell, purpose) if purpose.is_validation() => Category::RunTests,
        (ToolClass::Shell, Purpose::Format) => Category::Refactor,
        (ToolClass::Shell, _) if call.runner == "git blame" || says(&["stack trace", "traceback"]) => {
            Category::Locate
        }
        (ToolClass::Shell, Purpose::Run) => Category::Reproduce,
        (ToolClass::Shell, _) if says(&["reproduce", "regression", "failing test", "minimal test"]) => {
            Category::Reproduce
        }
        (ToolClass::Shell, Purpose::Search) | (ToolClass::Search | ToolClass::Web, _) => Category::Search,
        (ToolClass::Shell, Purpose::Read) | (ToolClass::Read, _) => Category::Explore,
        (ToolClass::Ask | ToolClass::Plan, _) => Category::Explain,
        _ if locates(&call.name) => Category::Locate,
        _ => Category::Other,
    }
}

/// True for tools that find a definition or its uses.
fn locates(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["definition", "references", "symbol", "lsp"].iter().any(|word| name.contains(word))
}
