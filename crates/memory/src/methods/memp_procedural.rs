//! # What
//! The whole session as one procedure: goal, preconditions, steps, warnings, outcome.
//! # Why
//! A task of the same kind often takes the same way: what to look at, what to change, what
//! to run, and what the person warned of.
//! # How
//! Only a session that succeeded, by the rules of the outcome, with three steps and an edit.
//! Calls of the same phase that follow each other are one step. The goal and the warnings are
//! the person's own words; the outcome quotes what shows it.
//! # Limits
//! A session with many tasks has no one procedure: nothing is said of it.

use retro_insight::{Beat, Call, OutcomeValue};
use retro_text::calls::Verdict;
use serde_json::json;
use std::sync::LazyLock;

use regex::Regex;

use super::Method;
use super::commands::{keywords, purpose_of};
use super::evidence::{Evidence, clipped};
use super::steps::{Phase, Step, bounded, has_own_commands, phase, steps};
use super::turns::{Turn, first_sentence, turns};
use crate::candidate::{Candidate, Kind, THIN};
use crate::episode::{Episode, shortened};

pub(super) const METHOD: Method =
    Method { name: "memp_procedural", title: "the whole session as one procedure", mine };

/// Minimum and maximum steps of a procedure.
const STEPS_MIN: usize = 3;
const STEPS_MAX: usize = 12;
/// A session with more turns with edits has more than one task.
const TASKS_MAX: usize = 3;
/// Maximum warnings, and maximum characters of one.
const WARNINGS_MAX: usize = 5;
const WARNING_CHARS_MAX: usize = 160;
/// Maximum characters of all steps in the text.
const STEPS_CHARS_MAX: usize = 330;
/// A session with more steps is a story and not a procedure.
const STORY_STEPS: usize = 15;

/// Sentences that demand or forbid something.
static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:don'?t|do not|never|always|avoid|make sure|be careful|must(?: not)?|warning)\b")
        .ok()
});

fn mine(episode: &Episode) -> Vec<Candidate> {
    procedure(episode).into_iter().collect()
}

fn procedure(episode: &Episode) -> Option<Candidate> {
    if episode.outcome.value != OutcomeValue::Success {
        return None;
    }
    let turns = turns(episode);
    let working: Vec<&Turn<'_>> =
        turns.iter().filter(|turn| turn.calls.iter().any(|(_, call)| call.changed_files())).collect();
    if working.len() > TASKS_MAX {
        return None;
    }
    let mut evidence = Evidence::new(episode);
    let (event_id, goal) = working.first()?.wanted?;
    let goal = evidence.said(event_id, goal)?;
    let calls: Vec<(&Beat, &Call)> = turns.iter().flat_map(|turn| turn.calls.iter().copied()).collect();
    let all = steps(&calls, &mut evidence);
    let count = |phase| all.iter().filter(|step| step.phase == phase).count();
    let (edits, looks) = (count(Phase::Edit), count(Phase::Look));
    if all.len() < STEPS_MIN || edits == 0 || all.len() - looks > STORY_STEPS {
        return None;
    }
    let outcome = outcome(episode, &mut evidence)?;
    let warnings = warnings(episode, &mut evidence);
    let mut candidate = episode.candidate(METHOD.name, Kind::Procedure, String::new());
    let Told { text, runs, is_whole } = text(&goal, &all, &outcome);
    candidate.structured = Some(json!({
        "goal": goal,
        "preconditions": preconditions(episode),
        "steps": bounded(all, STEPS_MAX),
        "warnings": warnings,
        "outcome": outcome,
    }));
    if !evidence.is_focused() {
        return None;
    }
    evidence.fill(&mut candidate);
    let check = calls.iter().rev().find(|(_, call)| phase(call) == Some(Phase::Check));
    let runner = check.map_or_else(String::new, |(_, call)| purpose_of(call));
    let named: Vec<&str> = candidate.files.iter().take(3).map(String::as_str).collect();
    candidate.subject = format!("{runner} {}", named.join(" ")).trim().to_owned();
    candidate.scope_reason = "the files are those of this repository".to_owned();
    candidate.keywords = keywords(&[], [text.as_str()]);
    candidate.text = text;
    candidate.when_to_use = format!("When asked: {goal}");
    // One success counts little. Several in different sessions raise the confidence.
    candidate.confidence = if episode.outcome.confidence >= 0.8 { 0.6 } else { 0.5 };
    candidate.worked = 1;
    // A question is answered, and a long story is not told whole: neither is a way to do it again.
    let is_question = goal.trim_end_matches(['"', '”']).ends_with('?');
    if !(runs && is_whole && has_own_commands(&calls)) || is_question {
        candidate.priority = THIN;
    }
    Some(candidate)
}

/// What is told of a procedure.
struct Told {
    text: String,
    /// One of the steps that are told runs something.
    runs: bool,
    /// Every step is told.
    is_whole: bool,
}

/// The steps that fit, and how it ended.
fn text(goal: &str, steps: &[Step], outcome: &str) -> Told {
    // Every session begins by looking around. Changes and commands are more informative.
    let mut told: Vec<&Step> = steps.iter().filter(|step| step.phase != Phase::Look).collect();
    told.dedup();
    let mut text = String::new();
    let mut count = 0;
    for step in &told {
        if text.chars().count() + step.text.chars().count() > STEPS_CHARS_MAX {
            break;
        }
        text.push_str(if count == 0 { "" } else { "; " });
        text.push_str(&step.text);
        count += 1;
    }
    if told.len() > count {
        text.push_str(&format!("; {} more steps", told.len() - count));
    }
    let runs = told.iter().take(count).any(|step| step.phase != Phase::Edit);
    let text = shortened(&format!("{goal} was done in these steps: {text}. {outcome}"), 600);
    Told { text, runs, is_whole: told.len() == count }
}

/// The evidence for the outcome of the session.
fn outcome<'a>(episode: &'a Episode, evidence: &mut Evidence<'a>) -> Option<String> {
    let id = episode.outcome.evidence_refs.first()?;
    let shown = match episode.call(id) {
        Some((beat, call)) if call.commits => evidence.commit(beat, call)?,
        Some((beat, call)) if call.class == retro_model::ToolClass::Shell => {
            let command = evidence.command(beat, call)?;
            let passed = if call.verdict == Verdict::Passed { " passed" } else { " was run" };
            format!("{command}{passed}")
        }
        Some((beat, call)) => evidence.edited(&[(beat, call)]).map(|files| format!("{files} was written"))?,
        None => {
            let text = episode.quotes.text(id)?;
            let line = text.lines().map(str::trim).find(|line| line.split_whitespace().count() >= 2)?;
            evidence.said(id, clipped(first_sentence(line), 120))?
        }
    };
    Some(format!("Outcome: {} ({shown}).", episode.outcome.reason))
}

/// The agent, folder and branch of the session.
fn preconditions(episode: &Episode) -> Vec<String> {
    let mut all = vec![format!("agent: {}", episode.key.agent)];
    all.extend(episode.cwd.iter().map(|cwd| format!("folder: {cwd}")));
    all.extend(episode.repository.branch.iter().map(|branch| format!("branch: {branch}")));
    all
}

/// The user's warnings, verbatim.
fn warnings(episode: &Episode, evidence: &mut Evidence<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (beat, _) in episode.trace.prompts() {
        let sentences = beat.typed.lines().flat_map(|line| line.split_inclusive(['.', '!', ';']));
        for sentence in sentences.map(str::trim) {
            let is_warning = WARNING.as_ref().is_some_and(|warning| warning.is_match(sentence));
            let length = sentence.chars().count();
            if !is_warning || !(12..=WARNING_CHARS_MAX).contains(&length) || found.len() == WARNINGS_MAX {
                continue;
            }
            found.extend(evidence.said(&beat.id, sentence).filter(|said| !found.contains(said)));
        }
    }
    found
}
