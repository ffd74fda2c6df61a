//! Laws that hold for every Claude Code session: the pieces and the order in
//! which it arrives do not show, settling needs no words, and no damage to the
//! bytes stops the reading.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod home;

use home::{Source, adds_up, log, parse_cut, settled, settled_drafts, written};
use proptest::prelude::*;
use retro_agents::script::{Script, Step};
use retro_agents::{Agent, Draft, by_name, settle};
use retro_model::{Event, SessionKey};
use serde_json::{Value, json};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

fn claude() -> &'static dyn Agent {
    by_name("claude").unwrap()
}

/// What no script can tell: rewinds, side chains, repeats, growing lines, refusals.
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

fn step() -> impl Strategy<Value = Step> {
    let words = "[a-zäß😀 ]{0,12}";
    let leaf = prop_oneof![
        words.prop_map(Step::User),
        words.prop_map(Step::Assistant),
        words.prop_map(Step::Thinking),
        words.prop_map(Step::Compaction),
        words.prop_map(Step::Title),
        "[a-z]{1,5}".prop_map(Step::Model),
        Just(Step::Interrupt),
        ("[a-z ]{1,9}", words, 0..3i64).prop_map(|(command, output, exit_code)| Step::Shell {
            command,
            output,
            exit_code
        }),
        ("[a-z/]{1,9}", words).prop_map(|(path, content)| Step::Read { path, content }),
        ("[a-z]{1,9}", prop::collection::vec(words, 0..3), prop::collection::vec(words, 0..3))
            .prop_map(|(path, removed, added)| Step::Edit { path, removed, added }),
    ];
    leaf.prop_recursive(2, 12, 4, move |inner| {
        (words, prop::collection::vec(inner, 0..4)).prop_map(|(task, steps)| Step::Subagent { task, steps })
    })
}

fn script() -> impl Strategy<Value = Script> {
    prop::collection::vec(step(), 0..12).prop_map(|steps| Script {
        steps,
        session: SESSION.to_owned(),
        ..Script::parse("").unwrap()
    })
}

/// Reads every source cut at these places (taken modulo its length), and settles
/// the sources in an order that starts at `turn`.
fn pieced(sources: &[Source], cuts: &[usize], turn: usize) -> retro_agents::Settled {
    let session = SessionKey::new("claude", SESSION);
    let mut parsed: Vec<_> = sources
        .iter()
        .map(|source| {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (source.bytes.len() + 1)).collect();
            cuts.sort_unstable();
            parse_cut(claude(), &session, source, &cuts)
        })
        .collect();
    let turn = turn % parsed.len();
    parsed.rotate_left(turn);
    settle(claude(), &session, parsed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_and_order_of_a_script_give_the_same_stream(
        script in script(), cuts in prop::collection::vec(any::<usize>(), 0..5), turn in any::<usize>(),
    ) {
        let sources = written(claude(), &script);
        prop_assert_eq!(pieced(&sources, &cuts, turn), settled(claude(), SESSION, &sources));
    }

    #[test]
    fn what_is_written_is_understood_whole(script in script()) {
        let settled = settled(claude(), SESSION, &written(claude(), &script));
        prop_assert!(adds_up(&settled.coverage));
        prop_assert_eq!((settled.coverage.unknown, settled.coverage.malformed, settled.gaps.len()), (0, 0, 0));
        prop_assert_eq!(claude().write(&script), claude().write(&script));
    }

    #[test]
    fn any_split_and_order_of_an_odd_session_give_the_same_stream(
        cuts in prop::collection::vec(any::<usize>(), 0..6), turn in any::<usize>(),
    ) {
        let sources = odd_session();
        prop_assert_eq!(pieced(&sources, &cuts, turn), settled(claude(), SESSION, &sources));
    }

    #[test]
    fn no_damage_stops_the_reading(at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        let mut sources = odd_session();
        let bytes = &mut sources[0].bytes;
        let at = at % bytes.len();
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        let was = std::mem::replace(&mut bytes[at], byte);
        let damaged = settled(claude(), SESSION, &sources);
        prop_assert!(adds_up(&damaged.coverage));
        // A byte that no id has, so that the damage makes no two records one; and not
        // in the place of a line end, which would number all later records anew.
        if byte >= 0x80 && was != b'\n' && line < 18 {
            let whole = settled(claude(), SESSION, &odd_session());
            // Records that do not depend on the damaged one are told as before.
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
        prop_assert!(adds_up(&settled(claude(), SESSION, &sources).coverage));
    }
}

#[test]
fn settling_reads_no_words() {
    let bare = |draft: &mut Draft| {
        draft.event.text = None;
        draft.event.data = None;
        if let Some(call) = &mut draft.event.tool {
            call.args = None;
            call.command = None;
        }
    };
    let session = SessionKey::new("claude", SESSION);
    let sources = odd_session();
    let mut drafts: Vec<Draft> =
        sources.iter().flat_map(|source| parse_cut(claude(), &session, source, &[]).out.drafts).collect();
    drafts.sort_by(|a, b| a.id().source.cmp(&b.id().source));
    drafts.iter_mut().for_each(bare);
    claude().settle(&session, &mut drafts);
    let (mut with_words, _) = settled_drafts(claude(), SESSION, &sources);
    with_words.iter_mut().for_each(bare);
    assert_eq!(drafts.len(), with_words.len());
    for (without, with) in drafts.iter().zip(&with_words) {
        assert_eq!(without.event, with.event);
        assert_eq!(without.hint.fold_only, with.hint.fold_only, "{}", with.id());
    }
}
