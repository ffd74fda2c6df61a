//! Every promise of SECURITY.md and docs/guarantees.md names its tests, and they are there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

/// The top of the repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of the tables of a document whose last column names tests: line, promise, tests.
fn promises(text: &str) -> Vec<(usize, &str, &str)> {
    let mut rows = Vec::new();
    let mut names_tests = false;
    for (at, line) in text.lines().enumerate() {
        let Some(cells) = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")) else {
            names_tests = false;
            continue;
        };
        let Some((promise, tests)) = cells.rsplit_once(" | ") else { continue };
        match tests {
            "shown by" | "tests" => names_tests = true,
            _ if names_tests && !tests.starts_with("---") => rows.push((at + 1, promise, tests)),
            _ => {}
        }
    }
    rows
}

/// What is in backticks.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

/// What is wrong with the tests that a row names.
fn problems(cell: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut source, mut named) = (None, 0);
    for word in quoted(cell) {
        if word.ends_with(".rs") {
            let text = std::fs::read_to_string(top().join(word));
            if text.is_err() {
                problems.push(format!("no file {word}"));
            }
            source = Some((word, text.unwrap_or_default()));
        } else if let Some((path, text)) = source.as_ref().filter(|_| is_name(word)) {
            named += 1;
            if !has_test(text, word) {
                problems.push(format!("no test {word} in {path}"));
            }
        }
    }
    if named == 0 {
        problems.push("no test is named".to_owned());
    }
    problems
}

fn is_name(word: &str) -> bool {
    word.contains('_')
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether a source has a test of this name: behind the attribute, or written by a macro that
/// is called with it.
fn has_test(text: &str, name: &str) -> bool {
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else { return false };
    let attributes = before.lines().rev().take_while(|line| {
        let line = line.trim();
        line.starts_with("#[") || line.starts_with("//") || line.is_empty()
    });
    attributes.into_iter().any(|line| line.trim() == "#[test]")
}

#[test]
fn every_promise_names_tests_that_are_there() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for document in ["SECURITY.md", "docs/guarantees.md"] {
        let text = std::fs::read_to_string(top().join(document)).unwrap();
        for (line, promise, tests) in promises(&text) {
            rows += 1;
            wrong.extend(
                problems(tests).iter().map(|problem| format!("{document}:{line}: {problem} ({promise})")),
            );
        }
    }
    assert!(rows > 70, "{rows}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_promise_of_the_security_page_is_in_its_table() {
    let text = std::fs::read_to_string(top().join("SECURITY.md")).unwrap();
    let promised = text.lines().filter_map(|line| line.strip_prefix("- **")?.split_once("**"));
    let table: Vec<&str> = promises(&text).iter().map(|(_, promise, _)| *promise).collect();
    let mut count = 0;
    for (promise, _) in promised {
        count += 1;
        let promise = promise.trim_end_matches('.').to_lowercase();
        let is_in = table.iter().any(|row| promise.starts_with(&row.to_lowercase()));
        assert!(is_in, "{promise:?} has no tests");
    }
    assert!(count >= table.len() - 1, "{count} promises, {} rows", table.len());
}

#[test]
fn a_promise_without_its_test_is_named() {
    assert_eq!(problems("a trial"), ["no test is named"]);
    assert_eq!(problems("`crates/cli/tests/guarantees.rs`"), ["no test is named"]);
    assert_eq!(
        problems("`crates/cli/tests/guarantees.rs`: `not_there`"),
        ["no test not_there in crates/cli/tests/guarantees.rs"]
    );
    assert_eq!(
        problems("`crates/cli/tests/guarantees.rs`: `has_test`"),
        ["no test has_test in crates/cli/tests/guarantees.rs"]
    );
    assert!(problems("`crates/cli/tests/guarantees.rs`: `a_promise_without_its_test_is_named`").is_empty());
}
