//! # What
//! Whether the work was tested: how often tests ran, whether the last run passed, whether
//! edits were left without one, and how many edits came after the last check that passed.
//! # Why
//! An edit that no check has seen is a guess.
//! # How
//! `tests_run` counts calls that run tests. `tests_passed_last` is the verdict of the last
//! one whose verdict is known. `edit_then_no_test` is true if files were changed and no test
//! ran afterwards. `verification_debt` counts the edits after the last test, build, type
//! check or lint that passed; all of them if none did. Edits of documents (Markdown, text)
//! need no test and do not count.
//! # Limits
//! Runners are known by name, behind wrappers and scripts; a test that only a person runs is
//! not seen. A verdict is read from exit state and summary.
//! Null with `commands_unread` where nothing was found and a script of Codex could not be
//! read; `metadata.unread` and half the confidence where something was.

use retro_text::calls::{Purpose, Verdict};

use super::Looked;
use crate::Reading;
use crate::trace::{Beat, Call};

pub(crate) const DOC: &str = include_str!("validation.rs");

pub(crate) fn tests_run(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.ids(is_test))
}

fn is_test(call: &Call) -> bool {
    call.is_validation() && call.purpose == Purpose::Test
}

pub(crate) fn tests_passed_last(looked: &Looked<'_>) -> Reading {
    let known = |call: &Call| is_test(call) && matches!(call.verdict, Verdict::Passed | Verdict::Failed);
    match looked.trace.calls().filter(|(_, call)| known(call)).last() {
        Some((beat, call)) => Reading::of(call.verdict == Verdict::Passed).because([beat.id.as_str()]),
        None if looked.ids(is_test).next().is_some() => Reading::none("verdict_unknown"),
        None => Reading::none("no_tests"),
    }
}

/// True if a call changes something that a test could detect.
pub(crate) fn changes_code(call: &Call) -> bool {
    let is_document = |path: &str| {
        let lower = path.to_ascii_lowercase();
        [".md", ".mdx", ".txt", ".rst", ".adoc"].iter().any(|end| lower.ends_with(end))
    };
    call.changed_files() && call.edits.iter().any(|edit| !is_document(&edit.path))
}

pub(crate) fn edit_then_no_test(looked: &Looked<'_>) -> Reading {
    let calls: Vec<(&Beat, &Call)> = looked.trace.calls().collect();
    let Some(last) = calls.iter().rposition(|(_, call)| changes_code(call)) else {
        return Reading::none("no_edit");
    };
    // A command may write a file and test it.
    let tested = calls.get(last..).unwrap_or_default().iter().any(|(_, call)| call.is_validation());
    let id = calls.get(last).map(|(beat, _)| beat.id.as_str());
    Reading::of(!tested).because(id)
}

pub(crate) fn verification_debt(looked: &Looked<'_>) -> Reading {
    let calls: Vec<(&Beat, &Call)> = looked.trace.calls().collect();
    let passed = |(_, call): &(&Beat, &Call)| call.is_validation() && call.verdict == Verdict::Passed;
    let from = calls.iter().rposition(passed).map_or(0, |at| at + 1);
    let edits = calls.get(from..).unwrap_or_default().iter().filter(|(_, call)| changes_code(call));
    Reading::count(edits.map(|(beat, _)| beat.id.as_str()))
}
