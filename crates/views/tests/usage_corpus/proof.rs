//! The comparison itself, on answers made up here: it sees every difference, and
//! an exception excuses nothing but what it is for.

use retro_model::{EventId, Exactness, LedgerRow, Thread, Tokens, Usage};

use crate::asked::Asked;
use crate::billed::Billed;
use crate::compare::{Outcome, compare};
use crate::exceptions::EXCEPTIONS;
use crate::scenario::Scenario;

/// A line of the server's ledger: an answer of `s`.
fn line(id: &str) -> String {
    format!(
        r#"{{"n":1,"kind":"main","model":"m","response_id":"{id}","request_id":"p","session_hint":"s","delivered":true,
        "input":1,"cache_write_5m":2,"cache_write_1h":3,"cache_read":4,"output":5,"reasoning":1}}"#
    )
    .replace('\n', "")
}

fn with_input(input: u64, mut row: LedgerRow) -> LedgerRow {
    row.tokens.input = input;
    row
}

/// The row of ours that says the same.
fn row(key: &str) -> LedgerRow {
    let tokens = Tokens {
        input: 1,
        cache_write_5m: 2,
        cache_write_1h: 3,
        cache_read: 4,
        output: 5,
        reasoning: 1,
        ..Tokens::default()
    };
    let usage = Usage { tokens, ..Usage::default() };
    let event: EventId = "m:1".parse().unwrap();
    LedgerRow { model: Some("m".to_owned()), ..LedgerRow::of(key.to_owned(), event, Thread::main(), &usage) }
}

fn compared(agent: &'static str, lines: &[String], rows: Vec<LedgerRow>, log: &str) -> Outcome {
    compare(&Scenario {
        name: "made".to_owned(),
        agent,
        version: (1, 0),
        interrupted: false,
        billed: Billed::all(&lines.join("\n"), None),
        asked: Asked { rows: rows.into_iter().map(|row| ("s".to_owned(), row)).collect(), open: Vec::new() },
        logs: vec![("s.jsonl".to_owned(), log.to_owned())],
    })
}

#[test]
fn a_difference_in_any_field_is_seen() {
    let equal = compared("claude", &[line("a")], vec![row("claude:a")], "");
    assert_eq!((equal.equal, equal.wrong.len()), (1, 0), "{equal:?}");
    type Change = fn(&mut LedgerRow);
    let changes: [(&str, Change); 9] = [
        ("Model", |row| row.model = None),
        ("Calls", |row| row.calls = 2),
        ("Input", |row| row.tokens.input += 1),
        ("CacheWrite5m", |row| row.tokens.cache_write_5m += 1),
        ("CacheWrite1h", |row| row.tokens.cache_write_1h += 1),
        ("CacheWriteUnsplit", |row| row.tokens.cache_write_unsplit += 1),
        ("CacheRead", |row| row.tokens.cache_read += 1),
        ("Output", |row| row.tokens.output += 1),
        ("Reasoning", |row| row.tokens.reasoning += 1),
    ];
    for (field, change) in changes {
        let mut row = row("claude:a");
        change(&mut row);
        let outcome = compared("claude", &[line("a")], vec![row], "");
        assert!(outcome.wrong[0].starts_with(&format!("[{field}] of claude:a")), "{outcome:?}");
    }
    let elsewhere = [line("a").replace(r#""session_hint":"s""#, r#""session_hint":"t""#)];
    let outcome = compared("claude", &elsewhere, vec![row("claude:a")], "");
    assert!(outcome.wrong[0].starts_with("[Session]"), "{outcome:?}");
}

#[test]
fn neither_side_may_have_an_answer_more() {
    let outcome = compared("claude", &[line("a")], vec![row("claude:a"), row("claude:b")], "");
    assert!(outcome.wrong[0].starts_with("claude:b of s was never billed"), "{outcome:?}");
    let outcome = compared("claude", &[line("a"), line("b")], vec![row("claude:a")], "");
    assert!(outcome.wrong[0].starts_with("line 1 is not in the log"), "{outcome:?}");
}

#[test]
fn an_exception_is_for_its_own_fields_and_answers() {
    let log = r#"{"type":"assistant","message":{"id":"a","stop_reason":null,"usage":{"output_tokens_details":{}}}}"#;
    let mut bound = LedgerRow { exactness: Exactness::LowerBound, ..row("claude:a") };
    bound.tokens.output = 2;
    let outcome = compared("claude", &[line("a")], vec![bound.clone()], log);
    assert_eq!((outcome.excepted, outcome.wrong), (vec!["output before the end"], vec![]));
    let outcome = compared("claude", &[line("a")], vec![with_input(0, bound.clone())], log);
    assert!(outcome.wrong[0].starts_with("[Input]"), "{outcome:?}");
    let ended = log.replace("null", r#""end_turn""#);
    let outcome = compared("claude", &[line("a")], vec![bound], &ended);
    assert!(outcome.wrong[0].starts_with("[Output]"), "{outcome:?}");
    let cut = [line("a").replace("true", "false")];
    assert_eq!(compared("claude", &cut, vec![], "").excepted, ["broken stream"]);
    assert_eq!(compared("claude", &cut, vec![], log).wrong.len(), 1, "its figures are in the log");
}

#[test]
fn exceptions_are_sorted_and_cite_the_format() {
    assert!(EXCEPTIONS.is_sorted_by_key(|exception| (exception.agent, exception.name)));
    for exception in EXCEPTIONS {
        let cites = exception.why.contains(&format!("({}.md ", exception.agent));
        assert!(cites, "{}: {}", exception.name, exception.why);
    }
}

#[test]
fn answers_without_an_id_are_taken_in_their_order() {
    let lines = [line("a"), line("b").replace(r#""input":1"#, r#""input":9"#)];
    let rows = vec![row("codex:s:t:1"), with_input(9, row("codex:s:t:2"))];
    assert_eq!(compared("codex", &lines, rows.clone(), "").equal, 2);
    let turned = rows.into_iter().rev().collect();
    assert_eq!(compared("codex", &lines, turned, "").wrong.len(), 2);
}

#[test]
fn the_lines_of_a_turn_are_added_up() {
    let lines = [line("a"), line("b"), line("c").replace(r#""p""#, r#""q""#)];
    let mut turn = row("grok:s:p:m");
    (turn.calls, turn.tokens.input, turn.tokens.cache_write_unsplit, turn.tokens.cache_read) = (2, 2, 10, 8);
    (turn.tokens.cache_write_5m, turn.tokens.cache_write_1h, turn.tokens.output, turn.tokens.reasoning) =
        (0, 0, 10, 2);
    let outcome = compared("grok", &lines, vec![turn, row("grok:s:q:m")], "");
    assert_eq!((outcome.equal, outcome.excepted, outcome.wrong), (1, vec!["cache life not told"], vec![]));
}
