//! The settled stream in readable form: prompts, answers, one line per call.
//!
//! Views build [`Entry`]s; the terminal, markdown and pages render them. A sub-agent's work is
//! inside the call that started it.

pub mod call;
mod entry;
mod figures;

use retro_model::{Event, EventId, Kind, Origin, Outcome, Part, Thread, ToolCall, ToolClass};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

pub use entry::{Attached, Call, Entry, Prompt, Question, Said, Step, TurnFigures};
pub use figures::{Turns, is_of_work, turn_figures};

/// The entries of a settled stream. Paths below `cwd` are shown relative to it.
pub fn transcript(events: &[Event], cwd: Option<&str>, turns: &Turns) -> Vec<Entry> {
    let mut threads: HashMap<&Thread, Vec<&Event>> = HashMap::new();
    let mut order: Vec<&Thread> = Vec::new();
    for event in events {
        let list = threads.entry(&event.thread).or_insert_with(|| {
            order.push(&event.thread);
            Vec::new()
        });
        list.push(event);
    }
    let mut writer = Writer { threads, cwd, turns, ..Writer::of(events) };
    let mut entries = Vec::new();
    // The main thread first, then threads that no call started.
    order.sort_by_key(|thread| !thread.is_main());
    for thread in order {
        if writer.written.contains(thread.as_str()) {
            continue;
        }
        let written = writer.thread(thread);
        if thread.is_main() {
            entries.extend(written);
        } else {
            entries.push(Entry::Subagent { thread: thread.as_str().to_owned(), entries: written });
        }
    }
    entries
}

struct Writer<'a> {
    threads: HashMap<&'a Thread, Vec<&'a Event>>,
    /// Results by the call they answer.
    results: HashMap<&'a str, &'a Event>,
    /// Refusals, by the refused call.
    denials: HashMap<&'a str, &'a Event>,
    /// The thread that each call started.
    children: HashMap<&'a str, &'a str>,
    /// Calls inside another call, by that call.
    nested: HashSet<&'a str>,
    calls: HashSet<&'a str>,
    /// Pictures and files of a message, by the record of both.
    attached: HashMap<(&'a str, u32, u64), Vec<Attached>>,
    /// Models by the answer they gave.
    models: HashMap<&'a str, &'a str>,
    /// Tiers of responses, unless standard.
    tiers: HashMap<&'a str, &'a str>,
    /// The requested reasoning effort, from where the log sets it.
    effort: Option<&'a str>,
    cwd: Option<&'a str>,
    turns: &'a Turns,
    written: HashSet<String>,
    opened: HashSet<(&'a Thread, u32)>,
}

static NO_TURNS: std::sync::LazyLock<Turns> = std::sync::LazyLock::new(Turns::new);

impl<'a> Writer<'a> {
    /// Builds all lookup tables.
    fn of(events: &'a [Event]) -> Writer<'a> {
        let mut writer = Writer {
            threads: HashMap::new(),
            results: HashMap::new(),
            denials: HashMap::new(),
            children: children_of_calls(events),
            nested: HashSet::new(),
            calls: HashSet::new(),
            attached: HashMap::new(),
            models: HashMap::new(),
            tiers: HashMap::new(),
            effort: None,
            cwd: None,
            turns: &NO_TURNS,
            written: HashSet::new(),
            opened: HashSet::new(),
        };
        for event in events {
            if let Some(result) = &event.result {
                writer.results.insert(&result.call_id, event);
            }
            if let Some(tool) = &event.tool {
                writer.calls.insert(&tool.call_id);
                writer.nested.extend(tool.parent_call.as_deref());
            }
            match event.kind {
                Kind::Denial => {
                    if let Some(call) = data(event, "call_id").and_then(Value::as_str) {
                        writer.denials.insert(call, event);
                    }
                }
                Kind::Attachment if event.origin == Origin::User => {
                    writer.attached.entry(record(&event.id)).or_default().push(attached(event));
                }
                _ => {}
            }
            if let (Some(response), Some(model)) = (&event.response, &event.model) {
                writer.models.insert(response, model);
            }
            let tier = event.usage.as_ref().and_then(|usage| usage.tier.as_deref());
            if let (Some(response), Some(tier)) = (&event.response, tier) {
                writer.tiers.insert(response, tier);
            }
        }
        writer
    }

    fn thread(&mut self, thread: &Thread) -> Vec<Entry> {
        self.written.insert(thread.as_str().to_owned());
        let mut entries = Vec::new();
        let events = self.threads.get(thread).cloned().unwrap_or_default();
        // A sub-agent's thread appears inside its parent's.
        let effort = self.effort.take();
        for event in events {
            self.event(event, &mut entries);
        }
        self.effort = effort;
        entries
    }

    fn event(&mut self, event: &'a Event, entries: &mut Vec<Entry>) {
        let text = event.text.as_ref().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        match event.kind {
            Kind::User => {
                let said = match (data(event, "command").and_then(Value::as_str), flag(event, "shell")) {
                    (Some(command), _) => Said::Command(command.to_owned()),
                    (None, true) => Said::Shell,
                    (None, false) if flag(event, "queued") => Said::Queued,
                    (None, false) => Said::Typed,
                };
                let prompt = self.prompt(event, said, text.unwrap_or_default());
                entries.push(prompt);
            }
            Kind::Note if event.origin == Origin::User => {
                if let Some(command) = data(event, "command").and_then(Value::as_str) {
                    let said = Said::Command(command.to_owned());
                    let args = text.as_deref().and_then(command_args);
                    let typed = text.filter(|text| !text.starts_with('<'));
                    let typed =
                        typed.map(|text| text.strip_prefix(command).unwrap_or(&text).trim().to_owned());
                    let args = args.or(typed).unwrap_or_default();
                    let prompt = self.prompt(event, said, args);
                    entries.push(prompt);
                }
            }
            Kind::Assistant => {
                let model = event.model.clone().or_else(|| self.model(event));
                let tier = event.response.as_deref().and_then(|response| self.tiers.get(response));
                let tier = tier.map(|tier| (*tier).to_owned());
                let effort = self.effort.map(str::to_owned);
                entries.extend(text.map(|text| Entry::Answer { ts: event.ts, model, effort, tier, text }));
            }
            Kind::Reasoning => entries.extend(text.map(|text| Entry::Thought { text })),
            Kind::ToolCall => {
                if let Some(tool) = &event.tool {
                    self.call(tool, entries);
                }
            }
            Kind::ToolResult => self.output_of_command(event, text, entries),
            Kind::Interruption | Kind::Rewind => {
                entries.push(Entry::Mark { kind: event.kind, text: String::new() });
            }
            // A refusal is shown on the line of its call.
            Kind::Denial if self.is_of_call(event) => {}
            Kind::Compaction | Kind::Denial | Kind::Error => {
                entries.push(Entry::Mark { kind: event.kind, text: text.unwrap_or_default() });
            }
            Kind::Unknown => {
                let text = format!("a record retro does not know, at {}", event.id);
                entries.push(Entry::Mark { kind: Kind::Unknown, text });
            }
            Kind::Plan => self.plan(event, text, entries),
            Kind::Subagent => {
                let is_shown = |child: &String| self.threads.contains_key(&Thread::sub(child.clone()));
                if let Some(text) = text.filter(|_| !event.child.as_ref().is_some_and(is_shown)) {
                    entries.push(Entry::Report { thread: event.child.clone(), text });
                }
            }
            Kind::Attachment => self.given_along(event, entries),
            Kind::Model => self.effort = data(event, "effort").and_then(Value::as_str).or(self.effort),
            Kind::Session | Kind::Usage | Kind::Note => {}
        }
    }

    /// A message with its attachments and, if it opens its turn, the turn's figures.
    fn prompt(&mut self, event: &'a Event, said: Said, text: String) -> Entry {
        let opens = event.turn > 0 && self.opened.insert((&event.thread, event.turn));
        let figures = self.turns.get(&(event.thread.clone(), event.turn)).filter(|_| opens).cloned();
        let output = event.native.uuid.as_deref().and_then(|uuid| self.results.get(uuid));
        let output = output.and_then(|event| event.text.as_ref()).map(|text| text.trim().to_owned());
        Entry::Prompt(Prompt {
            turn: event.turn,
            ts: event.ts,
            origin: event.origin,
            said,
            text,
            attached: self.attached.remove(&record(&event.id)).unwrap_or_default(),
            output: output.filter(|text| !text.is_empty()),
            live: event.live,
            figures,
        })
    }

    /// Attaches the output of a typed command: a result without a call.
    fn output_of_command(&self, event: &Event, text: Option<String>, entries: &mut [Entry]) {
        let is_of_call = event.result.as_ref().is_some_and(|result| self.calls.contains(&*result.call_id));
        if is_of_call {
            return;
        }
        let last = entries.iter_mut().rev().find_map(|entry| match entry {
            Entry::Prompt(prompt) => Some(prompt),
            _ => None,
        });
        if let Some(prompt) = last
            && matches!(prompt.said, Said::Command(_) | Said::Shell)
            && prompt.output.is_none()
        {
            prompt.output = text;
        }
    }

    fn plan(&mut self, event: &'a Event, text: Option<String>, entries: &mut Vec<Entry>) {
        let steps = event.data.as_ref().map_or(Vec::new(), |data| call::steps(data));
        let is_derived = matches!(&event.id.part, Part::Tag(tag) if *tag == "plan");
        match (is_derived, text) {
            // The line of the call that changed the plan already shows its progress.
            (true, _) if !steps.is_empty() => {}
            (true, Some(text)) => entries.push(Entry::Plan { text, steps }),
            (true, None) => {}
            (false, Some(text)) if steps.is_empty() && event.turn > 0 => {
                let prompt = self.prompt(event, Said::Plan, text);
                entries.push(prompt);
            }
            (false, text) if text.is_some() || !steps.is_empty() => {
                entries.push(Entry::Plan { text: text.unwrap_or_default(), steps });
            }
            (false, _) => {}
        }
    }

    /// A picture or file without a message in its own record.
    fn given_along(&mut self, event: &'a Event, entries: &mut Vec<Entry>) {
        let of_record = self.attached.remove(&record(&event.id)).unwrap_or_default();
        let named = data(event, "displayPath").or_else(|| data(event, "filename")).is_some();
        let own = (event.origin != Origin::User && named).then(|| attached(event));
        for one in of_record.into_iter().chain(own) {
            match entries.last_mut() {
                Some(Entry::Prompt(prompt)) => prompt.attached.push(one),
                _ => entries.push(Entry::Attached(one)),
            }
        }
    }

    fn call(&mut self, tool: &'a ToolCall, entries: &mut Vec<Entry>) {
        let event = self.results.get(tool.call_id.as_str()).copied();
        let result = event.and_then(|event| event.result.as_deref());
        let output = event.and_then(|event| event.text.as_ref()).map(|text| text.trim().to_owned());
        let output = output.filter(|text| !text.is_empty());
        let outcome = result.map(|result| result.outcome);
        // A wrapper adds nothing to the calls inside it.
        let is_wrapper = self.nested.contains(tool.call_id.as_str());
        if tool.class == ToolClass::Ask {
            let questions = call::questions(tool, event);
            let is_answered = questions.iter().any(|question| question.answer.is_some());
            let denial = self.denials.get(tool.call_id.as_str()).and_then(|event| event.text.as_ref());
            let reply = denial.map(|text| text.to_string()).or(output.filter(|_| !is_answered));
            entries.push(Entry::Question { questions, reply, outcome });
        } else if !is_wrapper {
            let wrapper = tool.parent_call.as_deref().and_then(|call| self.results.get(call).copied());
            let wrapped = wrapper.and_then(|event| event.result.as_deref());
            let exit_code = result.and_then(|result| result.exit_code).filter(|code| *code != 0);
            entries.push(Entry::Call(Call {
                name: tool.name.clone(),
                what: call::what(tool, self.cwd),
                outcome: outcome.or(wrapped.map(|result| result.outcome)),
                exit_code,
                duration_ms: result.and_then(|result| result.duration_ms),
                edits: call::edits(tool, result),
                diffs: call::diffs(tool),
                trouble: self.trouble(tool, outcome, output.as_deref(), exit_code),
                output: output.clone(),
            }));
            self.report(tool, outcome, output, entries);
        }
        let child = self.children.get(tool.call_id.as_str()).map(|child| Thread::sub(*child));
        if let Some(thread) = child
            && self.threads.contains_key(&thread)
            && !self.written.contains(thread.as_str())
        {
            let inner = self.thread(&thread);
            entries.push(Entry::Subagent { thread: thread.as_str().to_owned(), entries: inner });
        }
    }

    /// Why a call failed, or the user's reply when it was refused.
    fn trouble(
        &self,
        tool: &ToolCall,
        outcome: Option<Outcome>,
        output: Option<&str>,
        exit_code: Option<i64>,
    ) -> Option<String> {
        if !matches!(outcome, Some(Outcome::Failed | Outcome::Denied)) {
            return None;
        }
        let denial = self.denials.get(tool.call_id.as_str());
        let said = denial.and_then(|event| Some(event.text.as_ref()?.trim().to_owned()));
        said.filter(|said| !said.is_empty()).or_else(|| call::trouble(output?, exit_code))
    }

    /// The report of a sub-agent whose own work is not available.
    fn report(
        &self,
        tool: &ToolCall,
        outcome: Option<Outcome>,
        output: Option<String>,
        entries: &mut Vec<Entry>,
    ) {
        let child = self.children.get(tool.call_id.as_str());
        let is_shown = child.is_some_and(|child| self.threads.contains_key(&Thread::sub(*child)));
        let started = matches!(tool.name.as_str(), "Task" | "Agent" | "spawn_agent" | "task");
        if started && !is_shown && outcome == Some(Outcome::Ok) {
            let thread = child.map(|child| (*child).to_owned());
            entries.extend(output.map(|text| Entry::Report { thread, text }));
        }
    }

    fn is_of_call(&self, denial: &Event) -> bool {
        let call = data(denial, "call_id").and_then(Value::as_str);
        call.is_some_and(|call| self.calls.contains(call))
    }

    fn model(&self, event: &Event) -> Option<String> {
        self.models.get(event.response.as_deref()?).map(|model| (*model).to_owned())
    }
}

/// The thread that each call started.
pub fn children_of_calls(events: &[Event]) -> HashMap<&str, &str> {
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
        .filter_map(|event| Some((record(&event.id), event.result.as_ref()?.call_id.as_str())))
        .collect();
    for event in events.iter().filter(|event| event.kind == Kind::Subagent) {
        if let (Some(child), Some(call)) = (&event.child, by_record.get(&record(&event.id))) {
            children.entry(call).or_insert(child);
        }
    }
    children
}

/// The record of an event, as a lookup key.
fn record(id: &EventId) -> (&str, u32, u64) {
    (id.source.as_str(), id.revision, id.record)
}

fn data<'e>(event: &'e Event, name: &str) -> Option<&'e Value> {
    event.data.as_ref()?.get(name)
}

fn flag(event: &Event, name: &str) -> bool {
    data(event, name).and_then(Value::as_bool).unwrap_or(false)
}

/// The name and size of a picture or file.
fn attached(event: &Event) -> Attached {
    let text = |name: &str| data(event, name).and_then(Value::as_str).map(str::to_owned);
    let number = |name: &str| data(event, name).and_then(Value::as_u64);
    let kind = text("media_type").or_else(|| text("mime_type")).or_else(|| text("type"));
    let name =
        ["title", "displayPath", "filename", "name", "path", "image"].iter().find_map(|name| text(name));
    Attached {
        name: name.or(kind).unwrap_or_else(|| "a file".to_owned()),
        bytes: number("bytes").or_else(|| number("base64_bytes").map(|length| length / 4 * 3)),
    }
}

/// The arguments of a slash command.
fn command_args(text: &str) -> Option<String> {
    let (_, rest) = text.split_once("<command-args>")?;
    let args = rest.split_once("</command-args>").map_or(rest, |(args, _)| args);
    Some(args.trim().to_owned())
}
