//! Finds the final result of a test runner, compiler or linter in its output.
//!
//! Each line of the tables is a fixed sentence of one runner. Only whole sentences count: the word
//! "failed" inside a test's name does not.

use std::sync::LazyLock;

use regex::Regex;

use crate::patterns::Sentences;
use crate::plain;

/// A runner's own summary of its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// True if the run passed.
    pub green: bool,
    /// Tests that passed, if a line has their number.
    pub passed: Option<u64>,
    /// Tests that failed, if a line has their number.
    pub failed: Option<u64>,
    /// The line that decided.
    pub line: String,
}

/// Sentences that report a failure.
#[rustfmt::skip]
const RED: &[&str] = &[
    // cargo test, nextest, trybuild
    r"^test result: FAILED\.",
    r"^error: test failed, to rerun pass",
    r"^error: test run failed",
    r"tests? run: .*[1-9][0-9]* (?:failed|timed out)",
    r"^error: could not compile ",
    r"^error\[E[0-9]{4}\]",
    r"^error: aborting due to ",
    r"^error: [0-9]+ targets? failed",
    // pytest, unittest, tox, nox
    r"^(?:=+ )?(?:[0-9]+ [a-z]+, )*[1-9][0-9]* (?:failed|errors?)\b.* in [0-9.]+s",
    r"^FAILED \((?:failures|errors|unexpected successes)=",
    r"^(?:FAILED|ERROR) \S+\.py(?:::| |$)",
    r"^  \S+: FAIL ",
    r"^nox > .*[Ss]ession .* failed",
    r"^!+ Interrupted: [0-9]+ errors? during collection",
    // go test and its panics
    r"^FAIL(?:\t|$)",
    r"^\s*--- FAIL: ",
    r"^panic: test timed out",
    // jest, vitest, mocha, playwright, node, bun, deno, ava
    r"^\s*Tests?:? +.*[1-9][0-9]* failed",
    r"^\s*Test (?:Suites|Files):? +.*[1-9][0-9]* failed",
    r"^\s*[1-9][0-9]* failing$",
    r"^\s*[1-9][0-9]* failed$",
    r"^(?:#|ℹ) fail [1-9]",
    r"^\s*[1-9][0-9]* fail$",
    r"^FAILED \| [0-9]+ passed",
    r"^\s*[1-9][0-9]* tests? failed\b",
    r"^not ok [0-9]+",
    r"^(?:#|ℹ) cancelled [1-9]",
    // gradle, maven, sbt
    r"^BUILD FAILED",
    r"BUILD FAILURE",
    r"^[0-9]+ tests? completed, [1-9][0-9]* failed",
    r"Tests run: [0-9]+, Failures: [1-9]",
    r"Tests run: [0-9]+, Failures: [0-9]+, Errors: [1-9]",
    r"^\[error\] Failed: Total",
    // ctest, gtest, dotnet
    r"tests passed, [1-9][0-9]* tests? failed out of",
    r"^\[  FAILED  \]",
    r"^Failed! +- Failed:",
    r"^Build FAILED",
    // ruby, php, elixir, swift, zig
    r"^[0-9]+ examples?, [1-9][0-9]* failure",
    r"^[0-9]+ (?:runs|tests), [0-9]+ assertions, (?:[1-9][0-9]* failures|[0-9]+ failures, [1-9])",
    r"^FAILURES!$",
    r"^ERRORS!$",
    r"^Tests: [0-9]+, Assertions: .*(?:Failures|Errors): [1-9]",
    r"^(?:[0-9]+ (?:doctests?|properties), )?[0-9]+ tests?, [1-9][0-9]* failure",
    r"Executed [0-9]+ tests?, with [1-9]",
    r"Test run with [0-9]+ tests? failed",
    r"\b[0-9]+ passed; (?:[0-9]+ skipped; )?[1-9][0-9]* failed",
    // tap, bats, busted
    r"^# fail +[1-9]",
    r"^[0-9]+ successes / (?:[1-9][0-9]* failures|[0-9]+ failures / [1-9])",
    // compilers and type checkers
    r"\berror TS[0-9]{4,5}:",
    r"^Found [1-9][0-9]* errors?\b",
    r"^[1-9][0-9]* errors?, [0-9]+ warnings?",
    r"^\S[^:]*:[0-9]+:(?:[0-9]+:)? (?:fatal )?error:",
    r"\berror CS[0-9]{4}:",
    r"^\s*[1-9][0-9]* errors? generated\.",
    r"^(?:ERROR|error) in \S",
    r"[Cc]ompiled with [1-9][0-9]* errors?",
    r"^Failed to compile",
    r"^make(?:\[[0-9]+\])?: \*\*\* ",
    r"^ninja: build stopped",
    r"^error during build:",
    r"^svelte-check found [1-9]",
    r"^✘ \[ERROR\]",
    r"^# \S+\.test\]$",
    r"^collect2: error",
    r"^error: build failed",
    r"^Build failed ",
    // linters and formatters
    r"✖ [0-9]+ problems? \([1-9]",
    r"^[1-9][0-9]* files? would be reformatted",
    r"^[1-9][0-9]* issues?:",
    r"^\[warn\] Code style issues",
    r"^Would reformat: ",
    r"^would reformat ",
    r"^Some errors were emitted while running checks",
    r"^[0-9]+ files inspected, [1-9]",
    r"\.{3,}Failed$",
    r"^In \S+ line [0-9]+:$",
    r"^\s*[1-9][0-9]* errors? and [0-9]+ warnings?",
    r"^Diff in \S+",
    // runners of scripts
    r"^npm ERR! ",
    r"^npm error ",
    r"ELIFECYCLE",
    r"^error Command failed with exit code [1-9]",
    r#"^error: script "[^"]*" exited with code [1-9]"#,
    r"^error: Recipe `[^`]*` failed",
    r"^task: Failed to run task",
    r"^ERROR: +.*exited with code [1-9]",
    r"^ *Failed: +\S+#\S+",
    r"command not found",
    r"is not recognized as an internal or external command",
];

/// Sentences that report success.
#[rustfmt::skip]
const GREEN: &[&str] = &[
    r"^test result: ok\.",
    r"tests? run: [0-9]+ passed",
    r"^\s*Finished ",
    r"^(?:=+ )?[0-9]+ passed\b.* in [0-9.]+s",
    r"^(?:=+ )?no tests ran in ",
    r"^OK(?: \(|$)",
    r"congratulations :\)",
    r"^ok  ?\t?\s*\S+\s+(?:\(cached\)|[0-9.]+s)",
    r"^PASS$",
    r"^\s*Tests:? +[0-9]+ passed",
    r"^\s*Tests:? +(?:[0-9]+ skipped(?:, | \| ))?[0-9]+ passed",
    r"^\s*[0-9]+ passing(?: \(|$)",
    r"^\s*[0-9]+ passed(?: \(|$)",
    r"^(?:#|ℹ) fail 0$",
    r"^\s*0 fail$",
    r"^ok \| [0-9]+ passed",
    r"^\s*[0-9]+ tests? passed$",
    r"^BUILD SUCCESSFUL",
    r"BUILD SUCCESS$",
    r"Tests run: [0-9]+, Failures: 0, Errors: 0",
    r"100% tests passed",
    r"^\[  PASSED  \]",
    r"^Passed! +- Failed: +0",
    r"^Build succeeded",
    r"^[0-9]+ examples?, 0 failures",
    r"^[0-9]+ (?:runs|tests), [0-9]+ assertions, 0 failures, 0 errors",
    r"^[0-9]+ tests?, 0 failures",
    r"^[0-9]+ doctests?, [0-9]+ tests?, 0 failures",
    r"Executed [0-9]+ tests?, with 0 failures",
    r"Test run with [0-9]+ tests? passed",
    r"^All [0-9]+ tests? passed",
    r"^Build complete!",
    r"^Found 0 errors",
    r"^0 errors, [0-9]+ warnings",
    r"^All checks passed!",
    r"^Success: no issues found",
    r"✓ built in ",
    r"[Cc]ompiled successfully",
    r"^0 issues\.",
    r"^All matched files use Prettier",
    r"^All done! ",
    r"files? already formatted$",
    r"files? left unchanged",
    r"no offenses detected",
    r"^svelte-check found 0 errors",
    r"^Checked [0-9]+ files? in .*No fixes",
    r"\.{3,}Passed$",
    r"^# fail +0$",
    r"^[0-9]+ successes / 0 failures / 0 errors",
    r"^ *Tasks: +([0-9]+) successful, ",
    r"^\[SUCCESS\] ",
];

static RED_SENTENCES: LazyLock<Sentences> = LazyLock::new(|| Sentences::new(RED));
static GREEN_SENTENCES: LazyLock<Sentences> = LazyLock::new(|| Sentences::new(GREEN));
/// `5 passed`, `fail 2`, `Failures: 1`: a number and its unit.
static COUNT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:([0-9]+) (passed|passing|pass|failed|failing|fail|failures?)\b|(pass|fail|Failures|Failed|Passed):? +([0-9]+)\b)").ok()
});

/// The runner's summary at the end of `output`, if it has a known form. One red sentence outweighs
/// all green ones.
pub fn summary(output: &str) -> Option<Summary> {
    let mut decided: Option<Summary> = None;
    for line in plain::ends(output).flat_map(str::lines) {
        let line = plain::plain(line);
        let is_red = RED_SENTENCES.is_match(line.as_bytes());
        if !is_red && !GREEN_SENTENCES.is_match(line.as_bytes()) {
            continue;
        }
        let (passed, failed) = counts(&line);
        match &mut decided {
            Some(summary) => {
                if summary.green && is_red {
                    summary.green = false;
                    summary.line = line.into_owned();
                }
                summary.passed = add(summary.passed, passed);
                summary.failed = add(summary.failed, failed);
            }
            None => decided = Some(Summary { green: !is_red, passed, failed, line: line.into_owned() }),
        }
    }
    decided
}

fn add(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (a, b) => a.or(b),
    }
}

/// The numbers of passed and failed tests in a line.
fn counts(line: &str) -> (Option<u64>, Option<u64>) {
    let (mut passed, mut failed) = (None, None);
    // Lines about files or suites do not count tests.
    if line.trim_start().starts_with("Test Suites") || line.trim_start().starts_with("Test Files") {
        return (None, None);
    }
    for found in COUNT.iter().flat_map(|count| count.captures_iter(line)) {
        let word = found.get(2).or_else(|| found.get(3)).map_or("", |word| word.as_str());
        let number = found.get(1).or_else(|| found.get(4)).and_then(|number| number.as_str().parse().ok());
        match word.to_ascii_lowercase().starts_with('p') {
            true => passed = passed.or(number),
            false => failed = failed.or(number),
        }
    }
    (passed, failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sentence_is_a_pattern_and_is_found_by_its_words() {
        crate::patterns::tests::assert_found(RED);
        crate::patterns::tests::assert_found(GREEN);
        assert!(COUNT.is_some());
    }
}
