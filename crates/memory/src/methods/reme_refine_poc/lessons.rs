//! Lessons about tools: a form of a command that did not work, and the form that did.

use retro_insight::{Beat, Call};
use retro_text::calls::{Purpose, Verdict, same_command, understand};
use serde_json::json;

use super::METHOD;
use crate::candidate::{Candidate, Kind};
use crate::episode::{Episode, shortened};
use crate::methods::commands::{is_misuse, keywords};
use crate::methods::evidence::Evidence;
use crate::methods::turns::turns;

/// Search for the working form in this many calls after a failure.
const CALLS_MAX: usize = 5;

/// The lessons of a session.
pub(super) fn lessons(episode: &Episode) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for turn in turns(episode) {
        for (at, (beat, call)) in turn.calls.iter().enumerate() {
            if !is_misuse(call) || matches!(call.purpose, Purpose::Read | Purpose::Search) {
                continue;
            }
            let after = turn.calls.get(at + 1..).unwrap_or_default();
            let lesson = other_form(call, after).and_then(|works| lesson(episode, (beat, call), works));
            if let Some(lesson) = lesson
                && !found.iter().any(|other| other.subject == lesson.subject)
            {
                found.push(lesson);
            }
        }
    }
    found
}

/// The form that worked: same purpose, different words, no change in between.
fn other_form<'a>(failed: &Call, after: &[(&'a Beat, &'a Call)]) -> Option<(&'a Beat, &'a Call)> {
    let line = understand(failed.command.as_deref()?);
    for (beat, call) in after.iter().take(CALLS_MAX) {
        if call.changed_files() {
            return None;
        }
        let Some(command) = call.command.as_deref().filter(|_| call.verdict == Verdict::Passed) else {
            continue;
        };
        let other = understand(command);
        if alike(&line, &other, failed, call) && !same_command(&line, &other) {
            return Some((beat, call));
        }
    }
    None
}

/// True if two lines serve the same end: they have the same runner, or the same specific purpose.
fn alike(
    line: &retro_text::calls::Call,
    other: &retro_text::calls::Call,
    failed: &Call,
    passed: &Call,
) -> bool {
    let names = |call: &retro_text::calls::Call| {
        call.main_step().map(|step| step.arguments().to_vec()).unwrap_or_default()
    };
    if failed.runner == passed.runner {
        return !failed.runner.is_empty();
    }
    let (before, after) = (names(line), names(other));
    // Another program for the same purpose names the same things.
    let shares = before.iter().any(|word| word.len() > 2 && after.contains(word));
    failed.purpose == passed.purpose
        && (failed.purpose.is_validation() || failed.purpose == Purpose::Install || shares)
        && failed.purpose != Purpose::Other
        && failed.purpose != Purpose::Vcs
}

/// Whether two commands name the same files in other folders: one was run in the wrong place.
fn is_same_elsewhere(bad: &str, good: &str) -> bool {
    let names = |line: &str| {
        let last = |word: &str| word.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        line.trim_matches('`').split_whitespace().map(last).collect::<Vec<_>>()
    };
    bad != good && names(bad) == names(good)
}

fn lesson(episode: &Episode, failed: (&Beat, &Call), works: (&Beat, &Call)) -> Option<Candidate> {
    let mut evidence = Evidence::new(episode);
    let bad = evidence.command(failed.0, failed.1)?;
    let error = evidence.error(failed.1)?;
    let good = evidence.command(works.0, works.1)?;
    let asks = ["--help", "--version"].iter().any(|flag| good.contains(flag));
    if bad == good || asks || is_same_elsewhere(&bad, &good) {
        return None;
    }
    let subject = format!("{} {}", failed.1.purpose.as_str(), failed.1.runner);
    let mut candidate = episode.candidate(METHOD.name, Kind::ToolLesson, subject);
    evidence.fill(&mut candidate);
    candidate.text = shortened(&format!("{bad} failed ({error}). {good} worked."), 600);
    candidate.when_to_use = shortened(&format!("Before running {bad}"), 159);
    candidate.structured = Some(json!({ "failed": bad, "error": error, "worked": good }));
    let line = failed.1.sample.as_deref().unwrap_or_default();
    candidate.keywords = keywords(&[failed.1.runner.as_str(), works.1.runner.as_str()], [line]);
    candidate.scope_reason = "it was seen in this repository, on this machine".to_owned();
    candidate.confidence = 0.7;
    candidate.priority = 4;
    candidate.worked = 1;
    Some(candidate)
}
