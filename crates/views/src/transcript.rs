//! A session as a person reads it: prompts, answers, and one line for each thing
//! the agent did.
//!
//! [`transcript`] turns events into entries; the terminal and [`markdown`] are two
//! ways to write these down. A sub-agent's work stands inside the call that
//! started it.

mod markdown;

use retro_model::{Edit, Event, Kind, Origin, Outcome, Thread, Timestamp, ToolCall, ToolResult};
use std::collections::{HashMap, HashSet};

pub use markdown::{gap_line, markdown};

/// One thing worth a line or more.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A message that opens a turn.
    Prompt {
        /// Turn number on its thread.
        turn: u32,
        /// When.
        ts: Option<Timestamp>,
        /// Whose words.
        origin: Origin,
        /// The words.
        text: String,
        /// False on an abandoned branch.
        live: bool,
    },
    /// Words of the model.
    Answer(String),
    /// Thinking of the model.
    Thought(String),
    /// A call with its outcome.
    Call {
        /// The tool's name.
        name: String,
        /// What it was asked to do, on one line.
        what: String,
        /// How it ended; none if the log has no result.
        outcome: Option<Outcome>,
        /// The exit code, if it is worth telling.
        exit_code: Option<i64>,
        /// Files changed: path, lines added and removed.
        edits: Vec<Edit>,
        /// The first lines of a result that failed.
        trouble: Option<String>,
    },
    /// A sub-agent's work.
    Subagent {
        /// Its thread.
        thread: String,
        /// What it did.
        entries: Vec<Entry>,
    },
    /// What came before a fork, in another session.
    History {
        /// That session.
        session: String,
        /// What happened in it up to the fork.
        entries: Vec<Entry>,
    },
    /// Anything else worth a line: an interruption, a compaction, an error.
    Mark {
        /// What kind of thing.
        kind: Kind,
        /// What to say of it.
        text: String,
    },
}

/// The entries of a settled stream. Paths below `cwd` are shown relative to it.
pub fn transcript(events: &[Event], cwd: Option<&str>) -> Vec<Entry> {
    let mut threads: HashMap<&Thread, Vec<&Event>> = HashMap::new();
    let mut order: Vec<&Thread> = Vec::new();
    for event in events {
        let list = threads.entry(&event.thread).or_insert_with(|| {
            order.push(&event.thread);
            Vec::new()
        });
        list.push(event);
    }
    let results: HashMap<&str, &Event> =
        events.iter().filter_map(|event| Some((event.result.as_ref()?.call_id.as_str(), event))).collect();
    let children = children(events);
    let mut writer =
        Writer { threads: &threads, results: &results, children: &children, cwd, told: HashSet::new() };
    let mut entries = Vec::new();
    // Main first; then whatever no call leads to.
    order.sort_by_key(|thread| !thread.is_main());
    for thread in order {
        if writer.told.contains(thread.as_str()) {
            continue;
        }
        let told = writer.thread(thread);
        match thread.is_main() {
            true => entries.extend(told),
            false => entries.push(Entry::Subagent { thread: thread.as_str().to_owned(), entries: told }),
        }
    }
    entries
}

/// Which thread each call started.
fn children(events: &[Event]) -> HashMap<&str, &str> {
    let mut children = HashMap::new();
    for event in events {
        let Some(child) = &event.child else { continue };
        let call = event.tool.as_ref().map(|tool| &tool.call_id);
        let call = call.or(event.result.as_ref().map(|result| &result.call_id));
        if let Some(call) = call {
            children.insert(call.as_str(), child.as_str());
        }
    }
    // A `subagent` event beside a result names the child of that result's call.
    let by_record: HashMap<_, _> = events
        .iter()
        .filter_map(|event| Some((event.id.address(), event.result.as_ref()?.call_id.as_str())))
        .collect();
    for event in events.iter().filter(|event| event.kind == Kind::Subagent) {
        if let (Some(child), Some(call)) = (&event.child, by_record.get(&event.id.address())) {
            children.entry(call).or_insert(child);
        }
    }
    children
}

struct Writer<'a> {
    threads: &'a HashMap<&'a Thread, Vec<&'a Event>>,
    results: &'a HashMap<&'a str, &'a Event>,
    children: &'a HashMap<&'a str, &'a str>,
    cwd: Option<&'a str>,
    told: HashSet<String>,
}

impl Writer<'_> {
    fn thread(&mut self, thread: &Thread) -> Vec<Entry> {
        self.told.insert(thread.as_str().to_owned());
        let mut entries = Vec::new();
        for event in self.threads.get(thread).into_iter().flatten() {
            self.event(event, &mut entries);
        }
        entries
    }

    fn event(&mut self, event: &Event, entries: &mut Vec<Entry>) {
        let text = event.text.as_ref().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        match event.kind {
            Kind::User => entries.push(Entry::Prompt {
                turn: event.turn,
                ts: event.ts,
                origin: event.origin,
                text: text.unwrap_or_default(),
                live: event.live,
            }),
            Kind::Assistant => entries.extend(text.map(Entry::Answer)),
            Kind::Reasoning => entries.extend(text.map(Entry::Thought)),
            Kind::ToolCall => {
                if let Some(tool) = &event.tool {
                    self.call(tool, entries);
                }
            }
            Kind::Interruption | Kind::Rewind => {
                entries.push(Entry::Mark { kind: event.kind, text: String::new() });
            }
            Kind::Compaction | Kind::Denial | Kind::Error => {
                entries.push(Entry::Mark { kind: event.kind, text: text.unwrap_or_default() });
            }
            Kind::Unknown => {
                let text = format!("a record retro does not know, at {}", event.id);
                entries.push(Entry::Mark { kind: Kind::Unknown, text });
            }
            Kind::Plan => entries.extend(text.map(|text| Entry::Mark { kind: Kind::Plan, text })),
            Kind::Session
            | Kind::ToolResult
            | Kind::Usage
            | Kind::Model
            | Kind::Subagent
            | Kind::Attachment
            | Kind::Note => {}
        }
    }

    fn call(&mut self, tool: &ToolCall, entries: &mut Vec<Entry>) {
        let event = self.results.get(tool.call_id.as_str()).copied();
        let result = event.and_then(|event| event.result.as_deref());
        entries.push(Entry::Call {
            name: tool.name.clone(),
            what: what(tool, self.cwd),
            outcome: result.map(|result| result.outcome),
            exit_code: result.and_then(|result| result.exit_code).filter(|code| *code != 0),
            edits: edits(tool, result),
            trouble: trouble(event, result),
        });
        let child = self.children.get(tool.call_id.as_str()).map(|child| Thread::sub(*child));
        if let Some(thread) = child
            && self.threads.contains_key(&thread)
            && !self.told.contains(thread.as_str())
        {
            let inner = self.thread(&thread);
            entries.push(Entry::Subagent { thread: thread.as_str().to_owned(), entries: inner });
        }
    }
}

/// What a call was asked to do, in a few words.
fn what(tool: &ToolCall, cwd: Option<&str>) -> String {
    if let Some(command) = &tool.command {
        return command.to_string();
    }
    if let Some(path) = tool.paths.first() {
        return below(&path.path, cwd).to_owned();
    }
    let args = tool.args.as_ref().and_then(|args| args.as_object());
    let wanted = ["description", "query", "url", "pattern", "prompt", "question", "subject", "name"];
    let said = args.and_then(|args| wanted.iter().find_map(|name| args.get(*name)?.as_str()));
    said.unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

/// A path relative to the working directory, if it lies below it.
fn below<'p>(path: &'p str, cwd: Option<&str>) -> &'p str {
    let inside = cwd.and_then(|cwd| path.strip_prefix(cwd)).and_then(|rest| rest.strip_prefix(['/', '\\']));
    inside.filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// What was changed, where the result tells; else what was asked for.
fn edits(tool: &ToolCall, result: Option<&ToolResult>) -> Vec<Edit> {
    match result {
        Some(result) if !result.edits.is_empty() => result.edits.clone(),
        Some(result) if result.outcome == Outcome::Ok => tool.edits.clone(),
        _ => Vec::new(),
    }
}

/// Lines of a failed result that are shown.
const TROUBLE_LINES_MAX: usize = 3;

fn trouble(event: Option<&Event>, result: Option<&ToolResult>) -> Option<String> {
    let result = result.filter(|result| matches!(result.outcome, Outcome::Failed | Outcome::Denied))?;
    let text = event?.text.as_ref()?;
    // The exit code stands on the call's line already.
    let said = result.exit_code.map(|code| format!("Exit code {code}"));
    let worth = |line: &&str| !line.trim().is_empty() && Some(*line) != said.as_deref();
    let lines: Vec<&str> = text.lines().filter(worth).take(TROUBLE_LINES_MAX).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
