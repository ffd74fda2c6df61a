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

use super::repeatable::{is_look, is_of_session};
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
/// Characters of a message that one command can answer; a longer one is a piece of work.
const REQUEST_CHARS_MAX: usize = 300;
/// Words of a message that asks for a check and no more.
const CHECK_WORDS_MAX: usize = 12;

fn mine(episode: &Episode) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for turn in turns(episode).iter().filter(|turn| turn.is_successful_run(episode)) {
        let Some((event_id, asked)) = turn.wanted.filter(|_| turn.says_what) else { continue };
        let message = episode.quotes.text(event_id).unwrap_or(asked);
        if message.chars().count() > REQUEST_CHARS_MAX || asks_why(message) {
            continue;
        }
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
        let answers = passed
            .iter()
            .filter(|(_, call)| answers(call, asked, passed.len(), has_edits) && !is_named(call, message));
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
    !is_left_out && !is_look(line) && !is_of_session(line) && shell::core(line).is_some()
}

/// Whether a message names the command itself: then its words say already what to run.
fn is_named(call: &Call, message: &str) -> bool {
    let core = call.command.as_deref().and_then(|line| shell::core(shell::unprepared(line)));
    let script = core.as_deref().and_then(|core| core.split(' ').find(|word| word.contains('/')));
    let bare = |word: &str| {
        let is_mark = |c: char| matches!(c, '`' | '"' | '\'' | '(' | ')' | ',' | ':' | ';');
        word.trim_matches(is_mark).trim_start_matches("./").trim_end_matches('.').to_owned()
    };
    let names = |script: &str| message.split_whitespace().any(|word| bare(word) == bare(script));
    core.as_deref().is_some_and(|core| core.contains(' ') && message.contains(core))
        || script.is_some_and(names)
        || begins_alike(core.as_deref(), message)
}

/// Whether a message is a command line itself, of the same program.
fn begins_alike(core: Option<&str>, message: &str) -> bool {
    let two = |text: &str| text.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>();
    let is_short = message.split_whitespace().count() <= 4;
    let first = core.and_then(|core| core.split_whitespace().next());
    is_short && first.is_some() && first == two(message).first().map(String::as_str)
}

/// True if a command answers a request: it is the only one that passed, or they share a word. A
/// check after an edit is part of the work and not an answer, unless a significant word matches.
fn answers(call: &Call, asked: &str, passed: usize, has_edits: bool) -> bool {
    let line = call.command.as_deref().unwrap_or_default();
    let mut words = Words::default();
    if has_edits {
        // After an edit a command is part of the work, unless it is what was asked for.
        let purpose = words.distinct(call.purpose.as_str());
        let is_short = asked.split_whitespace().count() <= CHECK_WORDS_MAX;
        let is_check = call.is_validation() || call.purpose == Purpose::Format;
        let is_asked = match is_check {
            true => words.distinct(asked).iter().any(|word| purpose.contains(word)),
            false => terms(asked).iter().any(|word| terms(line).contains(word)),
        };
        return is_short && is_asked;
    }
    let command = words.distinct(line);
    // The name of a program of everybody is often that of the whole project.
    let program = words.distinct(call.runner.split(' ').next().unwrap_or_default());
    let is_own = shell::is_of_repository(line);
    let counts = |word: &&String| is_own || !program.contains(word);
    (passed == 1 && is_own) || words.distinct(asked).iter().filter(counts).any(|word| command.contains(word))
}

/// Words with which somebody asks for an explanation.
const OPEN_QUESTIONS: &[&str] = &[
    "how",
    "why",
    "what",
    "which",
    "who",
    "where",
    "when",
    "warum",
    "wieso",
    "wie",
    "pourquoi",
    "comment",
    "cómo",
    "perché",
    "como",
    "почему",
    "как",
];

/// Whether a message asks for an explanation: what was run to find it is not the answer.
fn asks_why(message: &str) -> bool {
    let lower = message.trim_start().to_lowercase();
    let first = lower.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|word| OPEN_QUESTIONS.contains(&word))
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
