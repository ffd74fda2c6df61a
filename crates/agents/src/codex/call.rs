//! Calls of tools in the conversation.

use retro_model::{Kind, Origin, Part as Piece};
use retro_text::redact_json;
use serde_json::json;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

use super::line::{Line, row};
use super::state::{Call, State};
use super::{cell, tools};
use crate::words::{id, words};
use crate::{Json, Out, field, json};

pub(super) fn read(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    let payload = line.payload;
    let namespace = field::some(payload, "namespace");
    let (name, args) = match kind {
        "function_call" => (field::text(payload, "name").unwrap_or_default(), arguments(line)),
        "custom_tool_call" => {
            (field::text(payload, "name").unwrap_or_default(), Cow::Borrowed(&payload["input"]))
        }
        "local_shell_call" => ("local_shell", Cow::Borrowed(&payload["action"])),
        "tool_search_call" => ("tool_search", arguments(line)),
        "web_search_call" => ("web_search", Cow::Borrowed(&payload["action"])),
        _ => {
            let args = json!({ "prompt": payload.get("revised_prompt") });
            ("image_generation", Cow::Owned(Json::from(args)))
        }
    };
    let call_id = call_id(line, kind, &args, state);
    let mut call = tools::call(&call_id, name, namespace, &args, state.cwd.as_ref().map(|cwd| cwd.as_str()));
    let polls = polled(name, &args, state);
    call.parent_call = polls.clone();
    state.open(Call {
        id: call.call_id.clone(),
        name: id(name),
        is_mcp: tools::is_mcp(name, namespace),
        asks: field::text(&args, "sandbox_permissions") == Some("require_escalated")
            || field::is(&args, "with_escalated_permissions"),
        answered: false,
        polls,
        edits: call.edits.clone(),
    });
    let mut draft = line.draft(row("response_item/", kind), Piece::Whole, Kind::ToolCall, Origin::Model);
    let opened = call.call_id.clone();
    draft.event.tool = Some(Box::new(call));
    out.push(draft);
    if let ("exec", "custom_tool_call", Some(text)) = (name, kind, args.as_str()) {
        cell::read(line, row("response_item/", kind), &opened, text, state, out);
    }
    if name == "update_plan" {
        let mut draft =
            line.draft(row("response_item/", kind), Piece::Tag("plan"), Kind::Plan, Origin::Model);
        draft.event.text = field::text(&args, "explanation").and_then(words);
        draft.event.data = Some(redact_json(json!({ "plan": args.get("plan") })));
        out.push(draft);
    }
}

/// Arguments are JSON in a string, except for `tool_search_call`, where they are an object.
fn arguments<'r>(line: &'r Line<'r>) -> Cow<'r, Json<'r>> {
    json::unwrapped(line.payload.get("arguments"), line.record.room)
}

/// The id that joins a call and its result. A web search has none up to 0.142: the adjacent event,
/// before or after, names it.
fn call_id(line: &Line<'_>, kind: &str, args: &Json<'_>, state: &mut State) -> String {
    if let Some(call) = field::some(line.payload, "call_id").or_else(|| field::some(line.payload, "id")) {
        return id(call);
    }
    let own = format!("{kind}:{}", line.record.address.record);
    match kind {
        "web_search_call" => state.search(sought(args), &own).unwrap_or(own),
        _ => own,
    }
}

/// A hash of the query of a web search.
pub(super) fn sought(action: &Json<'_>) -> u64 {
    let part = |name| action.get(name).and_then(Json::as_str).unwrap_or_default();
    xxh3_64([part("type"), part("query"), part("url"), part("pattern")].join("\0").as_bytes())
}

/// The call whose command or script this call polls.
fn polled(name: &str, args: &Json<'_>, state: &State) -> Option<String> {
    match name {
        "write_stdin" => {
            let process = args.get("session_id").filter(|id| !id.is_null())?.to_string();
            state.started(process.trim_matches('"')).map(str::to_owned)
        }
        "wait" => state.cell(args.get("cell_id")?.as_str().filter(|id| !id.is_empty())?).map(str::to_owned),
        _ => None,
    }
}
