//! How a session ended: success, failed, abandoned or unknown, by rules and with evidence.
//!
//! The rules look at the end, not at the course: whether the last turn was answered, the results of
//! checks after the last edit, whether the work was committed, and the person's last message. A
//! report of completion without a run as evidence is `unknown`. A wrong result is worse than none.

mod end;
mod words;

use serde::{Deserialize, Serialize};

use crate::Settings;
use crate::trace::Trace;
use end::End;

/// The ending of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeValue {
    /// The request was fulfilled, with evidence.
    Success,
    /// The request was tried and did not work.
    Failed,
    /// The work was left unfinished.
    Abandoned,
    /// There is not enough evidence.
    Unknown,
}

impl OutcomeValue {
    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            OutcomeValue::Success => "success",
            OutcomeValue::Failed => "failed",
            OutcomeValue::Abandoned => "abandoned",
            OutcomeValue::Unknown => "unknown",
        }
    }
}

/// An outcome with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The ending of the session.
    pub value: OutcomeValue,
    /// The reason, in a few words.
    pub reason: String,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The events that are evidence.
    pub evidence_refs: Vec<String>,
    /// The rule that decided.
    pub rule: String,
}

/// Judges how the session ended.
pub(crate) fn judge(trace: &Trace, settings: &Settings) -> Outcome {
    if settings.still_running {
        return told(OutcomeValue::Unknown, "still_running", "the session may still grow", 0.0, &[]);
    }
    let end = End::of(trace);
    RULES
        .iter()
        .find_map(|rule| rule(&end))
        .unwrap_or_else(|| told(OutcomeValue::Unknown, "no_evidence", "nothing shows how it ended", 0.0, &[]))
}

fn told(value: OutcomeValue, rule: &str, reason: &str, confidence: f64, evidence: &[&str]) -> Outcome {
    let evidence_refs = evidence.iter().map(|id| (*id).to_owned()).collect();
    Outcome { value, reason: reason.to_owned(), confidence, evidence_refs, rule: rule.to_owned() }
}

type Rule = fn(&End<'_>) -> Option<Outcome>;

/// The rules. The first that fits decides.
const RULES: &[Rule] = &[
    nothing_asked,
    agent_error,
    refused,
    plan_refused,
    interrupted,
    unanswered,
    cut_off,
    complaint,
    asked_for_change,
    push_failed,
    checks_failed,
    last_request_open,
    left_red,
    admits_rest,
    committed,
    checks_passed,
    program_run,
    pleased,
    only_documents,
    changed_unseen,
    answered,
];

use OutcomeValue::{Abandoned, Failed, Success, Unknown};

fn nothing_asked(end: &End<'_>) -> Option<Outcome> {
    end.last_prompt
        .is_none()
        .then(|| told(Unknown, "nothing_asked", "no person asked for anything", 0.0, &[]))
}

fn agent_error(end: &End<'_>) -> Option<Outcome> {
    let id = end.ends_in_error?;
    Some(told(Failed, "agent_error", "the agent ended with an error instead of an answer", 0.85, &[id]))
}

fn refused(end: &End<'_>) -> Option<Outcome> {
    let id = end.only_refused?;
    Some(told(Failed, "refused", "every call was refused", 0.7, &[id]))
}

fn plan_refused(end: &End<'_>) -> Option<Outcome> {
    let id = end.ends_in_refused_plan?;
    Some(told(
        Unknown,
        "plan_refused",
        "a plan was turned down, perhaps to be carried out elsewhere",
        0.0,
        &[id],
    ))
}

fn interrupted(end: &End<'_>) -> Option<Outcome> {
    let id = end.ends_in_interruption?;
    if end.commit_after_edit.is_some() {
        return Some(told(Unknown, "interrupted_after_commit", "cut off after a commit", 0.0, &[id]));
    }
    if (end.finished_turns > 1 || end.answered_before_cut) && end.last_edit.is_none() {
        return Some(told(
            Unknown,
            "interrupted_after_answers",
            "cut off after earlier questions were answered",
            0.0,
            &[id],
        ));
    }
    Some(told(Abandoned, "interrupted", "the person cut it off and did not go on", 0.8, &[id]))
}

fn unanswered(end: &End<'_>) -> Option<Outcome> {
    let (id, text) = end.unanswered?;
    if words::is_farewell(text) {
        return None;
    }
    Some(told(Abandoned, "unanswered", "the last message has no answer", 0.8, &[id]))
}

fn cut_off(end: &End<'_>) -> Option<Outcome> {
    let (id, publishes) = end.open_call?;
    // Its last action committed or published the work.
    if publishes || end.commit_in_last_turn {
        return None;
    }
    if end.finished_turns == 0 {
        return Some(told(Abandoned, "cut_off", "the log ends during a call of the first turn", 0.7, &[id]));
    }
    Some(told(Unknown, "cut_off", "the log ends in the middle of a turn", 0.0, &[id]))
}

fn complaint(end: &End<'_>) -> Option<Outcome> {
    let id = end.open_complaint?;
    Some(told(Unknown, "complaint", "the last message complains, and nothing was changed since", 0.0, &[id]))
}

fn push_failed(end: &End<'_>) -> Option<Outcome> {
    let id = end.push_failed?;
    Some(told(Failed, "push_failed", "the push that was asked for failed", 0.75, &[id]))
}

fn checks_failed(end: &End<'_>) -> Option<Outcome> {
    let id = *end.checks_failed.last()?;
    end.last_edit?;
    if end.says_unrelated {
        return Some(told(
            Unknown,
            "unrelated_failure",
            "a check is red, said to be so for other reasons",
            0.0,
            &[id],
        ));
    }
    if !end.checks_passed.is_empty() {
        return Some(told(
            Unknown,
            "checks_differ",
            "some checks passed after the last edit, others failed",
            0.0,
            &[id],
        ));
    }
    Some(told(Failed, "checks_failed", "the last check after the last edit failed", 0.8, &[id]))
}

/// A commit or a check before the last message is not evidence about that message.
fn last_request_open(end: &End<'_>) -> Option<Outcome> {
    if end.shown_since {
        return None;
    }
    end.last_edit.or(end.commit_after_edit)?;
    not_done(end)
}

/// Why the last turn does not count as done, regardless of earlier turns.
fn not_done(end: &End<'_>) -> Option<Outcome> {
    if let Some(id) = end.left_refused {
        return Some(told(
            Unknown,
            "left_refused",
            "a call was refused, and nothing like it was done after that",
            0.0,
            &[id],
        ));
    }
    if let Some(id) = end.left_failed {
        return Some(told(
            Unknown,
            "left_failed",
            "a call failed, and nothing like it worked after that",
            0.0,
            &[id],
        ));
    }
    let (id, text) = end.answer?;
    if words::is_announcement(text) {
        return Some(told(Unknown, "announced", "the last words announce what comes next", 0.0, &[id]));
    }
    if words::is_inability(text) && end.made_nothing && words::waits(text) {
        return Some(told(
            Abandoned,
            "waits",
            "nothing was done: the agent waits for something that never came",
            0.7,
            &[id],
        ));
    }
    if words::is_inability(text) {
        return Some(told(Unknown, "could_not", "the answer says that it could not be done", 0.0, &[id]));
    }
    if !end.is_closed {
        return Some(told(Unknown, "not_closed", "the log ends with a call, without an answer", 0.0, &[id]));
    }
    None
}

fn left_red(end: &End<'_>) -> Option<Outcome> {
    let id = end.left_red?;
    Some(told(Unknown, "left_red", "tests were red before the last edit and not run since", 0.0, &[id]))
}

fn admits_rest(end: &End<'_>) -> Option<Outcome> {
    let (id, _) = end.answer.filter(|_| end.admits_rest)?;
    end.last_edit.or(end.last_document)?;
    Some(told(Unknown, "rest_open", "the answer says that a part does not work or was not tried", 0.0, &[id]))
}

fn committed(end: &End<'_>) -> Option<Outcome> {
    let id = end.commit_after_edit?;
    Some(told(Success, "committed", "the work was committed", 0.85, &[id]))
}

fn checks_passed(end: &End<'_>) -> Option<Outcome> {
    let id = *end.checks_passed.last()?;
    end.last_edit?;
    Some(told(Success, "checks_passed", "checks passed after the last edit", 0.85, &[id]))
}

fn program_run(end: &End<'_>) -> Option<Outcome> {
    let id = end.run_after_edit?;
    end.last_edit?;
    Some(told(Success, "program_run", "what was written was run, without an error", 0.65, &[id]))
}

fn pleased(end: &End<'_>) -> Option<Outcome> {
    let id = end.pleased?;
    Some(told(Success, "pleased", "the person's last words are pleased", 0.65, &[id]))
}

fn only_documents(end: &End<'_>) -> Option<Outcome> {
    let id = end.last_document?;
    if end.last_edit.is_some() || end.answer.is_none() {
        return None;
    }
    if let Some(open) = not_done(end) {
        return Some(open);
    }
    if end.wants_code {
        return Some(told(
            Unknown,
            "only_documents",
            "code was asked for, and only documents changed",
            0.0,
            &[id],
        ));
    }
    Some(told(
        Success,
        "documents_written",
        "documents were written as asked, and nothing has to run",
        0.65,
        &[id],
    ))
}

fn changed_unseen(end: &End<'_>) -> Option<Outcome> {
    let id = end.last_edit?;
    if end.dictated && end.answer.is_some() && not_done(end).is_none() {
        return Some(told(Success, "dictated", "the small change that was dictated was made", 0.6, &[id]));
    }
    if end.went_on && end.answer.is_some() && not_done(end).is_none() {
        return Some(told(
            Success,
            "went_on",
            "after the change only a question was asked, and it was answered",
            0.55,
            &[id],
        ));
    }
    Some(told(Unknown, "not_verified", "files were changed and nothing shows that it works", 0.0, &[id]))
}

fn asked_for_change(end: &End<'_>) -> Option<Outcome> {
    let (id, _) = end.last_prompt?;
    // Earlier checks or commits are not evidence about it.
    (end.wants_change && !end.acted).then(|| {
        told(Unknown, "nothing_changed", "a change was asked for last and none was made", 0.0, &[id])
    })
}

fn answered(end: &End<'_>) -> Option<Outcome> {
    let (id, _) = end.answer?;
    if let Some(open) = not_done(end) {
        return Some(open);
    }
    if end.trivial {
        return Some(told(Unknown, "trivial", "nothing was asked for", 0.0, &[id]));
    }
    if end.change_not_made {
        return Some(told(
            Unknown,
            "nothing_changed",
            "a change was asked for and none was made",
            0.0,
            &[id],
        ));
    }
    Some(told(Success, "answered", "what was asked was answered", 0.6, &[id]))
}
