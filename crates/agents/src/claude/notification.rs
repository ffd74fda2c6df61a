//! The end of a background task: `<task-notification>`, as a `user` record or a queued command. The
//! notification of a sub-agent gives a `subagent` event with its last message. That of a shell
//! command gives the result of its call.

use retro_model::{Kind, Origin, Outcome, Part as Piece, ToolResult};
use retro_text::redact_json;
use serde_json::json;

use super::line::Chain;
use super::rule::Rule;
use super::words::tag;
use crate::Draft;
use crate::words::{id, words};

pub(super) fn read(chain: &Chain<'_>, row: &'static str, piece: Piece, text: &str) -> Draft {
    let status = tag(text, "status").unwrap_or_default();
    let summary = tag(text, "summary").unwrap_or_default();
    let call = tag(text, "tool-use-id").map(id).unwrap_or_default();
    let outcome = outcome(status, summary);
    let mut draft = if summary.starts_with("Background command") {
        let mut draft = chain.draft(row, piece, Kind::ToolResult, Origin::Harness);
        draft.event.result = Some(Box::new(ToolResult {
            call_id: call.clone(),
            outcome,
            exit_code: exit_code(summary),
            duration_ms: None,
            truncated: false,
            bytes: summary.len() as u64,
            spilled_to: None,
            edits: Vec::new(),
        }));
        draft.event.text = words(summary);
        draft
    } else {
        let said = tag(text, "result");
        let origin = if said.is_some() { Origin::Model } else { Origin::Harness };
        let mut draft = chain.draft(row, piece, Kind::Subagent, origin);
        draft.event.child = tag(text, "task-id").map(id);
        draft.event.text = words(said.unwrap_or(summary));
        draft
    };
    draft.event.data = Some(redact_json(json!({
        "status": status,
        "summary": summary,
        "task_id": tag(text, "task-id"),
        "call_id": &call,
        "output_file": tag(text, "output-file"),
    })));
    draft.hint.opens_turn = true;
    if !call.is_empty() {
        draft.hint.look_for(Rule::Ended { call, outcome });
    }
    draft
}

fn outcome(status: &str, summary: &str) -> Outcome {
    match (status, exit_code(summary)) {
        (_, Some(0)) => Outcome::Ok,
        (_, Some(_)) => Outcome::Failed,
        ("completed", None) => Outcome::Ok,
        ("failed", None) => Outcome::Failed,
        ("killed" | "stopped" | "cancelled", None) => Outcome::Interrupted,
        // The task was lost with the process that ran it.
        _ if summary.contains("was running when the previous") => Outcome::Interrupted,
        _ => Outcome::Unknown,
    }
}

fn exit_code(summary: &str) -> Option<i64> {
    let (_, rest) = summary.rsplit_once("exit code ")?;
    rest.split(|c: char| c != '-' && !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_tells_how_a_command_ended() {
        assert_eq!(exit_code(r#"Background command "x" completed (exit code 0)"#), Some(0));
        assert_eq!(
            outcome("completed", r#"Background command "x" failed with exit code 2"#),
            Outcome::Failed
        );
        assert_eq!(outcome("killed", "Background command \"x\" was stopped"), Outcome::Interrupted);
        assert_eq!(outcome("completed", "Agent \"x\" finished"), Outcome::Ok);
        assert_eq!(outcome("", ""), Outcome::Unknown);
    }
}
