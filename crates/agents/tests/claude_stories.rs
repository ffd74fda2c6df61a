//! Claude Code, told in stories: what the log shows, and what came of it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod home;

use home::{log, parse, settled, written};
use retro_agents::script::Script;
use retro_agents::{Agent, Settled, by_name, settle};
use retro_model::{
    EditKind, Event, Exactness, GapReason, Kind, LinkKind, Origin, Outcome, SessionKey, ToolClass,
};
use serde_json::{Value, json};

fn claude() -> &'static dyn Agent {
    by_name("claude").unwrap()
}

/// A script, written as the program would and read again.
fn told(script: &str) -> Settled {
    let script = Script::parse(script).unwrap();
    settled(claude(), &script.session, &written(claude(), &script))
}

/// Records of a main log, read.
fn read(records: Vec<Value>) -> Settled {
    settled(claude(), "s1", &[log(claude(), "m", records)])
}

fn kinds(settled: &Settled) -> Vec<Kind> {
    settled.events.iter().map(|event| event.kind).collect()
}

fn of_kind(settled: &Settled, kind: Kind) -> Vec<&Event> {
    settled.events.iter().filter(|event| event.kind == kind).collect()
}

fn text(event: &Event) -> &str {
    event.text.as_ref().map_or("", |text| text.as_str())
}

fn user(content: impl Into<Value>) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": content.into() } })
}

fn assistant(id: &str, block: Value) -> Value {
    json!({ "type": "assistant", "message": { "id": id, "model": "model-a", "content": [block] } })
}

fn says(id: &str, text: &str) -> Value {
    assistant(id, json!({ "type": "text", "text": text }))
}

fn calls(id: &str, call: &str, name: &str, input: Value) -> Value {
    assistant(id, json!({ "type": "tool_use", "id": call, "name": name, "input": input }))
}

fn answers(call: &str, content: &str, is_error: bool) -> Value {
    user(json!([{ "type": "tool_result", "tool_use_id": call, "content": content, "is_error": is_error }]))
}

/// The same record with more fields.
fn with(mut record: Value, fields: Value) -> Value {
    record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    record
}

fn usage(mut record: Value, output: u64, stop_reason: Option<&str>) -> Value {
    record["message"]["usage"] = json!({ "input_tokens": 10, "output_tokens": output });
    record["message"]["stop_reason"] = json!(stop_reason);
    record
}

const REJECTED: &str =
    "The user doesn't want to proceed with this tool use. The tool use was rejected. STOP.";
const CUT: &str = "[Request interrupted by user for tool use]";

#[test]
fn a_failing_test_is_fixed() {
    let story = told(
        "@ title Steady tests\n> Fix the flaky test\n? A race, perhaps.\n$ cargo test\n| 1 failed\n! 101\n~ src/clock.rs\n- a\n- b\n+ c\n$ cargo test\n| ok\n< Done.",
    );
    let results = of_kind(&story, Kind::ToolResult);
    let outcomes: Vec<_> = results
        .iter()
        .map(|event| {
            let result = event.result.as_ref().unwrap();
            (result.outcome, result.exit_code)
        })
        .collect();
    assert_eq!(outcomes, [(Outcome::Failed, Some(101)), (Outcome::Ok, None), (Outcome::Ok, Some(0))]);
    let edit = &results[1].result.as_ref().unwrap().edits[0];
    assert_eq!(
        (edit.path.as_str(), edit.added, edit.removed),
        ("/home/dev/shop/src/clock.rs", Some(1), Some(2))
    );
    assert_eq!(
        of_kind(&story, Kind::ToolCall)[0].tool.as_ref().unwrap().command.as_ref().unwrap().as_str(),
        "cargo test"
    );
    assert_eq!(of_kind(&story, Kind::Usage).len(), 5);
    assert_eq!(story.facts.own_title().unwrap().text.as_str(), "Steady tests");
    assert_eq!(story.facts.cwd.as_ref().unwrap().1.as_str(), "/home/dev/shop");
    assert!(story.events.iter().filter(|event| event.turn == 1).count() > 10);
    assert!(story.gaps.is_empty());
}

#[test]
fn a_sub_agent_is_a_thread_of_its_own_that_hangs_on_its_call() {
    let story =
        told("> Look around\n& Find callers\n.   $ grep port\n.   | a.rs\n.   < Two callers.\n< Two.");
    let call = of_kind(&story, Kind::ToolCall)[0];
    let child = call.child.clone().unwrap();
    assert_eq!(call.tool.as_ref().unwrap().class, ToolClass::Subagent);
    let inner: Vec<_> = story.events.iter().filter(|event| event.thread.as_str() == child).collect();
    let task = inner.iter().find(|event| event.kind == Kind::User).unwrap();
    assert_eq!((task.origin, task.parent.as_ref(), task.turn), (Origin::Agent, Some(&call.id), 1));
    assert_eq!(of_kind(&story, Kind::Subagent).len(), 1, "the meta file only repeats what the result says");
    assert_eq!(of_kind(&story, Kind::Subagent)[0].child.as_ref(), Some(&child));
    assert_eq!(of_kind(&story, Kind::User).iter().filter(|event| event.origin == Origin::User).count(), 1);
}

#[test]
fn a_command_is_cut_off_and_an_answer_too() {
    let story = told("> Run it\n$ make\n^\n> Explain\n< Well, it\n^");
    let result = of_kind(&story, Kind::ToolResult)[0].result.as_ref().unwrap();
    assert_eq!(result.outcome, Outcome::Interrupted);
    assert_eq!(of_kind(&story, Kind::Interruption).len(), 2);
    assert!(of_kind(&story, Kind::Denial).is_empty());
    let exactness: Vec<_> =
        of_kind(&story, Kind::Usage).iter().map(|event| event.usage.as_ref().unwrap().exactness).collect();
    assert_eq!(exactness, [Exactness::Exact, Exactness::LowerBound]);
}

#[test]
fn a_compaction_is_one_event_with_the_summary_and_what_the_boundary_said() {
    let story = told("> Split the module\n< Done.\n= The module is split.\n> Go on\n< On it.");
    let compactions = of_kind(&story, Kind::Compaction);
    assert_eq!(compactions.len(), 1);
    assert!(text(compactions[0]).ends_with("The module is split."));
    assert_eq!(compactions[0].data.as_ref().unwrap()["trigger"], "manual");
    assert!(compactions[0].parent.is_some());
}

#[test]
fn a_growing_response_counts_once_with_its_largest_line() {
    let story = read(vec![
        user("Hi"),
        usage(says("msg-1", "One "), 2, None),
        usage(says("msg-1", "two "), 500, Some("end_turn")),
        usage(says("msg-1", "three."), 500, None),
    ]);
    let rows = of_kind(&story, Kind::Usage);
    assert_eq!(rows.len(), 1);
    let counted = rows[0].usage.as_ref().unwrap();
    assert_eq!((counted.tokens.output, counted.exactness), (500, Exactness::Exact));
    assert_eq!(rows[0].id.to_string(), "m:2.usage");
    assert_eq!(rows[0].response.as_deref(), Some("claude:msg-1"));
    let unfinished = read(vec![usage(says("msg-1", "One"), 2, None)]);
    assert_eq!(of_kind(&unfinished, Kind::Usage)[0].usage.as_ref().unwrap().exactness, Exactness::LowerBound);
}

#[test]
fn words_typed_beside_a_result_are_the_users() {
    let story = read(vec![
        calls("msg-1", "c1", "Bash", json!({ "command": "ls" })),
        user(json!([
            { "type": "tool_result", "tool_use_id": "c1", "content": "a.rs" },
            { "type": "text", "text": "and keep the order" },
        ])),
    ]);
    let kinds: Vec<_> =
        story.events.iter().filter(|event| event.id.record == 2).map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::ToolResult, Kind::User]);
    let prompt = of_kind(&story, Kind::User)[0];
    assert_eq!((prompt.id.to_string().as_str(), prompt.origin), ("m:2.1", Origin::User));
}

#[test]
fn one_prompt_in_two_blocks_is_one_utterance_without_the_editors_words() {
    let story = read(vec![user(json!([
        { "type": "text", "text": "<ide_selection>fn parse</ide_selection>" },
        { "type": "text", "text": "Fix this" },
        { "type": "text", "text": "and test it" },
    ]))]);
    let prompts = of_kind(&story, Kind::User);
    assert_eq!(prompts.len(), 1);
    assert_eq!(text(prompts[0]), "Fix this\nand test it");
    assert_eq!(of_kind(&story, Kind::Attachment)[0].origin, Origin::Harness);
}

#[test]
fn what_the_program_says_in_the_users_name_is_not_the_users() {
    let story = read(vec![
        user("Stop hook feedback:\n- Lint first."),
        user("<session-start-hook>Prefer small files.</session-start-hook>"),
        with(user("Anything at all"), json!({ "isMeta": true })),
        with(user("1. Split the file"), json!({ "planContent": "1. Split the file" })),
        with(user("Wake up"), json!({ "promptSource": "system", "origin": { "kind": "scheduled" } })),
        user("handler for the keyboard interrupt"),
    ]);
    let prompts = of_kind(&story, Kind::User);
    assert_eq!(
        prompts.iter().map(|event| text(event)).collect::<Vec<_>>(),
        ["handler for the keyboard interrupt"]
    );
    assert_eq!(of_kind(&story, Kind::Plan).len(), 1);
    // The plan that a person accepted is what the session was asked.
    assert_eq!(story.facts.title_prompt.as_ref().unwrap().1.as_str(), "1. Split the file");
}

#[test]
fn words_inside_a_refusal_are_kept_with_the_denial() {
    let said = format!("{REJECTED} To tell you how to proceed, the user said:\nuse sed instead");
    let story = read(vec![
        calls("msg-1", "c1", "Bash", json!({ "command": "perl -pi" })),
        answers("c1", &said, true),
        says("msg-2", "With sed then."),
    ]);
    let denial = of_kind(&story, Kind::Denial)[0];
    assert_eq!((text(denial), denial.origin), ("use sed instead", Origin::User));
    assert_eq!(of_kind(&story, Kind::ToolResult)[0].result.as_ref().unwrap().outcome, Outcome::Denied);
}

#[test]
fn a_refused_call_is_no_interruption_but_a_cut_one_is() {
    let call = calls("msg-1", "c1", "Bash", json!({ "command": "make" }));
    let flagged = with(
        answers("c1", REJECTED, true),
        json!({ "toolDenialKind": "user-rejected", "toolUseResult": "User rejected tool use" }),
    );
    let story = |marker: Value, result: &Value| {
        let story = read(vec![
            call.clone(),
            result.clone(),
            with(user(json!([{ "type": "text", "text": CUT }])), marker),
        ]);
        let outcome = of_kind(&story, Kind::ToolResult)[0].result.as_ref().unwrap().outcome;
        (outcome, of_kind(&story, Kind::Denial).len(), of_kind(&story, Kind::Interruption).len())
    };
    assert_eq!(story(json!({ "entrypoint": "cli" }), &flagged), (Outcome::Denied, 1, 0));
    let marked = json!({ "entrypoint": "cli", "interruptedMessageId": "msg-1" });
    assert_eq!(story(marked, &flagged), (Outcome::Interrupted, 0, 1));
    assert_eq!(story(json!({ "entrypoint": "sdk-cli" }), &flagged), (Outcome::Interrupted, 0, 1));
    // Before 2.1.205 nothing tells which it was: both are shown.
    assert_eq!(story(json!({}), &answers("c1", REJECTED, true)), (Outcome::Denied, 1, 1));
}

#[test]
fn a_call_that_a_sibling_stopped_neither_failed_nor_was_refused() {
    let story = read(vec![
        calls("msg-1", "c1", "Bash", json!({ "command": "make" })),
        answers("c1", "<tool_use_error>Sibling tool call errored</tool_use_error>", true),
    ]);
    assert_eq!(of_kind(&story, Kind::ToolResult)[0].result.as_ref().unwrap().outcome, Outcome::Unknown);
    assert!(of_kind(&story, Kind::Denial).is_empty());
}

#[test]
fn a_background_command_ends_with_its_notification() {
    let launch = with(
        answers("c1", "Command running in background with ID: b1", false),
        json!({ "toolUseResult": { "stdout": "", "backgroundTaskId": "b1" } }),
    );
    let call = calls("msg-1", "c1", "Bash", json!({ "command": "make", "run_in_background": true }));
    let running = read(vec![user("Build"), call.clone(), launch.clone()]);
    let result = |story: &Settled| {
        let result = of_kind(story, Kind::ToolResult)[0].result.clone().unwrap();
        (result.outcome, result.exit_code)
    };
    assert_eq!(result(&running), (Outcome::Unknown, None));
    let notice = "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>c1</tool-use-id>\n<status>failed</status>\n<summary>Background command \"make\" failed with exit code 2</summary>\n</task-notification>";
    let ended = read(vec![user("Build"), call, launch, user(notice)]);
    assert_eq!(result(&ended), (Outcome::Failed, Some(2)));
    assert_eq!(ended.events.last().unwrap().turn, 2, "the notification starts a turn");
    assert_eq!(of_kind(&ended, Kind::User).len(), 1);
}

#[test]
fn a_side_chain_in_the_main_log_is_a_thread_and_its_words_find_its_call() {
    let side = |record: Value, uuid: &str, above: Value| {
        with(record, json!({ "isSidechain": true, "uuid": uuid, "parentUuid": above }))
    };
    let story = read(vec![
        user("Ports?"),
        calls("msg-1", "c1", "Task", json!({ "prompt": "Name the open ports" })),
        side(user("Name the open ports"), "x1", Value::Null),
        side(says("msg-2", "Two."), "x2", json!("x1")),
        with(answers("c1", "Two.", false), json!({ "parentUuid": "u2" })),
    ]);
    let call = of_kind(&story, Kind::ToolCall)[0];
    assert_eq!(call.child.as_deref(), Some("side-x1"));
    assert_eq!(of_kind(&story, Kind::Subagent)[0].child.as_deref(), Some("side-x1"));
    let inner: Vec<_> = story.events.iter().filter(|event| event.thread.as_str() == "side-x1").collect();
    assert_eq!(inner.iter().map(|event| event.kind).collect::<Vec<_>>(), [Kind::User, Kind::Assistant]);
    assert_eq!(inner[0].parent.as_ref(), Some(&call.id));
    assert_eq!(of_kind(&story, Kind::User).iter().filter(|event| event.origin == Origin::User).count(), 1);
}

#[test]
fn going_back_leaves_a_dead_branch_and_says_so() {
    let story = read(vec![
        user("How?"),
        says("msg-1", "By hand."),
        with(user("Is there another way"), json!({ "uuid": "b1" })),
        calls("msg-2", "c1", "Bash", json!({ "command": "ls" })),
        answers("c1", "a.rs", false),
        says("msg-3", "With a macro."),
        with(user("Generate it"), json!({ "uuid": "b2", "parentUuid": "u2" })),
        says("msg-4", "With a build script."),
    ]);
    let rewinds = of_kind(&story, Kind::Rewind);
    assert_eq!(rewinds.len(), 1);
    assert_eq!(rewinds[0].id.to_string(), "m:7.rewind");
    let dead: Vec<u64> =
        story.events.iter().filter(|event| !event.live).map(|event| event.id.record).collect();
    assert_eq!(dead.iter().min(), Some(&3));
    assert_eq!(dead.iter().max(), Some(&6));
    let at = story.events.iter().position(|event| event.kind == Kind::Rewind).unwrap();
    assert_eq!(text(&story.events[at + 1]), "Generate it");
    assert_eq!(rewinds[0].parent.as_ref().unwrap().to_string(), "m:2");
}

#[test]
fn a_prompt_beside_the_end_of_the_path_is_no_rewind() {
    let story = read(vec![
        user("How?"),
        says("msg-1", "So."),
        json!({ "type": "system", "subtype": "turn_duration", "durationMs": 3 }),
        with(user("And then?"), json!({ "parentUuid": "u2" })),
        says("msg-2", "Then so."),
    ]);
    assert!(of_kind(&story, Kind::Rewind).is_empty());
    assert!(story.events.iter().all(|event| event.live));
}

#[test]
fn copies_of_a_branch_say_what_they_copy_and_own_nothing() {
    let from = json!({ "forkedFrom": { "sessionId": "s0", "messageUuid": "u1" } });
    let story = read(vec![
        with(user("How?"), from.clone()),
        with(usage(says("msg-1", "So."), 5, Some("end_turn")), from),
        user("And?"),
        with(usage(says("msg-2", "So too."), 5, Some("end_turn")), json!({ "requestId": "r2" })),
    ]);
    assert_eq!(of_kind(&story, Kind::User)[0].copy_of.as_deref(), Some("s0#u1"));
    assert_eq!(of_kind(&story, Kind::User)[1].copy_of, None);
    let own: Vec<u8> =
        of_kind(&story, Kind::Usage).iter().map(|event| event.usage.as_ref().unwrap().own).collect();
    assert_eq!(own, [0, 3]);
    let links: Vec<_> = story.facts.links.iter().map(|link| (link.kind, link.session_id.as_str())).collect();
    assert_eq!(links, [(LinkKind::ForkedFrom, "s0")]);
}

#[test]
fn a_response_is_surely_own_where_its_request_was_sent() {
    let queued = |time: &str| json!({ "type": "queue-operation", "operation": "enqueue", "timestamp": time });
    let asked = |fields: Value, before: Value| {
        let answer = with(usage(says("msg-1", "So."), 5, Some("end_turn")), fields);
        let story = read(vec![before, answer]);
        of_kind(&story, Kind::Usage)[0].usage.as_ref().unwrap().own
    };
    let request = json!({ "type": "api-request", "id": "q1" });
    assert_eq!(asked(json!({ "requestRef": "q1" }), request.clone()), 4);
    assert_eq!(asked(json!({ "requestRef": "q9", "requestId": "r1" }), request), 0);
    assert_eq!(asked(json!({ "requestId": "r1" }), queued("2026-03-01T10:00:00.000Z")), 3);
    assert_eq!(asked(json!({ "requestId": "r1" }), queued("2026-03-01T11:00:00.000Z")), 2);
    assert_eq!(asked(json!({}), queued("2026-03-01T10:00:00.000Z")), 1);
}

#[test]
fn a_record_that_is_appended_again_is_told_once() {
    let prompt = with(user("How?"), json!({ "uuid": "p1" }));
    let answer =
        with(usage(says("msg-1", "So."), 5, Some("end_turn")), json!({ "uuid": "p2", "parentUuid": "p1" }));
    let story = read(vec![prompt.clone(), answer.clone(), prompt, answer]);
    assert_eq!(of_kind(&story, Kind::User).len(), 1);
    assert_eq!(of_kind(&story, Kind::Assistant).len(), 1);
    assert_eq!((story.coverage.mapped, story.coverage.folded), (2, 2));
    assert!(of_kind(&story, Kind::Rewind).is_empty());
}

#[test]
fn a_rewritten_log_gives_no_event_twice() {
    let records = vec![
        json!({ "type": "mode", "mode": "normal" }),
        user("How?"),
        says("msg-1", "So."),
        json!({ "type": "mode", "mode": "normal" }),
    ];
    let mut first = log(claude(), "m", records.clone());
    let whole = settled(claude(), "s1", std::slice::from_ref(&first));
    // The second line of growth lost its first two records and has one more.
    let start: usize = first.bytes.split_inclusive(|byte| *byte == b'\n').take(2).map(<[u8]>::len).sum();
    let mut second = first.clone();
    second.revision = 2;
    second.bytes = first.bytes.split_off(start);
    first = log(claude(), "m", records);
    second.bytes.extend_from_slice(b"{\"type\":\"tag\",\"tag\":\"x\"}\n");
    let both = settled(claude(), "s1", &[first, second]);
    assert_eq!(both.events.len(), whole.events.len() + 1);
    assert_eq!(both.events.last().unwrap().id.to_string(), "m~2:3");
}

#[test]
fn spilled_output_names_its_source() {
    let spilled = "<persisted-output>\nOutput too large (3MB). Full output saved to: /h/.claude/projects/p/s1/tool-results/b7.txt\n\nPreview";
    let story = read(vec![
        calls("msg-1", "c1", "Bash", json!({ "command": "cat big" })),
        answers("c1", spilled, false),
    ]);
    let result = of_kind(&story, Kind::ToolResult)[0].result.as_ref().unwrap();
    assert_eq!((result.spilled_to.as_deref(), result.truncated), (Some("b7.txt"), true));
}

#[test]
fn outside_words_are_marked_as_such() {
    let origins: Vec<Origin> = ["mcp__docs__read", "WebFetch", "Bash", "AskUserQuestion"]
        .into_iter()
        .map(|tool| {
            let story = read(vec![calls("msg-1", "c1", tool, json!({})), answers("c1", "x", false)]);
            of_kind(&story, Kind::ToolResult)[0].origin
        })
        .collect();
    assert_eq!(origins, [Origin::External, Origin::External, Origin::Tool, Origin::User]);
}

#[test]
fn an_edit_of_a_sub_agent_is_known_from_its_call() {
    let task = with(user("Write it"), json!({ "isSidechain": true, "agentId": "a1" }));
    let call = calls("msg-1", "c1", "Write", json!({ "file_path": "/w/a.rs", "content": "1\n2\n" }));
    let story = settled(
        claude(),
        "s1",
        &[log(
            claude(),
            "agent-a1",
            vec![task, call, answers("c1", "File created successfully at: /w/a.rs", false)],
        )],
    );
    let edits = &of_kind(&story, Kind::ToolResult)[0].result.as_ref().unwrap().edits;
    assert_eq!((edits[0].kind, edits[0].added), (EditKind::Create, Some(2)));
    assert!(story.events.iter().all(|event| event.thread.as_str() == "a1"));
}

#[test]
fn zero_bytes_and_a_half_line_are_gaps_and_hide_nothing() {
    let mut source = log(claude(), "m", vec![user("Hi"), says("msg-1", "Hello.")]);
    source.bytes.splice(0..0, [0u8; 64]);
    let whole = settled(claude(), "s1", std::slice::from_ref(&source));
    assert_eq!(kinds(&whole), [Kind::Session, Kind::User, Kind::Model, Kind::Assistant]);
    assert_eq!(whole.gaps[0].reason, GapReason::NulBytes);
    let end = source.bytes.len();
    source.bytes.truncate(end - 20);
    let half = settled(claude(), "s1", std::slice::from_ref(&source));
    assert_eq!(kinds(&half), [Kind::Session, Kind::User]);
    assert!(half.gaps.iter().any(|gap| gap.reason == GapReason::Pending));
    assert_eq!(half.coverage.malformed, 0);
}

#[test]
fn wrong_types_are_read_as_far_as_they_go() {
    let story = read(vec![
        json!({ "type": "user", "message": null }),
        json!({ "type": "user", "message": { "content": 5 } }),
        json!({ "type": "user", "message": { "content": { "text": "x" } } }),
        json!({ "type": "user", "message": { "content": "hi" }, "timestamp": 5, "cwd": 7 }),
        json!({ "type": "assistant", "message": { "content": "plain", "usage": "12" } }),
        json!({ "type": "system", "subtype": 4 }),
        json!({ "type": "attachment", "attachment": "x" }),
        json!({ "type": "progress", "data": null }),
        json!({ "type": 9 }),
        json!("text"),
    ]);
    assert_eq!(story.coverage.unknown, 7);
    assert_eq!(of_kind(&story, Kind::User)[0].ts, None);
    assert_eq!(text(of_kind(&story, Kind::Assistant)[0]), "plain");
    assert!(of_kind(&story, Kind::Usage).is_empty());
}

#[test]
fn a_secret_stands_in_no_event() {
    let secret = format!("ghp_{}", "aB3dE6gH9j".repeat(4).get(..36).unwrap());
    let story = read(vec![
        user(format!("Use {secret}")),
        calls("msg-1", "c1", "Bash", json!({ "command": format!("curl -H {secret}") })),
        answers("c1", &secret, false),
        json!({ "type": "custom-title", "customTitle": format!("with {secret}") }),
        json!({ "type": "brand-new", "x": secret }),
    ]);
    let events = serde_json::to_string(&story.events).unwrap();
    let facts = serde_json::to_string(&story.facts).unwrap();
    assert!(events.contains("[redacted:") && !events.contains(&secret));
    assert!(!facts.contains(&secret));
}

#[test]
fn parsing_goes_on_from_any_saved_place_without_the_state_growing() {
    let mut records = vec![user("Go")];
    for n in 0..2000 {
        records.push(calls(&format!("msg-{n}"), &format!("c{n}"), "Bash", json!({ "command": "ls" })));
        records.push(answers(&format!("c{n}"), "a.rs", false));
    }
    let source = log(claude(), "m", records);
    let session = SessionKey::new("claude", "s1");
    let mut reader = retro_agents::Reader::new(claude(), home::part(&session, &source), None);
    reader.feed(&source.bytes);
    assert!(reader.save().state.len() < 2048);
    let whole = settle(claude(), &session, vec![parse(claude(), &session, &source)]);
    assert_eq!(of_kind(&whole, Kind::ToolResult).len(), 2000);
}
