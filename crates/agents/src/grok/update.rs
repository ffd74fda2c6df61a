//! `updates.jsonl`: everything shown to the user, line by line.
//!
//! A line wraps an update of the Agent Client Protocol, or one of Grok's own, with the time and
//! number that the process gave it. Numbers restart with every process, and a fork has its parent's
//! lines with the parent's numbers: the session id before the number shows which session wrote the
//! line.

use retro_model::{Kind, Origin, Part as Piece};
use serde_json::{Value, json};

use super::line::{Line, as_unknown, filled, unknown, without};
use super::rule::{Prompt, Rule};
use super::state::State;
use super::{call, mapping, result, side, turn};
use crate::identity::print_of;
use crate::json::pick;
use crate::words::{clean, words};
use crate::{Json, Out, Record, field};

pub(super) fn read(record: &Record<'_>, session: &str, state: &mut State, out: &mut Out) {
    let Some((line, kind)) = Line::read(record, session) else {
        return unknown(record, out);
    };
    match kind {
        "user_message_chunk" => prompt(&line, state, out),
        "agent_message_chunk" => said(&line, "agent_message_chunk", Kind::Assistant, state, out),
        "agent_thought_chunk" => said(&line, "agent_thought_chunk", Kind::Reasoning, state, out),
        "tool_call" => call::read(&line, state, out),
        "tool_call_update" => result::read(&line, out),
        "turn_completed" => turn::completed(&line, state, out),
        "subagent_spawned" | "subagent_finished" | "subagent_progress" => {
            side::subagent(&line, kind, state, out)
        }
        "task_backgrounded" => side::backgrounded(&line, out),
        "task_completed" => side::task_completed(&line, out),
        "background_tasks" => side::background_tasks(&line, out),
        "compaction_checkpoint" => side::checkpoint(&line, out),
        "auto_compact_completed" => side::compacted(&line, out),
        "auto_compact_started" => out.fold("auto_compact_started"),
        "rewind_marker" => side::rewound(&line, out),
        "hook_execution" => side::hook(&line, out),
        kind => other(&line, kind, out),
    }
}

/// Updates that become events as they are.
fn other(line: &Line<'_>, kind: &str, out: &mut Out) {
    let Some(row) = mapping::named("", kind).filter(|row| is_plain(row.record)) else {
        let draft = line.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
        return out.push(as_unknown(draft, line.record));
    };
    let event = row.gives.first().copied().unwrap_or(Kind::Note);
    let origin = match row.record {
        "plan" | "goal_updated" => Origin::Model,
        "model_changed" => Origin::User,
        _ => Origin::Harness,
    };
    let mut draft = line.draft(row.record, Piece::Whole, event, origin);
    let wordy: &[&str] = match event {
        Kind::Error => &["reason", "error", "message"],
        Kind::Plan => &["goal", "objective"],
        _ => &[],
    };
    let said =
        wordy.iter().find(|name| field::some(line.update, name).is_some()).copied().unwrap_or_default();
    draft.event.text = field::some(line.update, said).and_then(words);
    draft.event.data = without(line.update, &["sessionUpdate", "_meta", said]);
    if event == Kind::Model {
        let named = ["model_id", "modelId", "model", "new_model_id", "to"];
        draft.event.model = named.iter().find_map(|name| field::some(line.update, name)).map(clean);
    }
    out.push(draft);
}

/// True if an update needs no special parsing.
fn is_plain(row: &str) -> bool {
    !matches!(row, "feedback" | "unknown")
}

/// Reads a content block of a prompt, typed or not.
fn prompt(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let meta = line.update.get("_meta").unwrap_or(&Json::Null);
    let text = line.text();
    let index = field::count(meta, "promptIndex");
    if field::is(meta, "hostTurn") {
        let mut draft = line.draft("user_message_chunk/host", Piece::Whole, Kind::Note, Origin::User);
        draft.event.text = text.and_then(words);
        let command =
            text.and_then(|text| text.split_whitespace().next()).filter(|name| name.starts_with('/'));
        draft.event.data = command.and_then(|name| filled(json!({ "command": name, "asks_model": false })));
        draft.hint.look_for(Rule::Opener(None));
        return out.push(draft);
    }
    let is_reminder = text.is_some_and(|text| text.trim_start().starts_with("<system-reminder>"));
    if field::is(meta, "hideFromScrollback") || is_reminder {
        let mut draft = line.draft("user_message_chunk/hidden", Piece::Whole, Kind::Note, Origin::Harness);
        draft.event.text = text.and_then(words);
        draft.hint.look_for(Rule::Opener(index));
        return out.push(draft);
    }
    if let Some(model) = field::some(meta, "modelId") {
        state.model = Some(clean(model));
    }
    let Some(text) = text else {
        let mut draft = line.draft("user_message_chunk/media", Piece::Whole, Kind::Attachment, Origin::User);
        draft.event.data = line.update.get("content").and_then(|content| filled(described(content)));
        draft.hint.look_for(Rule::Prompt(Prompt { index, print: None }));
        return out.push(draft);
    };
    let mut draft = line.draft("user_message_chunk/text", Piece::Whole, Kind::User, Origin::User);
    draft.event.text = words(text);
    draft.hint.opens_turn = true;
    draft.hint.look_for(Rule::Prompt(Prompt { index, print: Some(print_of(text)) }));
    out.push(draft);
    // Becomes an event only if the turn never ended. The log does not show when it stopped.
    let mut killed =
        line.draft("turn/killed", Piece::Tag("interruption"), Kind::Interruption, Origin::Harness).at(None);
    killed.event.data = filled(json!({ "reason": "unfinished" }));
    killed.hint.fold_only = true;
    out.push(killed);
}

/// A content block without its bytes, which stay in the record.
fn described(content: &Json<'_>) -> Value {
    let bytes = field::text(content, "data").map(|data| data.len() as u64 / 4 * 3);
    json!({
        "type": content.get("type"),
        "mime_type": content.get("mimeType"),
        "name": content.get("name"),
        "uri": content.get("uri"),
        "bytes": bytes,
    })
}

/// Reads a text of the model.
fn said(line: &Line<'_>, row: &'static str, kind: Kind, state: &State, out: &mut Out) {
    let mut draft = line.draft(row, Piece::Whole, kind, Origin::Model);
    let text = line.text().unwrap_or_default();
    draft.event.text = words(text);
    draft.event.response =
        field::some(line.meta, "promptId").map(|turn| line.response(turn, state.model.as_deref()));
    draft.hint.look_for(Rule::Said { stream: line.stream(), print: print_of(text) });
    if line.text().is_none() {
        draft.event.data = pick(line.update, &["content"]);
    }
    out.push(draft);
}
