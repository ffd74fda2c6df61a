//! Failures in a session, the steps that followed, and whether they were fixed.
//!
//! A failure is a call that failed, by its exit status or by the summary of a test runner. It
//! counts as fixed only if the same or an equivalent command passed later on the same thread.

use hashbrown::HashMap;
use retro_model::{Event, Kind, Outcome, Timestamp, ToolCall, ToolClass, ToolResult};
use retro_text::calls::{Call, Exit, Verdict, covers, same_command, understand};
use retro_text::fingerprint::{self, ErrorLine};
use serde::{Deserialize, Serialize};

/// Maximum steps stored between a failure and its end.
const STEPS_MAX: usize = 12;

/// Maximum failures stored per session.
const REPAIRS_MAX: usize = 500;

/// Maximum further errors of a failure's output by which it can be found.
const OTHERS_MAX: usize = 12;

/// Maximum bytes of a stored text.
const TEXT_BYTES: usize = 300;

/// A call, by its event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// The event with its result.
    pub event_id: String,
    /// The command, on one line.
    pub command: String,
    /// The line with the error. `None` for a call that passed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub snippet: Option<String>,
}

/// A step after a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The event of the call.
    pub event_id: String,
    /// A description: `edited src/cart.rs (+3 -1)`, `ran cargo fmt`.
    pub what: String,
}

/// A failure and its repair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// Identifies the error. Empty if the output shows none.
    pub fingerprint: String,
    /// Identify the other errors of its output.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub others: Vec<String>,
    /// When it failed.
    pub at: Option<Timestamp>,
    /// The call that failed.
    pub failing: Ran,
    /// The next steps, up to the call that passed.
    pub steps: Vec<Step>,
    /// The later success of the same command.
    pub passing: Option<Ran>,
}

/// Collects repairs from events as they come.
#[derive(Default)]
pub struct Repairs {
    done: Vec<Repair>,
    /// Unfixed failures by thread: index of the repair, and the call that failed.
    open: HashMap<String, Vec<(usize, Doing)>>,
    calls: HashMap<String, (Doing, Option<String>)>,
}

/// The action of a call, to compare with later ones.
#[derive(Debug, Clone)]
enum Doing {
    Command(Box<Call>, String),
    /// Another tool, with its name and paths.
    Other(String, Vec<String>),
}

impl Doing {
    fn of(tool: &ToolCall) -> Doing {
        match &tool.command {
            Some(command) => Doing::Command(Box::new(understand(command)), one_line(command)),
            None => {
                let paths = tool.paths.iter().map(|used| used.path.to_string());
                let edited = tool.edits.iter().map(|edit| edit.path.to_string());
                let mut paths: Vec<String> = paths.chain(edited).collect();
                paths.sort();
                paths.dedup();
                Doing::Other(tool.name.clone(), paths)
            }
        }
    }

    /// True if the success of this shows that the other no longer fails.
    fn ends(&self, other: &Doing) -> bool {
        match (self, other) {
            (Doing::Command(later, _), Doing::Command(earlier, _)) => {
                same_command(later, earlier) || covers(later, earlier)
            }
            (Doing::Other(later, paths), Doing::Other(earlier, other)) => {
                later == earlier && paths == other && !paths.is_empty()
            }
            _ => false,
        }
    }

    fn text(&self) -> String {
        match self {
            Doing::Command(_, text) => text.clone(),
            Doing::Other(name, paths) => one_line(&format!("{name} {}", paths.join(" "))),
        }
    }
}

impl Repairs {
    /// Takes the next settled event.
    pub fn push(&mut self, event: &Event) {
        if !event.live || event.copy_of.is_some() {
            return;
        }
        match (&event.tool, &event.result) {
            (Some(tool), _) if event.kind == Kind::ToolCall => {
                let edited =
                    (tool.class == ToolClass::Edit || !tool.edits.is_empty()).then(|| edit_text(tool));
                self.calls.insert(tool.call_id.clone(), (Doing::of(tool), edited));
            }
            (_, Some(result)) if event.kind == Kind::ToolResult => self.result(event, result),
            _ => {}
        }
    }

    /// All repairs, in order of failure.
    pub fn finish(self) -> Vec<Repair> {
        self.done
    }

    fn result(&mut self, event: &Event, result: &ToolResult) {
        let Some((doing, edited)) = self.calls.remove(&result.call_id) else { return };
        let output = event.text.as_ref().map_or("", |text| text.as_str());
        match verdict(&doing, result, output) {
            Verdict::Failed => self.failed(event, doing, output),
            Verdict::Passed => self.passed(event, &doing, edited),
            _ if self.is_over(event, &doing, result, output) => self.passed(event, &doing, edited),
            _ => self.step(event, &doing, edited),
        }
    }

    fn failed(&mut self, event: &Event, doing: Doing, output: &str) {
        // For earlier failures this is a further attempt, which did not help.
        self.step(event, &doing, None);
        if self.done.len() >= REPAIRS_MAX {
            return;
        }
        let error = fingerprint::error_line(output);
        let line = error.as_ref().map(ErrorLine::text).or_else(|| output.lines().next().map(str::to_owned));
        let found = error.and_then(|error| error.fingerprint());
        let fingerprint = found.map_or_else(String::new, |found| found.id);
        let thread = event.thread.as_str().to_owned();
        let failing = Ran {
            event_id: event.id.to_string(),
            command: doing.text(),
            snippet: line.map(|line| one_line(&line)).filter(|line| !line.is_empty()),
        };
        self.open.entry(thread).or_default().push((self.done.len(), doing));
        self.done.push(Repair {
            others: other_errors(output, &fingerprint),
            fingerprint,
            at: event.ts,
            failing,
            steps: Vec::new(),
            passing: None,
        });
    }

    fn passed(&mut self, event: &Event, doing: &Doing, edited: Option<String>) {
        let Some(open) = self.open.get_mut(event.thread.as_str()) else { return };
        let ran = Ran { event_id: event.id.to_string(), command: doing.text(), snippet: None };
        let mut left = Vec::new();
        for (at, failed) in open.drain(..) {
            match self.done.get_mut(at) {
                Some(repair) if doing.ends(&failed) => repair.passing = Some(ran.clone()),
                Some(_) => left.push((at, failed)),
                None => {}
            }
        }
        *open = left;
        self.step(event, doing, edited);
    }

    /// True if a run, whose own exit status is hidden by a pipe, shows that a failure is over: the
    /// line succeeded, and its output shows neither that error nor another.
    fn is_over(&self, event: &Event, doing: &Doing, result: &ToolResult, output: &str) -> bool {
        let Some(open) = self.open.get(event.thread.as_str()) else { return false };
        let has_line = |at: usize| {
            let line = self.done.get(at).and_then(|repair| repair.failing.snippet.as_deref());
            line.is_none_or(|line| one_line(output).contains(line.trim_end_matches('…')))
        };
        result.outcome == Outcome::Ok
            && matches!(doing, Doing::Command(..))
            && !output.trim().is_empty()
            && open.iter().any(|(at, failed)| doing.ends(failed) && !has_line(*at))
            && fingerprint::error_line(output).is_none()
    }

    /// Adds a step to every failure that is still open.
    fn step(&mut self, event: &Event, doing: &Doing, edited: Option<String>) {
        let Some(open) = self.open.get(event.thread.as_str()) else { return };
        let is_look = matches!(doing, Doing::Other(..)) && edited.is_none();
        if is_look {
            return;
        }
        let what = edited.unwrap_or_else(|| format!("ran {}", doing.text()));
        for (at, _) in open {
            let Some(repair) = self.done.get_mut(*at) else { continue };
            if repair.steps.len() < STEPS_MAX {
                repair.steps.push(Step { event_id: event.id.to_string(), what: what.clone() });
            }
        }
    }
}

/// Fingerprints of the errors in an output besides the one it reports.
fn other_errors(output: &str, first: &str) -> Vec<String> {
    let mut others: Vec<String> = Vec::new();
    for found in fingerprint::error_lines(output, OTHERS_MAX).iter().filter_map(ErrorLine::fingerprint) {
        if found.id != first && !others.contains(&found.id) {
            others.push(found.id);
        }
    }
    others
}

fn verdict(doing: &Doing, result: &ToolResult, output: &str) -> Verdict {
    let exit = match result.outcome {
        Outcome::Ok => Exit::Ok,
        Outcome::Failed => Exit::Failed,
        // Refused or interrupted: neither a failure nor a success.
        Outcome::Denied | Outcome::Interrupted => return Verdict::Unknown,
        Outcome::Unknown => Exit::Unknown,
    };
    match doing {
        Doing::Command(call, _) => call.judge(exit, result.exit_code, output).verdict,
        Doing::Other(..) => match exit {
            Exit::Ok => Verdict::Passed,
            Exit::Failed => Verdict::Failed,
            Exit::Unknown => Verdict::Unknown,
        },
    }
}

fn edit_text(tool: &ToolCall) -> String {
    let edits: Vec<String> = tool
        .edits
        .iter()
        .map(|edit| match (edit.added, edit.removed) {
            (Some(added), Some(removed)) => format!("{} (+{added} -{removed})", edit.path.as_str()),
            _ => edit.path.to_string(),
        })
        .collect();
    match edits.as_slice() {
        [] => {
            let paths: Vec<&str> = tool.paths.iter().map(|used| used.path.as_str()).collect();
            one_line(&format!("edited {}", paths.join(", ")))
        }
        _ => one_line(&format!("edited {}", edits.join(", "))),
    }
}

fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = text.floor_char_boundary(TEXT_BYTES);
    if end == text.len() { text } else { format!("{}…", &text[..end]) }
}
