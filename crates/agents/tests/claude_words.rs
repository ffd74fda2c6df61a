//! Claude Code: whose words a text is, and whose tokens.
#![allow(clippy::unwrap_used, clippy::panic)]

mod home;

use home::{log, settled};
use retro_agents::{Agent, Settled, by_name};
use retro_model::{Asked, Event, Kind, Origin, request, typed};
use serde_json::{Value, json};

fn claude() -> &'static dyn Agent {
    by_name("claude").unwrap()
}

fn read(records: Vec<Value>) -> Settled {
    settled(claude(), "s1", &[log(claude(), "m", records)])
}

fn prompts(story: &Settled) -> Vec<&str> {
    let typed = |event: &&Event| event.kind == Kind::User && event.origin == Origin::User;
    story
        .events
        .iter()
        .filter(typed)
        .filter_map(|event| event.text.as_ref().map(|text| text.as_str()))
        .collect()
}

fn user(content: impl Into<Value>) -> Value {
    json!({ "type": "user", "message": { "role": "user", "content": content.into() } })
}

fn queue(operation: &str, content: Value) -> Value {
    json!({ "type": "queue-operation", "operation": operation, "content": content })
}

/// A message of a sub-agent with tokens, as a record of its own log.
fn answer(id: &str, output: u64) -> Value {
    json!({ "type": "assistant", "uuid": format!("u-{id}"), "requestId": format!("r-{id}"), "isSidechain": true,
        "agentId": "a1", "message": { "id": id, "model": "model-a", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": "So." }],
            "usage": { "input_tokens": 10, "output_tokens": output } } })
}

/// The same inside a progress record of the main log.
fn progress(message: Value) -> Value {
    json!({ "type": "progress", "parentToolUseID": "c1",
        "data": { "type": "agent_progress", "agentId": "a1", "message": message } })
}

fn tokens(story: &Settled) -> Vec<(String, u64)> {
    let used = story.events.iter().filter(|event| event.kind == Kind::Usage);
    used.map(|event| (event.response.clone().unwrap(), event.usage.as_ref().unwrap().tokens.output)).collect()
}

#[test]
fn a_prompt_that_an_old_log_has_only_in_its_queue_is_the_users() {
    let story = read(vec![
        user("Start."),
        queue("enqueue", json!("And the tests?")),
        queue("remove", Value::Null),
        user("Go on."),
    ]);
    assert_eq!(prompts(&story), ["Start.", "And the tests?", "Go on."]);
    let queued = &story.events.iter().find(|event| event.id.to_string() == "m:2.user").unwrap();
    assert_eq!(queued.data.as_ref().unwrap()["queued"], json!(true));
    assert_eq!((queued.turn, queued.live), (2, true));
}

#[test]
fn a_queued_prompt_that_comes_again_is_told_once() {
    let delivered = json!({ "type": "attachment", "uuid": "q",
        "attachment": { "type": "queued_command", "commandMode": "prompt", "prompt": "In between." } });
    let story = read(vec![
        queue("enqueue", json!("First.")),
        queue("dequeue", Value::Null),
        user("First."),
        queue(
            "enqueue",
            json!([{ "type": "text", "text": "<ide_opened_file>a.rs</ide_opened_file>" },
            { "type": "text", "text": "In between." }]),
        ),
        queue("remove", json!("In between.")),
        delivered,
    ]);
    assert_eq!(prompts(&story), ["First.", "In between."]);
}

#[test]
fn two_queued_prompts_that_were_sent_as_one_are_not_told_again() {
    let story = read(vec![
        queue("enqueue", json!("One.")),
        queue("enqueue", json!("Two.")),
        queue("dequeue", Value::Null),
        queue("dequeue", Value::Null),
        user("One.\nTwo."),
    ]);
    assert_eq!(prompts(&story), ["One.\nTwo."]);
}

#[test]
fn what_the_user_took_back_and_what_tasks_queued_is_no_prompt() {
    let story = read(vec![
        queue("enqueue", json!("Never mind.")),
        queue("popAll", json!("Never mind.")),
        queue("enqueue", json!("<task-notification><task-id>b1</task-id></task-notification>")),
        queue("enqueue", json!("{\"task_id\":\"b2\",\"description\":\"x\"}")),
    ]);
    assert_eq!(prompts(&story), [""; 0]);
    let attached = json!({ "type": "attachment", "attachment": { "type": "date", "date": "x" } });
    let removed = read(vec![attached, queue("enqueue", json!("No.")), queue("remove", json!("No."))]);
    assert_eq!(prompts(&removed), [""; 0]);
}

#[test]
fn a_slash_command_that_never_left_the_queue_is_a_command() {
    let story = read(vec![queue("enqueue", json!("/fast on")), queue("enqueue", json!("/tmp/a.rs fails"))]);
    assert_eq!(prompts(&story), ["/tmp/a.rs fails"]);
    let command = story.events.iter().find(|event| event.id.to_string() == "m:1.user").unwrap();
    assert_eq!((command.kind, command.origin), (Kind::Note, Origin::User));
    assert_eq!(command.data.as_ref().unwrap()["command"], json!("/fast"));
    assert_eq!(command.text.as_ref().unwrap().as_str(), "on");
}

#[test]
fn words_of_agents_to_agents_are_not_the_users() {
    let from = |name: &str, said: &str| {
        format!("<teammate-message teammate_id=\"{name}\" summary=\"s\">\n{said}\n</teammate-message>")
    };
    let mut peer = user("The parser is done.");
    peer["origin"] = json!({ "kind": "peer", "from": "ann" });
    let story = read(vec![
        user(from("ann", "Tests pass.")),
        user(from("system", "ann is idle.")),
        peer,
        user("What does a <teammate-message> look like?"),
    ]);
    assert_eq!(prompts(&story), ["What does a <teammate-message> look like?"]);
    let said: Vec<(Kind, Origin, &str)> = story
        .events
        .iter()
        .filter_map(|event| Some((event.kind, event.origin, event.text.as_ref()?.as_str())))
        .take(3)
        .collect();
    assert_eq!(
        said,
        [
            (Kind::Subagent, Origin::Model, "Tests pass."),
            (Kind::Note, Origin::Harness, "ann is idle."),
            (Kind::Subagent, Origin::Model, "The parser is done."),
        ]
    );
    assert!(story.facts.own_title().unwrap().text.starts_with("What does"));
}

#[test]
fn the_task_that_one_agent_gives_another_is_an_agents() {
    let mut task = user("<teammate-message teammate_id=\"team-lead\">Test the relay.</teammate-message>");
    task["isSidechain"] = json!(true);
    task["agentId"] = json!("a1");
    let story = settled(claude(), "s1", &[log(claude(), "agent-a1", vec![task])]);
    let task = story.events.iter().find(|event| event.kind == Kind::User).unwrap();
    assert_eq!((task.origin, task.text.as_ref().unwrap().as_str()), (Origin::Agent, "Test the relay."));
}

#[test]
fn answers_of_a_sub_agent_whose_log_is_gone_count_once() {
    let story =
        read(vec![progress(answer("msg-1", 3)), progress(answer("msg-1", 7)), progress(answer("msg-2", 5))]);
    assert_eq!(tokens(&story), [("claude:msg-1".to_owned(), 7), ("claude:msg-2".to_owned(), 5)]);
    // Should another session have the sub-agent's log, that one is surer.
    assert!(story.events.iter().filter_map(|event| event.usage.as_ref()).all(|usage| usage.own == 1));
}

#[test]
fn answers_of_a_sub_agent_that_its_own_log_has_are_that_logs() {
    let main = log(claude(), "m", vec![progress(answer("msg-1", 7)), progress(answer("msg-2", 5))]);
    // The log lacks the second answer.
    let own = log(claude(), "agent-a1", vec![answer("msg-1", 7)]);
    let story = settled(claude(), "s1", &[main, own]);
    let mut counted = tokens(&story);
    counted.sort();
    assert_eq!(counted, [("claude:msg-1".to_owned(), 7), ("claude:msg-2".to_owned(), 5)]);
    let first = story.events.iter().find(|event| event.response.as_deref() == Some("claude:msg-1")).unwrap();
    assert_eq!(first.id.source.as_str(), "agent-a1");
}

const RULE: &str = "Always use alpha, never use beta here.";

/// All words of a log that count as typed.
fn all_typed(records: Vec<Value>) -> String {
    read(records).events.iter().flat_map(typed).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_others_wrote_into_a_prompt_is_not_typed() {
    for form in [
        "Fix this issue:\n<github_issue>\n%\n</github_issue>",
        "Fix it:\n<pr_body>\nThanks!\n</pr_body>\n%\n</pr_body>",
        "Go on.\n<system-reminder>\n%\n</system-reminder>",
        "Go on.\n<system-reminder>\n%",
        "explain\n<ide_selection>The user selected\n%\n</ide_selection>",
        "fix:\n~~~\n%\n~~~",
        "fix: ```\n%\n```",
        "fix:\n```\na\n```\n%\n```\nb\n```",
        "fix this output:\n\n    $ make\n    %\n    done",
        "fix this output:\n    %",
        "see\n- > %",
        "1. > %",
        "| % |",
        "$ %",
        "The page says \"%\", is it so?",
        "Look at @srv:doc\n<mcp-resource server=\"srv\" uri=\"doc\">\n%\n</mcp-resource>",
        "<channel source=\"chat\">\n%\n</channel>",
        "<agent-message from=\"bob\">\n%\n</agent-message>",
        "<teammate-message teammate_id=\"ann\">%</teammate-message>",
        "PostToolUse hook feedback:\n%",
        "PreToolUse:Bash hook error: %",
        "Stop hook feedback:\n%",
        "<task-notification>%</task-notification>",
        "<bash-stdout>%</bash-stdout>",
        "<local-command-stdout>%</local-command-stdout>",
        "Base directory for this skill: /s\n%",
    ] {
        let record = user(form.replace('%', RULE));
        let record = if form.starts_with("Base") { with(record, json!({ "isMeta": true })) } else { record };
        let found = all_typed(vec![record]);
        assert!(!found.contains("alpha"), "{form}: {found}");
    }
    assert_eq!(all_typed(vec![user(RULE)]), RULE);
}

fn with(mut record: Value, fields: Value) -> Value {
    record.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    record
}

#[test]
fn the_fields_of_a_record_say_who_composed_it() {
    for (fields, is_typed) in [
        (json!({}), true),
        (json!({ "entrypoint": "cli", "promptSource": "typed" }), true),
        (json!({ "entrypoint": "cli", "promptSource": "queued" }), true),
        (
            json!({ "entrypoint": "claude-desktop", "promptSource": "sdk", "origin": { "kind": "human" } }),
            true,
        ),
        (json!({ "entrypoint": "claude-desktop", "promptSource": "sdk" }), true),
        (json!({ "entrypoint": "sdk-cli" }), false),
        (json!({ "entrypoint": "sdk-ts", "promptSource": "sdk" }), false),
        (json!({ "promptSource": "sdk" }), false),
        (json!({ "turnOrigin": "sdk" }), false),
        (json!({ "promptSource": "system" }), false),
        (json!({ "turnOrigin": "task_notification" }), false),
        (json!({ "origin": { "kind": "channel" } }), false),
        (json!({ "isMeta": true }), false),
        (json!({ "isCompactSummary": true }), false),
        (json!({ "isSidechain": true, "agentId": "a1" }), false),
        (json!({ "planContent": "x" }), false),
    ] {
        let found = all_typed(vec![with(user(RULE), fields.clone())]);
        assert_eq!(!found.is_empty(), is_typed, "{fields}");
    }
    let composed = read(vec![with(user("Judge this"), json!({ "entrypoint": "sdk-cli" }))]);
    let asked: Vec<Asked> = composed.events.iter().filter_map(request).map(|asked| asked.asked).collect();
    assert_eq!(asked, [Asked::Application]);
}
