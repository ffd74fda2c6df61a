//! Small things that a new user met and that cost trust: one test each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use serde_json::Value;

fn claude(machine: &Machine, id: &str, day: u32, text: &str) {
    let log = serde_json::json!({ "type": "user", "uuid": format!("u-{id}"), "sessionId": id, "cwd": "/w/shop",
        "timestamp": format!("2026-03-{day:02}T10:00:00.000Z"), "message": { "role": "user", "content": text } });
    machine.write(&format!(".claude/projects/-w-shop/{id}.jsonl"), format!("{log}\n"));
}

const FIRST: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";

#[test]
fn the_latest_session_is_the_same_one_for_import_show_and_list() {
    let machine = Machine::empty();
    claude(&machine, SECOND, 9, "the later one");
    claude(&machine, FIRST, 2, "the earlier one, whose file was touched last");
    let imported = machine.run(&["import", "claude", "--latest"]);
    assert!(imported.all().contains(SECOND), "{}", imported.all());
    machine.run(&["sync", "--quiet"]);
    assert_eq!(machine.json(&["show", "latest"])["session"]["session_id"], SECOND);
    assert_eq!(machine.json(&["list"])["sessions"][0]["session_id"], SECOND);
}

#[test]
fn options_after_the_words_of_a_search_are_options() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 2, "why is the cart slow");
    claude(&machine, SECOND, 3, "the cart is slow again");
    let found = machine.json(&["search", "cart", "slow", "--limit", "1", "--mode", "words"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["truncated"], true);
    let without = machine.json(&["search", "cart -again", "--mode", "words"]);
    assert_eq!(without["hits"][0]["session_id"], FIRST);
    assert_eq!(machine.run(&["fix", "some error", "--limit", "1"]).code, 1);
}

#[test]
fn counts_and_sizes_are_written_the_same_way_everywhere() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 2, "hello");
    let bare = machine.run(&[]);
    assert!(bare.stdout.contains("1 session has something new"), "{}", bare.all());
    assert!(bare.stdout.contains("1 session (claude 1)"), "{}", bare.all());
    machine.run(&["sync", "--quiet"]);
    let verified = machine.run(&["verify"]);
    assert!(!verified.all().contains("1 files"), "{}", verified.all());
    assert!(!machine.run(&["doctor"]).all().contains(" MB free"));
    let secrets = machine.run(&["secrets"]);
    assert!(secrets.stderr.contains("of 1 session looked through"), "{}", secrets.all());
}

#[test]
fn an_empty_home_says_where_it_looked() {
    let machine = Machine::empty();
    let doctor = machine.run(&["doctor"]).stdout;
    for folder in ["~/.claude", "~/.codex", "~/.grok"] {
        assert!(doctor.contains(folder), "{doctor}");
    }
    let shown = machine.run(&["show", "claude", "latest"]);
    assert!(shown.stderr.contains("there is no store"), "{}", shown.all());
    assert!(shown.stderr.contains("hint: `retro sync` makes one"), "{}", shown.all());
}

#[test]
fn nothing_found_names_what_is_near_instead_of_the_demo() {
    let machine = Machine::with_demo();
    for args in [&["list", "--project", "shopp"][..], &["--no-sync", "usage", "--project", "shopp"]] {
        let answer = machine.run(args);
        assert!(answer.stderr.contains("Did you mean the project \"shop\"?"), "{}", answer.all());
        assert!(!answer.all().contains("retro demo"), "{}", answer.all());
    }
}

#[test]
fn days_can_be_said_in_words() {
    let machine = Machine::with_demo();
    for since in ["today", "yesterday", "7d", "2026-02", "last week", "20260201"] {
        for command in [&["list"][..], &["--no-sync", "usage"]] {
            let answer = machine.run(&[command, &["--since", since]].concat());
            assert!(answer.code < 2, "{since}: {}", answer.all());
        }
    }
}

#[test]
fn every_command_answers_programs_in_json_and_errors_too() {
    let machine = Machine::with_demo();
    for args in [&["config", "path"][..], &["config", "init"], &["agents"], &["stages"]] {
        assert!(machine.json(args)["schema"].as_str().unwrap().starts_with("retro."), "{args:?}");
    }
    let wrong = machine.run(&["--json", "usage", "--nope"]);
    let error: Value = serde_json::from_str(wrong.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(error["schema"], "retro.error/1");
}

#[test]
fn a_session_without_a_main_log_names_the_parts_it_has() {
    let machine = Machine::empty();
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"u\",\"isSidechain\":true,\"agentId\":\"a1\",\"sessionId\":\"{FIRST}\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/w\",\"message\":{{\"role\":\"user\",\"content\":\"Look\"}}}}\n"
    );
    machine.write(&format!(".claude/projects/-w/{FIRST}/subagents/agent-a1.jsonl"), line);
    machine.run(&["sync", "--quiet"]);
    let raw = machine.run(&["raw", "aaaaaaaa"]);
    assert!(raw.stderr.contains("hint: it has agent-a1, and --file chooses one"), "{}", raw.all());
    let shown = machine.run(&["show", "aaaaaaaa"]);
    assert!(shown.stdout.contains("cannot be resumed"), "{}", shown.all());
}

#[test]
fn a_root_that_is_a_file_says_so() {
    let machine = Machine::empty();
    machine.write("notes.txt", "hello");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_retro"));
    command.args(["--root", "notes.txt", "list"]).env_clear().env("HOME", machine.home());
    let answer = machine.answer(command.current_dir(machine.home()).output().unwrap());
    assert_eq!(answer.code, 2, "{}", answer.all());
    assert!(answer.stderr.contains("a file is where a folder should be"), "{}", answer.all());
}

#[test]
fn after_a_rebuild_and_after_a_lost_index_every_answer_is_the_same_at_once() {
    let machine = Machine::with_demo();
    let asked = |machine: &Machine| {
        let list = machine.run(&["list", "--limit", "0"]);
        let usage = machine.run(&["--no-sync", "usage", "session"]).stdout;
        (list.stdout, list.stderr, usage)
    };
    let before = asked(&machine);
    assert_eq!(machine.run(&["rebuild", "--quiet"]).code, 0);
    assert_eq!(asked(&machine), before);
    std::fs::remove_dir_all(machine.root().join("index")).unwrap();
    let listed = machine.run(&["list", "--limit", "0"]);
    assert!(!listed.stdout.contains('○'), "{}", listed.stdout);
    machine.run(&["sync", "--quiet"]);
    assert_eq!(asked(&machine), before);
}

#[test]
fn paragraphs_below_an_answer_wrap_at_eighty_columns_in_a_pipe() {
    let machine = Machine::with_demo();
    let notes = machine.run(&["--no-sync", "usage", "monthly"]).stderr;
    assert!(notes.contains("List prices of"), "{notes}");
    assert!(notes.lines().all(|line| retro::text::terminal::width(line) <= 80), "{notes}");
}
