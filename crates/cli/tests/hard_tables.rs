//! Tables on a store of hard cases: long names, ids that look alike, wide and right-to-left
//! writing, no row and one row. As snapshots, at several widths, piped, and in colour.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use serde_json::json;

/// Session id, working directory, first prompt, model.
const SESSIONS: &[(&str, &str, &str, &str)] = &[
    ("5f0c9a7e-1111-4222-8333-444455556666-41c7f7", "/w/shop", "Look-alike one", "claude-sonnet-4-6"),
    ("5f0c9a7e-1111-4222-8333-444455556666-4c38ff", "/w/shop", "Look-alike two", "claude-sonnet-4-6"),
    (
        "0a000000-0000-4000-8000-000000000001",
        "/w/a-project-with-a-name-that-is-longer-than-any-column-of-a-table-could-ever-be",
        "A title that goes on and on, far beyond what any terminal has room for, because it is a whole paragraph of words that a person pasted",
        "a-model-whose-name-is-very-long-indeed-20250929-v1:0",
    ),
    (
        "0b000000-0000-4000-8000-000000000002",
        "/w/買い物かご",
        "カートの合計が間違っています。直してください。",
        "claude-sonnet-4-6",
    ),
    ("0c000000-0000-4000-8000-000000000003", "/w/عربة", "أصلح اختبار السلة من فضلك", "claude-sonnet-4-6"),
    ("0d000000-0000-4000-8000-000000000004", "/w/👩‍👩‍👧‍👦", "Emoji 👩‍👩‍👧‍👦 and e\u{301} combined", "claude-opus-5"),
    (
        "0e000000-0000-4000-8000-000000000005",
        "/w/x",
        "tabs\tand\nlines \u{1b}[31mred\u{1b}[0m \u{202e}turned",
        "claude-opus-5",
    ),
];

fn log(id: &str, cwd: &str, prompt: &str, model: &str, minute: usize) -> String {
    let ts = |second: u32| format!("2026-03-01T10:{minute:02}:{second:02}.000Z");
    let user = json!({ "type": "user", "uuid": format!("u-{id}"), "sessionId": id, "cwd": cwd, "timestamp": ts(0),
        "message": { "role": "user", "content": prompt } });
    let answer = json!({ "type": "assistant", "uuid": format!("a-{id}"), "parentUuid": format!("u-{id}"),
        "sessionId": id, "cwd": cwd, "timestamp": ts(9), "requestId": format!("r-{id}"),
        "message": { "id": format!("msg-{id}"), "model": model, "role": "assistant", "type": "message",
            "stop_reason": "end_turn", "content": [{ "type": "text", "text": "Done." }],
            "usage": { "input_tokens": 123_456_789, "output_tokens": 1_234, "cache_read_input_tokens": 9_876_543_210_u64 } } });
    format!("{user}\n{answer}\n")
}

fn hard() -> Machine {
    let machine = Machine::empty();
    for (minute, (id, cwd, prompt, model)) in SESSIONS.iter().enumerate() {
        machine.write(&format!(".claude/projects/-w/{id}.jsonl"), log(id, cwd, prompt, model, minute));
    }
    assert_eq!(machine.run(&["sync", "--quiet"]).code, 0);
    machine
}

const TABLES: &[(&str, &[&str])] = &[
    ("explain", &["--no-sync", "usage", "explain", "0a000000"]),
    ("list", &["list"]),
    ("list_none", &["list", "nothing", "like", "it"]),
    ("list_one", &["list", "emoji"]),
    ("usage_blocks", &["--no-sync", "usage", "blocks"]),
    ("usage_breakdown", &["--no-sync", "usage", "monthly", "--breakdown"]),
    ("usage_model", &["--no-sync", "usage", "model"]),
    ("usage_none", &["--no-sync", "usage", "--since", "2027-01-01"]),
    ("usage_project", &["--no-sync", "usage", "project"]),
    ("usage_session", &["--no-sync", "usage", "session"]),
];

#[test]
fn hard_cases_fit_every_width_and_are_whole_in_a_pipe() {
    let machine = hard();
    for (name, args) in TABLES {
        let mut seen = String::new();
        for columns in [60, 80, 100, 120, 160] {
            let answer = machine.run_at(columns, args);
            for line in answer.stdout.lines().filter(|line| !line.contains('/')) {
                assert!(retro::text::terminal::width(line) <= columns, "{name} at {columns}: {line}");
            }
            assert!(!answer.stdout.contains(['\u{1b}', '\u{202e}', '\t']), "{name}: {:?}", answer.stdout);
            let coloured = machine.run_at(columns, &[&["--color", "always"], *args].concat()).stdout;
            let plain = anstream::adapter::strip_str(&coloured).to_string();
            assert_eq!(plain, answer.stdout, "{name} at {columns}: colour moves nothing");
            seen.push_str(&format!("--- {columns}\n{}", answer.stdout));
        }
        let piped = machine.run(args);
        assert!(!piped.stdout.contains('…'), "{name}: {}", piped.stdout);
        seen.push_str(&format!("--- piped\n{}--- stderr\n{}", piped.stdout, piped.stderr));
        insta::assert_snapshot!(*name, seen);
    }
}

#[test]
fn ids_that_look_alike_lengthen_no_other_row() {
    let machine = hard();
    let list = machine.json(&["list"]);
    let short: Vec<&str> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| session["short_id"].as_str().unwrap())
        .collect();
    assert_eq!(short.iter().filter(|id| id.len() == 8).count(), 5, "{short:?}");
    for id in &short {
        assert_eq!(machine.run(&["show", id]).code, 0, "{id}");
    }
}
