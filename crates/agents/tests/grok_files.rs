//! Grok's files beside the updates: what each adds to the one stream, and what
//! is told only once though several tell it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod grok_log;
mod home;

use grok_log::{
    answers, calls, ends, kinds, of_kind, prompt, read, rewritten, says, source, text, texts, thinks,
    updates, with,
};
use retro_model::{Kind, Origin, Outcome};
use serde_json::{Value, json};

fn chat_prompt(index: u64, text: &str) -> Value {
    json!({ "type": "user", "prompt_index": index, "content": [{ "type": "text", "text": format!("<user_query>\n{text}\n</user_query>") }] })
}

fn chat_says(text: &str) -> Value {
    json!({ "type": "assistant", "content": text, "model_id": "model-a" })
}

fn chat_calls(text: &str, id: &str) -> Value {
    json!({ "type": "assistant", "content": text, "tool_calls": [{ "id": id, "name": "grep", "arguments": "{\"pattern\":\"x\"}" }] })
}

fn chat_answers(id: &str, text: &str) -> Value {
    json!({ "type": "tool_result", "tool_call_id": id, "content": text })
}

fn completed(id: &str, outcome: &str) -> Value {
    json!({ "type": "tool_completed", "tool_name": "write", "duration_ms": 7, "outcome": outcome, "tool_call_id": id })
}

fn bash(exit_code: i64) -> Value {
    json!({ "type": "Bash", "exit_code": exit_code, "output_for_prompt": format!("exit: {exit_code}\n") })
}

fn outcome_of(update: Value, events: Vec<Value>) -> Outcome {
    let name = "run_terminal_command";
    let story = read(&[
        source("m", vec![prompt(0, "Go"), calls("c1", name, json!({ "command": "x" })), update]),
        source("events", events),
    ]);
    let results = of_kind(&story, Kind::ToolResult);
    assert_eq!(results.len(), 1);
    results[0].result.as_ref().unwrap().outcome
}

#[test]
fn failure_is_told_by_the_event_log_then_the_exit_code_then_the_status() {
    let done = |exit_code| answers("c1", "completed", bash(exit_code));
    let failed =
        answers("c1", "failed", json!({ "type": "ReadFile", "FileNotFound": "Error: no such file" }));
    assert_eq!(outcome_of(done(1), vec![]), Outcome::Failed);
    assert_eq!(outcome_of(done(0), vec![]), Outcome::Ok);
    assert_eq!(outcome_of(failed.clone(), vec![]), Outcome::Failed);
    assert_eq!(outcome_of(done(0), vec![completed("c1", "error")]), Outcome::Failed);
    assert_eq!(outcome_of(done(1), vec![completed("c1", "success")]), Outcome::Ok);
    assert_eq!(outcome_of(failed.clone(), vec![completed("c1", "invalid_tool")]), Outcome::Failed);
    assert_eq!(outcome_of(failed.clone(), vec![completed("c1", "permission_rejected")]), Outcome::Denied);
    assert_eq!(outcome_of(failed.clone(), vec![completed("c1", "hook_denied")]), Outcome::Denied);
    assert_eq!(outcome_of(failed.clone(), vec![completed("c1", "cancelled")]), Outcome::Interrupted);
    assert_eq!(outcome_of(failed, vec![completed("c2", "success")]), Outcome::Failed);
    let mcp = json!({ "type": "MCP", "is_error": true, "output": { "Error": "no such ticket" } });
    assert_eq!(outcome_of(answers("c1", "failed", mcp), vec![]), Outcome::Failed);
    // Only the event log knows that it ended.
    let nothing = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "kind": "execute" });
    assert_eq!(outcome_of(nothing.clone(), vec![completed("c1", "success")]), Outcome::Ok);
    assert_eq!(outcome_of(nothing, vec![]), Outcome::Interrupted);
}

#[test]
fn what_a_failed_call_would_have_changed_is_no_edit() {
    let diff = json!([{ "type": "diff", "path": "/w/a", "oldText": "x", "newText": "y" }]);
    let edit = |events| {
        let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed", "content": diff });
        let story = read(&[
            source(
                "m",
                vec![
                    calls(
                        "c1",
                        "search_replace",
                        json!({ "file_path": "/w/a", "old_string": "x", "new_string": "y" }),
                    ),
                    done,
                ],
            ),
            source("events", events),
        ]);
        of_kind(&story, Kind::ToolResult)[0].result.as_ref().unwrap().edits.len()
    };
    assert_eq!(edit(vec![completed("c1", "success")]), 1);
    assert_eq!(edit(vec![completed("c1", "error")]), 0);
}

#[test]
fn a_refusal_is_told_once() {
    let refused = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed",
        "content": [{ "type": "content", "content": { "type": "text", "text": "Tool `write` was not executed: Denied by permission policy: x" } }],
        "@": { "n": 3 } });
    let hook = json!({ "sessionUpdate": "hook_execution", "event_name": "pre_tool_use", "tool_name": "write",
        "runs": [{ "name": "h", "status": { "status": "denied" } }], "@": { "n": 2 } });
    let lines = |more: Vec<Value>| {
        let mut lines = vec![calls("c1", "write", json!({ "file_path": "/w/a" }))];
        lines.extend(more);
        source("m", lines)
    };
    let deny = json!({ "type": "permission_resolved", "tool_name": "write", "decision": "deny", "ms": 3000 });
    let denials = |sources: &[home::Source]| {
        let story = read(sources);
        let denials = of_kind(&story, Kind::Denial);
        let parents: Vec<_> =
            denials.iter().map(|event| event.parent.as_ref().map(ToString::to_string)).collect();
        (denials.len(), parents)
    };
    let by_call = (1, vec![Some("m:1".to_owned())]);
    assert_eq!(denials(&[lines(vec![refused.clone()]), source("events", vec![deny.clone()])]), by_call);
    assert_eq!(
        denials(&[
            lines(vec![hook.clone(), refused.clone()]),
            source("events", vec![deny.clone(), completed("c1", "hook_denied")])
        ]),
        by_call
    );
    // Two refusals, of which one has a result.
    assert_eq!(denials(&[lines(vec![refused]), source("events", vec![deny.clone(), deny.clone()])]).0, 2);
    assert_eq!(denials(&[lines(vec![]), source("events", vec![deny])]).0, 1);
    let rejected = read(&[lines(vec![]), source("events", vec![completed("c1", "permission_rejected")])]);
    assert_eq!(of_kind(&rejected, Kind::Denial)[0].origin, Origin::User);
    assert_eq!(of_kind(&rejected, Kind::ToolResult)[0].result.as_ref().unwrap().outcome, Outcome::Denied);
}

#[test]
fn a_background_command_ends_when_its_task_does() {
    let started = answers(
        "c1",
        "completed",
        json!({ "type": "BackgroundTaskStarted", "task_id": "k1", "summary": "started", "output_file": "/t/c1.log" }),
    );
    let ended = |exit_code: i64| {
        json!({ "sessionUpdate": "task_completed", "task_snapshot": { "task_id": "k1", "exit_code": exit_code, "output": "tick\n",
        "start_time": { "secs_since_epoch": 1, "nanos_since_epoch": 0 }, "end_time": { "secs_since_epoch": 3, "nanos_since_epoch": 0 } } })
    };
    let moved = json!({ "sessionUpdate": "task_backgrounded", "tool_call_id": "c1", "task_id": "k1" });
    let call = || calls("c1", "run_terminal_command", json!({ "command": "serve", "background": true }));
    let story = read(&[
        source("m", vec![prompt(0, "Go"), call(), moved.clone(), started.clone(), ended(1)]),
        source("events", vec![completed("c1", "success")]),
    ]);
    let results: Vec<_> =
        of_kind(&story, Kind::ToolResult).into_iter().map(|event| event.result.clone().unwrap()).collect();
    assert_eq!(
        results.iter().map(|result| (result.outcome, result.exit_code)).collect::<Vec<_>>(),
        [(Outcome::Failed, Some(1)); 2]
    );
    assert_eq!((results[1].call_id.as_str(), results[1].duration_ms), ("c1", Some(2000)));
    assert_eq!(texts(&story, Kind::ToolResult), ["started", "tick\n"]);
    let running = updates(vec![prompt(0, "Go"), call(), moved, started]);
    assert_eq!(of_kind(&running, Kind::ToolResult)[0].result.as_ref().unwrap().outcome, Outcome::Unknown);
}

#[test]
fn a_sub_agent_belongs_to_the_nearest_call_before_it() {
    let spawned = |child: &str| json!({ "sessionUpdate": "subagent_spawned", "child_session_id": child, "attempt_id": child });
    let story = updates(vec![
        calls("c1", "spawn_subagent", json!({ "prompt": "a", "background": true })),
        calls("c2", "spawn_subagent", json!({ "prompt": "b" })),
        spawned("k2"),
        spawned("k1"),
        answers(
            "c2",
            "completed",
            json!({ "type": "SubagentCompleted", "subagent_id": "k2", "output": "b done" }),
        ),
    ]);
    let children: Vec<_> =
        of_kind(&story, Kind::ToolCall).into_iter().map(|event| event.child.clone()).collect();
    assert_eq!(children, [Some("k1".to_owned()), Some("k2".to_owned())]);
    assert_eq!(story.facts.links.len(), 2);
}

#[test]
fn results_from_outside_are_not_the_machines_words() {
    let origin = |name: &str| {
        let story = updates(vec![
            calls("c1", name, json!({})),
            answers("c1", "completed", json!({ "type": "MCP", "output": { "OkayOutput": "x" } })),
        ]);
        of_kind(&story, Kind::ToolResult)[0].origin
    };
    assert_eq!(origin("use_tool"), Origin::External);
    assert_eq!(origin("web_fetch"), Origin::External);
    assert_eq!(origin("ask_user_question"), Origin::User);
    assert_eq!(origin("run_terminal_command"), Origin::Tool);
}

#[test]
fn the_chat_has_the_final_words() {
    let stream = |update: Value, ms: i64| with(update, json!({ "@": { "n": ms, "streamStartMs": ms } }));
    let broken = "It sums withoutIt sums without rounding.";
    let lines = vec![
        prompt(0, "What?"),
        stream(thinks("Let me see."), 2),
        stream(says("I look."), 3),
        stream(calls("c1", "grep", json!({ "pattern": "x" })), 4),
        stream(answers("c1", "completed", json!({ "type": "GrepSearch", "stdout": [97], "stderr": [] })), 5),
        stream(says(broken), 6),
        with(ends("t1", "end_turn"), json!({ "@": { "n": 7 } })),
    ];
    // One answer: its lines tell the same beginning.
    let mut lines = lines;
    for line in &mut lines[1..4] {
        line["@"]["streamStartMs"] = json!(2);
    }
    let chat = vec![
        json!({ "type": "system", "content": "You are." }),
        chat_prompt(0, "What?"),
        json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "Let me see it." }], "encrypted_content": "AAAA" }),
        chat_calls("I will look.", "c1"),
        chat_answers("c1", "Found 1 line\na"),
        chat_says("It sums without rounding."),
    ];
    let story = read(&[source("m", lines.clone()), source("chat", chat)]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, Reasoning, Assistant, ToolCall, ToolResult, Assistant, Usage]);
    assert_eq!(texts(&story, Assistant), ["I will look.", "It sums without rounding."]);
    assert_eq!(texts(&story, Reasoning), ["Let me see it."]);
    assert_eq!(texts(&story, ToolResult), ["Found 1 line\na"]);
    assert_eq!(of_kind(&story, ToolResult)[0].result.as_ref().unwrap().bytes, 14);
    // Once a compaction took them, the updates have what is left.
    let kept = json!({ "type": "user", "content": [{ "type": "text", "text": "<user_query>\nWhat?\n</user_query>" }] });
    let story = read(&[source("m", lines), source("chat", vec![kept])]);
    assert_eq!(texts(&story, Assistant), ["I look.", broken]);
    assert_eq!(texts(&story, User), ["What?"]);
}

#[test]
fn words_after_a_compaction_are_those_of_the_turn_before_the_next_prompt() {
    let turn = |n: i64, id: &str, update: Value| {
        with(update, json!({ "@": { "n": n, "promptId": id, "streamStartMs": n } }))
    };
    let story = read(&[
        source(
            "m",
            vec![
                prompt(0, "One"),
                turn(2, "t1", says("First.")),
                ends("t1", "end_turn"),
                prompt(1, "Two"),
                json!({ "sessionUpdate": "auto_compact_completed", "tokens_before": 9, "tokens_after": 1, "elapsed_ms": 4 }),
                turn(6, "t2", says("SeSecond.")),
                ends("t2", "end_turn"),
                prompt(2, "Three"),
                turn(9, "t3", says("Third.")),
            ],
        ),
        source(
            "chat",
            vec![
                json!({ "type": "user", "content": [{ "type": "text", "text": "<user_query>\nTwo\n</user_query>" }] }),
                json!({ "type": "user", "synthetic_reason": "compaction_meta", "content": [{ "type": "text", "text": "This session is being continued from a previous conversation. One was done." }] }),
                chat_says("Second."),
                chat_prompt(2, "Three"),
                chat_says("Third."),
            ],
        ),
    ]);
    assert_eq!(texts(&story, Kind::Assistant), ["First.", "Second.", "Third."]);
    assert_eq!(texts(&story, Kind::User), ["One", "Two", "Three"]);
    assert!(text(of_kind(&story, Kind::Compaction)[0]).ends_with("One was done."));
}

#[test]
fn a_history_that_was_rewritten_tells_nothing_twice() {
    let turn = |n: i64, id: &str, update: Value| {
        with(update, json!({ "@": { "n": n, "promptId": id, "streamStartMs": n } }))
    };
    let lines = vec![
        prompt(0, "One"),
        turn(2, "t1", says("First.")),
        ends("t1", "end_turn"),
        prompt(1, "Two"),
        turn(5, "t2", says("SeSecond.")),
        ends("t2", "end_turn"),
        json!({ "sessionUpdate": "rewind_marker", "target_prompt_index": 1 }),
        prompt(1, "Other two"),
        turn(9, "t3", says("OtherOther second.")),
        ends("t3", "end_turn"),
    ];
    let system = json!({ "type": "system", "content": "You are." });
    let before = vec![
        system.clone(),
        chat_prompt(0, "One"),
        chat_says("First."),
        chat_prompt(1, "Two"),
        chat_says("Second."),
    ];
    let after = vec![
        system,
        chat_prompt(0, "One"),
        chat_says("First."),
        chat_prompt(1, "Other two"),
        chat_says("Other second."),
    ];
    let story = read(&[source("m", lines), source("chat", before), rewritten(2, source("chat", after))]);
    assert_eq!(texts(&story, Kind::User), ["One", "Two", "Other two"]);
    assert_eq!(texts(&story, Kind::Assistant), ["First.", "Second.", "Other second."]);
    assert!(home::adds_up(&story.coverage));
    assert_eq!(story.events.iter().filter(|event| event.id.source.as_str() == "chat").count(), 0);
}

#[test]
fn updates_that_were_rewritten_tell_nothing_twice() {
    let lines = || vec![prompt(0, "One"), says("First."), calls("c1", "grep", json!({}))];
    let mut longer = lines();
    longer.extend([answers("c1", "completed", json!({})), ends("t1", "end_turn")]);
    let story = read(&[source("m", lines()), rewritten(2, source("m", longer))]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, Assistant, ToolCall, ToolResult, Usage]);
    assert_eq!(of_kind(&story, ToolCall)[0].id.to_string(), "m:3");
    assert_eq!(of_kind(&story, ToolResult)[0].id.to_string(), "m~2:4");
}

#[test]
fn a_chat_alone_is_a_session() {
    let story = read(&[source(
        "chat",
        vec![
            json!({ "type": "system", "content": "You are." }),
            chat_prompt(0, "One"),
            json!({ "type": "reasoning", "summary": [], "encrypted_content": "AAAA" }),
            chat_calls("I look.", "c1"),
            chat_answers("c1", "exit: 3\nno"),
            chat_says("Done."),
            chat_prompt(1, "Two"),
        ],
    )]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, Reasoning, Assistant, ToolCall, ToolResult, Assistant, User]);
    assert_eq!(story.events.iter().map(|event| event.turn).collect::<Vec<_>>(), [1, 1, 1, 1, 1, 1, 2]);
    let result = of_kind(&story, ToolResult)[0].result.as_ref().unwrap();
    assert_eq!((result.outcome, result.exit_code), (Outcome::Failed, Some(3)));
    assert!(story.events.iter().all(|event| event.ts.is_none()));
}

#[test]
fn messages_of_the_older_history_are_read_alike() {
    let story = read(&[source(
        "chat",
        vec![
            json!({ "role": "system", "content": "You are." }),
            json!({ "role": "user", "content": "<user_query>\nOne\n</user_query>" }),
            json!({ "role": "assistant", "content": "I look.", "tool_calls": [{ "id": "c1", "type": "function",
            "function": { "name": "read_file", "arguments": "{\"target_file\":\"/w/a\"}" } }] }),
            json!({ "role": "tool", "tool_call_id": "c1", "content": "x" }),
            json!({ "role": "assistant", "content": "Done." }),
        ],
    )]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, Assistant, ToolCall, ToolResult, Assistant]);
    assert_eq!(of_kind(&story, ToolCall)[0].tool.as_ref().unwrap().paths[0].path.as_str(), "/w/a");
    assert_eq!(texts(&story, User), ["One"]);
}

#[test]
fn what_only_the_chat_has_stands_where_it_was_said() {
    let story = read(&[
        source(
            "m",
            vec![
                prompt(0, "One"),
                calls("c1", "grep", json!({})),
                answers("c1", "completed", json!({})),
                ends("t1", "end_turn"),
                prompt(1, "Two"),
            ],
        ),
        source(
            "chat",
            vec![
                chat_prompt(0, "One"),
                chat_calls("Never streamed.", "c1"),
                chat_answers("c1", "x"),
                chat_says("Nor this."),
                chat_prompt(1, "Two"),
            ],
        ),
    ]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, Assistant, ToolCall, ToolResult, Assistant, Usage, User, Interruption]);
    assert_eq!(texts(&story, Assistant), ["Never streamed.", "Nor this."]);
}

#[test]
fn ends_that_only_the_event_log_tells_are_told() {
    let began = |turn: u64, ms: i64| json!({ "type": "turn_started", "session_id": "s1", "turn_number": turn, "model_id": "model-a", "ms": ms });
    let over = |outcome: &str, ms: i64| json!({ "type": "turn_ended", "outcome": outcome, "ms": ms });
    let kinds_of = |lines: Vec<Value>, events: Vec<Value>| {
        let story = read(&[source("m", lines), source("events", events)]);
        let of = |kind| of_kind(&story, kind).len();
        (of(Kind::Interruption), of(Kind::Error), of(Kind::Model))
    };
    let asked = || vec![prompt(0, "Go"), says("I look.")];
    let and = |mut lines: Vec<Value>, more: Value| {
        lines.push(more);
        lines
    };
    assert_eq!(kinds_of(asked(), vec![began(0, 1001), over("cancelled", 2500)]), (1, 0, 1));
    assert_eq!(kinds_of(asked(), vec![began(0, 1001), over("error", 2500)]), (0, 1, 1));
    assert_eq!(kinds_of(asked(), vec![began(0, 1001), over("completed", 2500)]), (0, 0, 1));
    assert_eq!(kinds_of(asked(), vec![began(0, 1001)]), (1, 0, 1));
    assert_eq!(
        kinds_of(and(asked(), ends("t1", "cancelled")), vec![began(0, 1001), over("cancelled", 2500)]),
        (1, 0, 1)
    );
    // The model of a turn is told when it changes, and once.
    let switched = json!({ "sessionUpdate": "model_changed", "model_id": "model-a", "@": { "n": 1 } });
    let mut lines = vec![switched];
    lines.extend([with(prompt(0, "Go"), json!({ "@": { "n": 2 } })), ends("t1", "end_turn")]);
    assert_eq!(kinds_of(lines, vec![began(0, 2000), began(1, 60_000)]), (0, 0, 1));
}
