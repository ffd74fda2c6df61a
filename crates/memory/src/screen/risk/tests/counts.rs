//! How many commands of recorded sessions are of high risk, by what makes them so.
//!
//! The reader is the test's own: whatever a log has under `command` or `cmd`, in arguments that are
//! JSON inside a string too, each different command once.
#![allow(clippy::print_stdout)]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::of_command;

/// More than so many of all commands would make a person look at everything.
const HIGH_SHARE_MAX: f64 = 0.05;

fn collect(value: &Value, commands: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for name in ["command", "cmd"] {
                match fields.get(name) {
                    Some(Value::String(line)) => drop(commands.insert(line.clone())),
                    Some(Value::Array(words)) => {
                        let script = words.last().and_then(Value::as_str);
                        commands.extend(script.filter(|_| words.len() == 3).map(str::to_owned));
                    }
                    _ => {}
                }
            }
            for (name, field) in fields {
                match field.as_str().filter(|_| name == "arguments" || name == "input") {
                    Some(text) => {
                        if let Ok(inner) = serde_json::from_str(text) {
                            collect(&inner, commands);
                        }
                    }
                    None => collect(field, commands),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, commands)),
        _ => {}
    }
}

fn walk(folder: &Path, commands: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, commands);
        } else if path.extension().is_some_and(|extension| extension == "jsonl" || extension == "json") {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            match serde_json::from_str::<Value>(&text) {
                Ok(whole) => collect(&whole, commands),
                Err(_) => text
                    .lines()
                    .filter_map(|line| serde_json::from_str(line).ok())
                    .for_each(|record: Value| collect(&record, commands)),
            }
        }
    }
}

#[test]
fn few_commands_of_recorded_sessions_are_of_high_risk() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS") else {
        println!("skipped: RETRO_CORPUS names no folder of recorded sessions");
        return;
    };
    let mut commands = BTreeSet::new();
    walk(Path::new(&corpus), &mut commands);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in commands.iter().filter_map(|line| of_command(line)) {
        *counts.entry(reason).or_default() += 1;
    }
    let high: usize = counts.values().sum();
    println!("{} different commands, {high} of high risk", commands.len());
    for (reason, count) in &counts {
        println!("{count:6}  {reason}");
    }
    assert!(high as f64 <= commands.len() as f64 * HIGH_SHARE_MAX, "{high} of {}", commands.len());
}
