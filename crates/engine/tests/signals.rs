//! Every Markdown file in `signals/` is prose, small sessions and what signals say of them.
//!
//! A block `session` is a story in our notation, for all agents or for those named behind
//! the word. The block `readings` after it has lines `signal = value`, as JSON; `- reason`
//! stands for no value, `signal > number` for more than that. `outcome`, `outcome.rule`, `quality`, `corrections` and `errors`
//! ask for other parts of the digest,
//! `signal.field` for what a reading says beside its value.
//!
//! A block `repository` before a session is a git repository that the test makes: `commit`
//! lines with days before now and a subject, then files with their lines behind two blanks.
//! In the session `{cwd}` is its folder and `{1}` the hash of the first commit.
#![allow(clippy::unwrap_used)]

#[path = "signals/repository.rs"]
mod repository;
mod support;

use retro_agents::AGENTS;
use retro_insight::{Digest, Prices, SIGNALS};
use retro_store::DIGESTS;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::Machine;

struct Case {
    file: String,
    repository: Option<String>,
    agents: Vec<String>,
    story: String,
    expected: Vec<(String, String)>,
}

#[test]
fn sessions_give_the_readings_that_are_told() {
    let mut wrong = Vec::new();
    for case in cases() {
        let all = AGENTS.iter().map(|agent| agent.name().to_owned()).collect();
        let agents = if case.agents.is_empty() { all } else { case.agents.clone() };
        assert!(agents.len() >= 2, "{}: at least two agents", case.file);
        for agent in agents {
            let (digest, prices) = digest(&agent, &case.story, case.repository.as_deref());
            for (name, expected) in &case.expected {
                let found = found(&digest, &prices, name);
                let is_right = match expected.strip_prefix("> ") {
                    Some(least) => {
                        found.parse::<f64>().is_ok_and(|found| found > least.parse::<f64>().unwrap())
                    }
                    None => found == *expected,
                };
                if !is_right {
                    wrong.push(format!(
                        "{} ({agent}): {name} = {found}, not {expected}\n{}",
                        case.file, case.story
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_signal_that_a_story_can_tell_is_told() {
    // A story has no refusal, no text from outside, no unknown record and no repository, and
    // the agents' writers differ by seconds.
    let cannot = [
        "active_seconds",
        "capture_gap_signal",
        "idle_seconds",
        "session_duration_seconds",
        "events_without_timestamps",
        "external_content",
        "permission_denials",
        "secret_exposure_count",
        "secret_exposure_signal",
        "trajectory_action_count_explain",
        "trajectory_action_count_locate",
        "trajectory_action_count_permission",
        "trajectory_action_count_error",
        "trajectory_action_ratio_explain",
        "trajectory_action_ratio_error",
        "trajectory_action_ratio_locate",
        "trajectory_action_ratio_permission",
        "unknown_event_count",
        "web_search_count",
        "context_pressure",
    ];
    let told: BTreeSet<String> =
        cases().into_iter().flat_map(|case| case.expected).map(|(name, _)| name).collect();
    let missing: Vec<&str> = SIGNALS
        .iter()
        .filter(|signal| !told.contains(signal.id) && !cannot.contains(&signal.id))
        .filter(|signal| !signal.id.starts_with("tool_errors_") || signal.id == "tool_errors_shell")
        .map(|signal| signal.id)
        .collect();
    assert!(missing.is_empty(), "no story tells {missing:?}");
}

#[test]
fn a_digest_is_small_and_the_same_each_time() {
    let story = "> Fix the tax test\n$ cargo test\n| test result: FAILED. 1 passed; 1 failed\n! 101\n~ src/tax.rs\n- a\n+ b\n$ cargo test\n| test result: ok. 2 passed; 0 failed\n< Done.";
    for agent in AGENTS {
        let of = || digest(agent.name(), story, None).0;
        let (first, second) = (of(), of());
        let text = serde_json::to_string(&first).unwrap();
        assert_eq!(text, serde_json::to_string(&second).unwrap());
        assert!(text.len() < 16 * 1024, "{} bytes", text.len());
    }
}

/// What the digest says under a name.
fn found(digest: &Digest, prices: &Prices, name: &str) -> String {
    let value = match name {
        "outcome" => json!(digest.outcome.value),
        "outcome.rule" => json!(digest.outcome.rule),
        "quality" => json!(digest.quality.rule),
        "corrections" => json!(digest.corrections.iter().map(|found| &found.text).collect::<Vec<_>>()),
        "errors" => json!(digest.errors.iter().map(|error| (&error.sample, error.fixed)).collect::<Vec<_>>()),
        _ if name.contains('.') => {
            let (signal, field) = name.split_once('.').unwrap();
            digest.readings[signal].metadata.get(field).cloned().unwrap_or(Value::Null)
        }
        _ => match digest.readings.get(name).or(digest.priced(prices).get(name)) {
            Some(reading) if reading.value.is_null() => {
                return format!("- {}", reading.reason.clone().unwrap_or_default());
            }
            Some(reading) => reading.value.clone(),
            None => return "no reading".to_owned(),
        },
    };
    value.to_string()
}

/// The digest of the story's first session, and what it cost.
fn digest(agent: &str, story: &str, repository: Option<&str>) -> (Digest, Prices) {
    let mut machine = Machine::new();
    let made = repository.map(|text| repository::make(&machine, text));
    let story = &made.as_ref().map_or(story.to_owned(), |made| made.fill(story));
    if made.is_some() {
        machine.world.own_env = Arc::new(|name| std::env::var(name).ok().filter(|_| name == "PATH"));
    }
    machine.tell(agent, story);
    machine.sync();
    let store = machine.store();
    let id = retro_agents::script::Script::parse(story).unwrap().session;
    let keys = store.session_keys().unwrap();
    let key = keys.iter().find(|key| key.id == id).unwrap();
    let table = retro_engine::prices::load(&machine.world, &machine.config).unwrap();
    let spent = retro_engine::signals::spent(&store.index().unwrap(), &table).unwrap();
    let prices = spent.get(key).copied().unwrap_or_default();
    (store.object(&DIGESTS, key).unwrap().unwrap(), prices)
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/signals");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "md"));
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

fn read(path: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(path).unwrap();
    let mut cases = Vec::new();
    let mut story: Option<(Vec<String>, String)> = None;
    let mut repository: Option<String> = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let mut words = info.split_whitespace();
        match words.next() {
            Some("repository") => repository = Some(block.join("\n")),
            Some("session") => story = Some((words.map(str::to_owned).collect(), block.join("\n"))),
            Some("readings") => {
                let (agents, story) = story.clone().unwrap();
                let expected = block.iter().map(|line| {
                    if let Some((name, least)) = line.split_once(" > ") {
                        return (name.to_owned(), format!("> {least}"));
                    }
                    let (name, value) = line.split_once(" = ").unwrap();
                    let value = match value.strip_prefix("- ") {
                        Some(_) => value.to_owned(),
                        None => serde_json::from_str::<Value>(value).unwrap().to_string(),
                    };
                    (name.to_owned(), value)
                });
                let file = path.file_name().unwrap().to_string_lossy().into_owned();
                let repository = repository.clone();
                cases.push(Case { file, repository, agents, story, expected: expected.collect() });
            }
            _ => {}
        }
    }
    cases
}

/// What each recorded scenario must show, by its number; the first shows nothing.
const SCENARIOS: &[(&str, &[&str])] = &[
    ("01-", &[]),
    ("02-", &["adaptive_recovery", "failed_command_count"]),
    ("03-", &["user_correction_count"]),
    ("04-", &["subagent_count"]),
    ("06-", &["compactions"]),
    ("09-", &["git_commits_made_during"]),
    ("11-", &["external_content"]),
    ("14-", &["interruption_count"]),
    ("15-", &["secret_exposure_count"]),
    ("18-", &["permission_denials"]),
];

/// Scenarios whose log holds no record of what happened, and those that a program drove
/// without a terminal: by their logs no person corrected anything.
const UNLOGGED: &[&str] =
    &["codex-0.29.0/14-interrupt", "codex-0.42.0/14-interrupt", "claude/03-correction", "grok/03-correction"];

#[test]
fn recorded_scenarios_show_what_happened() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let mut wrong = Vec::new();
    for (name, home) in recorded(&corpus) {
        let scenario = name.split('/').nth(1).unwrap();
        let Some((_, wanted)) = SCENARIOS.iter().find(|(start, _)| scenario.starts_with(start)) else {
            continue;
        };
        if UNLOGGED.contains(&name.as_str()) {
            continue;
        }
        let mut machine = Machine::new();
        machine.world.home = home;
        machine.sync();
        let store = machine.store();
        let keys = store.session_keys().unwrap();
        let digests: Vec<Digest> =
            keys.iter().filter_map(|key| store.object(&DIGESTS, key).unwrap()).collect();
        let count = |signal: &str| -> u64 {
            digests.iter().map(|digest| digest.readings[signal].value.as_u64().unwrap_or(0)).sum()
        };
        let all = SCENARIOS.iter().flat_map(|(_, signals)| signals.iter());
        let silent: Vec<&&str> = wanted.iter().filter(|signal| count(signal) == 0).collect();
        let loud: Vec<&&str> = all.filter(|signal| wanted.is_empty() && count(signal) > 0).collect();
        if !silent.is_empty() || !loud.is_empty() {
            wrong.push(format!("{name}: silent {silent:?}, loud {loud:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `agent/scenario` and home of every recorded scenario of the agents that are supported.
fn recorded(corpus: &Path) -> Vec<(String, PathBuf)> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all.retain(|path| path.is_dir());
        all
    };
    let mut found = Vec::new();
    for set in folders(&corpus.join("genuine")) {
        let agent = set.file_name().unwrap().to_string_lossy().into_owned();
        if !AGENTS
            .iter()
            .any(|known| agent == known.name() || agent.starts_with(&format!("{}-", known.name())))
        {
            continue;
        }
        for scenario in folders(&set) {
            let name = format!("{agent}/{}", scenario.file_name().unwrap().to_string_lossy());
            found.push((name, scenario.join("home")));
        }
    }
    found.retain(|(_, home)| home.is_dir());
    found
}
