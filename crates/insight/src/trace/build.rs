//! Builds a trace from events, one at a time.

use std::collections::BTreeMap;
use std::hash::BuildHasher;

use hashbrown::HashMap;
use retro_model::{Event, Kind, Origin, Outcome, Request, SessionKey, Thread, Tokens, ToolResult};
use retro_text::calls::Verdict;
use smol_str::SmolStr;

use crate::clock::Clock;

use super::call::{Call, cut};
use super::{
    BEATS_BYTES_MAX, BEATS_MAX, Beat, CommitSeen, PARTS, Speaker, TEXT_BYTES_MAX, Trace, What, commits,
};

/// The most events that are kept as evidence of one fact.
const EVIDENCE_MAX: usize = 8;
/// The beginning of a marker that replaces a secret.
const SECRET: &str = "[redacted:";

impl Trace {
    /// An empty trace of a session.
    pub fn new(key: SessionKey) -> Trace {
        Trace {
            key,
            beats: Vec::new(),
            kinds: BTreeMap::new(),
            untimed: 0,
            untimed_acts: 0,
            unknown: Vec::new(),
            tokens: Tokens::default(),
            tokens_below: Tokens::default(),
            prompt_max: None,
            secrets: BTreeMap::new(),
            secret_events: Vec::new(),
            external: Vec::new(),
            external_count: 0,
            commits: Vec::new(),
            first: None,
            last: None,
            cwd: None,
            clock: Clock::default(),
            children: Vec::new(),
            left_out: 0,
            bytes: 0,
            open: HashMap::new(),
            threads: HashMap::new(),
        }
    }

    /// The trace of settled events.
    pub fn of(key: SessionKey, events: &[Event]) -> Trace {
        let mut trace = Trace::new(key);
        events.iter().for_each(|event| trace.push(event));
        trace
    }

    /// Adds the next event.
    pub fn push(&mut self, event: &Event) {
        // Work on an abandoned branch took time, too.
        if event.thread.is_main() {
            self.clock.push(event);
        }
        if !event.live || event.copy_of.is_some() {
            return;
        }
        *self.kinds.entry(event.kind).or_default() += 1;
        self.at_time(event);
        if self.cwd.is_none() {
            self.cwd = event.cwd.as_ref().map(|cwd| cwd.to_string());
        }
        self.count_secrets(event);
        if event.origin == Origin::External {
            self.external_count += 1;
            remember(&mut self.external, event);
        }
        match event.kind {
            Kind::User => self.spoken(event),
            Kind::Assistant => {
                let text = text(event);
                self.beat(event, What::Said { by: Speaker::Model, text });
            }
            Kind::Reasoning => {
                let text = text(event);
                self.beat(event, What::Thought { text });
            }
            Kind::ToolCall => self.called(event),
            Kind::ToolResult => self.ended(event),
            Kind::Compaction => self.beat(event, What::Compaction),
            Kind::Interruption => self.beat(event, What::Interruption),
            Kind::Denial => {
                let text = text(event);
                let by_person = event.origin == Origin::User;
                let is_proven = by_person && retro_model::is_proven(event);
                self.beat(event, What::Denial { by_person, text, is_proven });
            }
            Kind::Error => {
                let text = text(event);
                self.beat(event, What::Error { text });
            }
            Kind::Usage => self.used(event),
            Kind::Subagent => self.child(event),
            Kind::Unknown => remember(&mut self.unknown, event),
            Kind::Plan | Kind::Note => self.asked(event),
            Kind::Session | Kind::Model | Kind::Rewind | Kind::Attachment => {}
        }
    }

    fn at_time(&mut self, event: &Event) {
        match event.ts {
            Some(ts) => {
                self.first = Some(self.first.map_or(ts, |first| first.min(ts)));
                self.last = self.last.max(Some(ts));
            }
            None => {
                self.untimed += 1;
                self.untimed_acts += u64::from(is_act(event.kind));
            }
        }
    }

    fn count_secrets(&mut self, event: &Event) {
        let mut found: BTreeMap<String, u64> = BTreeMap::new();
        let mut look = |text: &str| {
            for part in text.split(SECRET).skip(1) {
                if let Some((rule, _)) = part.split_once(']')
                    && rule.len() <= 40
                {
                    *found.entry(rule.to_owned()).or_default() += 1;
                }
            }
        };
        if let Some(text) = &event.text {
            look(text);
        }
        if let Some(command) = event.tool.as_ref().and_then(|tool| tool.command.as_ref()) {
            look(command);
        } else if let Some(args) = event.tool.as_ref().and_then(|tool| tool.args.as_ref()) {
            strings(args, &mut look);
        }
        if !found.is_empty() {
            remember(&mut self.secret_events, event);
            for (rule, count) in found {
                *self.secrets.entry(rule).or_default() += count;
            }
        }
    }

    fn beat(&mut self, event: &Event, what: What) {
        let thread = self.thread(&event.thread);
        let typed = retro_model::typed(event).join(PARTS);
        let beat = Beat {
            id: event.id.to_string(),
            thread,
            turn: event.turn,
            ts: event.ts,
            what,
            asked: None,
            typed: cut(&typed, TEXT_BYTES_MAX),
        };
        self.bytes += beat.weight();
        self.beats.push(beat);
        self.shorten();
    }

    /// Drops the middle of a session that is too large, because its beginning and its end matter
    /// most. A quarter of the capacity is free afterwards, so that this happens seldom.
    pub(super) fn shorten(&mut self) {
        if self.beats.len() <= BEATS_MAX && self.bytes <= BEATS_BYTES_MAX {
            return;
        }
        let from = fitting(self.beats.iter());
        let to = (self.beats.len() - fitting(self.beats.iter().rev())).max(from);
        self.bytes -= self.beats.drain(from..to).map(|beat| beat.weight()).sum::<usize>();
        self.open.retain(|_, at| !(from..to).contains(at));
        self.open.values_mut().filter(|at| **at >= to).for_each(|at| *at -= to - from);
        self.left_out += (to - from) as u64;
    }

    /// The number of a thread. 0 is the session's own.
    fn thread(&mut self, thread: &Thread) -> u32 {
        if thread.is_main() {
            return 0;
        }
        let next = u32::try_from(self.threads.len()).unwrap_or(u32::MAX - 1) + 1;
        *self.threads.entry(SmolStr::new(thread.as_str())).or_insert(next)
    }

    fn spoken(&mut self, event: &Event) {
        let by = match event.origin {
            Origin::User if event.thread.is_main() => Speaker::User,
            _ => Speaker::Other,
        };
        match retro_model::request(event) {
            Some(request) => self.request(event, by, &request),
            None => self.beat(event, What::Said { by, text: text(event) }),
        }
    }

    /// Adds a request: a command without text and an accepted plan count as messages.
    fn asked(&mut self, event: &Event) {
        if let Some(request) = retro_model::request(event) {
            self.request(event, Speaker::Other, &request);
        }
    }

    fn request(&mut self, event: &Event, by: Speaker, request: &Request<'_>) {
        let text = ends(&request.text);
        self.beat(event, What::Said { by, text });
        if let Some(beat) = self.beats.last_mut().filter(|beat| beat.thread == 0) {
            beat.asked = Some(request.asked);
        }
    }

    fn called(&mut self, event: &Event) {
        let Some(tool) = &event.tool else { return };
        let call = Call::of(tool);
        if let Some(parent) = &tool.parent_call
            && call.polls.is_none()
            && let Some(at) = self.open.get(&self.name(event, parent)).copied()
            && let Some(Beat { what: What::Call(call), .. }) = self.beats.get_mut(at)
        {
            call.has_nested = true;
        }
        self.open.insert(self.name(event, &tool.call_id), self.beats.len());
        self.beat(event, What::Call(Box::new(call)));
    }

    /// A hash that identifies a call of the event's thread.
    fn name(&self, event: &Event, call_id: &str) -> u64 {
        self.open.hasher().hash_one((event.thread.as_str(), call_id))
    }

    fn ended(&mut self, event: &Event) {
        let Some(result) = &event.result else { return };
        let Some(at) = self.open.get(&self.name(event, &result.call_id)).copied() else { return };
        let (mut asked, mut options) = (false, Vec::new());
        if let Some(beat) = self.beats.get_mut(at)
            && let What::Call(call) = &mut beat.what
        {
            self.bytes -= call.weight();
            call.end(event, result);
            self.bytes += call.weight();
            let passed = call.verdict == Verdict::Passed;
            let polls = call.polls.clone();
            asked = call.asked;
            options = std::mem::take(&mut call.options);
            options.sort_by_key(|option| std::cmp::Reverse(option.len()));
            options.retain(|option| !option.is_empty());
            if call.commits && !call.has_nested {
                let output = event.text.as_ref().map_or("", |text| text.as_str());
                let mut seen = commits::seen(output, &event.id.to_string());
                if let (true, Some(subject)) = (seen.is_empty() && passed, &call.quiet_commit) {
                    let (hash, subject) = (String::new(), subject.clone());
                    seen.push(CommitSeen { hash, subject, event: beat.id.clone() });
                }
                self.keep_commits(seen);
            } else if call.has_nested && !call.commits {
                self.ended_script(event, result);
            }
            if let Some(first) = polls {
                self.ended_later(event, result, &first);
            }
        }
        if asked && event.origin == Origin::User {
            self.beat(event, What::Answer { text: text(event) });
            // A chosen option is in the model's words.
            let is_own = |answer: &str| {
                let rest = options.iter().fold(answer.to_owned(), |rest, known| rest.replace(known, ""));
                rest.contains(char::is_alphanumeric)
            };
            let typed: Vec<_> =
                retro_model::typed(event).into_iter().filter(|answer| is_own(answer)).collect();
            if let Some(beat) = self.beats.last_mut() {
                beat.typed = cut(&typed.join(PARTS), TEXT_BYTES_MAX);
            }
        }
    }

    /// Reads the output of a script if the call that printed it is unknown.
    fn ended_script(&mut self, event: &Event, result: &ToolResult) {
        let Some(at) = self.open.get(&self.name(event, &result.call_id)).copied() else { return };
        let after = self.beats.get(at + 1..).unwrap_or_default();
        let commits = after.iter().any(|beat| matches!(&beat.what, What::Call(call) if call.commits));
        if let Some(text) = event.text.as_ref().filter(|_| commits) {
            self.keep_commits(commits::seen(text, &event.id.to_string()));
        }
    }

    /// Ends a command that continued after its call.
    fn ended_later(&mut self, event: &Event, result: &ToolResult, first: &str) {
        if !matches!(result.outcome, Outcome::Ok | Outcome::Failed) {
            return;
        }
        let Some(at) = self.open.get(&self.name(event, first)).copied() else { return };
        let Some(What::Call(call)) = self.beats.get_mut(at).map(|beat| &mut beat.what) else { return };
        if call.command.is_none() {
            return;
        }
        self.bytes -= call.weight();
        call.end_later(event, result);
        self.bytes += call.weight();
        if call.commits && !call.has_nested {
            let output = event.text.as_ref().map_or("", |text| text.as_str());
            self.keep_commits(commits::seen(output, &event.id.to_string()));
        }
    }

    fn keep_commits(&mut self, seen: Vec<CommitSeen>) {
        for commit in seen {
            let is_known = |other: &CommitSeen| !other.hash.is_empty() && other.hash == commit.hash;
            if !self.commits.iter().any(is_known) {
                self.commits.push(commit);
            }
        }
    }

    fn used(&mut self, event: &Event) {
        let Some(usage) = event.usage.as_ref().filter(|usage| !usage.total) else { return };
        if !event.thread.is_main() {
            self.tokens_below = self.tokens_below.plus(&usage.tokens);
            return;
        }
        self.tokens = self.tokens.plus(&usage.tokens);
        let prompt = usage.tokens.prompt();
        if self.prompt_max.as_ref().is_none_or(|(max, _)| prompt > *max) {
            self.prompt_max = Some((prompt, event.model.clone()));
        }
    }

    fn child(&mut self, event: &Event) {
        if let Some(child) = &event.child
            && !self.children.contains(child)
        {
            self.children.push(child.clone());
        }
    }
}

/// True for an action of a person or the agent.
pub(crate) fn is_act(kind: Kind) -> bool {
    matches!(kind, Kind::User | Kind::Assistant | Kind::Reasoning | Kind::ToolCall | Kind::ToolResult)
}

fn remember(ids: &mut Vec<String>, event: &Event) {
    if ids.len() < EVIDENCE_MAX {
        ids.push(event.id.to_string());
    }
}

/// How many of the first of these beats fit into three eighths of the capacity.
fn fitting<'a>(beats: impl Iterator<Item = &'a Beat>) -> usize {
    let mut bytes = 0;
    let fit = beats.take(BEATS_MAX / 8 * 3).take_while(|beat| {
        bytes += beat.weight();
        bytes <= BEATS_BYTES_MAX / 8 * 3
    });
    fit.count()
}

/// The text of an event, shortened.
fn text(event: &Event) -> String {
    event.text.as_ref().map(|text| ends(text)).unwrap_or_default()
}

/// The beginning of a text, and the end if it is long.
fn ends(text: &str) -> String {
    if text.len() <= TEXT_BYTES_MAX {
        return text.to_string();
    }
    let mut tail = text.len() - TEXT_BYTES_MAX / 4;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    format!("{}\n{}", cut(text, TEXT_BYTES_MAX * 3 / 4), text.get(tail..).unwrap_or_default())
}

/// Passes every string of a JSON value to `look`.
fn strings(value: &serde_json::Value, look: &mut impl FnMut(&str)) {
    match value {
        serde_json::Value::String(text) => look(text),
        serde_json::Value::Array(values) => values.iter().for_each(|value| strings(value, look)),
        serde_json::Value::Object(fields) => fields.values().for_each(|value| strings(value, look)),
        _ => {}
    }
}
