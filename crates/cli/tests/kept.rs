//! Whatever a command writes below the root has its line in the register of what is kept.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use retro::store::kept::line_of;
use std::path::{Path, PathBuf};

/// Every command, as it is run on a store with sessions. `ID` is one of them, `MEMORY` a
/// memory, `OUT` a folder that is not there, `NOTES` a folder of notes, `PRICES` a file.
const COMMANDS: &[&str] = &[
    "agents",
    "completions bash",
    "config init",
    "config path",
    "config show",
    "sync",
    "import claude --all",
    "demo",
    "list",
    "show ID",
    "events ID",
    "files README.md",
    "fix error: it failed",
    "digest ID",
    "outcome",
    "report",
    "raw ID",
    "render ID",
    "search the tests fail",
    "similar ID",
    "secrets",
    "signal list",
    "signal run",
    "signal show ID",
    "signal explain git_survival",
    "stages",
    "statusline",
    "usage",
    "usage explain ID",
    "usage limits",
    "pricing list",
    "pricing show claude-opus-4-5",
    "pricing set own-model --input 1 --output 2",
    "pricing import PRICES",
    "embed status",
    "embed rebuild --built-in",
    "methods",
    "mine ID",
    "mine --all --method error_fix,user_rules",
    "memory init",
    "memory add run_the_tests_before_you_commit",
    "memory import-authored NOTES",
    "memory list",
    "memory show MEMORY",
    "memory review",
    "memory retrieve tests",
    "memory weave --query tests --session-id ID",
    "memory accept MEMORY",
    "memory retire MEMORY",
    "memory restore MEMORY",
    "memory reject MEMORY",
    "memory quarantine --session ID",
    "memory update-utility --memory-id MEMORY --reward 1",
    "memory replay",
    "memory rules",
    "memory doctor",
    "memory reindex",
    "memory forget MEMORY",
    "dashboard build --out OUT",
    "dashboard build --single-file ID",
    "schedule print",
    "schedule status",
    "man OUT",
    "rebuild",
    "rebuild normalized",
    "doctor",
    "doctor --fix",
    "verify --deep",
    "pin ID",
    "unpin ID",
    "retain --yes",
    "detect",
    "curate --auto-approve",
    "catalog list",
    "catalog export OUT",
    "decisions list",
    "decisions flush",
    "forget ID --yes",
];

/// Commands that would not end by themselves, would change the machine, or only read a pattern
/// that the sessions of the demo do not have.
const LEFT_OUT: &[&str] = &[
    "catalog diff",
    "catalog history",
    "catalog show",
    "dashboard serve",
    "dashboard open",
    "schedule install",
    "schedule uninstall",
];

fn below(folder: &Path, take: &mut dyn FnMut(PathBuf)) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { below(&path, take) } else { take(path) }
    }
}

fn without_a_line(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    below(root, &mut |path| {
        let path = path.strip_prefix(root).unwrap().to_owned();
        if line_of(&path).is_none() {
            found.push(path);
        }
    });
    found
}

#[test]
fn every_file_that_any_command_leaves_below_the_root_has_a_line() {
    let machine = Machine::with_demo();
    machine.write("notes/a-note.md", "---\nkind: repo_convention\n---\nUse the staging port.\n");
    machine.write(
        "prices.json",
        r#"{"own-model": {"litellm_provider": "openai", "input_cost_per_token": 1e-6, "output_cost_per_token": 2e-6, "mode": "chat"}}"#,
    );
    let id = machine.json(&["list"])["sessions"][0]["session_id"].as_str().unwrap().to_owned();
    let mut memory = String::new();
    for command in COMMANDS {
        if command.contains("MEMORY") && memory.is_empty() {
            let listed = machine.json(&["memory", "list", "--status", "accepted"]);
            memory = listed["memories"][0]["id"].as_str().expect("the one that was added").to_owned();
        }
        let place = |name: &str| machine.home().join(name).display().to_string();
        let words: Vec<String> = command
            .split(' ')
            .map(|word| match word {
                "ID" => id.clone(),
                "MEMORY" => memory.clone(),
                "OUT" => place(&command.replace(' ', "-")),
                "NOTES" => place("notes"),
                "PRICES" => place("prices.json"),
                word => word.to_owned(),
            })
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if command.starts_with("forget") {
            assert!(machine.root().join("signals").is_dir(), "a full store");
        }
        let answer = machine.run(&words);
        assert!(answer.code <= 1, "{command}: {}", answer.all());
        if command.starts_with("forget") {
            assert!(answer.stderr.contains("found in 0 places"), "{}", answer.all());
            assert!(machine.root().join("signals/readings.jsonl").is_file(), "made again");
        }
        assert_eq!(without_a_line(machine.root()), Vec::<PathBuf>::new(), "after `retro {command}`");
    }
}

#[test]
fn every_command_is_among_them() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/cli.md");
    let page = std::fs::read_to_string(page).unwrap();
    let named = page.lines().filter_map(|line| line.strip_prefix("## retro ").map(str::trim));
    let named: Vec<&str> = named.collect();
    let has_more = |name: &str| named.iter().any(|other| other.starts_with(&format!("{name} ")));
    let is_run = |name: &str| {
        COMMANDS
            .iter()
            .chain(LEFT_OUT)
            .any(|command| *command == name || command.starts_with(&format!("{name} ")))
    };
    let missing: Vec<&&str> = named.iter().filter(|name| !has_more(name) && !is_run(name)).collect();
    assert!(named.len() > 40 && missing.is_empty(), "{missing:?}");
}
