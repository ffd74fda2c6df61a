//! Failures: with the effective fix, with attempts that did not help, or without an end.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use retro_insight::{Beat, Call, OutcomeValue};
use retro_search::Repair;
use retro_text::calls::Purpose;
use serde_json::json;

use super::{METHOD, thread_of};
use crate::candidate::{Candidate, Kind, THIN};
use crate::episode::{Episode, shortened};
use crate::methods::commands::{is_misuse, keywords, purpose_of};
use crate::methods::evidence::{Evidence, clipped, quoted};
use crate::methods::steps::also_run;

/// With more calls between a failure and its end, the effective step is unknown.
const CALLS_MAX: usize = 40;
/// The same limit for files changed in between.
const FILES_MAX: usize = 6;

/// Maximum characters of `when_to_use`.
const WHEN_CHARS_MAX: usize = 159;

/// A failure, whether it was fixed or not.
struct Failure<'a> {
    failing: (&'a Beat, &'a Call),
    passing: Option<(&'a Beat, &'a Call)>,
    /// Earlier failures with the same error, in order.
    earlier: Vec<(&'a Beat, &'a Call)>,
    fingerprint: &'a str,
}

/// The instructive failures of a session.
pub(super) fn triggers(episode: &Episode) -> Vec<Candidate> {
    let failures = collect(episode);
    let told = |failure: &Failure<'_>| match failure.passing {
        Some(_) => repaired(episode, failure),
        None => unrepaired(episode, failure),
    };
    failures.iter().filter_map(told).collect()
}

/// Repairs of commands, grouped by error and end.
fn collect(episode: &Episode) -> Vec<Failure<'_>> {
    let mut calls: HashMap<&str, (&Beat, &Call)> = HashMap::new();
    for (beat, call) in episode.trace.calls() {
        calls.extend(call.result_id.as_deref().map(|id| (id, (beat, call))));
    }
    let of = |id: &str| calls.get(id).copied();
    let passing = |repair: &Repair| repair.passing.as_ref().and_then(|ran| of(&ran.event_id));
    let mut failures: Vec<Failure<'_>> = Vec::new();
    for repair in &episode.repairs {
        let Some(failing) = of(&repair.failing.event_id).filter(|(_, call)| teaches(call)) else { continue };
        let end = passing(repair);
        let same = failures.iter_mut().find(|failure| {
            let ends_alike = failure.passing.map(|(beat, _)| &beat.id) == end.map(|(beat, _)| &beat.id);
            !repair.fingerprint.is_empty() && failure.fingerprint == repair.fingerprint && ends_alike
        });
        match same {
            Some(failure) => failure.earlier.push(std::mem::replace(&mut failure.failing, failing)),
            None => failures.push(Failure {
                failing,
                passing: end,
                earlier: Vec::new(),
                fingerprint: &repair.fingerprint,
            }),
        }
    }
    failures
}

/// True if a failure belongs to the work, not to looking around.
fn teaches(call: &Call) -> bool {
    let is_work = call.purpose.is_validation() || matches!(call.purpose, Purpose::Run | Purpose::Install);
    call.is_failed() && is_work && call.sample.is_some()
}

/// A failure, and the change that made the same command pass.
fn repaired(episode: &Episode, failure: &Failure<'_>) -> Option<Candidate> {
    let ((beat, call), end) = (failure.failing, failure.passing?);
    let thread = thread_of(episode, beat.thread);
    let between = between(&thread, beat, end.0)?;
    let mut evidence = Evidence::new(episode);
    let command = evidence.command(beat, call)?;
    let error = evidence.error(call)?;
    let helped = helped(&between, &mut evidence)?;
    // An edit cannot fix a wrong command line.
    if is_misuse(call) && helped.starts_with("editing ") {
        return None;
    }
    let again = evidence.command(end.0, end.1)?;
    let again = if again == command { "it".to_owned() } else { again };
    let in_vain = in_vain(&thread, failure, &mut evidence).filter(|files| *files != helped);
    let mut text = match &in_vain {
        Some(files) => format!("{command} failed ({error}), and still failed after {files}. "),
        None => format!("{command} failed ({error}). "),
    };
    text.push_str(&format!("After {helped}, {again} passed."));
    let mut candidate = filled(episode, failure, evidence, &text, &command)?;
    candidate.structured = Some(json!({
        "trigger": command, "error": error, "did_not_help": in_vain, "helped": helped, "passed": again,
    }));
    candidate.confidence = if candidate.files.len() <= 2 { 0.8 } else { 0.7 };
    candidate.priority =
        if helped.starts_with("editing ") && call.purpose.is_validation() { THIN } else { 4 };
    candidate.worked = 1;
    Some(candidate)
}

/// An unfixed failure: a warning, never shown alone.
fn unrepaired(episode: &Episode, failure: &Failure<'_>) -> Option<Candidate> {
    let (beat, call) = failure.failing;
    let failed = matches!(episode.outcome.value, OutcomeValue::Failed | OutcomeValue::Abandoned);
    if !failed && failure.earlier.is_empty() {
        return None;
    }
    let mut evidence = Evidence::new(episode);
    let command = evidence.command(beat, call)?;
    let error = evidence.error(call)?;
    let thread = thread_of(episode, beat.thread);
    let tried = in_vain(&thread, failure, &mut evidence);
    let times = failure.earlier.len() + 1;
    let mut text = format!("{command} failed ({error})");
    if times > 1 {
        text.push_str(&format!(" {times} times"));
    }
    text.push_str(" and did not pass in this session.");
    if let Some(tried) = &tried {
        text.push_str(&format!(" It did not help: {tried}."));
    }
    let mut candidate = filled(episode, failure, evidence, &text, &command)?;
    candidate.structured = Some(json!({ "trigger": command, "error": error, "did_not_help": tried }));
    candidate.confidence = 0.4;
    // A check that fails during the work does not concern later sessions.
    candidate.priority = if call.purpose.is_validation() { THIN } else { 2 };
    Some(candidate)
}

/// The common part of both kinds of failure.
fn filled(
    episode: &Episode,
    failure: &Failure<'_>,
    evidence: Evidence<'_>,
    text: &str,
    command: &str,
) -> Option<Candidate> {
    let (_, call) = failure.failing;
    let line = call.sample.as_deref()?.trim_end_matches('…');
    let subject = match failure.fingerprint {
        "" => purpose_of(call),
        id => format!("error {id}"),
    };
    let mut candidate = episode.candidate(METHOD.name, Kind::FailureTrigger, subject);
    evidence.fill(&mut candidate);
    let room = 120_usize.saturating_sub(command.chars().count()).max(20);
    let told = format!("When {command} fails, output said: {}", quoted(clipped(line, room).trim()));
    // A shortened quotation would lack its end mark.
    let is_short = told.chars().count() <= WHEN_CHARS_MAX;
    candidate.when_to_use =
        if is_short { told } else { shortened(&format!("When {command} fails"), WHEN_CHARS_MAX) };
    candidate.keywords = keywords(&[call.runner.as_str()], [line, text]);
    candidate.scope_reason = "it was seen in this repository".to_owned();
    candidate.text = shortened(text, 600);
    candidate.seen = u32::try_from(failure.earlier.len() + 1).unwrap_or(u32::MAX);
    Some(candidate)
}

/// The calls between two beats of a thread. `None` if there are too many to identify the effective
/// one.
fn between<'a>(thread: &[(&'a Beat, &'a Call)], from: &Beat, to: &Beat) -> Option<Vec<(&'a Beat, &'a Call)>> {
    let at = |beat: &Beat| thread.iter().position(|(other, _)| other.id == beat.id);
    let calls = thread.get(at(from)? + 1..at(to)?)?;
    let changed = calls.iter().filter(|(_, call)| call.changed_files());
    let files: BTreeSet<&str> =
        changed.flat_map(|(_, call)| call.edits.iter().map(|edit| edit.path.as_str())).collect();
    (calls.len() <= CALLS_MAX && files.len() <= FILES_MAX).then(|| calls.to_vec())
}

/// The effective action: `editing …`, `running …`.
fn helped<'a>(calls: &[(&'a Beat, &'a Call)], evidence: &mut Evidence<'a>) -> Option<String> {
    if let Some(files) = evidence.edited(calls) {
        return Some(format!("editing {files}"));
    }
    let ran = also_run(calls, evidence);
    (!ran.is_empty()).then(|| format!("running {}", ran.join(" and ")))
}

/// The attempts between failures with the same error, before the last of them.
fn in_vain<'a>(
    thread: &[(&'a Beat, &'a Call)],
    failure: &Failure<'a>,
    evidence: &mut Evidence<'a>,
) -> Option<String> {
    let (first, _) = failure.earlier.first()?;
    let calls = between(thread, first, failure.failing.0)?;
    helped(&calls, evidence)
}
