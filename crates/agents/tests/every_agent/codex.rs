//! Codex: an odd thread, and what damage to it may change.

use proptest::prelude::*;
use retro_agents::Settled;
use retro_model::Event;
use serde_json::{Value, json};
use std::collections::BTreeMap;

use crate::Sample;
use crate::codex_home::{THREAD, codex, log};
use crate::home::{Source, adds_up, settled};

pub(crate) fn sample() -> Sample {
    Sample {
        agent: codex(),
        session: THREAD,
        odd: odd_thread(),
        source: log,
        fixtures: include_str!("../fixtures/codex_rows.txt"),
        response: |input| {
            let usage = json!({ "input_tokens": input, "output_tokens": 5 });
            log(
                "m",
                vec![
                    json!({ "type": "token_usage_record", "payload": { "response_id": "resp1", "usage": usage } }),
                ],
            )
        },
        input: "input_tokens",
    }
}

const BACK: &str = "00000000-0000-7000-8000-00000000000c";

/// What no script can express: several versions in one file, going back, streams,
/// rewritten files, nested calls, commands that go on.
fn odd_thread() -> Vec<Source> {
    let user = |text: &str| json!({ "item": { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] } });
    let said = |text: &str| json!({ "event": { "type": "user_message", "message": text } });
    let called = |id: &str, name: &str, args: Value| json!({ "item": { "type": "function_call", "name": name, "arguments": args.to_string(), "call_id": id } });
    let got = |id: &str, output: &str| json!({ "item": { "type": "function_call_output", "call_id": id, "output": output } });
    let count = |n: u64| json!({ "event": { "type": "token_count", "info": { "total_token_usage": { "input_tokens": n }, "last_token_usage": { "input_tokens": 5, "output_tokens": n } } } });
    let first = vec![
        json!({ "type": "session_meta", "payload": { "id": THREAD, "cwd": "/w", "source": "cli" } }),
        json!({ "type": "turn_context", "payload": { "cwd": "/w", "model": "model-a" } }),
        user("<environment_context>\n<cwd>/w</cwd>\n</environment_context>"),
        user("Grüße 😀"),
        said("Grüße 😀"),
        json!({ "event": { "type": "agent_reasoning", "text": "Hm." } }),
        json!({ "item": { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Hm." }] } }),
        called("c1", "exec_command", json!({ "cmd": "make" })),
        count(1),
        got("c1", "Wall time: 0.5 seconds\nProcess running with session ID 9\nOutput:\n"),
        count(1),
        called("c2", "write_stdin", json!({ "session_id": 9 })),
        count(2),
        got("c2", "Wall time: 0.5 seconds\nProcess exited with code 2\nOutput:\nno"),
        json!({ "event": { "type": "task_started", "turn_id": "00000000-0000-7000-8000-00000000000b" } }),
        user("Second"),
        json!({ "done": { "type": "UserMessage", "id": "x", "content": [{ "type": "text", "text": "Second" }] } }),
        json!({ "item": { "type": "custom_tool_call", "name": "exec", "input": "run()", "call_id": "c3" } }),
        json!({ "type": "token_usage_record", "payload": { "response_id": "resp1", "usage": { "input_tokens": 4 } } }),
        json!({ "done": { "type": "CommandExecution", "id": "exec-1", "command": ["bash", "-lc", "ls"], "exit_code": 0, "status": "completed" } }),
        json!({ "item": { "type": "custom_tool_call_output", "call_id": "c3", "output": [{ "type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n" }] } }),
        json!({ "event": { "type": "web_search_end", "call_id": "ws1", "action": { "type": "search", "query": "rust" } } }),
        json!({ "item": { "type": "web_search_call", "action": { "type": "search", "query": "rust" } } }),
        json!({ "event": { "type": "agent_message", "message": "Alone." } }),
        json!({ "event": { "type": "thread_rolled_back", "num_turns": 1 } }),
        json!({ "event": { "type": "brand_new", "x": 1 } }),
        called("c4", "exec_command", json!({ "cmd": "sleep 9" })),
        got("c4", "aborted by user"),
    ];
    let rewritten = [&first[..6], &[json!({ "event": { "type": "turn_aborted" } })]].concat();
    let back = vec![
        json!({ "type": "session_meta", "payload": { "id": THREAD, "history_base": { "thread_id": THREAD, "end_byte_offset": 700 } } }),
        user("Another way"),
        said("Another way"),
    ];
    vec![
        log("m", first),
        Source { revision: 2, ..log("m", rewritten) },
        log(BACK, back),
        log(
            "exec",
            vec![
                json!({ "type": "thread.started", "thread_id": THREAD }),
                json!({ "type": "error", "message": "Reconnecting... 1/5" }),
            ],
        ),
        log("state", vec![json!({ "name": "Mine", "archived": 1 })]),
    ]
}

/// What of each record of the main log does not hang on another record.
fn told(settled: &Settled) -> BTreeMap<u64, Vec<String>> {
    let mut told: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for event in settled.events.iter().filter(|event| event.id.source.is_main() && event.id.revision == 1) {
        let Event { kind, text, usage, .. } = event;
        let call = event.tool.as_ref().map(|call| (&call.call_id, &call.name, &call.command));
        told.entry(event.id.record).or_default().push(format!("{kind:?} {text:?} {usage:?} {call:?}"));
    }
    told
}

/// The lines of the odd thread that depend on a line: the other record of an
/// utterance, the turn or the sum that later lines rest on.
fn is_bound(line: u64, other: u64) -> bool {
    let pairs: &[(u64, &[u64])] = &[
        (1, &[1]),
        (2, &[9, 13, 19]),
        (4, &[5]),
        (5, &[4, 9, 13, 16, 17]),
        (6, &[7]),
        (7, &[6]),
        (9, &[11, 13]),
        (13, &[13]),
        (15, &[19]),
        (16, &[17]),
        (17, &[16, 4, 5]),
        (22, &[23]),
        (23, &[22]),
    ];
    line == other || pairs.iter().any(|(from, to)| *from == line && to.contains(&other))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_stops_the_reading_or_reaches_far(at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        // Without the rewritten file, which has what is damaged here once more.
        let mut sources: Vec<Source> = odd_thread().into_iter().filter(|source| source.revision == 1).collect();
        let whole = told(&settled(codex(), THREAD, &sources));
        let bytes = &mut sources[0].bytes;
        let at = at % bytes.len();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let was = std::mem::replace(&mut bytes[at], byte);
        let damaged = settled(codex(), THREAD, &sources);
        prop_assert!(adds_up(&damaged.coverage));
        if was != b'\n' && byte != b'\n' {
            let ours = told(&damaged);
            for (record, events) in whole.iter().filter(|(record, _)| !is_bound(line, **record)) {
                prop_assert_eq!(Some(events), ours.get(record), "line {} with byte {:#x} at {}", line, byte, at);
            }
        }
        let length = sources[0].bytes.len();
        sources[0].bytes.truncate(cut % length);
        prop_assert!(adds_up(&settled(codex(), THREAD, &sources).coverage));
    }
}
