//! Claude Code: an odd session, and what damage to it may change.

use proptest::prelude::*;
use retro_agents::{Agent, by_name};
use retro_model::Event;
use serde_json::{Value, json};

use crate::Sample;
use crate::home::{Source, adds_up, log, settled};

pub(crate) fn sample() -> Sample {
    Sample {
        agent: claude(),
        session: "s1",
        odd: odd_session(),
        source: |key, records| log(claude(), key, records),
        fixtures: include_str!("../fixtures/claude_rows.txt"),
        response: |input| {
            let usage = json!({ "input_tokens": input, "output_tokens": 5 });
            let message = json!({ "id": "msg-1", "model": "model-a", "stop_reason": "end_turn", "usage": usage,
                "content": [{ "type": "text", "text": "Hello." }] });
            log(claude(), "m", vec![json!({ "type": "assistant", "message": message })])
        },
        input: "input_tokens",
    }
}

fn claude() -> &'static dyn Agent {
    by_name("claude").unwrap()
}

/// What no script can express: rewinds, side chains, repeats, growing lines, refusals.
fn odd_session() -> Vec<Source> {
    let user = |content: Value| json!({ "type": "user", "message": { "content": content } });
    let says = |id: &str, output: u64| {
        json!({ "type": "assistant", "message": { "id": id, "model": "model-a", "usage": { "output_tokens": output },
            "content": [{ "type": "text", "text": "Grüße 😀" }] } })
    };
    let mut records = vec![
        json!({ "type": "queue-operation", "operation": "enqueue", "timestamp": "2026-03-01T10:00:00.000Z" }),
        user(json!("First")),
        says("msg-1", 2),
        says("msg-1", 700),
        json!({ "type": "assistant", "message": { "id": "msg-2", "model": "model-b", "content": [
            { "type": "tool_use", "id": "c1", "name": "Task", "input": { "prompt": "Look" } }] } }),
        json!({ "type": "user", "isSidechain": true, "uuid": "x1", "parentUuid": null, "message": { "content": "Look" } }),
        json!({ "type": "assistant", "isSidechain": true, "uuid": "x2", "parentUuid": "x1",
            "message": { "id": "msg-3", "model": "model-c", "content": [{ "type": "text", "text": "Found." }] } }),
        user(json!([{ "type": "tool_result", "tool_use_id": "c1", "content": "Found." }])),
        json!({ "type": "mode", "mode": "normal" }),
        json!({ "type": "mode", "mode": "normal" }),
        json!({ "type": "system", "subtype": "compact_boundary", "parentUuid": null, "logicalParentUuid": "u8" }),
        user(json!("This session is being continued from a previous conversation. So far so good.")),
        user(json!("Second")),
        says("msg-4", 5),
    ];
    let mut other_way = user(json!("Other way"));
    other_way["parentUuid"] = json!("u12");
    records.extend([other_way, says("msg-5", 9), json!({ "type": "brand-new" })]);
    let again = json!({ "type": "user", "uuid": "u2", "message": { "content": "First" } });
    records.push(again);
    vec![
        log(claude(), "m", records),
        log(
            claude(),
            "agent-a9",
            vec![
                json!({ "type": "user", "isSidechain": true, "agentId": "a9", "message": { "content": "Warmup" } }),
            ],
        ),
        log(claude(), "agent-a9.meta", vec![json!({ "agentType": "Explore", "toolUseId": "c1" })]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_damage_stops_the_reading(at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        let mut sources = odd_session();
        let bytes = &mut sources[0].bytes;
        let at = at % bytes.len();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let was = std::mem::replace(&mut bytes[at], byte);
        let damaged = settled(claude(), "s1", &sources);
        prop_assert!(adds_up(&damaged.coverage));
        // A byte that no id has, so that the damage makes no two records one; and not
        // in the place of a line end, which would number all later records again.
        if byte >= 0x80 && was != b'\n' && line < 18 {
            let whole = settled(claude(), "s1", &odd_session());
            // Records that do not depend on the damaged one give the same events.
            let texts = |events: &[Event]| -> Vec<_> {
                events
                    .iter()
                    .filter(|event| event.id.record != line && event.id.record != line + 1)
                    .filter(|event| event.id.source.is_main() && event.text.is_some() && event.id.record < 18)
                    .map(|event| (event.id.record, event.text.clone()))
                    .collect()
            };
            let (ours, theirs) = (texts(&damaged.events), texts(&whole.events));
            let lost = theirs.iter().filter(|event| !ours.contains(event)).count();
prop_assert_eq!(lost, 0, "line {} with byte {:#x} at {}", line, byte, at);
        }
        let length = sources[0].bytes.len();
        sources[0].bytes.truncate(cut % length);
        prop_assert!(adds_up(&settled(claude(), "s1", &sources).coverage));
    }
}
