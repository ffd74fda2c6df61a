//! Commands that fulfilled a request of any kind: the request, and the command that passed for it.
//!
//! One session is weak evidence, so the same command for the same kind of request is counted over
//! sessions. Commands obvious from any such repository (`cargo test`), read-only commands and
//! version control are left out. A prefix that prepares the shell (`source venv/bin/activate &&`)
//! belongs to the command.

use retro_insight::{Beat, Call};
use retro_model::ToolClass;
use retro_search::Words;
use retro_text::calls::{Purpose, Verdict};
use serde_json::json;

use super::repo_commands::is_unable;
use super::turns::turns;
use super::{Method, shell};
use crate::again::terms;
use crate::candidate::{Candidate, Kind, Voice};
use crate::episode::{Episode, shortened};

pub(super) const METHOD: Method =
    Method { name: "asked_commands", title: "commands that did what was asked, counted over sessions", mine };

/// Maximum candidates of one session.
const CANDIDATES_MAX: usize = 2;
/// Maximum commands of one turn. A turn with more is a larger task, and no single command is the
/// answer.
const COMMANDS_MAX: usize = 6;

fn mine(episode: &Episode) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for turn in turns(episode).iter().filter(|turn| turn.is_successful_run(episode)) {
        let Some((event_id, asked)) = turn.wanted else { continue };
        let tried: Vec<_> = turn.calls.iter().copied().filter(|(_, call)| is_command(call)).collect();
        if tried.is_empty() || tried.len() > COMMANDS_MAX {
            continue;
        }
        let unable: Vec<String> = tried
            .iter()
            .filter(|(_, call)| call.verdict == Verdict::Failed && is_unable(call))
            .filter_map(|(_, call)| shell::core(shell::unprepared(call.command.as_deref()?)))
            .collect();
        let has_edits = turn.calls.iter().any(|(_, call)| call.changed_files());
        let passed: Vec<_> = tried.iter().rev().filter(|(_, call)| call.verdict == Verdict::Passed).collect();
        let answers = passed.iter().filter(|(_, call)| answers(call, asked, passed.len(), has_edits));
        for (beat, call) in answers.take(1) {
            let Some(candidate) = candidate(episode, (event_id, asked), beat, call, &unable) else {
                continue;
            };
            match found.iter_mut().find(|known| known.subject == candidate.subject) {
                Some(known) => {
                    known.seen += 1;
                    known.worked += 1;
                }
                None => found.push(candidate),
            }
        }
    }
    found.sort_by_key(|candidate| std::cmp::Reverse((candidate.priority, candidate.worked)));
    found.truncate(CANDIDATES_MAX);
    found
}

/// True if a call runs a command that another session may want to repeat.
fn is_command(call: &Call) -> bool {
    let is_work = !matches!(call.purpose, Purpose::Read | Purpose::Search | Purpose::Vcs | Purpose::Install);
    let Some(line) = call.command.as_deref().filter(|_| call.class == ToolClass::Shell && is_work) else {
        return false;
    };
    let line = shell::unprepared(line);
    let is_known = shell::is_plain(line) && shell::is_of_everybody(line);
    let is_left_out = is_known || shell::is_housekeeping(line);
    !is_left_out && shell::core(line).is_some()
}

/// True if a command answers a request: it is the only one that passed, or they share a word. A
/// check after an edit is part of the work and not an answer, unless a significant word matches.
fn answers(call: &Call, asked: &str, passed: usize, has_edits: bool) -> bool {
    let line = call.command.as_deref().unwrap_or_default();
    if has_edits && (call.is_validation() || call.purpose == Purpose::Format) {
        let command = terms(line);
        return terms(asked).iter().any(|word| command.contains(word));
    }
    let mut words = Words::default();
    let command = words.distinct(line);
    passed == 1 || words.distinct(asked).iter().any(|word| command.contains(word))
}

fn candidate(
    episode: &Episode,
    (asked_id, asked): (&str, &str),
    beat: &Beat,
    call: &Call,
    unable: &[String],
) -> Option<Candidate> {
    let line = call.command.as_deref()?;
    let core = shell::core(shell::unprepared(line))?;
    let whole = shell::with_preparation(line, &core);
    let ran = episode.span(&beat.id, whole)?;
    let said = episode.span(asked_id, asked)?;
    if said.voice != Voice::User || ran.text.contains('`') || asked.contains('"') {
        return None;
    }
    let mut candidate =
        episode.candidate("asked_commands", Kind::ToolLesson, format!("asked:{}", shell::with_slots(&core)));
    candidate.text = format!("For \"{}\" this passed: `{}`.", said.text, ran.text);
    let mut unable: Vec<&String> = unable.iter().filter(|other| **other != core).collect();
    unable.dedup();
    candidate.when_to_use = shortened(&format!("asked: \"{}\"", said.text), 159);
    candidate.do_not_use_when = Some("the repository says otherwise by now".to_owned());
    candidate.worked = 1;
    candidate.confidence = if unable.is_empty() { 0.5 } else { 0.6 };
    candidate.priority = if unable.is_empty() { 2 } else { 3 };
    candidate.scope_reason = "the command belongs to this repository".to_owned();
    candidate.origin = Voice::Model;
    candidate.stance = shell::with_slots(&core);
    candidate.keywords = vec![call.runner.clone()];
    candidate.keywords.retain(|word| !word.is_empty());
    let unable: Vec<String> = unable.into_iter().map(|other| shell::with_slots(other)).collect();
    candidate.structured =
        Some(json!({ "command": ran.text, "purpose": call.purpose.as_str(), "unable": unable }));
    candidate.evidence_refs = vec![asked_id.to_owned(), beat.id.clone()];
    candidate.created_at = beat.ts.or(candidate.created_at);
    candidate.spans = vec![said, ran];
    Some(candidate)
}
