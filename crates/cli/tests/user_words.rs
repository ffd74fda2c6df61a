//! Whatever a person typed is in `show --full`: checked on recorded sessions of every agent
//! with a reader of its own, which knows nothing of the program's parsers, and against what
//! the scenarios say was typed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod machine;

use machine::Machine;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Heads of texts that the agent program writes in the user's name.
const NOT_TYPED: &[&str] = &[
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
    "<user-prompt-submit-hook>",
    "<post-tool-use-hook>",
    "<session-start-hook>",
    "<user-memory-input>",
    "<ide_",
    "<teammate-message",
    "Caveat: The messages below",
    "This session is being continued from a previous conversation",
    "[Request interrupted by user",
    "Base directory for this skill:",
    "Stop hook feedback:",
];

#[test]
fn every_text_that_a_person_typed_is_shown() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS names no recorded sessions");
        return;
    };
    let mut homes = vec![corpus.join("public-claude/home")];
    for scenario in std::fs::read_dir(corpus.join("genuine/claude")).unwrap() {
        homes.push(scenario.unwrap().path().join("home"));
    }
    let (mut checked, mut missing) = (0, Vec::new());
    for home in homes.iter().filter(|home| home.join(".claude/projects").is_dir()) {
        let machine = Machine::empty();
        let home_arg = home.display().to_string();
        assert_eq!(machine.run(&["--home", &home_arg, "sync", "--quiet"]).code, 0);
        for log in logs(&home.join(".claude/projects")) {
            let id = log.file_stem().unwrap().to_string_lossy().into_owned();
            let typed = typed(&std::fs::read_to_string(&log).unwrap_or_default());
            if typed.is_empty() {
                continue;
            }
            let shown = machine.run(&["show", "claude", &id, "--full"]);
            if shown.code != 0 {
                missing.push(format!("{id}: {}", shown.stderr));
                continue;
            }
            for line in typed {
                checked += 1;
                if !shown.stdout.contains(&line) {
                    missing.push(format!("{id}: {line}"));
                }
            }
        }
    }
    println!("{checked} lines checked");
    assert!(checked > 500, "{checked}");
    assert!(
        missing.is_empty(),
        "{} of {checked} lines are not shown:\n{}",
        missing.len(),
        missing.join("\n")
    );
}

/// The main logs: one level below the projects, not those of sub-agents.
fn logs(projects: &Path) -> Vec<PathBuf> {
    let mut logs = Vec::new();
    for project in std::fs::read_dir(projects).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let files = std::fs::read_dir(project.path()).unwrap().flatten().map(|entry| entry.path());
        logs.extend(files.filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.ends_with(".jsonl") && !name.starts_with("agent-")
        }));
    }
    logs.sort();
    logs
}

/// The lines that a person typed, as a terminal may show them. A line with a secret is left
/// out, because it is shown without.
fn typed(log: &str) -> Vec<String> {
    let mut texts = Vec::new();
    for record in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let is = |name: &str| record[name].as_bool().unwrap_or(false);
        if record["attachment"]["type"] == "queued_command"
            && record["attachment"]["commandMode"] == "prompt"
            && matches!(record["attachment"]["origin"]["kind"].as_str(), None | Some("human"))
        {
            texts.extend(record["attachment"]["prompt"].as_str().map(str::to_owned));
        }
        if record["type"] != "user" || is("isMeta") || is("isSidechain") || is("isCompactSummary") {
            continue;
        }
        for answer in record["toolUseResult"]["answers"].as_object().into_iter().flatten() {
            texts.extend(answer.1.as_str().map(str::to_owned));
        }
        let by_program = record["promptSource"] == "system"
            || record["turnOrigin"].as_str().is_some_and(|origin| !matches!(origin, "human" | "sdk"))
            || record["origin"]["kind"].as_str().is_some_and(|kind| kind != "human");
        let content = &record["message"]["content"];
        let blocks: Vec<&str> = match content {
            Value::String(text) => vec![text],
            Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
            _ => Vec::new(),
        };
        for text in blocks {
            let head = text.trim_start();
            if by_program || NOT_TYPED.iter().any(|prefix| head.starts_with(prefix)) {
                continue;
            }
            let tagged = |tag: &str| {
                let (_, rest) = head.split_once(&format!("<{tag}>"))?;
                Some(rest.split_once(&format!("</{tag}>"))?.0.trim().to_owned())
            };
            if head.starts_with("<command-") {
                texts.extend(tagged("command-name"));
                texts.extend(tagged("command-args"));
            } else if head.starts_with("<bash-input>") {
                texts.extend(tagged("bash-input"));
            } else {
                texts.push(text.to_owned());
            }
        }
    }
    lines(texts.iter().map(String::as_str))
}

/// The lines of texts as a terminal may show them, without those that hold a secret.
fn lines<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<String> {
    let lines = texts.flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty());
    let plain = lines.filter(|line| retro::text::redact(line).as_str() == *line);
    plain.map(|line| retro::text::terminal::safe(line).into_owned()).collect()
}

/// Every file below a folder with this name, or with this ending.
fn files(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path, name));
        } else if path.file_name().is_some_and(|file| file.to_string_lossy().ends_with(name)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The lines that the lists of typed prompts beside the logs have, by session. Slash
/// commands are left out: most of them never reach a log.
fn histories(home: &Path) -> Vec<(String, String)> {
    let mut typed = Vec::new();
    for record in files(home, "history.jsonl").iter().flat_map(|path| records(path)) {
        let text = ["display", "text", "prompt"].iter().find_map(|name| record[*name].as_str());
        let session = ["sessionId", "session_id"].iter().find_map(|name| record[*name].as_str());
        if let (Some(text), Some(session)) = (text.filter(|text| !text.starts_with('/')), session) {
            // A shell command is shown behind its own mark, and pasted text in its place.
            let text = text.trim_start_matches('!');
            let whole = lines([text].into_iter()).into_iter().filter(|line| !line.contains("[Pasted text"));
            typed.extend(whole.map(|line| (session.to_owned(), line)));
        }
    }
    typed
}

#[test]
fn every_prompt_that_a_recorded_scenario_names_is_shown_for_every_agent() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS names no recorded sessions");
        return;
    };
    let (mut checked, mut missing) = (std::collections::BTreeMap::<String, u64>::new(), Vec::new());
    for truth in files(&corpus.join("genuine"), "truth.json") {
        let scenario = truth.parent().unwrap();
        let truth: Value = serde_json::from_slice(&std::fs::read(&truth).unwrap()).unwrap();
        let agent = truth["agent"].as_str().unwrap_or_default().split(' ').next().unwrap_or_default();
        let agent = agent.trim_end_matches("-code").to_owned();
        let home = scenario.join("home");
        if !matches!(agent.as_str(), "claude" | "codex" | "grok") || !home.is_dir() {
            continue;
        }
        let machine = Machine::empty();
        let home_arg = home.display().to_string();
        machine.run(&["--home", &home_arg, "sync", "--quiet"]);
        let mut shown = std::collections::BTreeMap::new();
        for session in machine.json(&["--home", &home_arg, "list", "--children", "--limit", "0"])["sessions"]
            .as_array()
            .unwrap()
        {
            let id = session["session_id"].as_str().unwrap();
            shown.insert(id.to_owned(), machine.run(&["show", &agent, id, "--full"]).stdout);
        }
        let everywhere: String = shown.values().cloned().collect();
        let prompts = truth["user_prompts"].as_array().into_iter().flatten().filter_map(Value::as_str);
        // `<name>` stands for a secret or a long text, `[image]` for a picture, and what a program
        // read from its standard input is in no log.
        let is_literal = |prompt: &&str| !prompt.contains('<') && !prompt.contains("on stdin");
        let prompts = prompts.filter(is_literal).map(|prompt| prompt.trim_end_matches("[image]"));
        for line in lines(prompts) {
            let line = line.trim_start_matches('/').to_owned();
            *checked.entry(agent.clone()).or_default() += 1;
            if !everywhere.contains(&line) {
                missing.push(format!("{}: {line}", scenario.display()));
            }
        }
        for (session, line) in histories(&home) {
            *checked.entry(format!("{agent}, listed")).or_default() += 1;
            if !shown.get(&session).unwrap_or(&everywhere).contains(&line) {
                missing.push(format!("{} {session}: {line}", scenario.display()));
            }
        }
    }
    println!("{checked:?}");
    assert!(["claude", "codex", "grok"].iter().all(|agent| checked.get(*agent).is_some_and(|n| *n > 30)));
    assert!(missing.is_empty(), "{} lines are not shown:\n{}", missing.len(), missing.join("\n"));
}

/// What Codex puts around a typed message.
const REQUEST: &str = "## My request for Codex:";

#[test]
fn every_message_to_codex_that_was_broadcast_is_shown() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS names no recorded sessions");
        return;
    };
    let home = corpus.join("public-codex/home");
    let machine = Machine::empty();
    assert_eq!(machine.run(&["--home", &home.display().to_string(), "sync", "--quiet"]).code, 0);
    let (mut checked, mut missing) = (0, Vec::new());
    for log in files(&home, ".jsonl") {
        let records = records(&log);
        let id = records.iter().find_map(|record| record["payload"]["id"].as_str());
        let said = records.iter().filter(|record| record["payload"]["type"] == "user_message");
        let said = said.filter_map(|record| record["payload"]["message"].as_str());
        let typed = said.map(|text| text.split_once(REQUEST).map_or(text, |(_, typed)| typed));
        let typed = lines(typed.filter(|text| !text.trim_start().starts_with('<')));
        let Some(id) = id.filter(|_| !typed.is_empty()) else { continue };
        let shown = machine.run(&["show", "codex", id, "--full"]).stdout;
        checked += typed.len();
        missing.extend(
            typed.into_iter().filter(|line| !shown.contains(line)).map(|line| format!("{id}: {line}")),
        );
    }
    println!("{checked} lines checked");
    assert!(checked > 300, "{checked}");
    assert!(missing.is_empty(), "{} of {checked} are not shown:\n{}", missing.len(), missing.join("\n"));
}
