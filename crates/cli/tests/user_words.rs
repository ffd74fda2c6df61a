//! Whatever a person typed is in `show --full`: checked on recorded Claude Code sessions with
//! a reader of its own, which knows nothing of the program's parser.
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
    let lines = texts.iter().flat_map(|text| text.lines()).map(str::trim).filter(|line| !line.is_empty());
    let plain = lines.filter(|line| retro::text::redact(line).as_str() == *line);
    plain.map(|line| retro::text::terminal::safe(line).into_owned()).collect()
}
