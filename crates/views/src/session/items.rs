//! Converts the events of a turn into items.

use crate::{Attached, call};
use retro_model::{Event, Kind, Origin, Outcome, Part, ToolCall, ToolClass};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

use super::family::{Family, Line as Work};
use super::fields::{attached, command_args, data, record};
use super::item::{Call, Edited, Item};
use crate::readable::{FileDiff, Line, Output, Rest, diffs, lines, markdown, output, plain};

/// Estimated bytes per token, the usual average of English and code.
pub const BYTES_A_TOKEN: u64 = 4;

/// Maximum characters on the page of a harness text or an unknown record.
const NOTE_CHARS_MAX: usize = 20_000;

/// Lookup tables of one family member, used while making items.
pub struct Lookup<'f> {
    results: HashMap<&'f str, &'f Event>,
    denials: HashMap<&'f str, &'f Event>,
    calls: HashSet<&'f str>,
    wrappers: HashSet<&'f str>,
    models: HashMap<&'f str, &'f str>,
    attached: HashMap<(&'f str, u32, u64), Vec<Attached>>,
    /// The line of work that each call started.
    children: HashMap<&'f str, usize>,
}

impl<'f> Lookup<'f> {
    /// Indexes all events of a member.
    pub fn of(family: &'f Family, member: usize, lines: &[Work<'f>]) -> Lookup<'f> {
        let events = family.members.get(member).map_or(&[][..], |member| &member.events);
        let mut found = Lookup {
            results: HashMap::new(),
            denials: HashMap::new(),
            calls: HashSet::new(),
            wrappers: HashSet::new(),
            models: HashMap::new(),
            attached: HashMap::new(),
            children: HashMap::new(),
        };
        for event in events {
            if let Some(result) = &event.result {
                found.results.insert(&result.call_id, event);
            }
            if let Some(tool) = &event.tool {
                found.calls.insert(&tool.call_id);
                found.wrappers.extend(tool.parent_call.as_deref());
            }
            if event.kind == Kind::Denial
                && let Some(call) = data(event, "call_id").and_then(Value::as_str)
            {
                found.denials.insert(call, event);
            }
            if event.kind == Kind::Attachment && event.origin == Origin::User {
                found.attached.entry(record(&event.id)).or_default().push(attached(event));
            }
            if let (Some(response), Some(model)) = (&event.response, &event.model) {
                found.models.insert(response, model);
            }
        }
        for (number, line) in lines.iter().enumerate() {
            if let Some((from, call)) = line.started_by
                && lines.get(from).is_some_and(|from| from.member == member)
            {
                found.children.insert(call, number);
            }
        }
        found
    }
}

/// Converts the turns of one member into items.
pub struct Maker<'f> {
    /// The session's family.
    pub family: &'f Family,
    /// The member whose events these are.
    pub member: usize,
    /// Lookup tables of the member.
    pub lookup: Lookup<'f>,
    /// Paths below this folder are shown relative to it.
    pub cwd: Option<&'f str>,
    /// True if output of programs is left out: results, reasons of failures, notes.
    pub is_strict: bool,
    /// The rest of each output after its first lines, by the result's event.
    pub rests: Vec<(String, Rest)>,
}

impl<'f> Maker<'f> {
    /// The items of these events, not yet folded.
    pub fn items(&mut self, events: &[&'f Event]) -> Vec<Item> {
        let mut items = Vec::new();
        for event in events {
            self.event(event, &mut items);
        }
        items
    }

    fn name(&self, event: &Event) -> String {
        self.family.name(self.member, &event.id)
    }

    fn event(&mut self, event: &'f Event, items: &mut Vec<Item>) {
        let text = event.text.as_ref().map(|text| text.trim()).filter(|text| !text.is_empty());
        let (id, ts) = (self.name(event), event.ts.map(|ts| ts.as_millis()));
        match event.kind {
            Kind::User if event.origin == Origin::Harness => self.note(event, text, items),
            Kind::User => self.prompt(event, items),
            Kind::Note if event.origin == Origin::User && data(event, "command").is_some() => {
                self.prompt(event, items);
            }
            Kind::Assistant => items.extend(text.map(|text| Item::Answer {
                id,
                ts,
                model: self.model(event),
                body: markdown(text),
                live: event.live,
            })),
            Kind::Reasoning => items.extend(text.map(|text| Item::Thought {
                id,
                text: plain(text),
                chars: text.chars().count(),
            })),
            Kind::ToolCall => {
                if let Some(tool) = &event.tool {
                    self.call(event, tool, items);
                }
            }
            Kind::ToolResult => self.output_of_command(event, text, items),
            Kind::Denial if self.is_of_call(event) => {}
            Kind::Interruption | Kind::Rewind | Kind::Compaction | Kind::Denial | Kind::Error => {
                let text = plain(text.unwrap_or_default());
                items.push(Item::Mark { id, ts, kind: event.kind, text });
            }
            Kind::Plan => self.plan(event, text, items),
            Kind::Subagent => items.extend(
                text.filter(|_| !self.is_shown(event)).map(|text| Item::Report { id, body: markdown(text) }),
            ),
            Kind::Unknown | Kind::Attachment | Kind::Note | Kind::Session | Kind::Model => {
                self.note(event, text, items);
            }
            Kind::Usage => {}
        }
    }

    /// Text that only depth `all` shows: output of hooks, files, unknown records.
    fn note(&self, event: &Event, text: Option<&str>, items: &mut Vec<Item>) {
        if self.is_strict && !matches!(event.kind, Kind::Session | Kind::Model) {
            return;
        }
        let said = match (event.kind, text) {
            (Kind::Attachment, _) if event.origin == Origin::User => return,
            (_, Some(text)) => cut(text),
            (_, None) => match &event.data {
                Some(data) if !data.is_null() => cut(&serde_json::to_string(&**data).unwrap_or_default()),
                _ => return,
            },
        };
        let ts = event.ts.map(|ts| ts.as_millis());
        items.push(Item::Note {
            id: self.name(event),
            ts,
            kind: event.kind,
            origin: event.origin,
            text: said,
        });
    }

    fn prompt(&mut self, event: &'f Event, items: &mut Vec<Item>) {
        let command = data(event, "command").and_then(Value::as_str);
        let flag = |name: &str| data(event, name).and_then(Value::as_bool).unwrap_or(false);
        let said = match command {
            Some(command) => plain(&format!("/{}", command.trim_start_matches('/'))),
            None if flag("shell") => "shell".to_owned(),
            None if flag("queued") => "queued".to_owned(),
            None => "typed".to_owned(),
        };
        let text = event.text.as_ref().map_or("", |text| text.trim());
        let text = if event.kind == Kind::Note { command_args(text).unwrap_or_default() } else { text };
        let printed = event.native.uuid.as_deref().and_then(|uuid| self.lookup.results.get(uuid).copied());
        let printed = printed.and_then(|event| Some((event, event.text.as_ref()?.trim())));
        let printed = printed.filter(|(_, text)| !text.is_empty() && !self.is_strict);
        items.push(Item::Prompt {
            id: self.name(event),
            ts: event.ts.map(|ts| ts.as_millis()),
            origin: event.origin,
            said,
            text: plain(text),
            attached: self.lookup.attached.get(&record(&event.id)).cloned().unwrap_or_default(),
            pictures: self.pictures(event),
            output: printed.map(|(event, text)| self.printed(event, text)),
            live: event.live,
        });
    }

    /// Attaches the output of a typed command: a result without a call.
    fn output_of_command(&mut self, event: &'f Event, text: Option<&str>, items: &mut [Item]) {
        let is_of_call =
            event.result.as_ref().is_some_and(|result| self.lookup.calls.contains(&*result.call_id));
        let Some(text) = text.filter(|_| !is_of_call && !self.is_strict) else { return };
        let output = self.printed(event, text);
        let last = items.iter_mut().rev().find_map(|item| match item {
            Item::Prompt { said, output: place @ None, .. } if said != "typed" => Some(place),
            _ => None,
        });
        if let Some(place) = last {
            *place = Some(output);
        }
    }

    fn plan(&self, event: &Event, text: Option<&str>, items: &mut Vec<Item>) {
        let steps = event.data.as_ref().map_or(Vec::new(), |data| call::steps(data));
        let is_derived = matches!(&event.id.part, Part::Tag("plan"));
        if (is_derived && !steps.is_empty()) || (text.is_none() && steps.is_empty()) {
            // The line of the call that changed the plan already shows its progress.
            return;
        }
        items.push(Item::Plan { id: self.name(event), body: markdown(text.unwrap_or_default()), steps });
    }

    fn call(&mut self, event: &'f Event, tool: &'f ToolCall, items: &mut Vec<Item>) {
        let answer = self.lookup.results.get(tool.call_id.as_str()).copied();
        let result = answer.and_then(|event| event.result.as_deref());
        let outcome = result.map(|result| result.outcome);
        let text = answer.and_then(|event| event.text.as_ref()).map(|text| text.trim());
        let text = text.filter(|text| !text.is_empty());
        if tool.class == ToolClass::Ask {
            self.question(event, tool, answer, items);
            return;
        }
        if self.lookup.wrappers.contains(tool.call_id.as_str()) {
            // A wrapper adds nothing to the calls inside it.
            return;
        }
        let wrapper = tool.parent_call.as_deref().and_then(|call| self.lookup.results.get(call));
        let wrapped = wrapper.and_then(|event| event.result.as_deref()).map(|result| result.outcome);
        let exit_code = result.and_then(|result| result.exit_code).filter(|code| *code != 0);
        let (ms, ms_at_most) = duration(event, answer);
        let edits: Vec<Edited> = call::edits(tool, result).into_iter().map(edited).collect();
        let what = plain(&call::what(tool, self.cwd));
        let has_output = text.filter(|_| !self.is_strict);
        items.push(Item::Call(Box::new(Call {
            id: self.name(event),
            result: answer.map(|event| self.name(event)),
            ts: event.ts.map(|ts| ts.as_millis()),
            name: plain(&tool.name),
            class: tool.class,
            full: full(tool, &what),
            what,
            outcome: outcome.or(wrapped),
            exit_code,
            ms,
            ms_at_most,
            tokens: result.map(|result| result.bytes / BYTES_A_TOKEN).filter(|tokens| *tokens > 0),
            edits,
            trouble: self.trouble(tool, outcome, has_output, exit_code),
            output: has_output.zip(answer).map(|(text, answer)| self.printed(answer, text)),
            diffs: if tool.class == ToolClass::Edit { self.changed(tool) } else { Vec::new() },
            child: self.lookup.children.get(tool.call_id.as_str()).copied(),
            pictures: answer.map_or_else(Vec::new, |answer| self.pictures(answer)),
            live: event.live,
        })));
    }

    /// File names of the pictures in an event's record.
    fn pictures(&self, event: &Event) -> Vec<String> {
        let id = &event.id;
        let shown = self.family.members.get(self.member).map(|member| &member.pictures.0);
        let place = (id.source.as_str().to_owned(), id.revision, id.record);
        shown.and_then(|shown| shown.get(&place)).cloned().unwrap_or_default()
    }

    fn changed(&self, tool: &ToolCall) -> Vec<FileDiff> {
        if self.is_strict {
            return Vec::new();
        }
        let path = tool.paths.first().map(|path| path.path.as_str());
        tool.args.as_ref().map_or(Vec::new(), |args| diffs(args, path))
    }

    fn question(
        &self,
        event: &'f Event,
        tool: &'f ToolCall,
        answer: Option<&'f Event>,
        items: &mut Vec<Item>,
    ) {
        let mut questions = call::questions(tool, answer);
        for asked in &mut questions {
            asked.question = plain(&asked.question);
            asked.options.iter_mut().for_each(|option| *option = plain(option));
            asked.answer = asked.answer.as_deref().map(plain);
        }
        let is_answered = questions.iter().any(|question| question.answer.is_some());
        let denial = self.lookup.denials.get(tool.call_id.as_str()).and_then(|event| event.text.as_ref());
        let text = answer.and_then(|event| event.text.as_ref()).filter(|_| !is_answered);
        items.push(Item::Question {
            id: self.name(event),
            ts: event.ts.map(|ts| ts.as_millis()),
            questions,
            reply: denial.or(text).map(|text| plain(text.trim())),
            outcome: answer.and_then(|event| event.result.as_deref()).map(|result| result.outcome),
        });
    }

    fn printed(&mut self, event: &Event, text: &str) -> Output {
        let is_cut = event.truncated || event.result.as_ref().is_some_and(|result| result.truncated);
        let (shown, rest) = output(text, is_cut);
        if let Some(rest) = rest {
            self.rests.push((self.name(event), rest));
        }
        shown
    }

    /// Why a call failed, or the user's reply when it was refused.
    fn trouble(
        &self,
        tool: &ToolCall,
        outcome: Option<Outcome>,
        text: Option<&str>,
        exit_code: Option<i64>,
    ) -> Option<String> {
        if !matches!(outcome, Some(Outcome::Failed | Outcome::Denied)) {
            return None;
        }
        let denial = self.lookup.denials.get(tool.call_id.as_str()).and_then(|event| event.text.as_ref());
        let said = denial.map(|text| text.trim().to_owned()).filter(|said| !said.is_empty());
        let why = said.or_else(|| call::trouble(text?, exit_code))?;
        Some(lines(&why).iter().map(Line::words).collect::<Vec<_>>().join("\n"))
    }

    fn is_of_call(&self, denial: &Event) -> bool {
        let call = data(denial, "call_id").and_then(Value::as_str);
        call.is_some_and(|call| self.lookup.calls.contains(call))
    }

    fn is_shown(&self, event: &Event) -> bool {
        let Some(child) = &event.child else { return false };
        let is_thread = |member: &super::family::Member| {
            member.key.id == *child || member.events.iter().any(|event| event.thread.as_str() == child)
        };
        self.family.members.iter().any(is_thread)
    }

    fn model(&self, event: &Event) -> Option<String> {
        let told = event.response.as_deref().and_then(|response| self.lookup.models.get(response));
        event.model.as_deref().or(told.copied()).map(plain)
    }
}

/// The duration of a call: from the log, else the time until its result was logged.
fn duration(event: &Event, answer: Option<&Event>) -> (Option<u64>, bool) {
    if let Some(ms) = answer.and_then(|event| event.result.as_ref()).and_then(|result| result.duration_ms) {
        return (Some(ms), false);
    }
    let span = || {
        let (from, to) = (event.ts?.as_millis(), answer?.ts?.as_millis());
        u64::try_from(to - from).ok()
    };
    (span(), true)
}

/// The full task of a call, if its line is too short.
fn full(tool: &ToolCall, what: &str) -> Option<String> {
    let args = tool.args.as_deref()?;
    let text = |names: &[&str]| names.iter().find_map(|name| args.get(*name)?.as_str());
    let said = match tool.class {
        ToolClass::Shell => match args.get("command").and_then(Value::as_array) {
            Some(words) => words.last().and_then(Value::as_str),
            None => text(&["command", "cmd", "script", "input"]),
        }
        .map(plain),
        ToolClass::Subagent => text(&["prompt", "message", "task"]).map(plain),
        ToolClass::Edit | ToolClass::Read => None,
        ToolClass::Search | ToolClass::Web | ToolClass::Plan | ToolClass::Ask => None,
        ToolClass::Mcp | ToolClass::Other => {
            serde_json::to_string_pretty(args).ok().filter(|text| text.len() > 4).map(|text| plain(&text))
        }
    }?;
    let said = cut(&said);
    (said.trim() != what.trim()).then_some(said)
}

fn edited(edit: retro_model::Edit) -> Edited {
    Edited { path: plain(&edit.path), kind: edit.kind, added: edit.added, removed: edit.removed }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(NOTE_CHARS_MAX) {
        Some((at, _)) => format!("{}…", plain(&text[..at])),
        None => plain(text),
    }
}
