//! Commands, changed files and commits of recorded sessions, counted again by a reader that
//! shares no code with the program. Skipped without `RETRO_CORPUS`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use retro_engine::{Config, SyncOptions, World, sync};
use retro_insight::Trace;
use retro_model::{Timestamp, ToolClass};
use retro_store::{RealDisk, Store};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sessions of each agent.
const SESSIONS: usize = 10;
/// Logs that a debug build reads in a moment, and that hold some work.
const LOG_BYTES: std::ops::Range<u64> = 60_000..900_000;
/// Characters of a command that are compared.
const COMMAND_CHARS: usize = 120;
/// Percent of what is there that has to be found, and of what is found that has to be there.
const RIGHT_PERCENT: usize = 98;

/// What a session did.
#[derive(Default, Debug)]
struct Work {
    commands: Vec<String>,
    files: HashSet<String>,
    commits: HashSet<String>,
}

#[test]
fn a_reader_of_the_logs_counts_the_same_work() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let mut read: BTreeMap<String, Work> = BTreeMap::new();
    for (name, reader) in [("public-claude", claude as fn(&str) -> Work), ("public-codex", codex)] {
        let from = corpus.join(name).join("home");
        for log in logs(&from) {
            let text = std::fs::read_to_string(&log).unwrap();
            let to = home.join(log.strip_prefix(&from).unwrap());
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(to, &text).unwrap();
            let stem = log.file_stem().unwrap().to_string_lossy().into_owned();
            read.insert(stem, reader(&text));
        }
    }
    let found = program(&home, &dir.path().join("store"));
    let mut sums: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    for (stem, theirs) in &read {
        let ours = found.iter().find(|(id, _)| stem.ends_with(id.as_str()));
        let ours = ours.map(|(_, work)| work).unwrap_or_else(|| panic!("{stem} is not in the store"));
        let pairs = [
            (
                "commands",
                common(&ours.commands, &theirs.commands),
                ours.commands.len(),
                theirs.commands.len(),
            ),
            ("files", same(&ours.files, &theirs.files), ours.files.len(), theirs.files.len()),
            ("commits", same(&ours.commits, &theirs.commits), ours.commits.len(), theirs.commits.len()),
        ];
        for (what, both, ours, theirs) in pairs {
            if both < ours.max(theirs) {
                println!("{stem}: {what}: {ours} found, {theirs} there, {both} of them the same");
            }
            let sum = sums.entry(what).or_default();
            *sum = (sum.0 + both, sum.1 + ours, sum.2 + theirs);
        }
    }
    assert_eq!(read.len(), 2 * SESSIONS);
    for (what, (both, ours, theirs)) in &sums {
        println!(
            "{what}: {both} of {ours} found ones are there, {both} of {theirs} that are there are found"
        );
    }
    for (what, (both, ours, theirs)) in sums {
        assert!(both * 100 >= ours * RIGHT_PERCENT && both * 100 >= theirs * RIGHT_PERCENT, "{what}");
    }
}

/// The first sessions by a number made of their names, so that nobody chose them.
fn logs(home: &Path) -> Vec<PathBuf> {
    let mut found: Vec<(String, PathBuf)> = walkdir::WalkDir::new(home)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|log| {
            let name = log.file_name().to_string_lossy();
            let is_child = name.starts_with("agent-") || log.path().to_string_lossy().contains("/subagents/");
            name.ends_with(".jsonl")
                && !is_child
                && log.metadata().is_ok_and(|stat| LOG_BYTES.contains(&stat.len()))
        })
        .map(|log| (blake3::hash(log.file_name().as_encoded_bytes()).to_hex().to_string(), log.into_path()))
        .collect();
    found.sort();
    found.into_iter().take(SESSIONS).map(|(_, log)| log).collect()
}

/// What the program says, by session.
fn program(home: &Path, root: &Path) -> HashMap<String, Work> {
    let world = World::at(home).with_clock(Timestamp::parse("2027-03-03T00:00:00Z").unwrap());
    let config = Config::for_root(root);
    sync(&world, &config, &SyncOptions::default(), &|_| {}).unwrap();
    let store = Store::open(&config.root.value, Arc::new(RealDisk)).unwrap();
    let mut found = HashMap::new();
    for key in store.session_keys().unwrap() {
        let events = retro_views::events(&store, &key).unwrap();
        let trace = Trace::of(key.clone(), &events);
        let mut work = Work::default();
        for (_, call) in trace.calls() {
            if call.class == ToolClass::Shell
                && let Some(command) = &call.command
            {
                work.commands.push(compared(command));
            }
            if call.class == ToolClass::Edit && call.changed_files() {
                work.files.extend(call.edits.iter().map(|edit| edit.path.clone()));
            }
        }
        work.commits.extend(trace.commits.iter().map(|commit| commit.hash.clone()));
        work.commits.remove("");
        found.insert(key.id.clone(), work);
    }
    found
}

/// Letters and digits alone: how line ends are written says nothing.
fn compared(command: &str) -> String {
    command.chars().filter(|c| c.is_alphanumeric()).take(COMMAND_CHARS).collect()
}

/// Commands of both lists, each as often as it is in both.
fn common(ours: &[String], theirs: &[String]) -> usize {
    let mut left: HashMap<&str, usize> = HashMap::new();
    theirs.iter().for_each(|command| *left.entry(command).or_default() += 1);
    let take = |command: &&String| match left.get_mut(command.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    ours.iter().filter(take).count()
}

/// Names that are the same, or the end of each other.
fn same(ours: &HashSet<String>, theirs: &HashSet<String>) -> usize {
    let is_in = |name: &&String| {
        theirs.iter().any(|other| {
            other == *name
                || other.ends_with(&format!("/{name}"))
                || name.ends_with(&format!("/{other}"))
                || (other.len() >= 7
                    && name.len() >= 7
                    && (name.starts_with(other.as_str()) || other.starts_with(name.as_str())))
        })
    };
    ours.iter().filter(is_in).count()
}

fn records(log: &str) -> Vec<Value> {
    log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The text of an output, whether it is a string or a list of parts.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// Hashes that git prints of a commit: `[main 1a2b3c4] Subject`.
fn hashes(output: &str) -> Vec<String> {
    let of = |line: &str| {
        let (inside, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let hash = inside.split(' ').next_back()?;
        let is_hash = hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit()) && inside.contains(' ');
        (is_hash && !subject.is_empty()).then(|| hash.to_owned())
    };
    output.lines().filter_map(of).collect()
}

fn claude(log: &str) -> Work {
    let mut work = Work::default();
    let (mut calls, mut seen): (HashMap<String, Value>, HashSet<String>) = Default::default();
    for record in records(log) {
        if record.get("forkedFrom").is_some() {
            continue;
        }
        // What a sub-agent did is in records of progress.
        let message = match record["type"].as_str() {
            Some("progress") => &record["data"]["message"]["message"],
            _ => &record["message"],
        };
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => {
                    let id = block["id"].as_str().unwrap_or_default().to_owned();
                    if seen.insert(id.clone()) {
                        if block["name"] == "Bash" || block["name"] == "PowerShell" {
                            let command = block["input"]["command"].as_str().unwrap_or_default();
                            work.commands.push(compared(command));
                        }
                        calls.insert(id, block.clone());
                    }
                }
                Some("tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    let Some(call) = calls.get(id).filter(|_| block["is_error"] != true) else { continue };
                    let name = call["name"].as_str().unwrap_or_default();
                    if matches!(name, "Edit" | "Write" | "MultiEdit" | "NotebookEdit") {
                        let path = call["input"]["file_path"].as_str();
                        let path = path.or_else(|| call["input"]["notebook_path"].as_str());
                        work.files.extend(path.map(str::to_owned));
                    }
                    if call["input"]["command"].as_str().is_some_and(|line| line.contains("commit")) {
                        work.commits.extend(hashes(&text(&block["content"])));
                    }
                }
                _ => {}
            }
        }
    }
    work
}

fn codex(log: &str) -> Work {
    let mut work = Work::default();
    let mut calls: HashMap<String, (String, bool)> = HashMap::new();
    for record in records(log) {
        let item = &record["payload"];
        let id = item["call_id"].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str() {
            Some("function_call" | "custom_tool_call") if record["type"] == "response_item" => {
                let args = item["arguments"].as_str().or_else(|| item["input"].as_str()).unwrap_or_default();
                let json: Value = serde_json::from_str(args).unwrap_or(Value::Null);
                let script = match (&json["cmd"], &json["command"]) {
                    (Value::String(line), _) | (_, Value::String(line)) => Some(line.clone()),
                    (_, Value::Array(words)) => words.last().and_then(Value::as_str).map(str::to_owned),
                    _ => None,
                };
                let name = item["name"].as_str().unwrap_or_default();
                let is_shell = matches!(name, "shell" | "shell_command" | "exec_command" | "container.exec");
                let said = script.unwrap_or_else(|| args.to_owned());
                let is_patch = said.contains("*** Begin Patch");
                if is_shell && !is_patch {
                    work.commands.push(compared(&said));
                }
                calls.insert(id, (said, is_patch));
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let Some((said, is_patch)) = calls.get(&id) else { continue };
                let output = text(&item["output"]);
                if *is_patch && output.contains("Success. Updated the following files") {
                    for line in said.lines() {
                        let marks =
                            ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
                        let path = marks.iter().find_map(|mark| line.trim().strip_prefix(mark));
                        work.files.extend(path.map(|path| path.trim().to_owned()));
                    }
                }
                if said.contains("commit") {
                    let inner: Value = serde_json::from_str(&output).unwrap_or(Value::Null);
                    work.commits.extend(hashes(inner["output"].as_str().unwrap_or(&output)));
                }
            }
            _ => {}
        }
    }
    work
}
