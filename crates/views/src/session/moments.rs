//! Turning points and failures of a session, as a list to step through.
//!
//! Each moment has a sentence and its events, all taken from the log. Signals judge the session as
//! a whole.

use retro_insight::Correction;
use retro_model::{Event, Kind, Outcome};
use serde::Serialize;
use std::collections::HashMap;

use super::family::{Family, Line};
use super::money::Ledger;
use crate::readable::line;

/// Maximum characters of a command or text in a sentence.
const WORDS_MAX: usize = 72;

/// A response is a spike if it costs this many times the usual one, and at least this much.
const SPIKE_TIMES: f64 = 8.0;
const SPIKE_USD: f64 = 0.25;

/// Maximum spikes listed.
const SPIKES_MAX: usize = 5;

/// One moment worth a look.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Moment {
    /// `failure`, `denial`, `interruption`, `compaction`, `error`, `limit`, `rewind`,
    /// `spike`, `secret`, `green`, `commit`, `correction`.
    pub kind: &'static str,
    /// The event, in a sentence.
    pub text: String,
    /// Names of its events, in order.
    pub ids: Vec<String>,
    /// When, in milliseconds since 1970.
    pub ts: Option<i64>,
    /// The index of its line of work.
    pub line: usize,
    /// The turn's number there.
    pub turn: u32,
}

/// The user's corrections, and the places of events.
pub struct Corrected<'a> {
    /// Corrections from the digest.
    pub corrections: &'a [Correction],
    /// Line and turn of every event.
    pub places: &'a HashMap<String, (usize, u32)>,
}

/// Every moment of a family, in order of time.
pub fn moments(
    family: &Family,
    lines: &[Line<'_>],
    ledger: &Ledger,
    corrected: &Corrected<'_>,
) -> Vec<Moment> {
    let mut all = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        Finder { family, line, number, found: &mut all, streak: Vec::new() }.look();
    }
    spikes(ledger, &mut all);
    corrections(family, lines, corrected, &mut all);
    // A moment without a time stays behind the one before it.
    let mut last = i64::MIN;
    let mut keyed: Vec<(i64, Moment)> = Vec::with_capacity(all.len());
    for moment in all {
        last = moment.ts.unwrap_or(last);
        keyed.push((last, moment));
    }
    keyed.sort_by_key(|(ts, moment)| (*ts, moment.line));
    keyed.into_iter().map(|(_, moment)| moment).collect()
}

struct Finder<'f, 'a> {
    family: &'f Family,
    line: &'a Line<'f>,
    number: usize,
    found: &'a mut Vec<Moment>,
    /// Failed calls of one command, until one succeeds.
    streak: Vec<(&'f Event, String)>,
}

impl<'f> Finder<'f, '_> {
    fn look(mut self) {
        let calls: HashMap<&str, &Event> = self
            .line
            .events
            .iter()
            .filter_map(|event| Some((event.tool.as_ref()?.call_id.as_str(), *event)))
            .collect();
        let events: Vec<&'f Event> = self.line.events.iter().copied().filter(|event| event.live).collect();
        for event in events {
            self.secret(event);
            match event.kind {
                Kind::ToolResult => {
                    let call = event.result.as_ref().and_then(|result| calls.get(result.call_id.as_str()));
                    if let Some(call) = call {
                        self.result(call, event);
                    }
                }
                Kind::Interruption => self.push("interruption", "interrupted".to_owned(), &[event]),
                Kind::Compaction => self.push("compaction", "context summarized".to_owned(), &[event]),
                Kind::Rewind => self.push("rewind", "went back to an earlier point".to_owned(), &[event]),
                Kind::Error => self.error(event),
                _ => {}
            }
        }
        self.end_streak(None);
    }

    fn result(&mut self, call: &'f Event, event: &'f Event) {
        let Some(result) = &event.result else { return };
        let what = named(call);
        match result.outcome {
            Outcome::Failed => {
                if self.streak.first().is_some_and(|(_, before)| !is_alike(before, &what)) {
                    self.end_streak(None);
                }
                self.streak.push((call, what));
            }
            Outcome::Denied => self.push("denial", format!("denied: {what}"), &[call]),
            // If the log records the interruption itself, that event is the moment.
            Outcome::Interrupted if self.is_noted(event.turn) => {}
            Outcome::Interrupted => self.push("interruption", format!("cut off: {what}"), &[call]),
            Outcome::Ok => {
                if self.streak.first().is_some_and(|(_, before)| is_alike(before, &what)) {
                    self.end_streak(Some(call));
                }
                if is_commit(call) {
                    self.push("commit", format!("committed: {what}"), &[call]);
                }
            }
            Outcome::Unknown => {}
        }
    }

    /// True if the log has the interruption of a turn as a separate event, or it was found already.
    fn is_noted(&self, turn: u32) -> bool {
        let events = self.line.events.iter();
        let mut noted = events.filter(|event| event.live && event.kind == Kind::Interruption);
        noted.any(|event| event.turn == turn)
            || self.found.iter().any(|moment| {
                moment.kind == "interruption" && moment.line == self.number && moment.turn == turn
            })
    }

    /// Reports the command that failed, how often, and whether it succeeded afterwards.
    fn end_streak(&mut self, recovered: Option<&'f Event>) {
        let streak = std::mem::take(&mut self.streak);
        let Some((_, what)) = streak.first() else { return };
        let text = match streak.len() {
            1 => format!("failed: {what}"),
            times => format!("failed {times} times: {what}"),
        };
        let text = if recovered.is_some() { format!("{text}; then it went well") } else { text };
        let events: Vec<&Event> = streak.iter().map(|(call, _)| *call).chain(recovered).collect();
        self.push("failure", text, &events);
        if let Some(call) = recovered.filter(|call| is_test(call)) {
            self.push("green", format!("tests pass again: {}", named(call)), &[call]);
        }
    }

    fn error(&mut self, event: &'f Event) {
        let text = event.text.as_ref().map_or("", |text| text.as_str());
        let lower = text.to_lowercase();
        let limits = ["rate limit", "usage limit", "quota", "too many requests", "overloaded"];
        let kind = if limits.iter().any(|phrase| lower.contains(phrase)) { "limit" } else { "error" };
        let said = line(text, WORDS_MAX);
        self.push(kind, if said.is_empty() { "an error".to_owned() } else { said }, &[event]);
    }

    fn secret(&mut self, event: &'f Event) {
        let Some(text) = event.text.as_ref().filter(|text| text.contains("[redacted:")) else { return };
        let rule = text.split_once("[redacted:").and_then(|(_, rest)| rest.split_once(']'));
        let rule = rule.map_or("a secret", |(rule, _)| rule);
        let is_new = !self
            .found
            .iter()
            .any(|moment| moment.kind == "secret" && moment.line == self.number && moment.turn == event.turn);
        if is_new {
            self.push("secret", format!("a secret in the log: {}", line(rule, 40)), &[event]);
        }
    }

    fn push(&mut self, kind: &'static str, text: String, events: &[&Event]) {
        let Some(first) = events.first() else { return };
        self.found.push(Moment {
            kind,
            text,
            ids: events.iter().map(|event| self.family.name(self.line.member, &event.id)).collect(),
            ts: first.ts.map(|ts| ts.as_millis()),
            line: self.number,
            turn: first.turn,
        });
    }
}

/// A short description of a call.
fn named(call: &Event) -> String {
    let Some(tool) = &call.tool else { return String::new() };
    let what = crate::call::what(tool, None);
    if tool.command.is_some() {
        line(&what, WORDS_MAX)
    } else {
        line(&format!("{} {what}", tool.name), WORDS_MAX)
    }
}

/// True if two calls attempt the same: they begin with the same two words.
fn is_alike(a: &str, b: &str) -> bool {
    let head = |text: &str| text.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
    head(a) == head(b)
}

fn command(call: &Event) -> &str {
    call.tool.as_ref().and_then(|tool| tool.command.as_ref()).map_or("", |command| command.as_str())
}

fn is_test(call: &Event) -> bool {
    let runners = [
        "cargo test",
        "cargo nextest",
        "pytest",
        "npm test",
        "npm run test",
        "go test",
        "make test",
        "vitest",
        "jest",
        "mvn test",
        "gradle test",
        "rspec",
        "phpunit",
        "ctest",
        "bun test",
        "deno test",
    ];
    runners.iter().any(|runner| command(call).contains(runner))
}

fn is_commit(call: &Event) -> bool {
    command(call).contains("git commit")
}

fn spikes(ledger: &Ledger, all: &mut Vec<Moment>) {
    let mut costs: Vec<f64> = ledger.responses.iter().filter_map(|one| one.explained.cost_usd).collect();
    if costs.len() < 4 {
        return;
    }
    costs.sort_by(f64::total_cmp);
    let median = costs.get(costs.len() / 2).copied().unwrap_or(0.0);
    let bar = SPIKE_USD.max(median * SPIKE_TIMES);
    let mut dear: Vec<_> =
        ledger.responses.iter().filter(|one| one.explained.cost_usd.is_some_and(|usd| usd >= bar)).collect();
    dear.sort_by(|a, b| b.explained.cost_usd.unwrap_or(0.0).total_cmp(&a.explained.cost_usd.unwrap_or(0.0)));
    for one in dear.into_iter().take(SPIKES_MAX) {
        let usd = one.explained.cost_usd.unwrap_or(0.0);
        all.push(Moment {
            kind: "spike",
            text: format!("one response for ${usd:.2}, the usual one ${median:.2}"),
            ids: vec![one.id.clone()],
            ts: one.explained.ts.map(|ts| ts.as_millis()),
            line: one.line,
            turn: one.turn,
        });
    }
}

/// The user's corrections, from the digest.
fn corrections(family: &Family, lines: &[Line<'_>], corrected: &Corrected<'_>, all: &mut Vec<Moment>) {
    for one in corrected.corrections {
        let Some((number, turn)) = corrected.places.get(&one.event_id).copied() else { continue };
        let Some(work) = lines.get(number) else { continue };
        let event = work.events.iter().find(|event| family.name(work.member, &event.id) == one.event_id);
        all.push(Moment {
            kind: "correction",
            text: format!("you corrected: {}", line(&one.text, WORDS_MAX)),
            ids: vec![one.event_id.clone()],
            ts: event.and_then(|event| event.ts).map(|ts| ts.as_millis()),
            line: number,
            turn,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::family::Member;
    use crate::session::testing::{call, events, prompt, result};
    use retro_model::{Coverage, SessionKey, ToolClass};

    fn found(list: Vec<serde_json::Value>) -> Vec<String> {
        told(list, false)
    }

    fn told(list: Vec<serde_json::Value>, is_corrected: bool) -> Vec<String> {
        let member = Member {
            key: SessionKey::new("claude", "s"),
            events: events(list),
            left_out: 0,
            event_counts: Default::default(),
            coverage: Coverage::default(),
            gaps: Vec::new(),
            versions: Vec::new(),
            models: Vec::new(),
            pictures: Default::default(),
        };
        let family = Family { members: vec![member] };
        let lines = family.lines();
        let shown = |moment: Moment| format!("{} {} {}", moment.kind, moment.text, moment.ids.join(" "));
        let places = crate::session::turns::places(&family, &lines);
        let corrections = [Correction {
            event_id: "m:1".to_owned(),
            text: "no, not so".to_owned(),
            confidence: 0.9,
            rule: "negation".to_owned(),
        }];
        let corrected =
            Corrected { corrections: if is_corrected { &corrections } else { &[] }, places: &places };
        moments(&family, &lines, &Ledger::default(), &corrected).into_iter().map(shown).collect()
    }

    #[test]
    fn a_failure_and_its_recovery_are_one_moment() {
        let list = vec![
            prompt(0, "go"),
            call(1, "a", ToolClass::Shell),
            result(2, "a", Outcome::Failed, None),
            call(3, "b", ToolClass::Shell),
            result(4, "b", Outcome::Failed, None),
            call(5, "c", ToolClass::Shell),
            result(6, "c", Outcome::Ok, None),
        ];
        assert_eq!(
            found(list),
            [
                "failure failed 2 times: make test; then it went well m:2 m:4 m:6",
                "green tests pass again: make test m:6"
            ]
        );
    }

    #[test]
    fn a_denial_is_a_moment_and_a_good_call_is_none() {
        let list = vec![
            prompt(0, "go"),
            call(1, "a", ToolClass::Shell),
            result(2, "a", Outcome::Denied, None),
            call(3, "b", ToolClass::Shell),
            result(4, "b", Outcome::Ok, None),
        ];
        assert_eq!(found(list), ["denial denied: make test m:2"]);
    }

    #[test]
    fn a_correction_is_a_moment_where_it_was_said() {
        let list = vec![prompt(0, "go"), call(1, "a", ToolClass::Shell), result(2, "a", Outcome::Ok, None)];
        assert_eq!(told(list, true), ["correction you corrected: no, not so m:1"]);
    }
}
