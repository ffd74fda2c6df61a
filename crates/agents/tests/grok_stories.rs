//! Grok, told in stories: what the files show, and what came of it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod grok_log;
mod home;

use grok_log::{
    answers, calls, ends, grok, home_of, kinds, of_kind, prompt, says, source, text, texts, updates, with,
};
use home::{Seeded, settled};
use retro_agents::Settled;
use retro_agents::script::Script;
use retro_model::{EditKind, Kind, LinkKind, Origin, Outcome, TitleRank, ToolClass};
use serde_json::{Value, json};

/// The sessions of a script, its own first.
fn told(script: &str) -> Vec<(String, Settled)> {
    let script = Script::parse(script).unwrap();
    let home = home_of(&script);
    assert!(home.unreadable.is_empty() && home.shared.is_empty(), "{:?} {:?}", home.unreadable, home.shared);
    let mut all: Vec<(String, Settled)> =
        home.sessions.iter().map(|(id, sources)| (id.clone(), settled(grok(), id, sources))).collect();
    all.sort_by_key(|(id, _)| *id != script.session);
    all
}

fn told_one(script: &str) -> Settled {
    let mut sessions = told(script);
    assert_eq!(sessions.len(), 1);
    sessions.remove(0).1
}

#[test]
fn a_failing_test_is_fixed() {
    let story = told_one(
        "@ title Steady tests\n@ branch fix\n> Fix the flaky test\n? A race, perhaps.\n$ cargo test\n| 1 failed\n! 101\n: src/clock.rs\n| fn now() {}\n~ src/clock.rs\n- a\n- b\n+ c\n~ src/new.rs\n+ x\n$ cargo test\n| ok\n< Done.",
    );
    use Kind::*;
    let pair = [ToolCall, ToolResult];
    let mut wanted = vec![Session, Model, User, Reasoning];
    (0..5).for_each(|_| wanted.extend(pair));
    wanted.extend([Assistant, Usage]);
    assert_eq!(kinds(&story), wanted);
    let results: Vec<_> =
        of_kind(&story, ToolResult).into_iter().map(|event| event.result.clone().unwrap()).collect();
    let outcomes: Vec<_> = results.iter().map(|result| (result.outcome, result.exit_code)).collect();
    assert_eq!(outcomes[0], (Outcome::Failed, Some(101)));
    assert_eq!(outcomes[1], (Outcome::Ok, None));
    assert_eq!(outcomes[4], (Outcome::Ok, Some(0)));
    assert!(results.iter().all(|result| result.duration_ms == Some(40)));
    let edit = &results[2].edits[0];
    assert_eq!((edit.kind, edit.added, edit.removed), (EditKind::Update, Some(1), Some(2)));
    assert_eq!((results[3].edits[0].kind, results[3].edits[0].added), (EditKind::Create, Some(1)));
    let call = of_kind(&story, ToolCall)[0];
    assert_eq!(call.tool.as_ref().unwrap().command.as_ref().unwrap().as_str(), "cargo test");
    assert_eq!(results[0].spilled_to, Some(format!("{}.log", call.tool.as_ref().unwrap().call_id)));
    assert_eq!(text(of_kind(&story, ToolResult)[0]), "exit: 101\n1 failed\n");
    assert!(story.events.iter().all(|event| event.live && (event.turn == 1 || event.seq < 3)));
    let title = story.facts.own_title().unwrap();
    assert_eq!((title.rank, title.text.as_str()), (TitleRank::Agent, "Steady tests"));
    assert_eq!(story.facts.branch.as_ref().unwrap().1.as_str(), "fix");
    assert_eq!(story.facts.cwd.as_ref().unwrap().1.as_str(), "/home/dev/shop");
    // Six answers: the thought began the first of them.
    let usage = of_kind(&story, Usage)[0];
    assert_eq!(usage.data.as_ref().unwrap()["calls"], 6);
    for event in story.events.iter().filter(|event| event.origin == Origin::Model) {
        assert_eq!(event.response, usage.response, "{}", event.id);
    }
}

#[test]
fn a_sub_agent_is_a_session_that_only_its_parent_knows() {
    let sessions =
        told("> Survey\n& Look for callers of vat\n. $ grep -r vat\n. | a.rs\n. < Two callers.\n< Two.");
    let [(parent_id, parent), (child_id, child)] = &sessions[..] else { panic!("{}", sessions.len()) };
    assert_eq!(
        parent.facts.links.iter().map(|link| (link.kind, &link.session_id)).collect::<Vec<_>>(),
        [(LinkKind::Child, child_id)]
    );
    assert!(child.facts.links.is_empty());
    let call = of_kind(parent, Kind::ToolCall)[0];
    assert_eq!(
        (call.tool.as_ref().unwrap().class, call.child.as_ref()),
        (ToolClass::Subagent, Some(child_id))
    );
    let about = of_kind(parent, Kind::Subagent);
    assert_eq!(about.len(), 2);
    assert!(
        about
            .iter()
            .all(|event| event.child.as_ref() == Some(child_id) && event.parent.as_ref() == Some(&call.id))
    );
    let task = of_kind(child, Kind::User)[0];
    assert_eq!((task.origin, text(task)), (Origin::Agent, "Look for callers of vat"));
    assert_eq!(child.facts.entrypoint.as_ref().unwrap().1, "subagent");
    // The parent's figure contains the child's.
    let (gross, inner) = (of_kind(parent, Kind::Usage)[0], of_kind(child, Kind::Usage)[0]);
    assert_eq!(gross.data.as_ref().unwrap()["includes"], json!([child_id]));
    assert!(gross.usage.as_ref().unwrap().tokens.output > inner.usage.as_ref().unwrap().tokens.output);
    assert!(gross.response.as_ref().unwrap().starts_with(&format!("grok:{parent_id}:")));
    assert!(inner.response.as_ref().unwrap().starts_with(&format!("grok:{child_id}:")));
}

#[test]
fn a_compaction_takes_nothing_away() {
    let story = told_one(
        "> One\n< Answer one.\n> Two\n= First we did one.\n< Answer two.\n= Then two.\n> Three\n< Answer three.",
    );
    assert_eq!(texts(&story, Kind::User), ["One", "Two", "Three"]);
    assert_eq!(texts(&story, Kind::Assistant), ["Answer one.", "Answer two.", "Answer three."]);
    let compactions = of_kind(&story, Kind::Compaction);
    assert!(
        text(compactions[0]).ends_with("First we did one.") && text(compactions[1]).ends_with("Then two.")
    );
    assert_eq!(compactions[0].data.as_ref().unwrap()["trigger"], "auto");
}

#[test]
fn a_call_that_the_user_stops_is_interrupted() {
    let story = told_one("> Run it\n$ sleep 100\n^\n> Run the quick one\n< Done.");
    let result = of_kind(&story, Kind::ToolResult)[0];
    assert_eq!(result.result.as_ref().unwrap().outcome, Outcome::Interrupted);
    assert_eq!(of_kind(&story, Kind::Interruption).len(), 1);
    let note = of_kind(&story, Kind::Note)[0];
    assert_eq!(note.data.as_ref().unwrap()["redirect_kind"], "cancel_then_send");
    assert_eq!(of_kind(&story, Kind::Usage).len(), 2);
}

#[test]
fn a_turn_without_an_end_was_killed() {
    let story = updates(vec![
        prompt(0, "Run it"),
        says("Starting."),
        calls("c1", "run_terminal_command", json!({ "command": "sleep 100" })),
    ]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, Assistant, ToolCall, ToolResult, Interruption]);
    let cut = of_kind(&story, ToolResult)[0];
    assert_eq!((cut.id.to_string().as_str(), cut.ts), ("m:3.result", None));
    assert_eq!(cut.result.as_ref().unwrap().outcome, Outcome::Interrupted);
    assert!(of_kind(&story, Usage).is_empty() && story.events.iter().all(|event| event.response.is_none()));
}

#[test]
fn a_killed_turn_is_not_ended_by_the_one_after_it() {
    let taken_up = json!({ "sessionUpdate": "background_tasks", "tasks": [], "@": { "n": 2, "ms": 9000 } });
    let story = updates(vec![
        with(prompt(0, "One"), json!({ "@": { "n": 3, "ms": 1000 } })),
        taken_up,
        with(prompt(1, "Two"), json!({ "@": { "n": 3, "ms": 10000 } })),
        with(says("Done."), json!({ "@": { "n": 4, "ms": 11000 } })),
        with(ends("t1", "end_turn"), json!({ "@": { "n": 5, "ms": 12000 } })),
    ]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, Interruption, Note, User, Assistant, Usage]);
}

#[test]
fn a_prompt_of_the_program_opens_no_turn_and_is_never_cut() {
    let hidden = json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "<system-reminder>\nTask ended\n</system-reminder>" },
        "_meta": { "promptIndex": 1, "hideFromScrollback": true } });
    let host = json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "text", "text": "/compact" }, "_meta": { "hostTurn": true } });
    let story = updates(vec![prompt(0, "Go"), says("Done."), ends("t1", "end_turn"), host, hidden]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, Assistant, Usage, Note, Note]);
    assert_eq!(
        of_kind(&story, Note).iter().map(|note| note.origin).collect::<Vec<_>>(),
        [Origin::User, Origin::Harness]
    );
    assert!(story.events.iter().all(|event| event.turn == 1));
}

#[test]
fn blocks_of_one_prompt_are_one_message() {
    let image = json!({ "sessionUpdate": "user_message_chunk", "content": { "type": "image", "data": "AAAAAAAA", "mimeType": "image/png" },
        "_meta": { "promptIndex": 0 } });
    let story = updates(vec![
        image,
        prompt(0, "What is"),
        prompt(0, "in this picture?"),
        says("A cat."),
        ends("t1", "end_turn"),
        prompt(1, "Sure?"),
    ]);
    assert_eq!(texts(&story, Kind::User), ["What is\nin this picture?", "Sure?"]);
    let picture = of_kind(&story, Kind::Attachment)[0];
    assert_eq!((picture.turn, picture.data.as_ref().unwrap()["bytes"].as_u64()), (1, Some(6)));
    assert_eq!(of_kind(&story, Kind::User)[1].turn, 2);
}

#[test]
fn a_secret_cut_in_two_chunks_is_still_found() {
    let letters: Vec<char> = ('a'..='z').chain('A'..='Z').chain('0'..='9').collect();
    let mut random = Seeded(11);
    let drawn: String = (0..36).map(|_| letters[random.below(letters.len())]).collect();
    let secret = ["gh", "p_", &drawn].concat();
    let (head, tail) = secret.split_at(20);
    let piece = |text: &str| with(says(text), json!({ "@": { "streamStartMs": 5 } }));
    let story =
        updates(vec![prompt(0, "Token?"), piece(&format!("It is {head}")), piece(&format!("{tail} here"))]);
    let said = texts(&story, Kind::Assistant);
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("[redacted:") && !said[0].contains(tail), "{}", said[0]);
}

#[test]
fn lines_are_told_in_the_order_of_their_numbers() {
    let story = updates(vec![
        with(prompt(0, "One"), json!({ "@": { "n": 2 } })),
        with(calls("c1", "read_file", json!({ "target_file": "/w/a" })), json!({ "@": { "n": 3 } })),
        with(says("Read it."), json!({ "@": { "n": 6 } })),
        with(
            answers("c1", "completed", json!({ "type": "ReadFile", "FileContent": { "content": "x" } })),
            json!({ "@": { "n": 4 } }),
        ),
        with(ends("t1", "end_turn"), json!({ "@": { "n": 7 } })),
    ]);
    use Kind::*;
    assert_eq!(kinds(&story), [User, ToolCall, ToolResult, Assistant, Usage]);
}

#[test]
fn a_process_that_takes_a_session_up_begins_to_number_anew() {
    let at = |n: i64, ms: i64| json!({ "@": { "n": n, "ms": ms } });
    let turn = |id: &str, n: i64, ms: i64| json!({ "@": { "n": n, "ms": ms, "promptId": id } });
    let taken_up =
        |ms: i64| json!({ "sessionUpdate": "background_tasks", "tasks": [], "@": { "n": 2, "ms": ms } });
    // The clock goes on; then it is set back by an hour.
    for start in [100_000, -3_600_000] {
        let story = updates(vec![
            with(prompt(0, "One"), at(2, 2000)),
            with(says("First."), turn("t1", 9, 9000)),
            with(ends("t1", "end_turn"), at(10, 9500)),
            taken_up(start),
            with(prompt(1, "Two"), at(4, start + 2)),
            with(says("Second."), turn("t2", 5, start + 3)),
            with(ends("t2", "end_turn"), at(6, start + 4)),
        ]);
        assert_eq!(texts(&story, Kind::User), ["One", "Two"], "{start}");
        assert_eq!(texts(&story, Kind::Assistant), ["First.", "Second."], "{start}");
        assert!(of_kind(&story, Kind::Interruption).is_empty(), "{start}");
    }
}

#[test]
fn a_fork_counts_only_what_is_its_own() {
    let of_parent = |update: Value, n: i64| with(update, json!({ "@": { "owner": "s0", "n": n } }));
    let spawned = json!({ "sessionUpdate": "subagent_spawned", "child_session_id": "c9" });
    let story = grok_log::read(&[
        source(
            "m",
            vec![
                of_parent(prompt(0, "One"), 2),
                of_parent(says("First."), 3),
                of_parent(spawned, 4),
                of_parent(ends("t1", "end_turn"), 5),
                with(prompt(1, "Other way"), json!({ "@": { "n": 3, "ms": 60000 } })),
                with(says("Second."), json!({ "@": { "n": 4, "ms": 61000, "promptId": "t2" } })),
                with(ends("t2", "end_turn"), json!({ "@": { "n": 5, "ms": 62000 } })),
            ],
        ),
        source(
            "summary",
            vec![json!({ "info": { "id": "s1", "cwd": "/w" }, "parent_session_id": "s0",
            "chat_format_version": 1, "generated_title": "Mine", "title_is_manual": true })],
        ),
    ]);
    let copied: Vec<bool> = story.events.iter().map(|event| event.copy_of.is_some()).collect();
    assert_eq!(copied, [false, true, true, true, true, false, false, false]);
    assert_eq!(of_kind(&story, Kind::User)[0].copy_of.as_deref(), Some("s0#s0-2"));
    let usage: Vec<_> = of_kind(&story, Kind::Usage)
        .into_iter()
        .map(|event| (event.response.clone().unwrap(), event.usage.as_ref().unwrap().own))
        .collect();
    assert_eq!(usage, [("grok:s0:t1:model-a".to_owned(), 0), ("grok:s1:t2:model-a".to_owned(), 1)]);
    // The sub-agent is the parent's.
    assert_eq!(story.facts.links.iter().map(|link| link.kind).collect::<Vec<_>>(), [LinkKind::ForkedFrom]);
    assert_eq!(story.facts.own_title().unwrap().rank, TitleRank::User);
}

#[test]
fn a_rewind_kills_the_prompts_behind_it() {
    let mut lines = Vec::new();
    for index in 0..3 {
        lines.push(prompt(index, &format!("Prompt {index}")));
        lines.push(with(
            says("Done."),
            json!({ "@": { "n": lines.len() + 1, "promptId": format!("t{index}") } }),
        ));
        lines.push(ends(&format!("t{index}"), "end_turn"));
    }
    lines.push(json!({ "sessionUpdate": "rewind_marker", "target_prompt_index": 1 }));
    lines.push(prompt(1, "Other way"));
    let story = updates(lines);
    let live: Vec<_> =
        of_kind(&story, Kind::User).into_iter().map(|event| (text(event), event.live)).collect();
    assert_eq!(live, [("Prompt 0", true), ("Prompt 1", false), ("Prompt 2", false), ("Other way", true)]);
    let rewind = of_kind(&story, Kind::Rewind)[0];
    assert!(rewind.live && rewind.origin == Origin::User);
    assert_eq!(of_kind(&story, Kind::Usage).iter().filter(|event| event.live).count(), 1);
}

#[test]
fn turns_have_a_row_for_each_model_and_a_cost_where_it_is_told() {
    let usage = json!({ "inputTokens": 300, "outputTokens": 20, "costUsdTicks": 25_000_000_000u64, "usage_is_incomplete": true,
        "modelUsage": { "model-a": { "inputTokens": 100, "cachedReadTokens": 60, "outputTokens": 9, "modelCalls": 1, "costUsdTicks": 15_000_000_000u64 },
            "model-b": { "inputTokens": 200, "outputTokens": 11, "modelCalls": 2 } } });
    let two = with(ends("t1", "end_turn"), json!({ "usage": usage }));
    let story = updates(vec![
        prompt(0, "Go"),
        says("Done."),
        two,
        with(ends("t2", "end_turn"), json!({ "usage": { "inputTokens": 7, "costUsdTicks": 10 } })),
    ]);
    let rows: Vec<_> = of_kind(&story, Kind::Usage)
        .into_iter()
        .map(|event| {
            let usage = event.usage.as_ref().unwrap();
            (
                event.id.to_string(),
                event.response.clone().unwrap(),
                usage.tokens.input,
                usage.reported_cost_nano,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("m:3.0".into(), "grok:s1:t1:model-a".into(), 40, Some(1_500_000_000)),
            ("m:3.1".into(), "grok:s1:t1:model-b".into(), 200, None),
            ("m:4.usage".into(), "grok:s1:t2:model-a".into(), 7, Some(1)),
        ]
    );
    assert_eq!(of_kind(&story, Kind::Assistant)[0].response.as_deref(), Some("grok:s1:t1:model-a"));
    assert_eq!(
        of_kind(&story, Kind::Usage)[0].usage.as_ref().unwrap().exactness,
        retro_model::Exactness::LowerBound
    );
}

#[test]
fn an_error_ends_a_turn() {
    let story = updates(vec![
        prompt(0, "Go"),
        json!({ "sessionUpdate": "retry_state", "type": "exhausted", "attempts": 15, "reason": "API error (status 429)" }),
        with(ends("t1", "rate_limit"), json!({ "agent_result": "Too many requests" })),
    ]);
    assert_eq!(texts(&story, Kind::Error), ["API error (status 429)", "Too many requests"]);
    assert!(of_kind(&story, Kind::Interruption).is_empty());
}

#[test]
fn wrong_types_are_read_as_far_as_they_go() {
    let odd = vec![
        json!({ "sessionUpdate": "user_message_chunk", "content": "plain", "_meta": "x" }),
        json!({ "sessionUpdate": "user_message_chunk", "content": [1], "_meta": { "promptIndex": "0" } }),
        json!({ "sessionUpdate": "agent_message_chunk", "content": null, "@": { "promptId": 5, "streamStartMs": "x" } }),
        json!({ "sessionUpdate": "tool_call", "toolCallId": 7, "rawInput": [] }),
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": null, "status": "completed", "content": {}, "rawOutput": "x" }),
        json!({ "sessionUpdate": "tool_call_update", "status": 5, "locations": [5], "content": [5] }),
        json!({ "sessionUpdate": "turn_completed", "prompt_id": 5, "stop_reason": {}, "usage": "12" }),
        json!({ "sessionUpdate": "turn_completed", "usage": { "modelUsage": { "m": 5 }, "inputTokens": -1 } }),
        json!({ "sessionUpdate": "task_completed", "task_snapshot": [] }),
        json!({ "sessionUpdate": "subagent_spawned" }),
        json!({ "sessionUpdate": "rewind_marker", "target_prompt_index": "1" }),
        json!({ "sessionUpdate": "hook_execution", "runs": "denied" }),
        json!({ "sessionUpdate": 5 }),
    ];
    let count = odd.len();
    let story = updates(odd);
    assert!(home::adds_up(&story.coverage));
    assert_eq!(
        (story.coverage.records, story.coverage.unknown, story.coverage.malformed),
        (count as u64, 2, 0)
    );
    assert_eq!(texts(&story, Kind::User), ["plain"]);
    for (key, record) in [
        (
            "chat",
            json!({ "type": "assistant", "content": 5, "tool_calls": [5, { "id": 5, "arguments": 5 }] }),
        ),
        ("chat", json!({ "type": "user", "content": { "a": 1 }, "prompt_index": -1 })),
        ("chat", json!({ "type": "reasoning", "summary": "x" })),
        ("events", json!({ "type": "tool_completed", "tool_call_id": 5, "outcome": [] })),
        ("events", json!({ "type": 5 })),
        ("summary", json!({ "info": "x", "created_at": 5 })),
        ("c1.meta", json!([])),
        ("checkpoint-1", json!("x")),
        ("feedback", json!([1])),
    ] {
        let story = grok_log::read(&[source(key, vec![record.clone()])]);
        assert!(home::adds_up(&story.coverage), "{record}");
        assert_eq!(story.coverage.records, 1, "{record}");
    }
}
