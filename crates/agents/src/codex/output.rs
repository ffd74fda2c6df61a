//! Outputs of tools in the conversation.

use retro_model::{Kind, Link, LinkKind, Origin, Outcome, Part as Piece, ToolResult};
use retro_text::{redact_json, redact_owned};
use serde_json::json;

use super::cell;
use super::line::{Line, row};
use super::outcome::{self, Refusal};
use super::rule::Rule;
use super::state::{Call, State};
use crate::words::id;
use crate::{Json, Out, field};

pub(super) fn read(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    let payload = line.payload;
    let row = row("response_item/", kind);
    let call_id = field::text(payload, "call_id").map(id).unwrap_or_default();
    let call = state.answer(&call_id);
    let tool = call.as_ref().map(|call| call.name.as_str());
    let found;
    let output = match kind {
        "tool_search_output" => {
            found = Json::String(found_tools(payload).into());
            &found
        }
        _ => payload.get("output").unwrap_or(&Json::Null),
    };
    let bytes = match output {
        Json::String(text) => text.len(),
        other => other.to_string().len(),
    };
    let ending = outcome::ending(tool, output);
    if let Some(process) = &ending.process {
        let started = call.as_ref().and_then(|call| call.polls.clone()).unwrap_or_else(|| call_id.clone());
        state.keeps_running(process, &started);
    }
    if let Some(cell) = &ending.cell {
        let started = call.as_ref().and_then(|call| call.polls.clone()).unwrap_or_else(|| call_id.clone());
        state.keeps_cell(cell, &started);
    }

    let mut draft = line.draft(row, Piece::Whole, Kind::ToolResult, origin(call.as_ref()));
    draft.event.child = spawned(tool, output);
    if let Some(child) = draft.event.child.clone().filter(|_| line.copy_of.is_none()) {
        out.facts.links.insert(Link { kind: LinkKind::Child, session_id: child });
    }
    // The ending of a polled command is the ending of its first call.
    let is_over = ending.process.is_none() && ending.cell.is_none() && ending.outcome != Outcome::Unknown;
    if let Some(first) = call
        .as_ref()
        .and_then(|call| call.polls.clone())
        .filter(|_| is_over && !ending.text.starts_with("write_stdin failed"))
    {
        draft.hint.look_for(Rule::Ends(first));
    }
    draft.event.result = Some(Box::new(ToolResult {
        call_id: call_id.clone(),
        outcome: ending.outcome,
        exit_code: ending.exit_code,
        duration_ms: ending.duration_ms,
        truncated: ending.truncated,
        bytes: bytes as u64,
        spilled_to: None,
        // Up to 0.104 no other record shows the files that a patch changed.
        edits: match (&call, ending.outcome) {
            (Some(call), Outcome::Ok) => call.edits.clone(),
            _ => Vec::new(),
        },
    }));
    draft.event.text = (!ending.text.is_empty()).then(|| redact_owned(ending.text.clone()));
    out.push(draft);
    let script = call.as_ref().map(|call| call.polls.as_deref().unwrap_or(&call.id));
    if let Some(mut running) = script.and_then(|script| state.take_running(script)) {
        cell::ended(line, row, &mut running, output, &ending, out);
        if ending.cell.is_some() {
            state.runs(running);
        }
    }

    if let Some(by) = ending.refusal {
        let origin = if by == Refusal::Person { Origin::User } else { Origin::Harness };
        let mut denial = line.draft(row, Piece::Tag("denial"), Kind::Denial, origin);
        denial.event.data = Some(redact_json(json!({ "call_id": call_id, "tool": tool })));
        out.push(denial);
    }
    if ending.outcome == Outcome::Interrupted {
        // In 0.80 this is the only record of it. Later the turn has one.
        let mut cut = line.draft(row, Piece::Tag("interruption"), Kind::Interruption, Origin::User);
        cut.hint.fold_only = true;
        cut.hint.look_for(Rule::Cut);
        let asked = call.as_ref().is_some_and(|call| call.asks);
        // Refusing an approval gives the same record (0.166).
        cut.event.data = Some(redact_json(json!({ "call_id": call_id, "asked_permission": asked })));
        out.push(cut);
    }
}

/// The author of an output.
fn origin(call: Option<&Call>) -> Origin {
    match call {
        Some(call) if call.is_mcp => Origin::External,
        Some(call) if call.name.starts_with("request_user_input") => Origin::User,
        _ => Origin::Tool,
    }
}

/// The names of the tools that a search found. Their schemas stay in the raw record.
fn found_tools(payload: &Json<'_>) -> String {
    let names = |tool: &Json<'_>| field::text(tool, "name").map(str::to_owned);
    field::list(payload, "tools").iter().filter_map(names).collect::<Vec<_>>().join("\n")
}

/// The thread that a call started.
fn spawned(tool: Option<&str>, output: &Json<'_>) -> Option<String> {
    if !matches!(tool, Some("spawn_agent" | "resume_agent")) {
        return None;
    }
    let told: Json<'_> = serde_json::from_str(output.as_str()?).ok()?;
    field::some(&told, "agent_id").map(id)
}
