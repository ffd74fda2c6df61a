//! All other records: compactions, interruptions, reviews, errors, states.

use retro_model::{Facts, Kind, Link, LinkKind, Origin, Part as Piece, TitleRank};
use retro_text::{redact, redact_json};
use serde_json::json;

use super::line::{Line, row};
use super::rule::Rule;
use super::state::State;
use super::tier;
use crate::json::pick;
use crate::words::{clean, id, words};
use crate::{Draft, Json, Out, field};

/// Reads a record that is only bookkeeping, and keeps the small fields that may be useful.
pub(super) fn note(line: &Line<'_>, family: &str, name: &str, out: &mut Out) {
    const FIELDS: &[&str] = &[
        "duration_ms",
        "full",
        "goal",
        "message",
        "score",
        "status",
        "success",
        "thread_name",
        "trigger_turn",
    ];
    let row = row(family, name);
    if row == "unknown" {
        return line.unknown(out);
    }
    let mut draft = line.draft(row, Piece::Whole, Kind::Note, Origin::Harness);
    draft.event.data = pick(line.payload, FIELDS);
    out.push(draft);
}

/// Reads a record that is neither an item nor an event.
pub(super) fn side(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    if kind == "inter_agent_communication_metadata" {
        state.triggered = field::is(line.payload, "trigger_turn");
    }
    match kind {
        "world_state"
        | "inter_agent_communication"
        | "inter_agent_communication_metadata"
        | "security_risk_score" => {
            note(line, "", kind, out);
        }
        _ => line.unknown(out),
    }
}

/// Reads `compacted`. Its `replacement_history` repeats old messages and is skipped.
pub(super) fn compacted(line: &Line<'_>, out: &mut Out) {
    let mut draft = line.draft("compacted", Piece::Whole, Kind::Compaction, Origin::Model);
    // The service compacts without a readable summary (0.137 - 0.142).
    draft.event.text = field::some(line.payload, "message").and_then(words);
    draft.event.data = pick(line.payload, &["window_id", "window_number", "compaction_response_id"]);
    draft.event.native.response_id = field::some(line.payload, "compaction_response_id").map(id);
    draft.hint.look_for(Rule::Compacted);
    out.push(draft);
}

/// Reads an event without a family of its own.
pub(super) fn event(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    const FAMILY: &str = "event_msg/";
    let payload = line.payload;
    match kind {
        "context_compacted" => out.fold("event_msg/context_compacted"),
        "task_complete" => turn_ended(line, out),
        "turn_aborted" => turn_aborted(line, out),
        "entered_review_mode" | "exited_review_mode" => review(line, row(FAMILY, kind), payload, state, out),
        "collab_agent_spawn_end" => child(line, row(FAMILY, kind), payload, "new_thread_id", out),
        "sub_agent_activity" => child(line, row(FAMILY, kind), payload, "agent_thread_id", out),
        "thread_rolled_back" => {
            let mut draft =
                line.draft("event_msg/thread_rolled_back", Piece::Whole, Kind::Rewind, Origin::User);
            let turns = field::count(payload, "num_turns").unwrap_or(1);
            draft.event.data = Some(redact_json(json!({ "num_turns": turns })));
            draft.hint.look_for(Rule::RolledBack(turns));
            out.push(draft);
        }
        "guardian_assessment" => assessed(line, out),
        "error" | "stream_error" | "warning" => {
            let mut draft = line.draft(row(FAMILY, kind), Piece::Whole, Kind::Error, Origin::Harness);
            draft.event.text = field::some(payload, "message").and_then(words);
            draft.event.data = pick(payload, &["codex_error_info"]);
            out.push(draft);
        }
        "thread_name_updated" => {
            if let Some(name) = field::some(payload, "thread_name") {
                let mut facts = Facts::default();
                facts.title(TitleRank::Agent, line.record.address, &redact(name));
                out.facts.merge(&facts);
            }
            note(line, FAMILY, kind, out);
        }
        "thread_settings_applied" => {
            tier::applied(line, state);
            note(line, FAMILY, kind, out);
        }
        "undo_completed" | "thread_goal_updated" => note(line, FAMILY, kind, out),
        _ => line.unknown(out),
    }
}

/// Reads an item without a family of its own.
pub(super) fn item(line: &Line<'_>, kind: &str, item: &Json<'_>, state: &mut State, out: &mut Out) {
    const FAMILY: &str = "item/";
    match kind {
        "ContextCompaction" => out.fold("item/ContextCompaction"),
        "EnteredReviewMode" | "ExitedReviewMode" => review(line, row(FAMILY, kind), item, state, out),
        "SubAgentActivity" => child(line, row(FAMILY, kind), item, "agent_thread_id", out),
        "Plan" => {
            let mut draft = line.draft("item/Plan", Piece::Whole, Kind::Plan, Origin::Model);
            draft.event.text = field::some(item, "text").and_then(words);
            out.push(draft);
        }
        "HookPrompt" => {
            let mut draft = line.draft("item/HookPrompt", Piece::Whole, Kind::Note, Origin::Harness);
            draft.event.text = field::some(item, "text").and_then(words);
            out.push(draft);
        }
        _ => line.unknown(out),
    }
}

/// Reads the end of a turn. A failed one has an error (0.166).
fn turn_ended(line: &Line<'_>, out: &mut Out) {
    const ROW: &str = "event_msg/task_complete";
    let error = line.payload.get("error").filter(|error| error.is_object());
    let mut draft = match error {
        Some(error) => {
            let mut draft = line.draft(ROW, Piece::Whole, Kind::Error, Origin::Harness);
            draft.event.text = field::some(error, "message").and_then(words);
            draft
        }
        None => line.draft(ROW, Piece::Whole, Kind::Note, Origin::Harness),
    };
    line.identify(&mut draft, "ended", field::text(line.payload, "turn_id").unwrap_or_default());
    draft.event.data = pick(line.payload, &["duration_ms", "time_to_first_token_ms"]);
    if let Some(kind) = error.and_then(|error| error.get("codex_error_info")) {
        draft.event.data = Some(redact_json(json!({ "codex_error_info": kind })));
    }
    out.push(draft);
}

fn turn_aborted(line: &Line<'_>, out: &mut Out) {
    let reason = field::text(line.payload, "reason").unwrap_or_default();
    // `replaced`, `review_ended` and `budget_limited` are caused by the program.
    let origin = if matches!(reason, "" | "interrupted") { Origin::User } else { Origin::Harness };
    let mut draft = line.nameless("event_msg/turn_aborted", Piece::Whole, Kind::Interruption, origin);
    line.identify(&mut draft, "aborted", field::text(line.payload, "turn_id").unwrap_or_default());
    draft.event.data = pick(line.payload, &["reason", "duration_ms"]);
    draft.hint.look_for(Rule::Aborted);
    out.push(draft);
}

/// Reads the beginning or end of a review. Messages in between, in the user role, are the program's
/// prompts.
fn review(line: &Line<'_>, row: &'static str, told: &Json<'_>, state: &mut State, out: &mut Out) {
    let findings = told.get("review_output").filter(|output| output.is_object());
    let begins = row.to_ascii_lowercase().contains("entered");
    state.in_review = begins;
    let mut draft = line.nameless(row, Piece::Whole, Kind::Subagent, Origin::Harness);
    line.identify(&mut draft, if begins { "review" } else { "reviewed" }, "");
    draft.event.text = match findings {
        Some(output) => field::some(output, "overall_explanation").and_then(words),
        None => field::some(told, "user_facing_hint").and_then(words),
    };
    draft.event.data = pick(told, &["target", "review_output"]);
    out.push(draft);
}

/// Reads the start or end of a child thread.
fn child(line: &Line<'_>, row: &'static str, told: &Json<'_>, named: &str, out: &mut Out) {
    let mut draft = line.draft(row, Piece::Whole, Kind::Subagent, Origin::Model);
    let thread = field::some(told, named).map(id);
    line.identify(
        &mut draft,
        "child",
        &format!(
            "{} {}",
            thread.as_deref().unwrap_or_default(),
            field::text(told, "kind").unwrap_or_default()
        ),
    );
    if let Some(thread) = thread.clone().filter(|_| line.copy_of.is_none()) {
        out.facts.links.insert(Link { kind: LinkKind::Child, session_id: thread });
    }
    if let Some(call) = field::some(told, "call_id").or_else(|| field::some(told, "id")) {
        draft.hint.look_for(Rule::Child(id(call)));
    }
    draft.event.child = thread;
    draft.event.text = field::some(told, "prompt").and_then(words);
    draft.event.data = pick(
        told,
        &["kind", "agent_path", "model", "reasoning_effort", "new_agent_nickname", "new_agent_role"],
    );
    out.push(draft);
}

/// Reads the assessment of a call before it ran.
fn assessed(line: &Line<'_>, out: &mut Out) {
    const ROW: &str = "event_msg/guardian_assessment";
    let status = field::text(line.payload, "status").unwrap_or_default();
    let denied = matches!(status, "denied" | "rejected" | "declined");
    let kind = if denied { Kind::Denial } else { Kind::Note };
    let mut draft: Draft = line.draft(ROW, Piece::Whole, kind, Origin::Harness);
    draft.event.text = field::some(line.payload, "rationale").and_then(words);
    draft.event.data = Some(redact_json(json!({
        "call_id": field::text(line.payload, "target_item_id").map(clean),
        "status": status,
        "risk_level": line.payload.get("risk_level"),
        "user_authorization": line.payload.get("user_authorization"),
    })));
    out.push(draft);
}
