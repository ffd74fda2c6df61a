//! Synthetic months of work in several repositories and languages, for evaluating memory. The story
//! determines the right memories for each prompt, and sessions only see earlier findings.
//!
//! A story (`testing/*.story`) lists errors (`E command | output / lines | cure`), rules (`R task |
//! said once | said again`) and requests (`C asked | asked again | command`, optionally `| its
//! error | what works now` if the old way stops working), each with prompts (`>`) for later
//! sessions. `N` are tasks without a related memory, `T` is small talk.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

use std::fmt::Write;

use retro_insight::Settings;
use retro_model::{Event, SessionKey, Timestamp};
use serde_json::{Value, json};

use crate::candidate::{Candidate, Repository};
use crate::episode::{Episode, Listener};
use crate::memory::Memory;
use crate::rank::{Ask, Catalog, Here, Memories, rank};
use crate::shelf::Shelf;
use crate::weights::Weights;
use crate::{filters, methods, mine};

/// Every story, with its name.
pub const STORIES: &[(&str, &str)] = &[
    ("press", include_str!("testing/press.story")),
    ("clinic", include_str!("testing/clinic.story")),
    ("garten", include_str!("testing/garten.story")),
    ("choir", include_str!("testing/choir.story")),
    ("porto", include_str!("testing/porto.story")),
    ("depot", include_str!("testing/depot.story")),
    ("lonja", include_str!("testing/lonja.story")),
];
/// Memories considered for a query, and shown unasked.
const ASKED_MAX: usize = 3;
const UNASKED_MAX: usize = 5;
const DAY_MS: i64 = 86_400_000;
/// The first of March 2026.
const START_MS: i64 = 1_772_323_200_000;

/// The kind of memory that a prompt needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Error,
    Rule,
    Command,
}

/// One subject of a story.
struct Item {
    kind: Kind,
    parts: Vec<String>,
    prompts: Vec<String>,
}

struct Story {
    repo: String,
    items: Vec<Item>,
    tasks: Vec<String>,
    talk: Vec<String>,
}

/// How often a known memory was shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Share {
    /// Prompts with a known memory.
    pub known: usize,
    /// Prompts that were shown it.
    pub right: usize,
}

/// The results of memory over stories.
#[derive(Debug, Clone, Default)]
pub struct Judged {
    /// Total number of prompts.
    pub prompts: usize,
    /// Errors, rules, commands: shown on request.
    pub asked: [Share; 3],
    /// Errors, rules, commands: shown unasked.
    pub unasked: [Share; 3],
    /// Prompts with a wrong memory in the answer to a query, not marked as weak.
    pub asked_wrong: usize,
    /// Prompts with a wrong memory shown unasked.
    pub unasked_wrong: usize,
    /// Misses and errors, one line each.
    pub said: String,
}

impl Judged {
    /// The share of known memories that were shown, in percent.
    pub fn right(shares: &[Share]) -> f64 {
        let (known, right) =
            shares.iter().fold((0, 0), |sum, share| (sum.0 + share.known, sum.1 + share.right));
        percent(right, known)
    }

    /// The share of prompts with a wrong memory, on request and unasked, in percent.
    pub fn wrong(&self) -> (f64, f64) {
        (percent(self.asked_wrong, self.prompts), percent(self.unasked_wrong, self.prompts))
    }

    /// Adds another story.
    pub fn add(&mut self, other: &Judged) {
        self.prompts += other.prompts;
        self.asked_wrong += other.asked_wrong;
        self.unasked_wrong += other.unasked_wrong;
        for (mine, its) in [(&mut self.asked, &other.asked), (&mut self.unasked, &other.unasked)] {
            for (mine, its) in mine.iter_mut().zip(its) {
                mine.known += its.known;
                mine.right += its.right;
            }
        }
        self.said.push_str(&other.said);
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

impl Story {
    fn parse(text: &str) -> Story {
        let mut story = Story { repo: String::new(), items: Vec::new(), tasks: Vec::new(), talk: Vec::new() };
        for line in text.lines() {
            let (mark, rest) = line.split_once(' ').expect("a mark and its text");
            let parts = || rest.split(" | ").map(str::to_owned).collect::<Vec<_>>();
            let mut item = |kind| story.items.push(Item { kind, parts: parts(), prompts: Vec::new() });
            match mark {
                "repo" => story.repo = rest.to_owned(),
                "E" => item(Kind::Error),
                "R" => item(Kind::Rule),
                "C" => item(Kind::Command),
                "?" => story.items.last_mut().expect("an error").parts.push(rest.to_owned()),
                ">" => story.items.last_mut().expect("an item").prompts.push(rest.to_owned()),
                "N" => story.tasks.push(rest.to_owned()),
                "T" => story.talk.push(rest.to_owned()),
                _ => panic!("{line}"),
            }
        }
        story
    }
}

/// A session under construction.
struct Script {
    lines: Vec<Value>,
    start_ms: i64,
}

impl Script {
    fn push(&mut self, mut part: Value) {
        let seq = self.lines.len() + 1;
        let at = Timestamp::from_millis(self.start_ms + 1000 * seq as i64).expect("a time");
        let fields = part.as_object_mut().expect("an object");
        for (name, value) in [
            ("id", json!(format!("m:{seq}"))),
            ("seq", json!(seq)),
            ("turn", json!(1)),
            ("thread", json!("main")),
            ("live", json!(true)),
            ("ts", json!(at.to_string())),
            ("raw", json!({ "source": "m", "revision": 1, "record": seq, "offset": 0, "length": 1 })),
        ] {
            fields.insert(name.to_owned(), value);
        }
        self.lines.push(part);
    }

    fn said(&mut self, text: &str) {
        self.push(json!({ "kind": "user", "origin": "user", "text": text }));
    }

    fn answered(&mut self, text: &str) {
        self.push(json!({ "kind": "assistant", "origin": "model", "text": text }));
    }

    fn ran(&mut self, command: &str, output: &str, exit_code: i64) {
        let id = format!("c{}", self.lines.len());
        self.push(json!({ "kind": "tool_call", "origin": "model",
            "tool": { "call_id": id, "name": "Bash", "class": "shell", "command": command } }));
        let outcome = if exit_code == 0 { "ok" } else { "failed" };
        self.push(json!({ "kind": "tool_result", "origin": "tool", "text": output,
            "result": { "call_id": id, "outcome": outcome, "exit_code": exit_code, "bytes": output.len() } }));
    }

    /// Builds the session as methods see it.
    fn lived(self, key: SessionKey, repo: &str) -> Episode {
        let mut listener = Listener::new(key.clone());
        for line in self.lines {
            let event: Event = serde_json::from_value(line).expect("an event");
            listener.push(&event);
        }
        let cwd = Some(format!("/home/dev/{repo}"));
        listener.finish(&Settings::default(), cwd, Repository::default(), key.to_string())
    }

    fn edited(&mut self, path: &str) {
        let id = format!("c{}", self.lines.len());
        self.push(json!({ "kind": "tool_call", "origin": "model", "tool": {
            "call_id": id, "name": "Edit", "class": "edit",
            "edits": [{ "path": path, "kind": "update", "added": 3, "removed": 1 }] } }));
        self.push(json!({ "kind": "tool_result", "origin": "tool", "text": "done",
            "result": { "call_id": id, "outcome": "ok", "bytes": 4 } }));
    }
}

/// A small session: a request, a test that fails and passes.
#[cfg(test)]
pub(crate) fn small() -> Episode {
    let mut script = Script { lines: Vec::new(), start_ms: START_MS };
    script.said("Round the tax of the cart up");
    script.ran("cargo test -p cart", "error: expected 3, found 2", 101);
    script.edited("src/tax.rs");
    script.ran("cargo test -p cart", "test result: ok. 2 passed; 0 failed", 0);
    script.lived(SessionKey::new("claude", "s0"), "shop")
}

/// One run through a story.
struct Life<'a> {
    story: &'a Story,
    weights: &'a Weights,
    shelf: Shelf,
    catalog: Catalog,
    sessions: usize,
    judged: Judged,
}

/// Runs through one story.
pub fn judge(text: &str, weights: &Weights) -> Judged {
    let story = Story::parse(text);
    let mut life = Life {
        story: &story,
        weights,
        shelf: Shelf::new(),
        catalog: Catalog::default(),
        sessions: 0,
        judged: Judged::default(),
    };
    for round in 0..5 {
        for at in 0..story.items.len() {
            life.noise(at + round);
            life.item(at, round);
            life.red_then_green(at, round);
        }
    }
    life.judged
}

impl Life<'_> {
    fn script(&mut self) -> Script {
        self.sessions += 1;
        Script { lines: Vec::new(), start_ms: START_MS + self.sessions as i64 * DAY_MS / 2 }
    }

    /// Learns from a session.
    fn learn(&mut self, script: Script) {
        let key = SessionKey::new("claude", format!("s{:04}", self.sessions));
        let episode = script.lived(key.clone(), &self.story.repo);
        let wanted: Vec<_> = methods::METHODS.iter().collect();
        let mined = mine::mine(&episode, &wanted, &filters::for_all());
        let mut found: Vec<Candidate> = mined.into_iter().flat_map(|mined| mined.candidates).collect();
        found.sort_by(crate::shelf::before);
        for candidate in &found {
            self.shelf.add("claude", &key.id, candidate);
        }
        self.catalog = Catalog::of(&self.shelf);
    }

    /// Queries at a prompt, on request and unasked. `is_right` identifies the right memory.
    fn ask(&mut self, prompt: &str, now_ms: i64, kind: Option<Kind>, is_right: &dyn Fn(&Memory) -> bool) {
        self.judged.prompts += 1;
        for unasked in [false, true] {
            let ask = Ask {
                query: prompt,
                here: Here { cwd: Some(format!("/home/dev/{}", self.story.repo)), ..Here::default() },
                now: Timestamp::from_millis(now_ms).expect("a time"),
                of_the_past: true,
                limit: if unasked { UNASKED_MAX } else { ASKED_MAX },
                status: None,
                accepted_only: false,
                unasked,
                weights: self.weights,
            };
            let Ok(ranked) = rank(&Memories { shelf: &self.shelf, catalog: &self.catalog }, &ask);
            let found: Vec<(&Memory, bool, &str)> = ranked
                .fits
                .iter()
                .filter_map(|fit| Some((self.shelf.items().get(fit.number)?, fit.weak, fit.why.as_str())))
                .collect();
            let is_shown = found.iter().any(|(memory, _, _)| is_right(memory));
            let wrong = found.iter().find(|(memory, weak, _)| !is_right(memory) && (unasked || !weak));
            let way = if unasked { "unasked" } else { "asked" };
            if let Some((memory, _, why)) = wrong {
                let _ = writeln!(self.judged.said, "wrong {way}: {prompt} <- {} ({why})", memory.text);
            }
            let (shares, count) = match unasked {
                true => (&mut self.judged.unasked, &mut self.judged.unasked_wrong),
                false => (&mut self.judged.asked, &mut self.judged.asked_wrong),
            };
            *count += usize::from(wrong.is_some());
            if let Some(kind) = kind {
                shares[kind as usize].known += 1;
                shares[kind as usize].right += usize::from(is_shown);
                if !is_shown {
                    let knew = match self.shelf.items().iter().rev().find(|memory| is_right(memory)) {
                        Some(memory) => format!("known as {:?} {}", memory.level(), memory.text),
                        None => "never mined".to_owned(),
                    };
                    let _ = writeln!(self.judged.said, "missed {way} {kind:?}: {prompt} <- {knew}");
                }
            }
        }
    }

    fn item(&mut self, at: usize, round: usize) {
        let story = self.story;
        let item = &story.items[at];
        match item.kind {
            Kind::Error => self.error(item, round),
            Kind::Rule => self.rule(item, round),
            Kind::Command => self.command(item, round),
        }
    }

    /// The prompt of a round, if something is known by then.
    fn later(item: &Item, round: usize) -> Option<&str> {
        let at = match (item.kind, round) {
            (_, 0) => return None,
            (Kind::Error, round) => round - 1,
            // The rounds: stated, needed, stated again, needed, needed.
            (_, 2) => return None,
            (_, 1) => 0,
            (_, round) => round - 2,
        };
        item.prompts.get(at % item.prompts.len().max(1)).map(String::as_str)
    }

    fn error(&mut self, item: &Item, round: usize) {
        let [command, output, cure, first] = item.parts.as_slice() else { panic!("{:?}", item.parts) };
        let mut script = self.script();
        let prompt = Life::later(item, round).unwrap_or(first);
        if round > 0 {
            self.ask(prompt, script.start_ms, Some(Kind::Error), &|memory| {
                memory.text.contains(cure.as_str())
            });
        } else {
            self.ask(prompt, script.start_ms, None, &|_| false);
        }
        let output = output.replace(" / ", "\n");
        script.said(prompt);
        script.ran(command, &output, 1);
        script.ran("ls -la", "total 8", 0);
        script.edited("README.md");
        script.ran(command, &output, 1);
        script.ran(cure, "ok", 0);
        let again =
            if round.is_multiple_of(2) { command.clone() } else { format!("{command} 2>&1 | tail -20") };
        script.ran(&again, &format!("{}\nall done", output.lines().next().unwrap_or_default()), 0);
        script.answered("It works now.");
        self.learn(script);
    }

    fn rule(&mut self, item: &Item, round: usize) {
        let [task, once, again] = item.parts.as_slice() else { panic!("{:?}", item.parts) };
        let mut script = self.script();
        let known: Vec<&str> = match round {
            0 => vec![],
            1 | 2 => vec![once],
            _ => vec![once, again],
        };
        match Life::later(item, round) {
            Some(prompt) => {
                self.ask(prompt, script.start_ms, Some(Kind::Rule), &|memory| {
                    known.iter().any(|said| memory.text.contains(said))
                });
                script.said(prompt);
            }
            None => script.said(task),
        }
        script.edited("src/work.txt");
        script.answered("I changed it.");
        if round == 0 || round == 2 {
            script.said(if round == 0 { once } else { again });
            script.edited("src/work.txt");
            script.answered("Changed.");
        }
        self.learn(script);
    }

    fn command(&mut self, item: &Item, round: usize) {
        let (asked, again) = (&item.parts[0], &item.parts[1]);
        let (command, moved) = (&item.parts[2], item.parts.get(3).zip(item.parts.get(4)));
        let mut script = self.script();
        let now = if round >= 3 { moved.map_or(command, |(_, now)| now) } else { command };
        match Life::later(item, round) {
            Some(prompt) => {
                // In the round in which the old way fails, the new one is not known yet.
                let known = if round == 3 { vec![command, now] } else { vec![now] };
                self.ask(prompt, script.start_ms, Some(Kind::Command), &|memory| {
                    known.iter().any(|known| memory.text.contains(known.as_str()))
                });
                script.said(prompt);
            }
            None => script.said(if round == 0 { asked } else { again }),
        }
        script.ran("ls", "a b c", 0);
        if let Some((error, _)) = moved.filter(|_| round == 3) {
            script.ran(command, error, 127);
        }
        script.ran(now, "written 1 file", 0);
        script.answered("Done.");
        self.learn(script);
    }

    /// Tasks without a related memory, with small talk.
    fn noise(&mut self, at: usize) {
        let story = self.story;
        let mut script = self.script();
        let task = &story.tasks[at % story.tasks.len()];
        self.ask(task, script.start_ms, None, &|_| false);
        script.said(task);
        script.edited(&format!("src/part{}.txt", at % 7));
        script.answered("I changed it.");
        for more in 0..2 {
            let talk = &story.talk[(at * 2 + more) % story.talk.len()];
            self.ask(talk, script.start_ms + 60_000, None, &|_| false);
            script.said(talk);
            script.edited(&format!("src/part{}.txt", (at + more) % 7));
            script.answered("Done.");
        }
        self.learn(script);
    }

    /// A test that fails while its code is being written: nothing to remember.
    fn red_then_green(&mut self, at: usize, round: usize) {
        if !(at + round).is_multiple_of(4) {
            return;
        }
        let mut script = self.script();
        script.said("go on with the plan");
        let file = format!("src/part{}.py", at % 7);
        let red = format!("{file}:12: assert total == 4\nE   assert 3 == 4\n1 failed, 8 passed in 0.4s");
        script.edited(&file);
        script.ran("pytest -q", &red, 1);
        script.edited(&file);
        script.ran("pytest -q", "9 passed in 0.4s", 0);
        script.answered("Green.");
        self.learn(script);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WEIGHTS;

    /// Stories that were written after the program. Most known memories are shown, and unasked ones
    /// are hardly ever wrong.
    #[test]
    fn what_was_learned_is_shown_when_it_fits_and_hardly_ever_when_it_does_not() {
        let mut whole = Judged::default();
        for (name, story) in
            STORIES.iter().filter(|(name, _)| matches!(*name, "choir" | "porto" | "depot" | "lonja"))
        {
            let judged = judge(story, &WEIGHTS);
            println!("{name}: {}", told(&judged));
            whole.add(&judged);
        }
        println!("{}\n{}", whole.said, told(&whole));
        let (asked_wrong, unasked_wrong) = whole.wrong();
        assert!(Judged::right(&whole.asked) >= 75.0, "{}", told(&whole));
        assert!(Judged::right(&whole.unasked) >= 60.0, "{}", told(&whole));
        for kind in 0..3 {
            assert!(Judged::right(&whole.asked[kind..=kind]) >= 50.0, "{}", told(&whole));
            assert!(Judged::right(&whole.unasked[kind..=kind]) >= 40.0, "{}", told(&whole));
        }
        assert!(asked_wrong <= 2.0 && unasked_wrong <= 1.0, "{}", told(&whole));
    }

    fn told(judged: &Judged) -> String {
        let each = |shares: &[Share; 3]| {
            let each = shares.iter().map(|share| format!("{}/{}", share.right, share.known));
            format!("{:.0} % ({})", Judged::right(shares), each.collect::<Vec<_>>().join(", "))
        };
        let (asked, unasked) = judged.wrong();
        format!(
            "{} prompts; asked {}, wrong {asked:.1} %; unasked {}, wrong {unasked:.1} %",
            judged.prompts,
            each(&judged.asked),
            each(&judged.unasked)
        )
    }
}
