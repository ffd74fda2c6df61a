//! `attachment` records (2.1.96+): text that the program gave the model during a turn. None of it
//! is from the user, except a prompt that was queued while the agent worked.

use retro_model::Part as Piece;
use retro_model::{Kind, Origin};
use retro_text::redact_json;
use serde_json::json;

use super::line::{Chain, row_name};
use super::rule::Rule;
use super::state::State;
use super::words::{self as said, Words};
use super::{mapping, notification, user};
use crate::identity::{fingerprint, print_of};
use crate::json::pick;
use crate::words::{clean, words};
use crate::{Draft, Json, Out, field};

pub(super) fn read(chain: &Chain<'_>, state: &mut State, out: &mut Out) {
    let attached = chain.json.get("attachment").unwrap_or(&Json::Null);
    let kind = field::text(attached, "type").unwrap_or_default();
    let row = row_name("attachment/", kind)
        .or_else(|| kind.starts_with("hook_").then_some("attachment/hook_*"))
        .filter(|_| !kind.contains('*'));
    let Some(row) = row else { return chain.unknown(out) };
    let draft = match kind {
        "queued_command" => queued(chain, row, attached),
        "model" => model(chain, row, attached, state),
        "task_reminder" | "todo_reminder" => task_list(chain, row, attached, state),
        "hook_blocking_error" => {
            let blocked = attached.get("blockingError").unwrap_or(&Json::Null);
            let mut draft = hook(chain, row, Kind::Denial, Origin::Harness, attached);
            draft.event.text =
                blocked.as_str().or_else(|| field::text(blocked, "blockingError")).and_then(words);
            draft
        }
        "hook_permission_decision" if field::text(attached, "decision") == Some("deny") => {
            hook(chain, row, Kind::Denial, Origin::Harness, attached)
        }
        "hook_additional_context" => {
            let mut draft = hook(chain, row, Kind::Attachment, Origin::Tool, attached);
            draft.event.text = words(&strings(attached.get("content")).join("\n"));
            draft
        }
        "hook_system_message" => {
            let mut draft = hook(chain, row, Kind::Note, Origin::Tool, attached);
            draft.event.text = words(&strings(attached.get("content")).join("\n"));
            draft
        }
        kind if kind.starts_with("hook_") || kind == "async_hook_response" => {
            hook(chain, row, Kind::Note, Origin::Tool, attached)
        }
        "teammate_mailbox" => {
            let mut draft = chain.draft(row, Piece::Whole, Kind::Subagent, Origin::Model);
            draft.event.text =
                words(&strings(attached.get("content").or(attached.get("messages"))).join("\n"));
            draft
        }
        _ if mapping::row(row).is_some_and(|row| row.gives == [Kind::Attachment]) => {
            given(chain, row, attached)
        }
        _ => {
            let mut draft = chain.draft(row, Piece::Whole, Kind::Note, Origin::Harness);
            draft.event.data =
                pick(attached, &["planFilePath", "planExists", "newDate", "allowedTools", "status"]);
            draft
        }
    };
    out.push(draft);
}

/// A prompt typed while the agent worked and delivered in the middle of the
/// turn, or the end of a background task.
fn queued(chain: &Chain<'_>, row: &'static str, attached: &Json<'_>) -> Draft {
    let text = strings(attached.get("prompt")).join("\n");
    let by = attached.get("origin").and_then(|origin| field::text(origin, "kind"));
    let words_of = said::of(&text);
    match (field::text(attached, "commandMode"), words_of) {
        (Some("task-notification"), _) | (_, Words::Notification) => {
            notification::read(chain, row, Piece::Whole, &text)
        }
        (Some("prompt") | None, Words::Person) if matches!(by, None | Some("human")) => {
            let mut draft = user::person(chain, Piece::Whole, &text);
            draft.hint.row = row;
            draft.event.data = Some(redact_json(match user::is_composed(chain.json) {
                true => json!({ "queued": true, "composed": true }),
                false => json!({ "queued": true }),
            }));
            // It arrives in the middle of a turn: the user did not rewind to type it.
            draft.hint.look_for(Rule::Said(print_of(&text)));
            draft
        }
        (Some("bash"), _) | (_, Words::Shell(_)) => {
            let command = if let Words::Shell(command) = words_of { command } else { &text };
            let mut draft = chain.draft(row, Piece::Whole, Kind::User, Origin::User);
            draft.event.text = words(command);
            draft.event.data = Some(redact_json(json!({ "queued": true, "shell": true })));
            draft.hint.look_for(Rule::Said(print_of(command)));
            draft.hint.opens_turn = true;
            draft
        }
        _ => {
            let mut draft = chain.draft(row, Piece::Whole, Kind::Note, Origin::Harness);
            draft.event.data = pick(attached, &["commandMode", "origin"]);
            draft
        }
    }
}

fn model(chain: &Chain<'_>, row: &'static str, attached: &Json<'_>, state: &mut State) -> Draft {
    let mut draft = chain.draft(row, Piece::Whole, Kind::Model, Origin::Harness);
    let identity = attached.get("identity").unwrap_or(&Json::Null);
    if let Some(model) = field::some(identity, "modelId") {
        state.model = Some(clean(model));
        draft.event.model = state.model.clone();
    }
    draft.event.data = pick(identity, &["marketingName", "knowledgeCutoff"]);
    draft
}

/// The task list, shown to the model again. An event only if it changed.
fn task_list(chain: &Chain<'_>, row: &'static str, attached: &Json<'_>, state: &mut State) -> Draft {
    let list = field::list(attached, "content");
    let print = fingerprint(&attached["content"]);
    if list.is_empty() || state.task_list == Some(print) {
        return chain.draft(row, Piece::Whole, Kind::Note, Origin::Harness);
    }
    state.task_list = Some(print);
    let mut draft = chain.draft(row, Piece::Whole, Kind::Plan, Origin::Harness);
    draft.event.data = Some(redact_json(json!({ "tasks": list })));
    draft
}

fn hook(chain: &Chain<'_>, row: &'static str, kind: Kind, origin: Origin, attached: &Json<'_>) -> Draft {
    let mut draft = chain.draft(row, Piece::Whole, kind, origin);
    draft.event.data = pick(
        attached,
        &["hookName", "hookEvent", "command", "exitCode", "durationMs", "toolUseID", "decision", "stderr"],
    );
    draft
}

/// A file, a memory, a report of the editor.
fn given(chain: &Chain<'_>, row: &'static str, attached: &Json<'_>) -> Draft {
    let mut draft = chain.draft(row, Piece::Whole, Kind::Attachment, Origin::Tool);
    let content = attached.get("content").unwrap_or(&Json::Null);
    let file = content.get("file").unwrap_or(&Json::Null);
    let text = field::some(file, "content")
        .or_else(|| field::some(content, "content"))
        .or_else(|| content.as_str())
        .or_else(|| field::some(attached, "snippet"))
        .map(str::to_owned)
        .unwrap_or_else(|| diagnostics(attached));
    draft.event.text = words(&text);
    draft.event.data = pick(attached, &["filename", "displayPath", "path", "isNew", "server", "uri"]);
    draft
}

/// The reports of a language server, one per line.
fn diagnostics(attached: &Json<'_>) -> String {
    let lines: Vec<String> = field::list(attached, "files")
        .iter()
        .flat_map(|file| {
            let place = field::text(file, "uri").unwrap_or_default();
            field::list(file, "diagnostics").iter().map(move |found| {
                let severity = field::text(found, "severity").unwrap_or_default();
                format!("{place}: {severity}: {}", field::text(found, "message").unwrap_or_default())
            })
        })
        .collect();
    lines.join("\n")
}

/// The strings in a value: itself, its elements, or the text of its blocks.
fn strings<'t>(value: Option<&'t Json<'_>>) -> Vec<&'t str> {
    match value {
        Some(Json::String(text)) => vec![text],
        Some(Json::Array(items)) => items
            .iter()
            .filter_map(|item| {
                item.as_str().or_else(|| field::text(item, "text")).or_else(|| field::text(item, "content"))
            })
            .collect(),
        _ => Vec::new(),
    }
}
