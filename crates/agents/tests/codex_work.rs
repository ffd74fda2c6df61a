//! What Codex logs tell of the work itself: calls and how they end, tokens,
//! streams, and records that are not as they should be.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod codex_home;
mod home;

use codex_home::story::{answers, asks, calls, counts, of, records, says, story, text, turn};
use codex_home::{THREAD, codex, log, written};
use home::settled;
use retro_agents::script::Script;
use retro_model::{Kind, Origin, Outcome, ToolClass};
use serde_json::json;

#[test]
fn every_response_is_named_by_what_it_made() {
    let script = Script::parse("> Go\n? Hm.\n$ ls\n| a\n< Done.\n").unwrap();
    let threads = written(&script);
    let told = settled(codex(), &script.session, &threads[&script.session]);
    let made: Vec<_> =
        told.events.iter().filter(|event| event.kind != Kind::Usage && event.response.is_some()).collect();
    let billed: Vec<_> = of(&told, Kind::Usage).into_iter().map(|event| event.response.clone()).collect();
    assert_eq!(made.iter().map(|event| event.response.clone()).collect::<Vec<_>>(), billed);
    assert_eq!(
        made.iter().map(|event| event.kind).collect::<Vec<_>>(),
        [Kind::Reasoning, Kind::ToolCall, Kind::Assistant]
    );
}

#[test]
fn a_response_has_the_tier_that_was_set_before_it() {
    let applied = |payload: serde_json::Value| {
        let mut event = payload;
        event["type"] = json!("thread_settings_applied");
        json!({ "event": event })
    };
    let set = |tier: serde_json::Value| {
        applied(json!({ "thread_id": THREAD, "thread_settings": { "model": "m", "service_tier": tier } }))
    };
    let told = story([
        vec![turn("u1")],
        asks("Go").to_vec(),
        vec![counts(10, 10)],
        vec![set(json!("priority")), turn("u2"), counts(15, 5)],
        // Another thread's settings, as a review has them, are not this one's.
        vec![
            applied(json!({ "thread_id": "other", "thread_settings": { "service_tier": "flex" } })),
            counts(18, 3),
        ],
        vec![turn("u3"), records("r1", 7)],
        vec![applied(json!({ "service_tier": "fast" })), counts(20, 2), records("r2", 8)],
        vec![set(json!("default")), records("r3", 9)],
        vec![set(json!("flex")), turn("u4"), counts(29, 9)],
        // All settings are told each time: without a tier it is the standard one.
        vec![applied(json!({ "thread_settings": { "model": "m" } })), records("r4", 9)],
        vec![json!({ "type": "token_usage_record", "payload": { "thread_id": THREAD, "response_id": "r5",
            "usage": { "input_tokens": 4, "output_tokens": 1 }, "service_tier": "priority" } })],
    ]);
    let tiers: Vec<_> = of(&told, Kind::Usage)
        .into_iter()
        .map(|event| event.usage.as_ref().unwrap().tier.as_deref().unwrap_or("-"))
        .collect();
    assert_eq!(tiers, ["-", "priority", "priority", "priority", "priority", "-", "flex", "-", "priority"]);
}

#[test]
fn tokens_are_counted_once_a_response() {
    let told = story([
        vec![turn("u1")],
        asks("Go").to_vec(),
        // Only rate limits; a response; told again at the next round; after a compaction; nothing used.
        vec![json!({ "event": { "type": "token_count", "info": null } })],
        vec![counts(10, 10), counts(10, 10), counts(15, 5)],
        vec![json!({ "event": { "type": "token_count", "info": {
            "total_token_usage": { "input_tokens": 15, "total_tokens": 30 }, "last_token_usage": { "input_tokens": 0, "total_tokens": 900 } } } })],
        // A turn with records: its counts only repeat them, and come later.
        vec![turn("u2"), records("resp1", 7), counts(22, 7), records("resp1", 7)],
        // A resume of 0.42 starts the sums at zero.
        vec![turn("u3"), counts(3, 3)],
    ]);
    let billed: Vec<_> = of(&told, Kind::Usage)
        .into_iter()
        .map(|event| (event.response.clone().unwrap(), event.usage.as_ref().unwrap().tokens.input))
        .collect();
    let key = |rest: &str| format!("codex:{THREAD}:{rest}");
    assert_eq!(billed, [(key("u1:1"), 9), (key("u1:2"), 4), ("codex:resp1".to_owned(), 7), (key("u3:1"), 2)]);
}

#[test]
fn tokens_belong_to_the_model_of_the_turn() {
    let context = |model: &str| json!({ "type": "turn_context", "payload": { "cwd": "/w", "model": model } });
    let told = story([
        vec![context("model-a")],
        asks("Go").to_vec(),
        vec![counts(10, 10), context("model-a"), context("model-b"), counts(15, 5)],
    ]);
    let models: Vec<_> =
        of(&told, Kind::Usage).into_iter().map(|event| event.model.clone().unwrap()).collect();
    assert_eq!(models, ["model-a", "model-b"]);
    assert_eq!(of(&told, Kind::Model).len(), 2);
    assert_eq!(told.facts.models.len(), 2);
}

#[test]
fn a_script_has_the_commands_that_ran_in_it() {
    let ran = |id: &str, code: i64| {
        json!({ "done": { "type": "CommandExecution", "id": id, "command": ["bash", "-lc", "make"],
        "cwd": "file:///w/a%20b", "exit_code": code, "status": if code == 0 { "completed" } else { "failed" }, "source": "unified_exec_startup",
        "duration": { "secs": 1, "nanos": 5_000_000 } } })
    };
    let done = |id: &str, first: &str| {
        json!({ "item": { "type": "custom_tool_call_output", "call_id": id,
        "output": [{ "type": "input_text", "text": first }, { "type": "input_text", "text": "0" }] } })
    };
    let told = story([
        asks("Go").to_vec(),
        vec![
            json!({ "item": { "type": "custom_tool_call", "name": "exec", "input": "tools.exec_command({})", "call_id": "c1" } }),
        ],
        vec![ran("exec-1", 1), done("c1", "Script running with cell ID 7\nWall time 9.0 seconds\nOutput:\n")],
        vec![calls("c2", "wait", json!({ "cell_id": "7" })), ran("exec-2", 0)],
        vec![done("c2", "Script completed\nWall time 1.0 seconds\nOutput:\n")],
    ]);
    let nested: Vec<_> = told
        .events
        .iter()
        .filter_map(|event| event.tool.as_ref())
        .map(|call| (call.call_id.as_str(), call.parent_call.as_deref(), call.class))
        .collect();
    assert_eq!(
        nested,
        [
            ("c1", None, ToolClass::Shell),
            ("exec-1", Some("c1"), ToolClass::Shell),
            ("c2", Some("c1"), ToolClass::Shell),
            ("exec-2", Some("c1"), ToolClass::Shell),
        ]
    );
    let first = told
        .events
        .iter()
        .find(|event| event.result.as_ref().is_some_and(|result| result.call_id == "c1"))
        .unwrap();
    assert_eq!(first.result.as_ref().unwrap().outcome, Outcome::Ok);
    let inner = told
        .events
        .iter()
        .find(|event| event.result.as_ref().is_some_and(|result| result.call_id == "exec-1"))
        .unwrap();
    let inner = inner.result.as_ref().unwrap();
    assert_eq!((inner.outcome, inner.exit_code, inner.duration_ms), (Outcome::Failed, Some(1), Some(1005)));
    let cwd = told
        .events
        .iter()
        .find_map(|event| event.tool.as_ref().filter(|call| call.call_id == "exec-1")?.cwd.clone());
    assert_eq!(cwd.unwrap().as_str(), "/w/a b");
}

#[test]
fn a_command_that_is_polled_ends_with_its_first_call() {
    let told = story([
        asks("Go").to_vec(),
        vec![calls("c1", "exec_command", json!({ "cmd": "make" }))],
        vec![answers(
            "c1",
            "Chunk ID: a\nWall time: 0.5 seconds\nProcess running with session ID 9\nOutput:\n",
        )],
        vec![calls("c2", "write_stdin", json!({ "session_id": 9, "chars": "" }))],
        vec![answers(
            "c2",
            "Chunk ID: b\nWall time: 5 seconds\nProcess running with session ID 9\nOutput:\n",
        )],
        vec![calls("c3", "write_stdin", json!({ "session_id": 9, "chars": "y\n" }))],
        vec![answers("c3", "Chunk ID: c\nWall time: 1 seconds\nProcess exited with code 3\nOutput:\nno\n")],
        // Another command that nobody waited for.
        vec![calls("c4", "exec_command", json!({ "cmd": "sleep 9" }))],
        vec![answers(
            "c4",
            "Chunk ID: d\nWall time: 0.5 seconds\nProcess running with session ID 10\nOutput:\n",
        )],
    ]);
    let ended: Vec<_> = told
        .events
        .iter()
        .filter_map(|event| event.result.as_ref())
        .map(|result| (result.outcome, result.exit_code))
        .collect();
    assert_eq!(
        ended,
        [
            (Outcome::Failed, Some(3)),
            (Outcome::Unknown, None),
            (Outcome::Failed, Some(3)),
            (Outcome::Unknown, None)
        ]
    );
    let polls: Vec<_> =
        told.events.iter().filter_map(|event| event.tool.as_ref()?.parent_call.as_deref()).collect();
    assert_eq!(polls, ["c1", "c1"]);
}

#[test]
fn a_turn_that_is_cut_off_is_interrupted_once() {
    let cut = story([
        asks("Go").to_vec(),
        vec![
            calls("c1", "exec_command", json!({ "cmd": "a" })),
            calls("c2", "exec_command", json!({ "cmd": "b" })),
        ],
        vec![answers("c1", "aborted by user after 1.0s"), answers("c2", "aborted by user after 1.0s")],
        vec![json!({ "event": { "type": "turn_aborted", "reason": "interrupted" } })],
        // What the program killed is told after the turn (0.166).
        vec![
            json!({ "done": { "type": "CommandExecution", "id": "c1", "command": ["bash", "-lc", "a"], "exit_code": -1, "status": "failed" } }),
        ],
    ]);
    assert_eq!(of(&cut, Kind::Interruption).len(), 1);
    let ended: Vec<_> = cut
        .events
        .iter()
        .filter_map(|event| event.result.as_ref())
        .map(|result| (result.outcome, result.exit_code))
        .collect();
    assert_eq!(ended, [(Outcome::Interrupted, None), (Outcome::Interrupted, None)]);
    // 0.80 tells it nowhere else.
    let silent = story([
        asks("Go").to_vec(),
        vec![
            calls("c1", "shell_command", json!({ "command": "a" })),
            answers("c1", "Wall time: 1.0 seconds\naborted by user"),
        ],
        asks("Go on").to_vec(),
    ]);
    assert_eq!(of(&silent, Kind::Interruption).len(), 1);
}

#[test]
fn a_rule_that_refuses_a_command_is_a_denial_and_a_failure_is_none() {
    let told = story([vec![
        calls("c1", "exec_command", json!({ "cmd": "git push -f" })),
        answers(
            "c1",
            "exec_command failed: CreateProcess { message: \"Rejected(\\\"`git push -f` rejected: no\\\")\" }",
        ),
        calls("c2", "shell", json!({ "command": ["bash", "-lc", "make"] })),
        answers(
            "c2",
            "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: x, stderr: ",
        ),
    ]]);
    assert_eq!(of(&told, Kind::Denial).len(), 1);
    let ended: Vec<_> =
        told.events.iter().filter_map(|event| event.result.as_ref()).map(|result| result.outcome).collect();
    assert_eq!(ended, [Outcome::Denied, Outcome::Failed]);
}

#[test]
fn outputs_join_their_calls_in_any_order() {
    let ok = |text: &str| format!("Exit code: 0\nWall time: 0 seconds\nOutput:\n{text}");
    let told = story([vec![
        calls("c1", "shell_command", json!({ "command": "one" })),
        calls("c2", "shell_command", json!({ "command": "two" })),
        answers("c2", &ok("Exit code: 1\nProcess exited with code 9")),
        answers("c1", &ok("1")),
    ]]);
    let joined: Vec<_> = of(&told, Kind::ToolResult)
        .into_iter()
        .map(|event| (event.result.as_ref().unwrap().exit_code, event.parent.as_ref().unwrap().record))
        .collect();
    assert_eq!(joined, [(Some(0), 3), (Some(0), 2)]);
}

#[test]
fn only_the_program_knows_that_a_server_failed() {
    let told = story([vec![
        json!({ "item": { "type": "function_call", "name": "get", "namespace": "mcp__t", "arguments": "{}", "call_id": "c1" } }),
        json!({ "done": { "type": "McpToolCall", "id": "c1", "server": "t", "tool": "get", "status": "failed", "result": { "isError": true } } }),
        json!({ "item": { "type": "function_call_output", "call_id": "c1", "output": [{ "type": "input_text", "text": "Wall time: 0.1 seconds\nOutput:" }, { "type": "input_text", "text": "no such ticket" }] } }),
    ]]);
    let result = of(&told, Kind::ToolResult)[0];
    assert_eq!(
        (result.result.as_ref().unwrap().outcome, result.origin, text(result)),
        (Outcome::Failed, Origin::External, "no such ticket")
    );
    assert_eq!(of(&told, Kind::ToolCall)[0].tool.as_ref().unwrap().name, "mcp__t__get");
}

#[test]
fn a_refused_patch_changes_nothing() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-x\n+y\n*** End Patch\n";
    let asks_for = |id: &str| json!({ "item": { "type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": id } });
    let got = |id: &str, output: &str| json!({ "item": { "type": "custom_tool_call_output", "call_id": id, "output": output } });
    let told = story([vec![
        asks_for("c1"),
        got("c1", "apply_patch verification failed: Failed to find expected lines in /w/a.rs"),
        asks_for("c2"),
        json!({ "event": { "type": "patch_apply_end", "call_id": "c2", "success": true, "changes": { "/w/a.rs": { "type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n" } } } }),
        got("c2", "Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess."),
        asks_for("c3"),
        got("c3", "{\"output\":\"Success.\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.0}}"),
    ]]);
    let changed: Vec<Vec<&str>> = told
        .events
        .iter()
        .filter_map(|event| event.result.as_ref())
        .map(|result| result.edits.iter().map(|edit| edit.path.as_str()).collect())
        .collect();
    assert_eq!(changed, [vec![], vec!["/w/a.rs"], vec!["a.rs"]]);
}

#[test]
fn the_stream_of_an_ephemeral_run_is_a_session() {
    let told = settled(
        codex(),
        "t1",
        &[log(
            "exec",
            vec![
                json!({ "type": "thread.started", "thread_id": "t1" }),
                json!({ "type": "item.completed", "item": { "id": "item_0", "type": "command_execution", "command": "ls", "aggregated_output": "a", "exit_code": 2, "status": "failed" } }),
                json!({ "type": "item.completed", "item": { "id": "item_1", "type": "agent_message", "text": "Done." } }),
                json!({ "type": "turn.completed", "usage": { "input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 2 } }),
                json!({ "type": "turn.completed", "usage": { "input_tokens": 15, "cached_input_tokens": 6, "output_tokens": 3 } }),
            ],
        )],
    );
    let kinds: Vec<_> = told.events.iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [Kind::Session, Kind::ToolCall, Kind::ToolResult, Kind::Assistant, Kind::Usage, Kind::Usage]
    );
    let used: Vec<_> = of(&told, Kind::Usage)
        .into_iter()
        .map(|event| event.usage.as_ref().unwrap())
        .map(|u| (u.tokens.input, u.tokens.cache_read, u.tokens.output))
        .collect();
    assert_eq!(used, [(6, 4, 2), (3, 2, 1)]);
    assert_eq!(told.events[2].result.as_ref().unwrap().exit_code, Some(2));
}

#[test]
fn wrong_types_in_known_fields_are_read_as_far_as_they_go() {
    let told = story([vec![
        json!({ "item": { "type": "message", "role": "user", "content": "just a text" } }),
        json!({ "event": { "type": "user_message", "message": 5 } }),
        json!({ "item": { "type": "message", "role": 7 } }),
        json!({ "item": { "type": "function_call", "name": null, "arguments": "not json", "call_id": 5 } }),
        json!({ "item": { "type": "function_call_output", "call_id": "c9", "output": 12 } }),
        json!({ "event": { "type": "token_count", "info": { "last_token_usage": { "input_tokens": "12", "output_tokens": 3 } } } }),
        json!({ "event": { "type": "item_completed", "item": "x" } }),
        json!({ "type": "session_meta", "payload": { "id": 5 } }),
        json!({ "type": "event_msg", "payload": null }),
        json!({ "type": "response_item", "payload": [1] }),
    ]]);
    assert_eq!(told.coverage.records, 11);
    assert_eq!(told.coverage.malformed, 0);
    assert!(of(&told, Kind::Unknown).len() >= 4);
    assert_eq!(of(&told, Kind::Usage)[0].usage.as_ref().unwrap().tokens.output, 3);
}

/// Letters and digits without a pattern, the same in every run.
fn drawn_letters(seed: u64) -> impl Iterator<Item = char> {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        letters[(state % letters.len() as u64) as usize]
    })
    .take(24)
}

#[test]
fn secrets_are_gone_from_everything_that_is_told() {
    // Drawn, not patterned: what looks made up is no secret.
    let drawn = drawn_letters(7).chain(drawn_letters(11)).take(36);
    let secret: String = ["gh", "p_"].concat().chars().chain(drawn).collect();
    let told = story([
        asks(&format!("Use {secret}")).to_vec(),
        vec![calls("c1", "exec_command", json!({ "cmd": format!("curl -H 'Authorization: {secret}' x") }))],
        vec![answers("c1", &format!("Exit code: 0\nOutput:\n{secret}"))],
        vec![json!({ "event": { "type": "brand_new", "told": secret } })],
        says(&format!("It is {secret}")).to_vec(),
    ]);
    let whole = serde_json::to_string(&told.events).unwrap();
    assert!(!whole.contains(&secret) && whole.contains("[redacted:"));
}
