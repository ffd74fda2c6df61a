//! The pattern of a successful session: its changes, and the evidence that they are good.

use retro_insight::{Beat, Call, OutcomeValue};
use serde_json::json;

use super::METHOD;
use crate::candidate::{Candidate, Kind, THIN};
use crate::episode::{Episode, shortened};
use crate::methods::commands::{keywords, purpose_of};
use crate::methods::evidence::Evidence;
use crate::methods::steps::{also_run, bounded, has_own_commands, steps};
use crate::methods::turns::turns;

/// Maximum steps kept.
const STEPS_MAX: usize = 8;

/// The last turn that was checked and committed, if the session succeeded.
pub(super) fn pattern(episode: &Episode) -> Option<Candidate> {
    if episode.outcome.value != OutcomeValue::Success {
        return None;
    }
    let turns = turns(episode);
    let turn =
        turns.iter().rev().find(|turn| turn.is_successful(episode) && turn.verification().is_some())?;
    let (beat, check) = turn.verification()?;
    let mut evidence = Evidence::new(episode);
    let when = turn.when(&mut evidence)?;
    let files = evidence.edited(&turn.calls)?;
    let command = evidence.command(beat, check)?;
    let tries = turn.failed_before(check).len();
    let mut text = format!("Editing {files} and then running {command} worked");
    if tries > 0 {
        text.push_str(&format!(", after {tries} failed {}", if tries == 1 { "run" } else { "runs" }));
    }
    let also = also_run(&turn.calls, &mut evidence);
    if !also.is_empty() {
        text.push_str(&format!("; {} was run too", also.join(" and ")));
    }
    text.push('.');
    text.extend(kept(&turn.calls, beat, &mut evidence));
    let all = steps(&turn.calls, &mut evidence);
    let mut candidate = episode.candidate(METHOD.name, Kind::Procedure, String::new());
    candidate.structured = Some(json!({ "steps": bounded(all, STEPS_MAX), "verification": command }));
    if !evidence.is_focused() {
        return None;
    }
    evidence.fill(&mut candidate);
    let named: Vec<&str> = candidate.files.iter().take(3).map(String::as_str).collect();
    candidate.subject = format!("{} {}", purpose_of(check), named.join(" "));
    candidate.scope_reason = "the files and the check are those of this repository".to_owned();
    candidate.keywords = keywords(&[check.runner.as_str()], [text.as_str(), &when]);
    candidate.text = shortened(&text, 600);
    candidate.when_to_use = when;
    candidate.confidence = 0.6;
    let is_thin = also.is_empty() || !has_own_commands(&turn.calls);
    candidate.priority = if is_thin { THIN } else { 3 };
    candidate.worked = 1;
    Some(candidate)
}

/// The commit after the check, if there is one.
fn kept<'a>(calls: &[(&'a Beat, &'a Call)], check: &Beat, evidence: &mut Evidence<'a>) -> Option<String> {
    let at = calls.iter().position(|(beat, _)| beat.id == check.id)?;
    let (beat, call) = calls.get(at..)?.iter().find(|(_, call)| call.commits && !call.is_failed())?;
    evidence.commit(beat, call).map(|command| format!(" It was kept with {command}."))
}
