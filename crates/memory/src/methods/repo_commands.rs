//! The commands that work in a repository: how it is tested, built, checked and run.
//!
//! A command that the repository shows plainly (`cargo test`, `npm test`, `pytest`) is
//! left out, unless another one for the same purpose could not be run here.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use retro_insight::{Beat, Call};
use retro_model::ToolClass;
use retro_text::calls::{Purpose, Verdict};
use serde_json::json;

use super::{Method, shell};
use crate::candidate::{Candidate, Kind, Voice};
use crate::episode::Episode;

pub(super) const METHOD: Method = Method {
    name: "repo_commands",
    title: "the commands that test, build, check and run a repository",
    mine,
};

/// Candidates of one session.
const CANDIDATES_MAX: usize = 2;
/// One command of a session, and how its runs went.
struct Tried<'a> {
    command: String,
    purpose: Purpose,
    plain: bool,
    passed: Vec<(&'a Beat, &'a Call)>,
    failed: u32,
    /// Runs that never got as far as testing or checking anything.
    unable: u32,
}

fn mine(episode: &Episode) -> Vec<Candidate> {
    let tried = tried(episode);
    let mut best: BTreeMap<Purpose, &Tried<'_>> = BTreeMap::new();
    for command in tried.iter().filter(|command| !command.passed.is_empty()) {
        let known = best.entry(command.purpose).or_insert(command);
        if (command.passed.len(), u32::MAX - command.failed) > (known.passed.len(), u32::MAX - known.failed) {
            *known = command;
        }
    }
    let mut found: Vec<Candidate> = Vec::new();
    for command in best.values() {
        let unable: Vec<&str> = tried
            .iter()
            .filter(|other| other.purpose == command.purpose && other.unable > 0 && other.passed.is_empty())
            .map(|other| other.command.as_str())
            .collect();
        let proven = command.passed.len() >= 2 || !unable.is_empty();
        if (command.plain && unable.is_empty()) || !proven {
            continue;
        }
        found.extend(candidate(episode, command, &unable));
    }
    found.sort_by_key(|candidate| std::cmp::Reverse((candidate.priority, candidate.worked)));
    found.truncate(CANDIDATES_MAX);
    found
}

fn candidate(episode: &Episode, tried: &Tried<'_>, unable: &[&str]) -> Option<Candidate> {
    let (beat, last) = tried.passed.last()?;
    let span = episode.span(&beat.id, &tried.command)?;
    let purpose = tried.purpose;
    let mut candidate =
        episode.candidate("repo_commands", Kind::ToolLesson, format!("command:{}", purpose.as_str()));
    candidate.spans.push(span);
    let mut instead = String::new();
    if let Some(other) = unable.first() {
        let other_beat = tried_first(episode, other)?;
        candidate.spans.push(episode.span(&other_beat.id, other)?);
        candidate.evidence_refs.push(other_beat.id.clone());
        instead = format!(" `{other}` could not run here.");
    }
    candidate.text = format!("To {} here: `{}`.{instead}", verb(purpose), tried.command);
    candidate.when_to_use = format!("you are about to {} in this repository", verb(purpose));
    candidate.do_not_use_when = Some("the repository says otherwise by now".to_owned());
    candidate.evidence_refs.extend(tried.passed.iter().rev().take(4).map(|(beat, _)| beat.id.clone()));
    candidate.seen = count(tried.passed.len()) + tried.failed;
    candidate.worked = count(tried.passed.len());
    candidate.confidence = if tried.passed.len() >= 2 { 0.75 } else { 0.7 };
    candidate.priority = if unable.is_empty() { 3 } else { 4 };
    candidate.scope_reason = "the command belongs to this repository".to_owned();
    candidate.origin = Voice::Model;
    candidate.stance = tried.command.clone();
    candidate.keywords = vec![last.runner.clone(), purpose.as_str().to_owned()];
    candidate.keywords.retain(|word| !word.is_empty());
    candidate.structured =
        Some(json!({ "purpose": purpose.as_str(), "command": tried.command, "unable": unable }));
    candidate.created_at = beat.ts.or(candidate.created_at);
    Some(candidate)
}

fn tried_first<'a>(episode: &'a Episode, command: &str) -> Option<&'a Beat> {
    episode
        .trace
        .calls()
        .find(|(_, call)| call.command.as_deref().is_some_and(|line| line.contains(command)))
        .map(|(beat, _)| beat)
}

fn tried(episode: &Episode) -> Vec<Tried<'_>> {
    let mut all: Vec<Tried<'_>> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (beat, call) in episode.trace.calls().filter(|(_, call)| call.class == ToolClass::Shell) {
        let Some(line) = call.command.as_deref() else { continue };
        let Some(command) = shell::core(line) else { continue };
        let plain = shell::is_plain(line);
        if !call.purpose.is_validation() || shell::is_one_off(line) {
            continue;
        }
        let at = *places.entry_ref(&command).or_insert(all.len());
        if at == all.len() {
            all.push(Tried {
                command,
                purpose: call.purpose,
                plain,
                passed: Vec::new(),
                failed: 0,
                unable: 0,
            });
        }
        let Some(tried) = all.get_mut(at) else { continue };
        let counted = call.passed.or(call.failed).is_some();
        match call.verdict {
            Verdict::Passed => tried.passed.push((beat, call)),
            Verdict::Failed => {
                tried.failed += 1;
                tried.unable += u32::from(!counted && is_unable(call));
            }
            _ => {}
        }
    }
    all
}

/// Whether a command could not be run at all, instead of finding something wrong.
pub(super) fn is_unable(call: &Call) -> bool {
    let line = call.sample.as_deref().unwrap_or_default().to_lowercase();
    [
        "command not found",
        "not found",
        "no such file",
        "missing script",
        "no module named",
        "unknown command",
        "unrecognized",
        "not recognized",
        "unexpected argument",
        "no such command",
        "cannot find module",
        "no rule to make target",
        "is not installed",
        "no such task",
        "couldn't find",
    ]
    .iter()
    .any(|words| line.contains(words))
}

fn verb(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Test => "run the tests",
        Purpose::Build => "build",
        Purpose::Typecheck => "check the types",
        Purpose::Lint => "lint",
        _ => "run it",
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
