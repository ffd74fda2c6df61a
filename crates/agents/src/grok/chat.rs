//! `chat_history.jsonl`: the conversation as the model sees it.
//!
//! It has no times, no tokens, and loses the parts that a compaction or a rewind removes. The
//! updates have all of them. Therefore the text of an item goes to the updates' event, and the item
//! is an event of its own only if they have none. Older files (`chat_format_version` 0) hold
//! messages with a `role`.

use retro_model::{Kind, Origin, Outcome, Part as Piece, ToolResult};
use serde_json::json;

use super::call;
use super::line::{filled, unknown};
use super::result::shown;
use super::rule::{Prompt, Rule};
use crate::identity::print_of;
use crate::words::{id, words};
use crate::{Draft, Json, Out, Record, field, json};

/// Head of the item with a compaction's summary.
const CONTINUED: &str = "This session is being continued from a previous conversation";

pub(super) fn read(record: &Record<'_>, out: &mut Out) {
    let kind = field::text(record.json, "type")
        .filter(|kind| *kind != "function")
        .or_else(|| field::text(record.json, "role"));
    match kind {
        Some("system" | "developer") => out.fold("chat/system"),
        Some("user") => user(record, out),
        Some("assistant") => assistant(record, out),
        Some("reasoning") => reasoning(record, out),
        Some("tool_result" | "tool") => tool_result(record, out),
        Some("backend_tool_call") => backend_call(record, out),
        _ => unknown(record, out),
    }
}

/// Reads an item in the user role. Most are not from the user.
fn user(record: &Record<'_>, out: &mut Out) {
    let text = content(record.json);
    let typed = typed(&text);
    let index = field::count(record.json, "prompt_index");
    // The reason is checked before the index, because the program's prompts have an index too
    // (1.0.41).
    match field::text(record.json, "synthetic_reason") {
        Some("compaction_meta") if text.trim_start().starts_with(CONTINUED) => summary(record, &text, out),
        Some("interjection") => {
            let mut draft = record.draft("chat/interjection", Piece::Whole, Kind::User, Origin::User);
            let said = typed.unwrap_or(&text);
            draft.event.text = words(said);
            draft.hint.look_for(Rule::Interjected(print_of(said)));
            out.push(draft);
        }
        Some(_) => out.fold("chat/user"),
        None if index.is_some() || typed.is_some() => {
            let mut draft = record.draft("chat/prompt", Piece::Whole, Kind::User, Origin::User);
            let said = typed.unwrap_or(&text);
            draft.event.text = words(said);
            draft.hint.opens_turn = true;
            // No index: a prompt that a compaction kept, or one of an older version.
            draft.hint.look_for(Rule::ChatPrompt(Prompt { index, print: Some(print_of(said)) }));
            out.push(draft);
        }
        None if text.trim_start().starts_with(CONTINUED) => summary(record, &text, out),
        // The environment and rules that precede the first prompt.
        None => out.fold("chat/user"),
    }
}

fn summary(record: &Record<'_>, text: &str, out: &mut Out) {
    out.push(as_summary(record, "chat/summary", text));
}

/// The text of a compaction, held until its event is found.
pub(super) fn as_summary(record: &Record<'_>, row: &'static str, text: &str) -> Draft {
    let mut draft = record.draft(row, Piece::Whole, Kind::Compaction, Origin::Harness);
    draft.event.text = words(text);
    draft.hint.fold_only = true;
    draft.hint.look_for(Rule::Summary(None));
    draft
}

/// The summary in a list of chat items, if there is one.
pub(super) fn summary_in(items: &[Json<'_>]) -> Option<String> {
    items.iter().map(content).rfind(|text| text.trim_start().starts_with(CONTINUED))
}

/// Reads an answer: its text, and the calls that it made.
fn assistant(record: &Record<'_>, out: &mut Out) {
    let calls = field::list(record.json, "tool_calls");
    let text = content(record.json);
    let mut drafts = Vec::new();
    if !text.is_empty() || calls.is_empty() {
        let piece = if calls.is_empty() { Piece::Whole } else { Piece::Block(0) };
        let mut draft = record.draft("chat/assistant", piece, Kind::Assistant, Origin::Model);
        draft.event.text = words(&text);
        if text.is_empty() {
            // A turn that was cut off before the first word.
            draft.hint.fold_only = true;
        } else {
            draft.hint.look_for(Rule::ChatSaid(print_of(&text)));
        }
        drafts.push(draft);
    }
    for (index, call) in (1..).zip(calls) {
        // Older messages have the name and arguments one level down.
        let function = call.get("function").unwrap_or(call);
        let arguments = json::unwrapped(function.get("arguments"), record.room);
        let call_id = field::text(call, "id").map(id).unwrap_or_default();
        let mut draft = record.draft("chat/assistant", Piece::Block(index), Kind::ToolCall, Origin::Model);
        draft.event.tool =
            Some(Box::new(call::of(&call_id, field::text(function, "name").unwrap_or_default(), &arguments)));
        draft.hint.look_for(Rule::ChatCall);
        drafts.push(draft);
    }
    drafts.into_iter().for_each(|draft| out.push(draft));
}

/// Reads reasoning. Only its summary is ever readable.
fn reasoning(record: &Record<'_>, out: &mut Out) {
    let text = shown(field::list(record.json, "summary"));
    let text = if text.is_empty() { shown(field::list(record.json, "content")) } else { text };
    let encrypted = field::some(record.json, "encrypted_content").is_some();
    let mut draft = record.draft("chat/reasoning", Piece::Whole, Kind::Reasoning, Origin::Model);
    draft.event.text = words(&text);
    draft.event.native.message_id = field::some(record.json, "id").map(id);
    draft.event.data = encrypted.then_some(json!({ "encrypted": true })).and_then(filled);
    draft.hint.look_for(Rule::ChatThought((!text.is_empty()).then(|| print_of(&text))));
    out.push(draft);
}

/// Reads the result of a call, as the model received it.
fn tool_result(record: &Record<'_>, out: &mut Out) {
    let text = content(record.json);
    let call_id = field::text(record.json, "tool_call_id").map(id).unwrap_or_default();
    let code =
        text.strip_prefix("exit: ").and_then(|rest| rest.split([' ', '\n']).next()?.parse::<i64>().ok());
    let outcome = match code {
        _ if text.starts_with("Tool execution was halted by the harness") => Outcome::Interrupted,
        Some(0) => Outcome::Ok,
        Some(_) => Outcome::Failed,
        None => Outcome::Unknown,
    };
    let mut draft = record.draft("chat/tool_result", Piece::Whole, Kind::ToolResult, Origin::Tool);
    draft.event.result = Some(Box::new(ToolResult {
        exit_code: code,
        bytes: text.len() as u64,
        ..call::ended(&call_id, outcome)
    }));
    draft.event.text = words(&text);
    draft.hint.look_for(Rule::ChatResult);
    out.push(draft);
}

/// Reads a search that the provider made itself.
fn backend_call(record: &Record<'_>, out: &mut Out) {
    let call_id =
        ["id", "call_id", "tool_call_id"].iter().find_map(|name| field::some(record.json, name)).map(id);
    let mut draft = record.draft("chat/backend_tool_call", Piece::Whole, Kind::ToolCall, Origin::Model);
    let name = field::some(record.json, "name").unwrap_or("web_search");
    let mut call = call::of(&call_id.unwrap_or_default(), name, record.json);
    call.class = retro_model::ToolClass::Web;
    draft.event.tool = Some(Box::new(call));
    draft.hint.look_for(Rule::ChatCall);
    out.push(draft);
}

/// The text of an item, from a string or from blocks.
fn content(item: &Json<'_>) -> String {
    match item.get("content") {
        Some(Json::String(text)) => text.to_string(),
        Some(Json::Array(blocks)) => {
            let texts = blocks.iter().filter(|block| field::text(block, "type") != Some("image"));
            let texts: Vec<&str> =
                texts.filter_map(|block| block.as_str().or_else(|| field::text(block, "text"))).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// The prompt that the user typed, if the text wraps one.
fn typed(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<user_query>")?;
    Some(rest.rsplit_once("</user_query>").map_or(rest, |(typed, _)| typed).trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn a_prompt_is_what_stands_in_its_tag() {
        assert_eq!(
            typed("<image_files>x</image_files>\n<user_query>\nfix it\n</user_query>"),
            Some("fix it")
        );
        assert_eq!(
            typed("It was cut:\n<user_query>\nstop </user_query> here\n</user_query>\nGo on."),
            Some("stop </user_query> here")
        );
        assert_eq!(typed("<user_query>no end"), Some("no end"));
        assert_eq!(typed("plain"), None);
    }

    #[test]
    fn the_last_summary_of_a_history_counts() {
        let items = [
            json!({ "type": "user", "content": [{ "type": "text", "text": format!("{CONTINUED}. one") }] }),
            json!({ "type": "user", "content": format!("{CONTINUED}. two") }),
            json!({ "type": "system", "content": "x" }),
        ];
        assert!(summary_in(&items).unwrap().ends_with("two"));
        assert_eq!(summary_in(&items[2..]), None);
    }
}
