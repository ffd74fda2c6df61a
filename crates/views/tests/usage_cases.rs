//! The cases that token counters get wrong, each told as files on a machine, synced
//! and asked for: what counts must be what was used, once.
#![allow(clippy::unwrap_used, clippy::panic)]

mod lines;
#[path = "../../engine/tests/support/mod.rs"]
mod support;

use jiff::tz::TimeZone;
use lines::{Answer, claude_file, codex_file, log, meta, tokens, turn};
use retro_engine::ask::Ledgers;
use retro_usage::{Billing, Prices, Query, Report};
use serde_json::{Value, json};
use std::path::PathBuf;
use support::Machine;

const A: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const B: &str = "bbbbbbbb-0000-4000-8000-000000000002";
/// Threads and turns of Codex, in the order in which they were made.
const PARENT: &str = "01900000-0000-7000-8000-000000000001";
const FIRST: &str = "01900000-0000-7000-8000-000000000002";
const SECOND: &str = "01900000-0000-7000-8000-000000000003";
const FORK: &str = "01900000-0000-7000-8000-000000000004";
const THIRD: &str = "01900000-0000-7000-8000-000000000005";

type Files = Vec<(PathBuf, Vec<u8>)>;

fn report(machine: &Machine, query: Query) -> Report {
    let index = machine.store().index().unwrap();
    retro_views::usage(&Ledgers::of(&index, &Prices::embedded().unwrap()), Billing::Plan, query)
        .unwrap()
        .report
}

fn synced(files: &Files) -> Machine {
    let machine = Machine::new();
    for (path, bytes) in files {
        machine.write(path, bytes);
    }
    machine.sync();
    machine
}

/// Input, written for five minutes or an unknown time, written for an hour, read, output, reasoning,
/// responses; dollars.
type Used = ([u64; 7], Option<f64>);

fn used(report: &Report) -> Used {
    let sum = &report.totals;
    let short = sum.cache_creation_tokens - sum.cache_creation_1h_tokens;
    let figures = [
        sum.input_tokens,
        short,
        sum.cache_creation_1h_tokens,
        sum.cache_read_tokens,
        sum.output_tokens,
        sum.reasoning_tokens,
        sum.responses,
    ];
    (figures, sum.cost_usd.map(|usd| (usd * 1e9).round() / 1e9))
}

fn one(answer: Answer<'_>) -> Files {
    vec![(claude_file(answer.session), log([answer.json()]))]
}

/// An answer while it streams: the same message, more output from line to line.
fn growing() -> Files {
    let line = |output, stop| Answer { usage: tokens(1000, output), stop, ..Answer::default() }.json();
    vec![(claude_file(A), log([line(1, false), line(1, false), line(427, true)]))]
}

/// A resume as 1.0.x made it: a new id, the old answers copied without their
/// request ids and with the time of the resume, then a new one.
fn resumed() -> Files {
    let old = Answer::default();
    let copy = Answer { session: B, request: false, at: "2026-03-02T09:00:00Z", ..Answer::default() };
    let new = Answer { session: B, message: "msg_2", at: "2026-03-02T09:01:00Z", ..Answer::default() };
    vec![(claude_file(A), log([old.json()])), (claude_file(B), log([copy.json(), new.json()]))]
}

/// A fork that copied its parent's lines at one time, then a turn of its own.
fn forked(ids: [Option<&str>; 3]) -> Files {
    let history = |at: [&str; 2]| {
        let first = turn(at[0], ids[0], [1000, 0, 100], [1000, 0, 100, 0]);
        let second = turn(at[1], ids[1], [3000, 500, 300], [2000, 500, 200, 0]);
        [first, second].concat()
    };
    let copied_at = "2026-03-01T12:00:00.000Z";
    let parent = [
        vec![meta("2026-03-01T10:00:00Z", PARENT, None)],
        history(["2026-03-01T10:00:01Z", "2026-03-01T10:05:00Z"]),
    ];
    let fork = [
        vec![meta(copied_at, FORK, Some(PARENT)), meta(copied_at, PARENT, None)],
        history([copied_at, copied_at]),
        turn("2026-03-01T12:01:00Z", ids[2], [7000, 500, 700], [4000, 0, 400, 0]),
    ];
    vec![(codex_file(PARENT), log(parent.concat())), (codex_file(FORK), log(fork.concat()))]
}

/// The total starts anew when 0.42 resumes in the same file.
fn reset() -> Files {
    let lines = [
        vec![meta("2026-03-01T10:00:00Z", PARENT, None)],
        turn("2026-03-01T10:00:01Z", None, [5000, 0, 500], [5000, 0, 500, 0]),
        turn("2026-03-01T11:00:01Z", None, [1000, 0, 100], [1000, 0, 100, 0]),
    ];
    vec![(codex_file(PARENT), log(lines.concat()))]
}

/// Two turns that used the same; and each count told a second time.
fn equal_turns() -> Files {
    let first = turn("2026-03-01T10:00:01Z", Some(FIRST), [1000, 0, 100], [1000, 0, 100, 0]);
    let second = turn("2026-03-01T10:01:01Z", Some(SECOND), [2000, 0, 200], [1000, 0, 100, 0]);
    let again = |turn: &[Value]| turn.last().cloned().into_iter().collect::<Vec<_>>();
    let lines = [
        vec![meta("2026-03-01T10:00:00Z", PARENT, None)],
        first.clone(),
        again(&first),
        second.clone(),
        again(&second),
    ];
    vec![(codex_file(PARENT), log(lines.concat()))]
}

fn reasoning() -> Files {
    let lines = [
        vec![meta("2026-03-01T10:00:00Z", PARENT, None)],
        turn("2026-03-01T10:00:01Z", Some(THIRD), [1000, 400, 300], [1000, 400, 300, 200]),
    ];
    vec![(codex_file(PARENT), log(lines.concat()))]
}

fn hour_of_cache() -> Files {
    let usage = json!({ "input_tokens": 10, "output_tokens": 100, "cache_read_input_tokens": 5000,
        "cache_creation_input_tokens": 3000,
        "cache_creation": { "ephemeral_5m_input_tokens": 1000, "ephemeral_1h_input_tokens": 2000 } });
    one(Answer { usage, ..Answer::default() })
}

/// One request whose prompt passes 200,000 tokens, and one that does not though both together do.
fn long_prompt() -> Files {
    let model = "claude-sonnet-4-20250514";
    let long = Answer { model, usage: tokens(200_001, 1000), ..Answer::default() };
    let short = Answer { model, message: "msg_2", usage: tokens(150_000, 1000), ..Answer::default() };
    vec![(claude_file(A), log([long.json(), short.json()]))]
}

fn spaced() -> Files {
    let line = Answer::default().json();
    let spaced = serde_json::to_string_pretty(&line).unwrap().replace('\n', " ");
    vec![(claude_file(A), format!("{spaced}\n").into_bytes())]
}

fn broken_neighbour() -> Files {
    let mut bytes = b"{\"type\":\"assistant\",\"message\":{\"id\":\"msg_9\",\"model\":\"\xff\xfe".to_vec();
    bytes.extend_from_slice(b"\xc3\x28\n");
    bytes.extend_from_slice(&log([Answer::default().json()]));
    bytes.extend_from_slice(b"\xff\xff not json\n");
    vec![(claude_file(A), bytes)]
}

fn cut_tail() -> Files {
    let mut bytes = log([Answer::default().json()]);
    let next = log([Answer { message: "msg_2", ..Answer::default() }.json()]);
    bytes.extend_from_slice(&next[..next.len() / 2]);
    vec![(claude_file(A), bytes)]
}

fn subagent() -> Files {
    let mut side = Answer { message: "msg_2", usage: tokens(400, 40), ..Answer::default() }.json();
    side["isSidechain"] = json!(true);
    side["agentId"] = json!("abc123");
    let file = claude_file(A).with_extension("").join("subagents/agent-abc123.jsonl");
    vec![(claude_file(A), log([Answer::default().json()])), (file, log([side]))]
}

#[test]
fn what_was_used_counts_once() {
    let cases: Vec<(&str, Files, Used)> = vec![
        ("lines of one answer that grow", growing(), ([1000, 0, 0, 0, 427, 0, 1], Some(0.00627))),
        ("a resume copy under a new id", resumed(), ([2000, 0, 0, 0, 200, 0, 2], Some(0.006))),
        (
            "a fork with turn ids",
            forked([Some(FIRST), Some(SECOND), Some(THIRD)]),
            ([6500, 0, 0, 500, 700, 0, 3], Some(0.0151875)),
        ),
        ("a fork without turn ids", forked([None; 3]), ([6500, 0, 0, 500, 700, 0, 3], Some(0.0151875))),
        ("a total that starts anew", reset(), ([6000, 0, 0, 0, 600, 0, 2], Some(0.0135))),
        ("equal turns in a row", equal_turns(), ([2000, 0, 0, 0, 200, 0, 2], Some(0.0045))),
        ("reasoning is a part of output", reasoning(), ([600, 0, 0, 400, 300, 200, 1], Some(0.0038))),
        ("an hour of cache costs more", hour_of_cache(), ([10, 1000, 2000, 5000, 100, 0, 1], Some(0.01252))),
        (
            "a long prompt costs more, two short ones do not",
            long_prompt(),
            ([350_001, 0, 0, 0, 2000, 0, 2], Some(1.687506)),
        ),
        ("spaces after colons", spaced(), ([1000, 0, 0, 0, 100, 0, 1], Some(0.003))),
        (
            "bytes that are no text beside a good line",
            broken_neighbour(),
            ([1000, 0, 0, 0, 100, 0, 1], Some(0.003)),
        ),
        ("a tail that was cut", cut_tail(), ([1000, 0, 0, 0, 100, 0, 1], Some(0.003))),
        ("a sub-agent's own file", subagent(), ([1400, 0, 0, 0, 140, 0, 2], Some(0.0042))),
        (
            "a model without a price",
            one(Answer { model: "nobody-knows-9", ..Answer::default() }),
            ([1000, 0, 0, 0, 100, 0, 1], None),
        ),
    ];
    let mut wrong = Vec::new();
    for (name, files, expected) in &cases {
        let machine = synced(files);
        let report = report(&machine, Query::default());
        if used(&report) != *expected {
            wrong.push(format!("{name}: {:?} instead of {expected:?}", used(&report)));
        }
        let is_priced = expected.1.is_some();
        if report.totals.cost_complete != is_priced || report.unpriced_models.is_empty() != is_priced {
            wrong.push(format!(
                "{name}: complete {}, {:?}",
                report.totals.cost_complete, report.unpriced_models
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_unknown_price_spoils_no_known_one() {
    let known = Answer::default();
    let unknown = Answer { message: "msg_2", model: "nobody-knows-9", ..Answer::default() };
    let machine = synced(&vec![(claude_file(A), log([known.json(), unknown.json()]))]);
    let report = report(&machine, Query::default());
    assert_eq!((report.totals.cost_usd, report.totals.cost_complete), (Some(0.003), false));
    assert_eq!(
        (report.unpriced_models[0].model.as_str(), report.unpriced_models[0].tokens),
        ("nobody-knows-9", 1100)
    );
}

#[test]
fn a_copy_is_counted_where_it_was_first_answered() {
    let daily = report(&synced(&resumed()), Query::default());
    let days: Vec<(&str, u64)> =
        daily.rows.iter().map(|row| (row.key.as_str(), row.figures.output_tokens)).collect();
    assert_eq!(days, [("2026-03-01", 100), ("2026-03-02", 100)]);
    assert_eq!(daily.duplicates_dropped, 1);
}

#[test]
fn a_resume_on_the_next_day_counts_on_both() {
    let first = Answer::default();
    let next =
        Answer { message: "msg_2", at: "2026-03-02T08:00:00Z", usage: tokens(500, 50), ..Answer::default() };
    let machine = synced(&one(Answer::default()));
    machine.write(&claude_file(A), &log([first.json(), next.json()]));
    machine.sync();
    let daily = report(&machine, Query::default());
    let days: Vec<(&str, u64)> =
        daily.rows.iter().map(|row| (row.key.as_str(), row.figures.input_tokens)).collect();
    assert_eq!(days, [("2026-03-01", 1000), ("2026-03-02", 500)]);
}

#[test]
fn the_same_log_under_two_roots_counts_once() {
    let mut machine = synced(&one(Answer::default()));
    let other = machine.path().join("old-laptop/.claude");
    let file = other.join("projects/-home-dev-shop").join(format!("{A}.jsonl"));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let longer = [Answer::default().json(), Answer { message: "msg_2", ..Answer::default() }.json()];
    std::fs::write(&file, log(longer)).unwrap();
    machine.config.sources.value.insert("claude".to_owned(), vec![other]);
    machine.sync();
    assert_eq!(used(&report(&machine, Query::default())).0, [2000, 0, 0, 0, 200, 0, 2]);
}

#[test]
fn files_may_arrive_in_any_order() {
    let mut files: Files = [resumed(), forked([Some(FIRST), Some(SECOND), Some(THIRD)])].concat();
    let expected = serde_json::to_string(&report(&synced(&files), Query::default())).unwrap();
    let mut orders = 0;
    permute(&mut files, 0, &mut |files| {
        let machine = Machine::new();
        for (path, bytes) in files {
            machine.write(path, bytes);
            machine.sync();
        }
        let told = serde_json::to_string(&report(&machine, Query::default())).unwrap();
        let order: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
        assert_eq!(told, expected, "{order:?}");
        orders += 1;
    });
    assert_eq!(orders, 24);
}

fn permute(files: &mut Files, from: usize, each: &mut dyn FnMut(&Files)) {
    if from == files.len() {
        return each(files);
    }
    for at in from..files.len() {
        files.swap(from, at);
        permute(files, from + 1, each);
        files.swap(from, at);
    }
}

/// Around midnight of each zone, and where clocks change: Berlin's 29 March 2026 has
/// 23 hours, its 25 October 25; at 2:30 that night it is twice half past two.
#[test]
fn days_are_cut_in_the_askers_zone() {
    let instants = [
        "2026-03-28T22:59:59.999Z",
        "2026-03-28T23:00:00Z",
        "2026-03-29T00:30:00Z",
        "2026-03-29T21:59:59.999Z",
        "2026-03-29T22:00:00Z",
        "2026-10-24T21:59:59.999Z",
        "2026-10-24T22:00:00Z",
        "2026-10-25T00:30:00Z",
        "2026-10-25T01:30:00Z",
        "2026-10-25T22:59:59.999Z",
        "2026-10-25T23:00:00Z",
    ];
    let messages: Vec<String> = (0..instants.len()).map(|at| format!("msg_{at}")).collect();
    let answer = |(at, message): (&&str, &String)| {
        Answer { message, at, usage: tokens(1, 1), ..Answer::default() }.json()
    };
    let machine = synced(&vec![(claude_file(A), log(instants.iter().zip(&messages).map(answer)))]);
    let days = |zone: &str| -> Vec<(String, u64)> {
        let query = Query { tz: TimeZone::get(zone).unwrap(), ..Query::default() };
        report(&machine, query).rows.into_iter().map(|row| (row.key, row.figures.responses)).collect()
    };
    let expected = |days: &[(&str, u64)]| -> Vec<(String, u64)> {
        days.iter().map(|(day, responses)| ((*day).to_owned(), *responses)).collect()
    };
    assert_eq!(
        days("Europe/Berlin"),
        expected(&[
            ("2026-03-28", 1),
            ("2026-03-29", 3),
            ("2026-03-30", 1),
            ("2026-10-24", 1),
            ("2026-10-25", 4),
            ("2026-10-26", 1)
        ])
    );
    assert_eq!(
        days("UTC"),
        expected(&[("2026-03-28", 2), ("2026-03-29", 3), ("2026-10-24", 2), ("2026-10-25", 4)])
    );
    // Half an hour beside everybody else, and no change of clocks.
    assert_eq!(
        days("Asia/Kolkata"),
        expected(&[("2026-03-29", 3), ("2026-03-30", 2), ("2026-10-25", 4), ("2026-10-26", 2)])
    );
}
