//! Laws that hold for every Codex thread: the pieces and the order in which it
//! arrives do not show, settling needs no words, and no damage to the bytes stops
//! the reading.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod codex_home;
mod home;

use codex_home::{THREAD, codex, log, written};
use home::{Source, adds_up, parse_cut, settled, settled_drafts};
use proptest::prelude::*;
use retro_agents::script::{Script, Step};
use retro_agents::{Draft, Settled, settle};
use retro_model::{Event, SessionKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const BACK: &str = "00000000-0000-7000-8000-00000000000c";

/// What no script can tell: several versions in one file, going back, streams,
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
        session: THREAD.to_owned(),
        ..Script::parse("").unwrap()
    })
}

/// Reads every source cut at these places (taken modulo its length), and settles
/// the sources in an order that starts at `turn`.
fn pieced(id: &str, sources: &[Source], cuts: &[usize], turn: usize) -> Settled {
    let session = SessionKey::new("codex", id);
    let mut parsed: Vec<_> = sources
        .iter()
        .map(|source| {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (source.bytes.len() + 1)).collect();
            cuts.sort_unstable();
            parse_cut(codex(), &session, source, &cuts)
        })
        .collect();
    let turn = turn % parsed.len();
    parsed.rotate_left(turn);
    settle(codex(), &session, parsed)
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

/// The lines of the odd thread that have something to do with a line: the other
/// telling of an utterance, the turn or the sum that later lines rest on.
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
    fn any_split_and_order_of_a_script_give_the_same_stream(
        script in script(), cuts in prop::collection::vec(any::<usize>(), 0..5), turn in any::<usize>(),
    ) {
        for (id, sources) in written(&script) {
            prop_assert_eq!(pieced(&id, &sources, &cuts, turn), settled(codex(), &id, &sources));
        }
    }

    #[test]
    fn what_is_written_is_understood_whole(script in script()) {
        for (id, sources) in written(&script) {
            let settled = settled(codex(), &id, &sources);
            prop_assert!(adds_up(&settled.coverage));
            prop_assert_eq!((settled.coverage.unknown, settled.coverage.malformed, settled.gaps.len()), (0, 0, 0));
        }
        prop_assert_eq!(codex().write(&script), codex().write(&script));
    }

    #[test]
    fn any_split_and_order_of_an_odd_thread_give_the_same_stream(
        cuts in prop::collection::vec(any::<usize>(), 0..6), turn in any::<usize>(),
    ) {
        let sources = odd_thread();
        prop_assert_eq!(pieced(THREAD, &sources, &cuts, turn), settled(codex(), THREAD, &sources));
    }

    #[test]
    fn no_damage_stops_the_reading_or_reaches_far(at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        // Without the rewritten file, which would tell again what is damaged here.
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

#[test]
fn a_cut_at_any_byte_is_made_good_by_the_rest() {
    let sources = odd_thread();
    let whole = settled(codex(), THREAD, &sources);
    for cut in (0..sources[0].bytes.len()).step_by(7) {
        assert_eq!(pieced(THREAD, &sources, &[cut], 0), whole, "cut at {cut}");
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
    let session = SessionKey::new("codex", THREAD);
    let sources = odd_thread();
    let mut drafts: Vec<Draft> =
        sources.iter().flat_map(|source| parse_cut(codex(), &session, source, &[]).out.drafts).collect();
    drafts.sort_by(|a, b| (&a.id().source, a.id().revision).cmp(&(&b.id().source, b.id().revision)));
    drafts.iter_mut().for_each(bare);
    codex().settle(&session, &mut drafts);
    let (mut with_words, _) = settled_drafts(codex(), THREAD, &sources);
    with_words.iter_mut().for_each(bare);
    assert_eq!(drafts.len(), with_words.len());
    for (without, with) in drafts.iter().zip(&with_words) {
        assert_eq!(without.event, with.event);
        assert_eq!(without.hint.fold_only, with.hint.fold_only, "{}", with.id());
    }
}
