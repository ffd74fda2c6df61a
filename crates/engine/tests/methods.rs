//! Every Markdown file in `methods/` is prose, small sessions and what its method, named
//! like the file, makes of them.
//!
//! A block `session` is a story in our notation, for all agents or for those named behind
//! the word. The block `candidates` after it lists what is found, best first: a line
//! `kind: text` for each, and indented lines `field: value` for what else is asked of it.
//! `when` is short for `when_to_use`; a dot leads into `structured`; a value that is no text
//! is written as JSON. An empty block says that nothing is found.
#![allow(clippy::unwrap_used)]

mod support;

use retro_agents::AGENTS;
use retro_agents::script::Script;
use retro_insight::Settings;
use retro_memory::{Candidate, Episode, Listener, Repository, methods};
use retro_model::SessionKey;
use serde_json::Value;
use std::path::{Path, PathBuf};
use support::Machine;

struct Case {
    method: String,
    agents: Vec<String>,
    story: String,
    expected: Vec<Expected>,
}

struct Expected {
    line: String,
    fields: Vec<(String, String)>,
}

#[test]
fn sessions_give_the_candidates_that_are_told() {
    let mut wrong = Vec::new();
    for case in cases() {
        let all = AGENTS.iter().map(|agent| agent.name().to_owned()).collect();
        let agents = if case.agents.is_empty() { all } else { case.agents.clone() };
        assert!(agents.len() >= 2, "{}: at least two agents", case.method);
        let method = methods::by_name(&case.method).unwrap();
        for agent in agents {
            let episode = episode(&agent, &case.story);
            let found = (method.mine)(&episode);
            wrong.extend(
                differences(&case, &found)
                    .iter()
                    .chain(&unsound(&episode, &found))
                    .map(|what| format!("{} ({agent}): {what}\n{}", case.method, case.story)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_method_has_its_stories() {
    let cases = cases();
    for method in methods::METHODS {
        let told = |case: &&Case| case.method == method.name && !case.expected.is_empty();
        assert!(cases.iter().any(|case| told(&case)), "{}: no story", method.name);
    }
}

#[test]
fn the_same_session_gives_the_same_candidates() {
    for case in cases() {
        let method = methods::by_name(&case.method).unwrap();
        let made = || serde_json::to_string(&(method.mine)(&episode("claude", &case.story))).unwrap();
        assert_eq!(made(), made(), "{}", case.story);
    }
}

/// Every method over every public log of the agents that are read: what is said is there.
#[test]
fn candidates_of_public_logs_quote_their_events() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let (mut wrong, mut count) = (Vec::new(), 0);
    for agent in AGENTS {
        let home = corpus.join(format!("public-{}/home", agent.name()));
        if !home.is_dir() {
            continue;
        }
        let mut machine = Machine::new();
        machine.world.home = home;
        machine.sync();
        for key in machine.store().session_keys().unwrap() {
            let episode = listened(&machine, &key);
            for method in methods::METHODS {
                let found = (method.mine)(&episode);
                count += found.len();
                wrong.extend(unsound(&episode, &found).iter().map(|what| format!("{key}: {what}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 0, "nothing was found in any of them");
}

/// Where what is found is not what is expected.
fn differences(case: &Case, found: &[Candidate]) -> Vec<String> {
    let line = |candidate: &Candidate| format!("{}: {}", candidate.kind.as_str(), candidate.text);
    let lines: Vec<String> = found.iter().map(line).collect();
    let expected: Vec<&String> = case.expected.iter().map(|expected| &expected.line).collect();
    if lines.iter().collect::<Vec<_>>() != expected {
        return vec![format!("found\n  {}\nnot\n  {}", lines.join("\n  "), join(&expected))];
    }
    let mut wrong = Vec::new();
    for (candidate, expected) in found.iter().zip(&case.expected) {
        let json = serde_json::to_value(candidate).unwrap();
        for (name, value) in &expected.fields {
            let is = field(&json, name);
            if is != *value {
                wrong.push(format!("{}\n  {name} is {is}\n  not {value}", expected.line));
            }
        }
    }
    wrong
}

fn join(lines: &[&String]) -> String {
    lines.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("\n  ")
}

/// What every candidate must be: short, and made of words that its events hold.
fn unsound(episode: &Episode, found: &[Candidate]) -> Vec<String> {
    let mut wrong = Vec::new();
    for candidate in found {
        let mut must = |holds: bool, what: &str| {
            if !holds {
                wrong.push(format!("{what}: {candidate:#?}"));
            }
        };
        must(candidate.text.chars().count() <= 600, "the text is long");
        must(candidate.when_to_use.chars().count() <= 160, "the situation is long");
        must(!candidate.when_to_use.is_empty(), "no situation");
        must(candidate.keywords.len() <= 12, "many keywords");
        must(!candidate.subject.is_empty() && !candidate.scope_reason.is_empty(), "no subject or reason");
        must(!candidate.spans.is_empty(), "nothing is quoted");
        must((0.0..=1.0).contains(&candidate.confidence), "the confidence is no share");
        for span in &candidate.spans {
            must(episode.quotes.hold(&span.event_id, &span.text), "a quotation is not in its event");
            must(candidate.evidence_refs.contains(&span.event_id), "an event is not named");
        }
    }
    let is_said = |candidate: &Candidate| candidate.method == "user_rules";
    if found.len() > if found.iter().all(is_said) { 8 } else { 3 } {
        wrong.push(format!("{} candidates", found.len()));
    }
    wrong
}

/// A field as text: as it is, or as JSON.
fn field(json: &Value, name: &str) -> String {
    let name = if name == "when" { "when_to_use" } else { name };
    let mut value = json;
    for part in name.split('.') {
        value = &value[part];
    }
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The story's first session as methods see it.
fn episode(agent: &str, story: &str) -> Episode {
    let machine = Machine::new();
    machine.tell(agent, story);
    machine.sync();
    let id = Script::parse(story).unwrap().session;
    let keys = machine.store().session_keys().unwrap();
    let key = keys.iter().find(|key| key.id == id).unwrap();
    listened(&machine, key)
}

fn listened(machine: &Machine, key: &SessionKey) -> Episode {
    let mut listener = Listener::new(key.clone());
    machine.events(key).iter().for_each(|event| listener.push(event));
    listener.finish(&Settings::default(), None, Repository::default(), String::new())
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/methods");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

fn read(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    let method = path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut cases = Vec::new();
    let mut story: Option<(Vec<String>, String)> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut words = info.split_whitespace();
        match words.next() {
            Some("session") => story = Some((words.map(str::to_owned).collect(), block.join("\n"))),
            Some("candidates") => {
                let (agents, story) = story.clone().unwrap();
                cases.push(Case { method: method.clone(), agents, story, expected: expected(&block) });
            }
            _ => {}
        }
    }
    cases
}

fn expected(block: &[&str]) -> Vec<Expected> {
    let mut all: Vec<Expected> = Vec::new();
    for line in block.iter().filter(|line| !line.trim().is_empty()) {
        match line.strip_prefix("  ") {
            Some(field) => {
                let (name, value) = field.split_once(": ").unwrap();
                all.last_mut().unwrap().fields.push((name.to_owned(), value.to_owned()));
            }
            None => all.push(Expected { line: (*line).to_owned(), fields: Vec::new() }),
        }
    }
    all
}
