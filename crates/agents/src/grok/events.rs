//! `events.jsonl`: the course of turns and calls.
//!
//! Only this file has the duration of a call, and it is the most reliable one for how the call
//! ended. A fork does not copy it, a killed process leaves it unfinished.

use retro_model::{Kind, Origin, Outcome, Part as Piece, ToolResult};
use serde_json::json;

use super::call::ended;
use super::line::{filled, unknown};
use super::mapping;
use super::rule::Rule;
use super::state::State;
use crate::identity::print_of;
use crate::json::pick;
use crate::words::{clean, id, words};
use crate::{Draft, Out, Record, field};

pub(super) fn read(record: &Record<'_>, state: &mut State, out: &mut Out) {
    let kind = field::text(record.json, "type").unwrap_or_default();
    match kind {
        "turn_started" => turn_started(record, state, out),
        "turn_ended" => turn_ended(record, out),
        "tool_completed" => tool_completed(record, out),
        "permission_resolved" => permission(record, out),
        "interjected" => interjected(record, out),
        kind => match mapping::named("events/", kind) {
            Some(row) => {
                out.facts.see(field::time(record.json, "ts"));
                out.fold(row.record);
            }
            None => unknown(record, out),
        },
    }
}

fn draft(record: &Record<'_>, row: &'static str, piece: Piece, kind: Kind, origin: Origin) -> Draft {
    record.draft(row, piece, kind, origin).at(field::time(record.json, "ts"))
}

/// Reads the start of a turn. The model may have changed, and the prompt may correct an aborted
/// one.
fn turn_started(record: &Record<'_>, state: &mut State, out: &mut Out) {
    const ROW: &str = "events/turn_started";
    let mut begun = draft(record, ROW, Piece::Whole, Kind::Note, Origin::Harness);
    begun.hint.look_for(Rule::TurnBegan);
    begun.event.data = pick(record.json, &["redirect_kind", "turn_number", "session_relationship"]);
    begun.hint.fold_only = field::some(record.json, "redirect_kind").is_none();
    out.push(begun);
    if let Some(model) = field::some(record.json, "model_id").map(clean)
        && state.model.as_ref() != Some(&model)
    {
        let mut changed = draft(record, ROW, Piece::Tag("model"), Kind::Model, Origin::Harness);
        changed.event.model = Some(model.clone());
        changed.hint.look_for(Rule::Model);
        state.model = Some(model);
        out.push(changed);
    }
}

/// Reads the end of a turn. The updates have it too, unless the process could not write them.
fn turn_ended(record: &Record<'_>, out: &mut Out) {
    let outcome = field::text(record.json, "outcome").unwrap_or_default();
    let kind = match outcome {
        "cancelled" => Kind::Interruption,
        "error" => Kind::Error,
        _ => Kind::Note,
    };
    let mut draft = draft(record, "events/turn_ended", Piece::Whole, kind, Origin::Harness);
    draft.event.data = pick(record.json, &["outcome", "cancellation_category", "error"]);
    draft.event.text = field::some(record.json, "error").and_then(words);
    draft.hint.fold_only = kind == Kind::Note;
    draft.hint.look_for(Rule::TurnOver);
    out.push(draft);
}

/// Reads the end of a call.
fn tool_completed(record: &Record<'_>, out: &mut Out) {
    const ROW: &str = "events/tool_completed";
    let said = field::text(record.json, "outcome").unwrap_or_default();
    let outcome = match said {
        "success" => Outcome::Ok,
        "error" | "invalid_tool" => Outcome::Failed,
        "permission_rejected" | "hook_denied" => Outcome::Denied,
        "cancelled" | "permission_cancelled" => Outcome::Interrupted,
        _ => Outcome::Unknown,
    };
    let call_id = field::text(record.json, "tool_call_id").map(id).unwrap_or_default();
    let mut ending = draft(record, ROW, Piece::Whole, Kind::ToolResult, Origin::Tool);
    ending.event.result = Some(Box::new(ToolResult {
        duration_ms: field::count(record.json, "duration_ms"),
        ..ended(&call_id, outcome)
    }));
    ending.hint.fold_only = true;
    ending.hint.look_for(Rule::Completed);
    out.push(ending);
    if outcome == Outcome::Denied {
        // A person rejects a permission. A hook belongs to the harness.
        let origin = if said == "permission_rejected" { Origin::User } else { Origin::Harness };
        let mut denial = draft(record, ROW, Piece::Tag("denial"), Kind::Denial, origin);
        denial.event.data =
            filled(json!({ "call_id": &call_id, "tool": record.json.get("tool_name"), "decision": said }));
        denial.hint.look_for(Rule::Denied(call_id));
        out.push(denial);
    }
}

/// Reads a permission. Only refusals give events.
fn permission(record: &Record<'_>, out: &mut Out) {
    const ROW: &str = "events/permission_resolved";
    let decision = field::text(record.json, "decision").unwrap_or_default();
    if !matches!(decision, "deny" | "denied" | "reject" | "rejected") {
        out.facts.see(field::time(record.json, "ts"));
        return out.fold(ROW);
    }
    let mut denial = draft(record, ROW, Piece::Whole, Kind::Denial, Origin::Harness);
    denial.event.data = pick(record.json, &["tool_name", "decision", "wait_ms"]);
    denial.hint.look_for(Rule::Refused(field::text(record.json, "tool_name").map(clean).unwrap_or_default()));
    out.push(denial);
}

/// Reads a text that the user typed while the model worked.
fn interjected(record: &Record<'_>, out: &mut Out) {
    const ROW: &str = "events/interjected";
    let said =
        ["text", "prompt", "message", "content"].iter().find_map(|name| field::some(record.json, name));
    let Some(said) = said else {
        out.facts.see(field::time(record.json, "ts"));
        return out.fold(ROW);
    };
    let mut draft = draft(record, ROW, Piece::Whole, Kind::User, Origin::User);
    draft.event.text = words(said);
    draft.hint.look_for(Rule::Interjected(print_of(said)));
    out.push(draft);
}
