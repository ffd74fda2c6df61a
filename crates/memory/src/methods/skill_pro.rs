//! # What
//! Skills: turns that worked, with what started them, their steps, how they ended and the
//! check that shows it.
//! # Why
//! A procedure is safe to repeat only if it says when to begin, when to stop and how to see
//! that it worked.
//! # How
//! A turn goes from one message to the next. It counts if it changed files, no check is left
//! red, and the next message corrects nothing; and if a check passed after the last edit, or
//! the person was pleased. Best first: verified, praised, more files, more calls.
//! # Limits
//! A turn without a check and without praise teaches nothing here, however good it was.

use retro_insight::{Beat, Call};
use retro_text::calls::Verdict;
use serde_json::json;

use super::Method;
use super::commands::{keywords, purpose_of};
use super::evidence::{Evidence, clipped};
use super::steps::{also_run, bounded, has_own_commands, steps};
use super::turns::{Turn, first_sentence, turns};
use crate::candidate::{Candidate, Kind, THIN};
use crate::episode::{Episode, shortened};

pub(super) const METHOD: Method =
    Method { name: "skill_pro", title: "skills: turns that worked, with their check", mine };

/// Maximum candidates of a session.
const SKILLS_MAX: usize = 3;
/// Maximum steps of a skill.
const STEPS_MAX: usize = 10;
/// Maximum characters of quoted praise.
const PRAISE_CHARS_MAX: usize = 60;

fn mine(episode: &Episode) -> Vec<Candidate> {
    let mut skills: Vec<Candidate> = turns(episode).iter().filter_map(|turn| skill(episode, turn)).collect();
    // The sort keeps the order of the session among equals.
    skills.sort_by(|a, b| b.confidence.total_cmp(&a.confidence).then(b.files.len().cmp(&a.files.len())));
    let mut kept: Vec<Candidate> = Vec::new();
    for skill in skills {
        if kept.len() < SKILLS_MAX && !kept.iter().any(|other| other.subject == skill.subject) {
            kept.push(skill);
        }
    }
    kept
}

fn skill(episode: &Episode, turn: &Turn<'_>) -> Option<Candidate> {
    if !turn.is_successful(episode) {
        return None;
    }
    let mut evidence = Evidence::new(episode);
    let when = turn.when(&mut evidence)?;
    let files = evidence.edited(&turn.calls)?;
    let verified = turn.verification();
    let praise = turn.praise();
    let Told { text, check, is_more } = match verified {
        Some(check) => checked(turn, check, &files, &mut evidence)?,
        None => praised(turn, &files, &mut evidence)?,
    };
    let runner = verified.map_or_else(String::new, |(_, call)| purpose_of(call));
    let all = steps(&turn.calls, &mut evidence);
    let mut candidate = episode.candidate(METHOD.name, Kind::Skill, String::new());
    candidate.structured = Some(json!({
        "activation": when,
        "termination": check.as_ref().map_or_else(
            || all.last().map(|step| step.text.clone()).unwrap_or_default(),
            |command| format!("{command} passes"),
        ),
        "verification": check,
        "steps": bounded(all, STEPS_MAX),
    }));
    if let Some((beat, words)) = praise {
        evidence.said(&beat.id, clipped(first_sentence(words.trim()), PRAISE_CHARS_MAX));
    }
    if !evidence.is_focused() {
        return None;
    }
    evidence.fill(&mut candidate);
    let named: Vec<&str> = candidate.files.iter().take(3).map(String::as_str).collect();
    candidate.subject = format!("{runner} {}", named.join(" ")).trim().to_owned();
    candidate.scope_reason = format!("{files} belong to this repository");
    candidate.keywords = keywords(&[runner.split(' ').nth(1).unwrap_or_default()], [text.as_str(), &when]);
    candidate.text = shortened(&text, 600);
    candidate.when_to_use = when;
    candidate.confidence = match (praise.is_some(), verified.is_some()) {
        (true, true) => 0.8,
        (true, false) => 0.75,
        (false, true) => 0.6,
        (false, false) => 0.55,
    };
    candidate.priority = match verified.is_some() {
        _ if praise.is_none() && !(is_more && has_own_commands(&turn.calls)) => THIN,
        true => 4,
        false => 3,
    };
    candidate.worked = 1;
    Some(candidate)
}

/// The description of a turn.
struct Told {
    text: String,
    /// The check that passed.
    check: Option<String>,
    /// True if it names further commands besides the check.
    is_more: bool,
}

/// Describes a turn whose check passed.
fn checked<'a>(
    turn: &Turn<'a>,
    (beat, call): (&'a Beat, &'a Call),
    files: &str,
    evidence: &mut Evidence<'a>,
) -> Option<Told> {
    let command = evidence.command(beat, call)?;
    let failed = turn.failed_before(call);
    let failed = failed.first().and_then(|(beat, other)| {
        let error = evidence.error(other)?;
        Some((evidence.command(beat, other)?, error))
    });
    let mut text = match failed {
        Some((first, error)) if first == command => {
            format!("{command} failed first ({error}) and passed after editing {files}.")
        }
        Some((first, error)) => {
            format!("{first} failed first ({error}); {command} passed after editing {files}.")
        }
        None => format!("{command} passed after editing {files}."),
    };
    let also = also_run(&turn.calls, evidence);
    if !also.is_empty() {
        text.push_str(&format!(" Also run: {}.", also.join(", ")));
    }
    Some(Told { text, check: Some(command), is_more: !also.is_empty() })
}

/// Describes a turn that the user praised. It must have run something.
fn praised<'a>(turn: &Turn<'a>, files: &str, evidence: &mut Evidence<'a>) -> Option<Told> {
    let (said, words) = turn.praise()?;
    let ran = turn.calls.iter().filter(|(_, call)| call.verdict == Verdict::Passed);
    let ran: Vec<(&Beat, &Call)> = ran.copied().collect();
    let also = also_run(&ran, evidence);
    if also.is_empty() {
        return None;
    }
    let words = evidence.said(&said.id, clipped(first_sentence(words.trim()), PRAISE_CHARS_MAX))?;
    let text = format!("After editing {files} and running {}, the user said {words}.", also.join(" and "));
    Some(Told { text, check: None, is_more: false })
}
