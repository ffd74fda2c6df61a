//! Finds the line of an output with the error.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexSet};

use crate::patterns::of_bytes;
use crate::plain;

/// The line that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub text: String,
    /// True if it has the shape of an error, and not only its words.
    pub certain: bool,
}

/// How specific a line is, the most specific first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// An exception, a compiler's error with its code, a panic.
    Cause,
    /// `error: …`, `fatal: …`, a missing program or file.
    Error,
    /// A failed assertion or test.
    Failure,
    /// A follow-up message, printed because another program failed.
    Consequence,
    /// Words of failure without a shape.
    Words,
}

/// Shapes of a cause.
const CAUSES: &[&str] = &[
    r"^error\[[A-Z]+[0-9]+\]",
    r"\berror TS[0-9]{3,5}: ",
    r"\berror CS[0-9]{4}: ",
    r"\berror C[0-9]{4}: ",
    r"^(?:[A-Za-z_][\w.]*\.)*[A-Z]\w*(?:Error|Exception|Failure|Warning|Interrupt|Exit|NotFound|Timeout)(?:\b|:)",
    r"^(?:Uncaught |Unhandled )?(?:\(in promise\) )?[A-Z]\w*(?:Error|Exception)\b",
    r"^Caused by: ",
    r#"^Exception in thread "[^"]*" "#,
    r"^(?:fatal error|panic): ",
    r"^thread '[^']*' .*panicked at '",
    r"^[^\s:]+(?::[0-9]+){1,2}:? (?:fatal )?error:? ",
    r"^[^\s:]+\([0-9]+(?:,[0-9]+)?\): (?:fatal )?error ",
    r"^(?:\./)?[^\s:]+\.go:[0-9]+:[0-9]+: ",
    r"^[^\s:]+:[0-9]+:[0-9]+ - error",
    r"^\s*[0-9]+:[0-9]+\s+error\s+\S",
    r"^(?:ld|collect2|clang|gcc|rustc|lld): ",
    r"^undefined reference to ",
    r"^Error: Cannot find module ",
    r"^\s*× ",
    r"^[^\s:]+:[0-9]+:[0-9]+: [EFWC][0-9]{2,4} ",
];
/// Shapes of an error.
const ERRORS: &[&str] = &[
    r"(?i)^(?:\S+ )?(?:error|fatal|failure)(?::| -) ?\S",
    r"(?i)^\[(?:error|fatal)\]:? ",
    r"^ERROR:? \S",
    r"^E: ",
    r"(?i)\bcommand not found\b",
    r"is not recognized as ",
    r"(?i)^[\w./-]+: .*no such file or directory$",
    r"(?i)^[\w./-]+: .*(?:permission denied|not found|cannot open|can't read|can't open|cannot access|is a directory|operation not permitted)",
    r"^npm (?:ERR!|error) (?:Missing|Could not|Cannot|Invalid|[A-Z]\w*Error|code E(?:[A-KM-Z]|L[A-HJ-Z]))",
    r"(?i)^[\w-]+: line [0-9]+: ",
    r"(?i)^[\w./-]+: (?:unrecognized|unknown|invalid|illegal|missing|unexpected|unable|cannot|could not|failed) ",
    r"^HTTP [45][0-9]{2}\b",
    r"^curl: \([0-9]+\)",
    r"(?i)^(?:\S+: )?no matches found",
    r"^Segmentation fault",
    r"^Killed$",
    r"^remote: (?:error|fatal|Permission)",
    r"^\S*ssh: ",
    r"^CONFLICT ",
    r"(?i)^error in ",
    r"^zsh:[0-9]+: ",
];
/// Shapes of a failed test.
const FAILURES: &[&str] = &[
    r"^E +\S",
    r"(?i)^assertion .*failed",
    r"(?i)\bassert(?:ion)?(?:Error)?\b.*(?:failed|==|!=)",
    r"^\s*--- FAIL: ",
    r"^not ok [0-9]+",
    r"^\s*\S+_test\.go:[0-9]+: ",
    r"^\s*● ",
    r"^\s*(?:✗|✘|✕|×) ",
    r"^test .* \.\.\. FAILED$",
    r"^FAILED \S+",
    r"^---- .* stdout ----$",
    r"^\s*[0-9]+\) \S",
    r"(?i)^\s*expected:? ",
    r"^FAIL[: \t]\s*\S",
    r"^\[  FAILED  \]",
    r"(?i)^\s*failures?:$",
];
/// Shapes of follow-up messages.
const CONSEQUENCES: &[&str] = &[
    r"^error: could not compile ",
    r"^error: aborting due to ",
    r"^error: test (?:failed|run failed)",
    r"^error: [0-9]+ targets? failed",
    r#"^error: script "[^"]*" exited with"#,
    r"^error: Recipe ",
    r"^make(?:\[[0-9]+\])?: \*\*\* ",
    r"^npm (?:ERR!|error) (?:code ELIFECYCLE|errno|Lifecycle|command|path|workspace|A complete|Exit|Test failed)",
    r"^error Command failed",
    r"ELIFECYCLE",
    r"^ninja: build stopped",
    r"^BUILD FAIL",
    r"^error: failed to push some refs",
    r"^Some errors have detailed explanations",
    r"^For more information about",
    r"^error: process didn't exit successfully",
    r"^Error: Process completed with exit code",
    r"^collect2: error",
    r"^Command (?:failed|exited)",
    r"^task: Failed to run",
];
/// Words of failure.
const WORDS: &[&str] = &[
    r"(?i)\b(?:error|errors|fatal|failed|failure|exception|denied|cannot|can't|unable to|could not|not found|refused|timed out|invalid)\b",
];

static CAUSE: LazyLock<Option<RegexSet>> = LazyLock::new(|| of_bytes(CAUSES));
static ERROR: LazyLock<Option<RegexSet>> = LazyLock::new(|| of_bytes(ERRORS));
static FAILURE: LazyLock<Option<RegexSet>> = LazyLock::new(|| of_bytes(FAILURES));
static CONSEQUENCE: LazyLock<Option<RegexSet>> = LazyLock::new(|| of_bytes(CONSEQUENCES));
static WORD: LazyLock<Option<RegexSet>> = LazyLock::new(|| of_bytes(WORDS));
/// Messages of success: `0 errors`, `no failures`.
static CALM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i-u)\b(?:0|no|without|zero) (?:\w+ )?(?:error|fail|problem|issue|exception)").ok()
});

/// The line with the error.
pub(super) fn error_line(output: &str) -> Option<Found> {
    // Claude Code puts errors of its tools into a tag.
    let output = output.strip_prefix("<tool_use_error>").unwrap_or(output);
    let lines: Vec<_> = plain::ends(output).flat_map(str::lines).map(plain::plain).collect();
    if let Some(text) = raised(&lines) {
        return Some(Found { text, certain: true });
    }
    let mut best: Option<(Rank, String)> = None;
    for (at, line) in lines.iter().enumerate() {
        let Some((rank, text)) = ranked(line, lines.get(at + 1).map(|line| &**line)) else { continue };
        if best.as_ref().is_none_or(|(found, _)| rank < *found) {
            let done = rank == Rank::Cause;
            best = Some((rank, text));
            if done {
                break;
            }
        }
    }
    best.map(|(rank, text)| Found { text, certain: rank < Rank::Consequence })
}

/// Every line with the shape of an error, the most specific first: an exception before a failed
/// test, otherwise in the order of the output. At most `max`.
pub(super) fn error_lines(output: &str, max: usize) -> Vec<Found> {
    let output = output.strip_prefix("<tool_use_error>").unwrap_or(output);
    let lines: Vec<_> = plain::ends(output).flat_map(str::lines).map(plain::plain).collect();
    let mut found: Vec<(Rank, String)> = Vec::new();
    if let Some(text) = raised(&lines) {
        found.push((Rank::Cause, text));
    }
    for (at, line) in lines.iter().enumerate() {
        let next = lines.get(at + 1).map(|line| &**line);
        if let Some((rank, text)) = ranked(line, next).filter(|(rank, _)| *rank < Rank::Consequence) {
            found.push((rank, text));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    let mut seen = std::collections::HashSet::new();
    let mut found: Vec<Found> = found
        .into_iter()
        .filter(|(_, text)| seen.insert(text.clone()))
        .map(|(_, text)| Found { text, certain: true })
        .collect();
    found.truncate(max);
    found
}

/// The exception of the last Python traceback: not its header, but the first line after its frames.
fn raised(lines: &[std::borrow::Cow<'_, str>]) -> Option<String> {
    let header = lines.iter().rposition(|line| {
        line.trim_start_matches(['|', ' ', '+']).starts_with("Traceback (most recent call last)")
    })?;
    let indent = indent(lines.get(header)?);
    let mut rest = lines.iter().skip(header + 1).filter(|line| !line.trim().is_empty());
    let line = rest.find(|line| self::indent(line) <= indent)?;
    let line = line.trim();
    (!line.is_empty() && line != "^^^").then(|| line.to_owned())
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t', '|', '+']).len()
}

/// The rank of a line. The text is the next line if this line is only a header.
fn ranked(line: &str, next: Option<&str>) -> Option<(Rank, String)> {
    let is = |set: &LazyLock<Option<RegexSet>>, line: &str| {
        set.as_ref().is_some_and(|set| set.is_match(line.as_bytes()))
    };
    // Claude Code writes the exit code before the output.
    if line.trim().is_empty() || line.starts_with("Exit code ") {
        return None;
    }
    // Rust since 1.73: the message is on the line after the location.
    if line.trim_start().starts_with("thread '") && line.contains("panicked at") && line.ends_with(':') {
        return next.filter(|next| !next.trim().is_empty()).map(|next| (Rank::Cause, next.trim().to_owned()));
    }
    if let Some(text) = line.strip_prefix("E   ").map(str::trim).filter(|text| !text.is_empty()) {
        let rank = if is(&CAUSE, text) { Rank::Cause } else { Rank::Failure };
        return Some((rank, text.to_owned()));
    }
    let text = || line.trim().to_owned();
    if is(&CONSEQUENCE, line) {
        return Some((Rank::Consequence, text()));
    }
    if is(&CAUSE, line) {
        return Some((Rank::Cause, text()));
    }
    if is(&ERROR, line) {
        return Some((Rank::Error, text()));
    }
    if is(&FAILURE, line) {
        return Some((Rank::Failure, text()));
    }
    let calm = CALM.as_ref().is_some_and(|calm| calm.is_match(line.as_bytes()));
    (is(&WORD, line) && !calm).then(|| (Rank::Words, text()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_is_a_pattern() {
        for set in [&CAUSE, &ERROR, &FAILURE, &CONSEQUENCE, &WORD] {
            assert!(set.is_some());
        }
        assert!(CALM.is_some());
    }
}
