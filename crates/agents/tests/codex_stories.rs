//! What Codex threads mean, told as small stories: each generation of the format,
//! whose words are whose, and what was copied, left or rewritten.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod codex_home;
mod home;

use codex_home::story::{PARENT, asks, counts, meta, of, records, says, story, tell, text, texts, turn};
use codex_home::{THREAD, codex, log, written};
use home::{Source, settled};
use retro_agents::script::Script;
use retro_model::{Kind, LinkKind, Origin, Outcome};
use serde_json::{Value, json};

#[test]
fn a_session_is_told_as_it_was_scripted() {
    let script = Script::parse(
        "@ session 00000000-0000-7000-8000-00000000000a\n@ title Tax\n> Fix the tax test\n? Rounding, perhaps.\n$ cargo test\n| 1 failed\n! 101\n: src/tax.rs\n| fn vat() {}\n~ src/tax.rs\n- old\n+ new\n+ er\n& Look for callers\n.   $ grep -r vat\n.   < Two callers.\n= So far so good.\n< Done.\n@ model gpt-6\n> And now?\n$ sleep 300\n^\n",
    )
    .unwrap();
    let threads = written(&script);
    assert_eq!(threads.len(), 2);
    let told = settled(codex(), THREAD, &threads[THREAD]);
    assert_eq!(texts(&told, Kind::User), ["Fix the tax test", "And now?"]);
    assert_eq!(texts(&told, Kind::Assistant), ["Done."]);
    assert_eq!(texts(&told, Kind::Reasoning), ["Rounding, perhaps."]);
    assert_eq!(texts(&told, Kind::Compaction), ["So far so good."]);
    assert_eq!(of(&told, Kind::Interruption).len(), 1);
    let models: Vec<_> =
        of(&told, Kind::Model).into_iter().filter_map(|event| event.model.as_deref()).collect();
    assert_eq!(models, ["gpt-5.5", "gpt-6"]);
    let ended: Vec<_> = told
        .events
        .iter()
        .filter_map(|event| event.result.as_ref())
        .map(|result| (result.outcome, result.exit_code, result.edits.len()))
        .collect();
    assert_eq!(
        ended,
        [
            (Outcome::Failed, Some(101), 0),
            (Outcome::Ok, Some(0), 0),
            (Outcome::Ok, Some(0), 1),
            (Outcome::Ok, None, 0),
            (Outcome::Ok, None, 0),
            (Outcome::Interrupted, None, 0),
        ]
    );
    let edit = &told.events.iter().find_map(|event| event.result.as_ref()?.edits.first()).unwrap();
    assert_eq!(
        (edit.path.as_str(), edit.added, edit.removed),
        ("/home/dev/shop/src/tax.rs", Some(2), Some(1))
    );
    assert_eq!(told.facts.title_agent.as_ref().unwrap().1.as_str(), "Tax");
    assert_eq!(told.facts.own_title().unwrap().text.as_str(), "Tax");

    let (child, sources) = threads.iter().find(|(id, _)| *id != THREAD).unwrap();
    let inner = settled(codex(), child, sources);
    assert_eq!(inner.facts.parent(), Some(THREAD));
    let task = of(&inner, Kind::User)[0];
    assert_eq!((text(task), task.origin), ("Look for callers", Origin::Agent));
    assert!(inner.facts.title_prompt.is_none());
    let spawned = of(&told, Kind::ToolCall).into_iter().find(|event| event.child.is_some()).unwrap();
    assert_eq!(spawned.child.as_ref(), Some(child));
    assert!(told.facts.links.iter().any(|link| link.kind == LinkKind::Child && link.session_id == *child));
}

#[test]
fn bare_files_have_prompts_calls_and_answers() {
    let told = tell(vec![
        json!({ "id": THREAD, "timestamp": "2025-07-01T10:00:00.000Z", "instructions": null, "git": { "branch": "main" } }),
        json!({ "record_type": "state" }),
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "<environment_context>\n<cwd>/w</cwd>\n</environment_context>" }] }),
        json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Fix it" }] }),
        json!({ "type": "function_call", "name": "shell", "arguments": "{\"command\":[\"bash\",\"-lc\",\"ls\"]}", "call_id": "c1" }),
        json!({ "type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"a\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.5}}" }),
        json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Done." }] }),
    ]);
    let kinds: Vec<_> = told.events.iter().map(|event| event.kind).collect();
    assert_eq!(
        kinds,
        [Kind::Session, Kind::Attachment, Kind::User, Kind::ToolCall, Kind::ToolResult, Kind::Assistant]
    );
    assert_eq!(told.facts.cwd.as_ref().unwrap().1.as_str(), "/w");
    assert_eq!(told.facts.branch.as_ref().unwrap().1.as_str(), "main");
    let call = told.events[3].tool.as_ref().unwrap();
    assert_eq!((call.command.as_ref().unwrap().as_str(), call.cwd.as_ref().unwrap().as_str()), ("ls", "/w"));
    assert_eq!(told.events[4].result.as_ref().unwrap().duration_ms, Some(500));
    assert_eq!(told.events[4].parent.as_ref(), Some(&told.events[3].id));
    assert_eq!(told.facts.title_prompt.as_ref().unwrap().1.as_str(), "Fix it");
}

#[test]
fn a_file_that_two_versions_wrote_is_read_record_by_record() {
    let told = story([
        asks("First").to_vec(),
        says("One.").to_vec(),
        vec![turn("u2"), json!({ "type": "world_state", "payload": { "full": true } })],
        vec![
            json!({ "item": { "type": "message", "id": "m3", "role": "user", "content": [{ "type": "input_text", "text": "Second" }] } }),
        ],
        vec![
            json!({ "done": { "type": "UserMessage", "id": "x", "content": [{ "type": "text", "text": "Second" }] } }),
        ],
        vec![
            json!({ "done": { "type": "AgentMessage", "id": "m4", "content": [{ "type": "Text", "text": "Two." }] } }),
        ],
        vec![
            json!({ "item": { "type": "message", "id": "m4", "role": "assistant", "content": [{ "type": "output_text", "text": "Two." }] } }),
        ],
    ]);
    assert_eq!(texts(&told, Kind::User), ["First", "Second"]);
    assert_eq!(texts(&told, Kind::Assistant), ["One.", "Two."]);
    let turns: Vec<_> = of(&told, Kind::User).into_iter().map(|event| event.turn).collect();
    assert_eq!(turns, [1, 2]);
}

#[test]
fn equal_answers_are_as_many_as_were_given() {
    let told = story([
        asks("Go on").to_vec(),
        says("Done.").to_vec(),
        asks("Go on").to_vec(),
        says("Done.").to_vec(),
    ]);
    assert_eq!(texts(&told, Kind::User), ["Go on", "Go on"]);
    assert_eq!(texts(&told, Kind::Assistant), ["Done.", "Done."]);
}

#[test]
fn a_review_shows_its_result_before_the_event_that_repeats_it() {
    let [event, item] = says("Looks fine.");
    let told = story([
        vec![json!({ "event": { "type": "entered_review_mode" } })],
        vec![json!({ "event": { "type": "user_message", "message": "Review the changes." } })],
        vec![
            json!({ "event": { "type": "exited_review_mode", "review_output": { "overall_explanation": "Fine." } } }),
            item,
            event,
        ],
    ]);
    assert_eq!(texts(&told, Kind::Assistant), ["Looks fine."]);
    assert_eq!(of(&told, Kind::User)[0].origin, Origin::Harness);
    assert_eq!(texts(&told, Kind::Subagent), ["", "Fine."]);
}

#[test]
fn items_of_a_review_in_its_parent_are_copies() {
    let foreign = |item: Value| json!({ "event": { "type": "item_completed", "thread_id": PARENT, "turn_id": "u9", "item": item } });
    let told = story([vec![
        foreign(
            json!({ "type": "UserMessage", "id": "x", "content": [{ "type": "text", "text": "Review it" }] }),
        ),
        foreign(
            json!({ "type": "CommandExecution", "id": "c9", "command": ["bash", "-lc", "git diff"], "exit_code": 0, "status": "completed" }),
        ),
    ]]);
    let copies: Vec<_> = told
        .events
        .iter()
        .filter(|event| event.copy_of.as_deref() == Some(PARENT))
        .map(|event| event.kind)
        .collect();
    assert_eq!(copies, [Kind::User, Kind::ToolCall, Kind::ToolResult]);
    assert_eq!(of(&told, Kind::User)[0].origin, Origin::Harness);
}

/// A thread of the format before 0.149 that was forked: its file begins with the
/// parent's records, all of one write time.
fn forked() -> Source {
    let at = |record: Value, time: &str| {
        let mut record = record;
        record["timestamp"] = json!(format!("2026-03-01T10:00:{time}Z"));
        record
    };
    let enveloped = |kind: &str, payload: Value| json!({ "type": kind, "payload": payload });
    let event = |payload: Value| enveloped("event_msg", payload);
    let count = |total: u64, last: u64| {
        event(json!({ "type": "token_count", "info": {
        "total_token_usage": { "input_tokens": total }, "last_token_usage": { "input_tokens": last, "output_tokens": 1 } } }))
    };
    log(
        "m",
        vec![
            at(
                enveloped("session_meta", json!({ "id": THREAD, "forked_from_id": PARENT, "source": "cli" })),
                "05.000",
            ),
            at(enveloped("session_meta", json!({ "id": PARENT, "source": "cli" })), "05.002"),
            at(
                event(json!({ "type": "task_started", "turn_id": "00000000-0000-7000-8000-000000000002" })),
                "05.002",
            ),
            at(event(json!({ "type": "user_message", "message": "Parent's question" })), "05.002"),
            at(count(10, 10), "05.003"),
            at(
                event(json!({ "type": "task_started", "turn_id": "00000000-0000-7000-8000-00000000000b" })),
                "05.004",
            ),
            at(event(json!({ "type": "user_message", "message": "Own question" })), "05.100"),
            // Told again at the start of the round: still the parent's.
            at(count(10, 10), "05.200"),
            at(count(15, 5), "06.000"),
        ],
    )
}

#[test]
fn a_fork_marks_what_it_copied_and_bills_it_to_its_parent() {
    let told = settled(codex(), THREAD, &[forked()]);
    let said: Vec<_> =
        of(&told, Kind::User).into_iter().map(|event| (text(event), event.copy_of.as_deref())).collect();
    assert_eq!(said, [("Parent's question", Some(PARENT)), ("Own question", None)]);
    let billed: Vec<_> = of(&told, Kind::Usage)
        .into_iter()
        .map(|event| (event.response.clone().unwrap(), event.usage.as_ref().unwrap().own > 0))
        .collect();
    assert_eq!(
        billed,
        [
            (format!("codex:{PARENT}:00000000-0000-7000-8000-000000000002:1"), false),
            (format!("codex:{THREAD}:00000000-0000-7000-8000-00000000000b:1"), true),
        ]
    );
    assert!(
        told.facts.links.iter().any(|link| link.kind == LinkKind::ForkedFrom && link.session_id == PARENT)
    );
    assert_eq!(of(&told, Kind::Session).len(), 1);
}

#[test]
fn a_fork_whose_history_lies_in_its_parent_says_where() {
    let base = json!({ "thread_id": PARENT, "end_ordinal_exclusive": 19, "end_byte_offset": 4000 });
    let told = tell(vec![
        json!({ "type": "session_meta", "payload": { "id": THREAD, "forked_from_id": PARENT, "history_base": base } }),
        asks("Own question")[1].clone(),
    ]);
    assert_eq!(told.events[0].data.as_ref().unwrap()["history_base"]["thread_id"], PARENT);
    assert_eq!(told.events.len(), 2);
    assert!(told.events.iter().all(|event| event.live && event.copy_of.is_none()));
}

#[test]
fn a_child_with_its_parents_history_marks_what_it_inherited() {
    let numbered = |records: Vec<Value>| -> Source {
        let mut source = log("m", records);
        let lines = String::from_utf8(source.bytes).unwrap();
        let number = |(n, line): (usize, &str)| {
            let mut record: Value = serde_json::from_str(line).unwrap();
            record["ordinal"] = json!(n);
            format!("{record}\n")
        };
        source.bytes = lines.lines().enumerate().map(number).collect::<String>().into_bytes();
        source
    };
    let proven = json!({ "content_item_metadata": [{ "provenance": { "type": "user" } }] });
    let source = numbered(vec![
        json!({ "type": "session_meta", "payload": { "id": THREAD, "forked_from_id": PARENT, "parent_thread_id": PARENT,
            "source": { "subagent": { "thread_spawn": { "parent_thread_id": PARENT } } }, "subagent_history_start_ordinal": 4 } }),
        json!({ "type": "session_meta", "payload": { "id": PARENT } }),
        json!({ "item": { "type": "message", "id": "m1", "role": "user", "content": [{ "type": "input_text", "text": "The person's words" }],
            "internal_chat_message_metadata_passthrough": proven } }),
        json!({ "event": { "type": "turn_aborted", "reason": "interrupted" } }),
        json!({ "type": "inter_agent_communication_metadata", "payload": { "trigger_turn": true } }),
        json!({ "item": { "type": "agent_message", "author": "/lead", "recipient": "/lead/a", "content": [{ "type": "input_text", "text": "Message Type: NEW_TASK\nPayload:\nLook" }] } }),
        says("Found.")[1].clone(),
    ]);
    let told = settled(codex(), THREAD, &[source]);
    let marked: Vec<_> = told.events.iter().map(|event| (event.kind, event.copy_of.is_some())).collect();
    assert_eq!(
        marked,
        [
            (Kind::Session, false),
            (Kind::User, true),
            (Kind::Interruption, true),
            (Kind::Note, false),
            (Kind::Subagent, false),
            (Kind::Assistant, false),
        ]
    );
    assert_eq!(told.facts.parent(), Some(PARENT));
    assert!(told.facts.links.iter().all(|link| link.kind == LinkKind::Parent));
    assert_eq!(told.events[5].turn, 2);
}

#[test]
fn going_back_leaves_the_abandoned_turn_in_the_first_file() {
    let first: Vec<Value> = [
        vec![meta()],
        asks("First").to_vec(),
        says("One.").to_vec(),
        asks("Second").to_vec(),
        says("Two.").to_vec(),
    ]
    .concat();
    let kept = log("m", first[..5].to_vec()).bytes.len();
    let base = |from: &str, offset: usize| {
        json!({ "type": "session_meta", "payload": { "id": THREAD,
        "history_base": { "thread_id": from, "end_ordinal_exclusive": 5, "end_byte_offset": offset } } })
    };
    let (second, third) = ("00000000-0000-7000-8000-00000000000c", "00000000-0000-7000-8000-00000000000d");
    let back = [vec![base(THREAD, kept)], asks("Second, shortly").to_vec(), says("2").to_vec()].concat();
    let again = log(second, back[..1].to_vec()).bytes.len();
    let sources = [
        log("m", first),
        log(second, back),
        log(third, [vec![base(second, again)], asks("Third").to_vec()].concat()),
    ];
    let told = settled(codex(), THREAD, &sources);
    let said: Vec<_> = of(&told, Kind::User).into_iter().map(|event| (text(event), event.live)).collect();
    assert_eq!(said, [("First", true), ("Second", false), ("Second, shortly", false), ("Third", true)]);
    assert_eq!(of(&told, Kind::Rewind).len(), 2);
    let two = settled(codex(), THREAD, &sources[..2]);
    let said: Vec<_> = of(&two, Kind::User).into_iter().map(|event| event.live).collect();
    assert_eq!(said, [true, false, true]);
}

#[test]
fn rolling_back_abandons_the_last_turns() {
    let back = |turns: u64| json!({ "event": { "type": "thread_rolled_back", "num_turns": turns } });
    let told = story([
        asks("First").to_vec(),
        asks("Second").to_vec(),
        vec![back(1)],
        asks("Third").to_vec(),
        asks("Fourth").to_vec(),
        vec![back(2)],
        asks("Fifth").to_vec(),
    ]);
    let live: Vec<_> = of(&told, Kind::User).into_iter().filter(|event| event.live).map(text).collect();
    assert_eq!(live, ["First", "Fifth"]);
    assert_eq!(of(&told, Kind::Rewind).len(), 2);
}

#[test]
fn context_is_not_the_users_words() {
    let told = story([
        vec![json!({ "item": { "type": "message", "role": "user", "content": [
            { "type": "input_text", "text": "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>" },
            { "type": "input_text", "text": "<environment_context>\n<cwd>/w</cwd>\n</environment_context>" }] } })],
        vec![
            json!({ "item": { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "Approved command prefix saved:\ncargo test" }] } }),
        ],
        asks("\n# Files mentioned by the user:\n\n## a.rs\n\n## My request for Codex:\nMake it blue\n")
            .to_vec(),
    ]);
    assert_eq!(texts(&told, Kind::User), ["Make it blue"]);
    assert_eq!(of(&told, Kind::Attachment).len(), 2);
    assert!(
        told.events
            .iter()
            .filter(|event| event.kind == Kind::Attachment)
            .all(|event| event.origin == Origin::Harness)
    );
    let note = of(&told, Kind::Note)[0];
    assert_eq!(note.data.as_ref().unwrap()["approved"], "cargo test");
    assert_eq!(told.facts.title_prompt.as_ref().unwrap().1.as_str(), "Make it blue");
}

#[test]
fn a_prompt_comes_before_its_image_and_a_typed_command_before_its_output() {
    let told = story([
        asks("Before").to_vec(),
        vec![
            json!({ "item": { "type": "message", "role": "user", "content": [
                { "type": "input_text", "text": "<image name=[Image #1] path=\"/w/a.png\">" },
                { "type": "input_image", "image_url": "data:image/png;base64,AAAA" },
                { "type": "input_text", "text": "</image>" },
                { "type": "input_text", "text": "What is this?" }] } }),
            json!({ "event": { "type": "user_message", "message": "What is this?", "local_images": ["/w/a.png"] } }),
        ],
        vec![
            json!({ "done": { "type": "CommandExecution", "id": "x1", "command": ["bash", "-lc", "git status"], "exit_code": 0, "status": "completed", "source": "user_shell" } }),
            json!({ "item": { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "<user_shell_command>\n<command>\ngit status\n</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>" }] } }),
        ],
    ]);
    let told: Vec<_> =
        told.events.iter().skip(1).map(|event| (event.kind, event.turn, event.origin)).collect();
    assert_eq!(
        told,
        [
            (Kind::User, 1, Origin::User),
            (Kind::User, 2, Origin::User),
            (Kind::Attachment, 2, Origin::User),
            (Kind::User, 3, Origin::User),
            (Kind::ToolCall, 3, Origin::User),
            (Kind::ToolResult, 3, Origin::Tool),
        ]
    );
}

#[test]
fn a_compaction_is_one_and_its_history_stays_closed() {
    let told = story([
        asks("Go").to_vec(),
        vec![
            json!({ "item": { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Summary." }] }, "metadata": { "compaction_output": true } }),
        ],
        vec![records("resp1", 5)],
        vec![json!({ "type": "compacted", "payload": { "message": "Summary.", "replacement_history": [
            { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Go" }] }],
            "latest_token_usage_record": { "response_id": "resp9", "usage": { "input_tokens": 5 } } } })],
        vec![json!({ "done": { "type": "ContextCompaction", "id": "x" } })],
    ]);
    assert_eq!(texts(&told, Kind::Compaction), ["Summary."]);
    assert_eq!(texts(&told, Kind::User), ["Go"]);
    let billed = of(&told, Kind::Usage);
    assert_eq!((billed.len(), &billed[0].data.as_ref().unwrap()["kind"]), (1, &json!("compaction")));
}

#[test]
fn a_migrated_file_says_nothing_twice() {
    let call = json!({ "item": { "type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n*** Delete File: a\n*** End Patch", "call_id": "c1" } });
    let output = json!({ "item": { "type": "custom_tool_call_output", "call_id": "c1", "output": "Exit code: 0\nOutput:\nSuccess." } });
    let context = |extra: &str| json!({ "type": "turn_context", "payload": { "turn_id": "u1", "cwd": "/w", "model": "model-a", extra: 1 } });
    let changes = json!({ "/w/a": { "type": "delete", "content": "x\n" } });
    let [asked, said] = asks("Go");
    let [echo, answer] = says("Done.");
    let thought =
        json!({ "item": { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Hm." }] } });
    let before = vec![
        meta(),
        turn("u1"),
        context("personality"),
        asked.clone(),
        said,
        json!({ "event": { "type": "agent_reasoning", "text": "Hm." } }),
        thought.clone(),
        echo,
        answer.clone(),
        call.clone(),
        counts(10, 10),
        json!({ "event": { "type": "patch_apply_end", "call_id": "c1", "success": true, "changes": changes } }),
        output.clone(),
    ];
    let after = vec![
        json!({ "type": "session_meta", "payload": { "id": THREAD, "session_id": THREAD, "cwd": "/w", "cli_version": "0.130.0", "source": "cli", "history_mode": "paginated" } }),
        turn("u1"),
        context("realtime_active"),
        asked,
        json!({ "done": { "type": "UserMessage", "id": "item-1", "content": [{ "type": "text", "text": "Go" }] } }),
        json!({ "done": { "type": "Reasoning", "id": "item-2", "summary_text": ["Hm."], "raw_content": [] } }),
        thought,
        json!({ "done": { "type": "AgentMessage", "id": "item-3", "content": [{ "type": "Text", "text": "Done." }] } }),
        answer,
        call,
        json!({ "event": { "type": "token_count", "info": {
            "total_token_usage": { "input_tokens": 10, "cache_write_input_tokens": 0, "output_tokens": 10 },
            "last_token_usage": { "input_tokens": 10, "cached_input_tokens": 1, "cache_write_input_tokens": 0, "output_tokens": 10 } }, "rate_limits": null } }),
        json!({ "done": { "type": "FileChange", "id": "c1", "status": "completed", "changes": changes } }),
        output,
    ];
    let (first, second) = (log("m", before), Source { revision: 2, ..log("m", after) });
    let alone = settled(codex(), THREAD, std::slice::from_ref(&first));
    let both = settled(codex(), THREAD, &[first, second]);
    assert_eq!(both.events, alone.events);
    assert_eq!(both.facts, alone.facts);
    assert_eq!(both.coverage.records, 26);
    // What was appended after the migration is new.
    let grown = [vec![meta()], asks("More").to_vec()].concat();
    let more = settled(codex(), THREAD, &[log("m", vec![meta()]), Source { revision: 2, ..log("m", grown) }]);
    assert_eq!(texts(&more, Kind::User), ["More"]);
}

#[test]
fn a_log_of_a_client_that_keeps_only_items_has_its_prompts() {
    let told = story([vec![asks("Fix it")[0].clone(), says("Done.")[1].clone()]]);
    assert_eq!(texts(&told, Kind::User), ["Fix it"]);
    assert_eq!(of(&told, Kind::User)[0].turn, 1);
}

#[test]
fn figures_as_large_as_they_come_are_one_response() {
    let most = json!({ "input_tokens": u64::MAX, "cached_input_tokens": 1, "output_tokens": u64::MAX });
    let count = json!({ "event": { "type": "token_count", "info": { "total_token_usage": most, "last_token_usage": most } } });
    let told = story([vec![turn("u1"), count]]);
    let used = of(&told, Kind::Usage)[0].usage.clone().unwrap();
    assert_eq!((used.tokens.input, used.tokens.output), (u64::MAX - 1, u64::MAX));
}
