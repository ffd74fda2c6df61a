//! Dangers that the user rejected: commands that could destroy work and were refused, or for which
//! the user corrected the agent.

use retro_insight::{Beat, Call, What};
use retro_model::Outcome;
use serde_json::json;

use super::METHOD;
use crate::candidate::{Candidate, Kind};
use crate::episode::{Episode, shortened};
use crate::methods::commands::keywords;
use crate::methods::evidence::{Evidence, clipped};
use crate::methods::turns::turns;

/// Maximum characters quoted from the user.
const WORDS_CHARS_MAX: usize = 200;
/// After more calls, a correction refers to something else.
const CALLS_MAX: usize = 3;

/// The rules of a session.
pub(super) fn rules(episode: &Episode) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for turn in turns(episode) {
        for (at, (beat, call)) in turn.calls.iter().enumerate() {
            let Some(why) = call.danger else { continue };
            let is_near = turn.calls.len() - at <= CALLS_MAX;
            let words = refusal(episode, beat).or_else(|| {
                let (next, text) = turn.next.filter(|_| is_near)?;
                let about =
                    |said: &&retro_insight::Correction| said.event_id == next.id && speaks_of(text, call);
                let said = episode.corrections.iter().find(about)?;
                (said.confidence >= 0.6).then_some((next, text))
            });
            let refused = call.outcome == Some(Outcome::Denied);
            let rule = rule(episode, (beat, call), why, words, refused);
            if let Some(rule) = rule
                && !found.iter().any(|other| other.subject == rule.subject)
            {
                found.push(rule);
            }
        }
    }
    found
}

/// The user's words when refusing a call.
fn refusal<'a>(episode: &'a Episode, call: &Beat) -> Option<(&'a Beat, &'a str)> {
    let at = episode.trace.beats.iter().position(|beat| beat.id == call.id)?;
    let after = episode.trace.beats.get(at + 1..)?.iter();
    let next = after.take_while(|beat| !matches!(beat.what, What::Call(_))).find(|beat| {
        matches!(&beat.what, What::Denial { is_proven: true, .. } if beat.typed.split_whitespace().count() >= 2)
    })?;
    match &next.what {
        What::Denial { .. } => Some((next, &next.typed)),
        _ => None,
    }
}

/// True if the words refer to a command: they name its program, or mention removing, discarding or
/// overwriting.
fn speaks_of(text: &str, call: &Call) -> bool {
    let lower = text.to_lowercase();
    let program = call.runner.split(' ').next_back().unwrap_or_default();
    let of_loss = [
        "delet", "remov", "reset", "discard", "lost", "overwr", "force", "revert", "wipe", "undo", "restore",
    ];
    (program.len() > 1 && lower.split(|c: char| !c.is_alphanumeric()).any(|word| word == program))
        || of_loss.iter().any(|stem| lower.contains(stem))
}

fn rule(
    episode: &Episode,
    (beat, call): (&Beat, &Call),
    why: &str,
    words: Option<(&Beat, &str)>,
    refused: bool,
) -> Option<Candidate> {
    if !refused && words.is_none() {
        return None;
    }
    let mut evidence = Evidence::new(episode);
    let command = evidence.command(beat, call)?;
    let said = words.and_then(|(said, text)| {
        let line = text.lines().map(str::trim).find(|line| line.split_whitespace().count() >= 2)?;
        evidence.said(&said.id, clipped(line, WORDS_CHARS_MAX))
    });
    if !refused && said.is_none() {
        return None;
    }
    let mut text = match refused {
        true => format!("{command} ({why}) was refused."),
        false => format!("{command} ({why}) was not wanted."),
    };
    if let Some(said) = &said {
        text.push_str(&format!(" The user said: {said}"));
    }
    let mut candidate =
        episode.candidate(METHOD.name, Kind::RiskRule, format!("{} {}", call.purpose.as_str(), call.runner));
    evidence.fill(&mut candidate);
    candidate.text = shortened(&text, 600);
    candidate.when_to_use = shortened(&format!("Before running {command}"), 159);
    candidate.structured = Some(json!({ "command": command, "danger": why, "said": said }));
    candidate.keywords = keywords(&[call.runner.as_str()], [text.as_str()]);
    candidate.scope_reason = "the person said so in this repository".to_owned();
    if said.is_none() {
        candidate.scope_reason = "it was refused in this repository".to_owned();
    }
    candidate.confidence = if said.is_some() { 0.85 } else { 0.6 };
    candidate.priority = 5;
    Some(candidate)
}
