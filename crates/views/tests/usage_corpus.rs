//! Recorded scenarios of three agents through the whole path: synced into a fresh
//! store and asked for, the figures must be those that the model server billed.
//!
//! `RETRO_CORPUS` names a folder with `genuine/<set>/<scenario>/` (a home and the
//! server's ledger). Without it the test says so and passes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "../../agents/tests/billed/mod.rs"]
mod billed;

use retro_engine::{Config, SyncOptions, World, sync};
use retro_model::Timestamp;
use retro_store::{RealDisk, Store};
use retro_usage::{Billing, Figures, Mode, Prices, Query};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The sets of an agent and its versions.
const AGENTS: [&str; 3] = ["claude", "codex", "grok"];

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Input, written, read, output of one answer.
type Answer = [u64; 4];

/// What the views say of a home, synced into a store of its own: the totals, and
/// each answer that is part of them.
fn asked(home: &Path) -> (Figures, Vec<Answer>) {
    let dir = tempfile::tempdir().unwrap();
    let now: Timestamp = jiff::Timestamp::now().into();
    let later = Timestamp::from_millis(now.as_millis() + 3 * 86_400_000).unwrap();
    let world = World::at(home).with_clock(later);
    let config = Config::for_root(dir.path().join("store"));
    sync(&world, &config, &SyncOptions::default(), &|_| {}).unwrap();
    let store = Store::open(&config.root.value, Arc::new(RealDisk)).unwrap();
    let index = store.index().unwrap();
    let prices = Prices::embedded().unwrap();
    let mut answers = Vec::new();
    for key in store.session_keys().unwrap() {
        let explained = retro_views::explain(&index, &prices, Mode::Auto, &key).unwrap();
        answers.extend(explained.responses.iter().map(|one| {
            [one.input_tokens, one.cache_creation_tokens, one.cache_read_tokens, one.output_tokens]
        }));
    }
    let view = retro_views::usage(&index, &prices, Billing::Plan, Query::default(), 0).unwrap();
    (view.report.totals, answers)
}

/// The bytes of every log below a home, for a plain search.
fn bytes(home: &Path) -> String {
    let mut all = String::new();
    let mut waiting = vec![home.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap()));
            }
        }
    }
    all
}

/// Input, written, read, output, reasoning, responses.
type Sums = [u64; 6];

fn billed_sums(scenario: &str, home: &Path, ledger: &[Value], answers: &[Answer]) -> Sums {
    let logs = bytes(home);
    // What may be absent and is there all the same counts: Claude Code logs the ids, Codex from
    // 0.155 on; an answer without one is known by its figures.
    let is_there = |row: &Value| {
        let id = row["response_id"].as_str().unwrap_or_default();
        match scenario.split(['-', '/']).next().unwrap() {
            "claude" => !id.is_empty() && logs.contains(&format!("\"{id}\"")),
            "codex" => answers.contains(&figures(row)),
            _ => false,
        }
    };
    let is_logged = |row: &&Value| !billed::may_be_unlogged(scenario, row) || is_there(row);
    let mut sums = [0; 6];
    for row in ledger.iter().filter(is_logged) {
        let [input, written, read, output] = figures(row);
        // The `messages` interface does not tell Grok how much of the output was reasoning, and
        // Claude Code before 2.1.325 does not log it.
        let reasoning = match scenario.split(['-', '/']).next().unwrap() {
            "grok" if row["api"] == "messages" => 0,
            "claude" => 0,
            _ => row["reasoning"].as_u64().unwrap_or(0),
        };
        let now = [input, written, read, output, reasoning, 1];
        sums.iter_mut().zip(now).for_each(|(sum, now)| *sum += now);
    }
    sums
}

fn figures(row: &Value) -> Answer {
    let count = |column: &str| row[column].as_u64().unwrap_or(0);
    [count("input"), count("cache_write_5m") + count("cache_write_1h"), count("cache_read"), count("output")]
}

#[test]
fn the_usage_view_says_what_was_billed() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let (mut wrong, mut equal, mut bounds) = (Vec::new(), 0, 0);
    let sets = folders(&corpus.join("genuine"));
    for set in sets.iter().filter(|set| AGENTS.contains(&name(set).split('-').next().unwrap())) {
        for folder in folders(set).iter().filter(|folder| folder.join("ledger.jsonl").is_file()) {
            let scenario = format!("{}/{}", name(set), name(folder));
            let text = std::fs::read_to_string(folder.join("ledger.jsonl")).unwrap();
            let ledger: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let home = folder.join("home");
            let (told, answers) = asked(&home);
            let reasoning = if scenario.starts_with("claude") { 0 } else { told.reasoning_tokens };
            let mut ours = [
                told.input_tokens,
                told.cache_creation_tokens,
                told.cache_read_tokens,
                told.output_tokens,
                reasoning,
                told.responses,
            ];
            let theirs = billed_sums(&scenario, &home, &ledger, &answers);
            // Answers that were logged before they ended: their output is at least what is told.
            if told.lower_bound_responses > 0 && ours[3] < theirs[3] {
                ours[3] = theirs[3];
                bounds += 1;
            }
            match ours == theirs {
                true => equal += 1,
                false => wrong.push(format!("{scenario}: ours {ours:?}, billed {theirs:?}")),
            }
        }
    }
    println!("{equal} scenarios equal, {bounds} of them with output as a lower bound");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(equal > 0, "no scenario below {}", corpus.display());
}
