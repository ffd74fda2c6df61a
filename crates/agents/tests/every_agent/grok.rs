//! Grok: an odd session, what damage to it may change, and what its files repeat.

use proptest::prelude::*;
use retro_agents::script::Step;
use retro_model::{Event, Kind, SessionKey};
use serde_json::{Value, json};

use crate::grok_log::{answers, calls, ends, grok, home_of, prompt, rewritten, says, source, thinks, with};
use crate::home::{Source, adds_up, parse_cut, settled};
use crate::{Sample, script};

pub(crate) fn sample() -> Sample {
    Sample {
        agent: grok(),
        session: "s1",
        odd: odd_session(),
        source,
        fixtures: include_str!("../fixtures/grok_rows.txt"),
        response: |input| {
            let usage = json!({ "inputTokens": input, "outputTokens": 5 });
            source("m", vec![with(ends("t1", "end_turn"), json!({ "usage": usage }))])
        },
        input: "inputTokens",
    }
}

/// What no script can express: late lines, a resume, a rewind, a fork's lines, a
/// rewritten history, refusals, background work, broken streams.
fn odd_session() -> Vec<Source> {
    let at = |n: i64, ms: i64, update: Value| with(update, json!({ "@": { "n": n, "ms": ms } }));
    let copied = |n: i64, update: Value| with(update, json!({ "@": { "owner": "s0", "n": n, "ms": n } }));
    let task = json!({ "task_id": "k1", "exit_code": 1, "output": "Grüße 😀" });
    let lines = vec![
        copied(2, prompt(0, "Zero")),
        copied(3, says("None.")),
        copied(4, ends("t0", "end_turn")),
        at(2, 1000, prompt(1, "One")),
        at(4, 1200, calls("c1", "run_terminal_command", json!({ "command": "serve", "background": true }))),
        at(9, 1900, says("Half Half an answer.")),
        at(5, 1300, answers("c1", "completed", json!({ "type": "BackgroundTaskStarted", "task_id": "k1" }))),
        at(8, 1800, thinks("Grüße 😀")),
        at(10, 2000, json!({ "sessionUpdate": "task_completed", "task_snapshot": task })),
        at(11, 2100, ends("t1", "end_turn")),
        at(2, 9000, json!({ "sessionUpdate": "background_tasks", "tasks": [] })),
        at(3, 9100, prompt(2, "Two")),
        at(4, 9200, calls("c2", "write", json!({ "file_path": "/w/a", "content": "x" }))),
        at(
            5,
            9300,
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c2", "status": "failed",
            "content": [{ "type": "content", "content": { "type": "text", "text": "Tool `write` was not executed: no" } }] }),
        ),
        at(6, 9400, json!({ "sessionUpdate": "rewind_marker", "target_prompt_index": 2 })),
        at(7, 9500, prompt(2, "Two again")),
        at(8, 9600, calls("c3", "grep", json!({ "pattern": "x" }))),
        at(9, 9700, json!({ "sessionUpdate": "brand_new" })),
    ];
    let said = |text: &str| json!({ "type": "assistant", "content": text });
    let typed = |index: u64, text: &str| json!({ "type": "user", "prompt_index": index, "content": text });
    let events = vec![
        json!({ "type": "turn_started", "session_id": "s1", "turn_number": 1, "model_id": "model-a", "ms": 1000 }),
        json!({ "type": "tool_completed", "tool_call_id": "c1", "outcome": "success", "duration_ms": 4, "ms": 1300 }),
        json!({ "type": "turn_ended", "outcome": "completed", "ms": 2090 }),
        json!({ "type": "turn_started", "session_id": "s1", "turn_number": 2, "model_id": "model-b", "ms": 9100 }),
        json!({ "type": "permission_resolved", "tool_name": "write", "decision": "deny", "ms": 9299 }),
        json!({ "type": "turn_ended", "outcome": "cancelled", "ms": 9390 }),
    ];
    vec![
        source("m", lines),
        source(
            "chat",
            vec![typed(0, "Zero"), said("None."), typed(1, "One"), said("Half an answer."), typed(2, "Two")],
        ),
        rewritten(
            2,
            source(
                "chat",
                vec![
                    typed(0, "Zero"),
                    said("None."),
                    typed(1, "One"),
                    said("Half an answer."),
                    typed(2, "Two again"),
                ],
            ),
        ),
        source("events", events),
        source(
            "summary",
            vec![
                json!({ "info": { "id": "s1", "cwd": "/w" }, "parent_session_id": "s0", "generated_title": "Odd" }),
            ],
        ),
        source(
            "k9.meta",
            vec![json!({ "child_session_id": "k9", "parent_session_id": "s1", "attempt_id": "a1" })],
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_the_chat_or_the_event_log_becomes_a_second_event(script in script()) {
        let said = |steps: &[Step]| steps.iter().filter(|step| matches!(step, Step::User(_))).count();
        for (id, sources) in &home_of(&script).sessions {
            let settled = settled(grok(), id, sources);
            let beside = |event: &&Event| event.id.source.as_str() == "chat" && event.result.is_none();
            prop_assert_eq!(settled.events.iter().filter(beside).count(), 0);
            if *id == script.session {
                let prompts = settled.events.iter().filter(|event| event.kind == Kind::User).count();
                prop_assert_eq!(prompts, said(&script.steps));
            }
        }
    }

    #[test]
    fn damage_reaches_no_other_record(of in 0..6usize, at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        let session = SessionKey::new("grok", "s1");
        let sources = odd_session();
        let mut source = sources[of].clone();
        let at = at % source.bytes.len();
        prop_assume!(source.bytes[at] != b'\n' && byte != b'\n');
        let line = source.bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        source.bytes[at] = byte;
        // What the other records gave is what they gave before.
        let others = |source: &Source| -> Vec<Event> {
            let drafts = parse_cut(grok(), &session, source, &[]).out.drafts;
            drafts.into_iter().map(|draft| *draft.event).filter(|event| event.id.record != line).collect()
        };
        let (damaged, whole) = (others(&source), others(&sources[of]));
        prop_assert_eq!(damaged.len(), whole.len());
        for (damaged, whole) in damaged.iter().zip(&whole) {
            prop_assert_eq!((&damaged.id, damaged.kind, &damaged.text), (&whole.id, whole.kind, &whole.text));
        }
        let mut all = sources;
        all[of] = source;
        prop_assert!(adds_up(&settled(grok(), "s1", &all).coverage));
        let length = all[of].bytes.len();
        all[of].bytes.truncate(cut % length);
        prop_assert!(adds_up(&settled(grok(), "s1", &all).coverage));
    }
}
