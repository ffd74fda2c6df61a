//! Sessions that share something: copied history counts once, and a title may be in
//! another file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use serde_json::{Value, json};

const OLD: &str = "11111111-0000-4000-8000-000000000001";
const NEW: &str = "22222222-0000-4000-8000-000000000002";

fn prompt(session: &str, uuid: &str, minute: u32, text: &str) -> Value {
    json!({ "type": "user", "uuid": uuid, "sessionId": session, "cwd": "/w/shop", "version": "1.0.117",
        "timestamp": format!("2026-03-01T10:{minute:02}:00.000Z"),
        "message": { "role": "user", "content": text } })
}

fn answer(session: &str, uuid: &str, minute: u32, request: bool) -> Value {
    let mut record = json!({ "type": "assistant", "uuid": uuid, "sessionId": session, "cwd": "/w/shop",
        "timestamp": format!("2026-03-01T10:{minute:02}:30.000Z"),
        "message": { "id": format!("msg-{uuid}"), "model": "claude-sonnet-4-6", "role": "assistant",
            "type": "message", "stop_reason": "end_turn", "content": [{ "type": "text", "text": "Done so." }],
            "usage": { "input_tokens": 100_000, "output_tokens": 10 } } });
    if request {
        record["requestId"] = json!(format!("req-{uuid}"));
    }
    record
}

fn log(records: &[Value]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

/// A session of 1.0.117 and its resume, which begins with a copy of everything at the time
/// of the resume and without request ids.
fn resumed() -> Machine {
    let machine = Machine::empty();
    let old = [
        prompt(OLD, "p1", 1, "Add a cart."),
        answer(OLD, "a1", 1, true),
        prompt(OLD, "p2", 2, "Test it."),
        answer(OLD, "a2", 2, true),
    ];
    let new = [
        prompt(NEW, "p1", 30, "Add a cart."),
        answer(NEW, "a1", 30, false),
        prompt(NEW, "p2", 30, "Test it."),
        answer(NEW, "a2", 30, false),
        prompt(NEW, "p3", 31, "Now the invoice."),
        answer(NEW, "a3", 31, true),
    ];
    machine.write(&format!(".claude/projects/-w-shop/{OLD}.jsonl"), log(&old));
    machine.write(&format!(".claude/projects/-w-shop/{NEW}.jsonl"), log(&new));
    assert_eq!(machine.run(&["sync", "--quiet"]).code, 0);
    machine
}

#[test]
fn a_resumed_files_copied_history_is_counted_once() {
    let machine = resumed();
    let turns = |id: &str| machine.json(&["show", id])["session"]["turns"].clone();
    assert_eq!((turns(OLD), turns(NEW)), (json!(2), json!(1)));
    let listed = machine.json(&["list"]);
    let listed = |id: &str| {
        let all = listed["sessions"].as_array().unwrap();
        all.iter().find(|session| session["session_id"] == id).unwrap()["turns"].clone()
    };
    assert_eq!((listed(OLD), listed(NEW)), (json!(2), json!(1)));
    let cost = |id: &str| machine.json(&["show", id])["session"]["cost_usd"].as_f64().unwrap();
    assert!((cost(OLD) - 2.0 * cost(NEW)).abs() < 1e-9, "{} {}", cost(OLD), cost(NEW));
    let all = machine.json(&["--no-sync", "usage", "session"]);
    assert_eq!(all["totals"]["responses"], 3);
}

#[test]
fn a_copied_history_is_shown_before_what_is_new_and_named() {
    let machine = resumed();
    let copied = &machine.json(&["show", NEW])["copied_turns"];
    let copied: Vec<&str> = copied.as_object().unwrap().values().map(|of| of.as_str().unwrap()).collect();
    assert_eq!(copied, [format!("claude/{OLD}"), format!("claude/{OLD}")]);
    let shown = machine.run(&["show", NEW]).stdout;
    // Behind the head, which has the title.
    let at = |text: &str| shown.rfind(text).unwrap_or_else(|| panic!("{text} is not in {shown}"));
    assert!(at(&format!("before, in claude/{OLD}")) < at("Add a cart."), "{shown}");
    assert!(at("Test it.") < at("here this session begins"), "{shown}");
    assert!(at("here this session begins") < at("Now the invoice."), "{shown}");
    assert_eq!(machine.json(&["show", OLD])["copied_turns"], Value::Null);
}

#[test]
fn it_does_not_matter_which_file_came_first() {
    let machine = Machine::empty();
    let old = [prompt(OLD, "p1", 1, "Add a cart."), answer(OLD, "a1", 1, true)];
    let new = [prompt(NEW, "p1", 30, "Add a cart."), answer(NEW, "a1", 30, false)];
    machine.write(&format!(".claude/projects/-w-shop/{NEW}.jsonl"), log(&new));
    machine.run(&["sync", "--quiet"]);
    assert_eq!(machine.json(&["show", NEW])["session"]["turns"], 1);
    machine.write(&format!(".claude/projects/-w-shop/{OLD}.jsonl"), log(&old));
    machine.run(&["sync", "--quiet"]);
    assert_eq!(machine.json(&["show", NEW])["session"]["turns"], 0);
    machine.run(&["rebuild", "--quiet"]);
    assert_eq!(machine.json(&["show", NEW])["session"]["turns"], 0);
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
}

fn titles(machine: &Machine) -> Vec<(String, String)> {
    let list = machine.json(&["list", "--limit", "0"]);
    let mut titles: Vec<(String, String)> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| {
            let id = session["session_id"].as_str().unwrap().chars().take(8).collect();
            (id, session["title"].as_str().unwrap_or("-").to_owned())
        })
        .collect();
    titles.sort();
    titles
}

#[test]
fn a_title_in_another_file_is_found_by_the_conversation_it_names() {
    let machine = Machine::empty();
    let summary = |title: &str, leaf: &str| json!({ "type": "summary", "summary": title, "leafUuid": leaf });
    let old = [prompt(OLD, "p1", 1, "You are a senior engineer."), answer(OLD, "a1", 1, true)];
    let new = [
        summary("Cart and checkout", "a1"),
        prompt(NEW, "p9", 30, "go on"),
        answer(NEW, "a9", 30, true),
        summary("Invoices with VAT", "a9"),
    ];
    let third = "33333333-0000-4000-8000-000000000003";
    let alone = [prompt(third, "p5", 40, "hm"), answer(third, "a5", 40, true)];
    machine.write(&format!(".claude/projects/-w-shop/{OLD}.jsonl"), log(&old));
    machine.write(&format!(".claude/projects/-w-shop/{NEW}.jsonl"), log(&new));
    machine.write(&format!(".claude/projects/-w-shop/{third}.jsonl"), log(&alone));
    // A file with nothing but a title of another one.
    machine.write(
        ".claude/projects/-w-shop/44444444-0000-4000-8000-000000000004.jsonl",
        log(&[summary("Returns", "a5")]),
    );
    machine.run(&["sync", "--quiet"]);
    let expected =
        [("11111111", "Cart and checkout"), ("22222222", "Invoices with VAT"), ("33333333", "Returns")]
            .map(|(id, title)| (id.to_owned(), title.to_owned()));
    assert_eq!(titles(&machine), expected);
    assert_eq!(machine.json(&["show", OLD])["session"]["title"], "Cart and checkout");
    machine.run(&["rebuild", "--quiet"]);
    assert_eq!(titles(&machine), expected);
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
}

#[test]
fn a_thread_of_codex_has_the_name_from_its_list_of_threads() {
    let machine = Machine::empty();
    let id = "019a0000-0000-7000-8000-000000000001";
    let log = [
        json!({ "timestamp": "2026-03-01T10:00:00.000Z", "type": "session_meta",
            "payload": { "id": id, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w/shop", "originator": "codex_cli_rs", "cli_version": "0.166.0" } }),
        json!({ "timestamp": "2026-03-01T10:00:01.000Z", "type": "response_item",
            "payload": { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "fix it" }] } }),
    ];
    let name = format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{id}.jsonl");
    machine.write(&name, log.iter().map(|record| format!("{record}\n")).collect::<String>());
    let row = |title: &str| format!("{}\n", json!({ "id": id, "thread_name": title, "updated_at": "x" }));
    machine.write(".codex/session_index.jsonl", row("First name"));
    machine.run(&["sync", "--quiet"]);
    assert_eq!(titles(&machine)[0].1, "First name");
    machine.write(".codex/session_index.jsonl", row("First name") + &row("Fix the shop"));
    machine.run(&["sync", "--quiet"]);
    assert_eq!(titles(&machine)[0].1, "Fix the shop");
}

#[test]
fn a_prompt_behind_long_instructions_is_a_title_before_anything_is_captured() {
    let machine = Machine::empty();
    let id = "019a0000-0000-7000-8000-000000000002";
    let log = [
        json!({ "timestamp": "2026-03-01T10:00:00.000Z", "type": "session_meta",
            "payload": { "id": id, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w/shop", "originator": "codex_cli_rs",
                "cli_version": "0.166.0", "base_instructions": { "text": "Be good. ".repeat(9_000) } } }),
        json!({ "timestamp": "2026-03-01T10:00:01.000Z", "type": "response_item",
            "payload": { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "fix the cart" }] } }),
        json!({ "timestamp": "2026-03-01T10:00:01.000Z", "type": "event_msg",
            "payload": { "type": "user_message", "message": "fix the cart", "images": [] } }),
        json!({ "timestamp": "2026-03-01T10:00:02.000Z", "type": "response_item",
            "payload": { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done. ".repeat(20_000) }] } }),
    ];
    let name = format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{id}.jsonl");
    machine.write(&name, log.iter().map(|record| format!("{record}\n")).collect::<String>());
    assert_eq!(titles(&machine)[0].1, "fix the cart");
}

#[test]
fn plans_templates_commands_and_sub_agents_give_a_title() {
    let machine = Machine::empty();
    let ids = ["a", "b", "c", "d"].map(|letter| format!("{}-0000-4000-8000-000000000001", letter.repeat(8)));
    let text = |id: &str, text: &str| prompt(id, "p1", 1, text);
    let plan = "Implement the following plan:\n\n# Plan: Reduce evaluation cost\n\n## Context\nMuch.";
    let template = "## User Input\n\n```text\nUC-01 log in with a code\n```\n\nYou must consider it.";
    let command = "<command-message>init</command-message>\n<command-name>/init</command-name>";
    for (id, said) in ids.iter().zip([plan, template, command]) {
        let log = log(&[text(id, said), prompt(id, "p2", 2, "commit this")]);
        machine.write(&format!(".claude/projects/-w-shop/{id}.jsonl"), log);
    }
    let mut task = prompt(&ids[3], "p1", 1, "Find all callers of total()");
    task["isSidechain"] = json!(true);
    task["agentId"] = json!("a1b2");
    machine.write(&format!(".claude/projects/-w-shop/{}/subagents/agent-a1b2.jsonl", ids[3]), log(&[task]));
    let before = titles(&machine);
    machine.run(&["sync", "--quiet"]);
    let found: Vec<String> = titles(&machine).into_iter().map(|(_, title)| title).collect();
    assert_eq!(
        found,
        [
            "Plan: Reduce evaluation cost",
            "UC-01 log in with a code",
            "commit this",
            "Find all callers of total()"
        ]
    );
    assert_eq!(before, titles(&machine), "the same before anything is captured");
}

#[test]
fn two_logs_that_disagree_about_an_answer_are_mentioned_and_hide_no_cost() {
    let machine = Machine::empty();
    let mut smaller = answer(OLD, "a1", 1, true);
    smaller["message"]["usage"]["input_tokens"] = json!(0);
    machine
        .write(&format!(".claude/projects/-w-shop/{OLD}.jsonl"), log(&[prompt(OLD, "p1", 1, "Go"), smaller]));
    let real = answer(NEW, "a1", 30, true);
    machine
        .write(&format!(".claude/projects/-w-shop/{NEW}.jsonl"), log(&[prompt(NEW, "p2", 30, "Go"), real]));
    for args in [&["usage"][..], &["--no-sync", "usage"]] {
        let told = machine.run(args);
        assert_eq!(told.stdout.matches("≥ $0.00").count(), 2, "{}", told.all());
        let said = told.stderr.replace('\n', " ");
        assert!(said.contains("or with other figures in another log"), "{said}");
        assert!(said.contains("other figures for the same answers of 1 session."), "{said}");
        assert_eq!(machine.json(args)["totals"]["cost_complete"], false);
    }
    let victim = machine.run(&["usage", "explain", NEW]);
    assert!(victim.all().contains(&format!("repeats claude/{OLD}")), "{}", victim.all());
}
