//! `user` records: prompts, results, and all texts that the program writes in the user's name.

use retro_model::{Kind, Origin, Outcome, Part as Piece, ToolResult};
use retro_text::redact_json;
use serde_json::json;

use super::line::{Block, Chain, blocks};
use super::rule::{Rule, Stop};
use super::state::State;
use super::words::{self as said, CUT_AT_TOOL, Words};
use super::{notification, result};
use crate::identity::print_of;
use crate::json::pick;
use crate::words::{id, words};
use crate::{Draft, Json, Out, field};

pub(super) fn read(chain: &Chain<'_>, state: &mut State, out: &mut Out) {
    let Some(blocks) = chain.json.get("message").and_then(|message| blocks(message.get("content")?)) else {
        return chain.unknown(out);
    };
    // A prompt may be in several blocks. It is one event, at the first of them.
    let typed: Vec<&Block<'_>> = blocks
        .iter()
        .filter(|block| block.kind == "text" && whose(chain, block.text()) == Words::Person)
        .collect();
    let prompt = typed.iter().map(|block| block.text()).collect::<Vec<_>>().join("\n");
    let first = typed.first().map(|block| block.piece.clone());
    let before = out.drafts.len();
    for block in &blocks {
        match block.kind {
            "text" => match whose(chain, block.text()) {
                Words::Person if Some(&block.piece) == first.as_ref() => {
                    out.push(person(chain, block.piece.clone(), &prompt));
                }
                Words::Person => {}
                other => text(chain, block, other, state, out),
            },
            "tool_result" => result::read(chain, block, state, out),
            "image" | "document" => out.push(given_along(chain, block)),
            _ => {
                let mut draft = chain.draft("unknown", block.piece.clone(), Kind::Unknown, Origin::Harness);
                draft.event.data = Some(block.json.redacted());
                out.push(draft);
            }
        }
    }
    if out.drafts.len() == before {
        // No block at all: an empty message.
        out.push(chain.draft("user/meta", Piece::Whole, Kind::Note, Origin::Harness));
    }
}

/// The author of a text block of this record: from its head, and from the flags of the record.
fn whose<'t>(chain: &Chain<'_>, text: &'t str) -> Words<'t> {
    let json = chain.json;
    match said::of(text) {
        Words::Interruption => Words::Interruption,
        _ if field::is(json, "isCompactSummary") => Words::Summary,
        by_head @ (Words::Summary | Words::Notification | Words::Peer) => by_head,
        Words::Skill if field::is(json, "isMeta") => Words::Skill,
        _ if field::is(json, "isMeta") && json.get("sourceToolUseID").is_some() => Words::Skill,
        _ if field::is(json, "isMeta") => Words::Harness,
        Words::Person | Words::Skill if json.get("planContent").is_some() => Words::Plan,
        Words::Person | Words::Skill if of_agent(json) => Words::Peer,
        // No known head: typed, unless the record shows that the program made the turn.
        Words::Person | Words::Skill if !typed(json) => Words::Harness,
        Words::Skill => Words::Person,
        by_head => by_head,
    }
}

/// True if nothing in the record contradicts that a person typed it.
fn typed(json: &Json<'_>) -> bool {
    let by_program = field::text(json, "promptSource") == Some("system")
        || field::text(json, "turnOrigin").is_some_and(|origin| !matches!(origin, "human" | "sdk"))
        || json
            .get("origin")
            .and_then(|origin| field::text(origin, "kind"))
            .is_some_and(|kind| kind != "human");
    !by_program
}

/// True if a program composed the prompt: one that runs the agent through its SDK or as a command
/// (`claude -p`). The desktop app writes `sdk` for typed text too, but with `human` or its own name
/// beside it.
pub(super) fn is_composed(json: &Json<'_>) -> bool {
    let kind = json.get("origin").and_then(|origin| field::text(origin, "kind"));
    let entrypoint = field::some(json, "entrypoint").unwrap_or_default();
    let is_sdk =
        field::text(json, "promptSource") == Some("sdk") || field::text(json, "turnOrigin") == Some("sdk");
    let is_app = matches!(entrypoint, "cli" | "claude-desktop" | "claude-vscode" | "remote");
    entrypoint.starts_with("sdk") || (is_sdk && !is_app && kind != Some("human"))
}

/// True if the record says that another agent wrote it.
fn of_agent(json: &Json<'_>) -> bool {
    let kind = json.get("origin").and_then(|origin| field::text(origin, "kind"));
    matches!(kind, Some("coordinator" | "peer" | "teammate"))
}

/// A message of another agent: the task if this is a sub-agent, otherwise a report.
fn peer(chain: &Chain<'_>, piece: Piece, text: &str) -> Draft {
    let messages = said::messages(text);
    let said: Vec<&str> = messages.iter().map(|(_, said)| *said).collect();
    let said = said.join("\n\n");
    let mut draft = if said::is_of_program(&messages) {
        let mut draft = chain.draft("user/peer", piece, Kind::Note, Origin::Harness);
        draft.event.text = words(&said);
        draft
    } else if chain.is_side() {
        person(chain, piece, &said)
    } else {
        let mut draft = chain.draft("user/peer", piece, Kind::Subagent, Origin::Model);
        draft.event.text = words(&said);
        draft.hint.opens_turn = true;
        draft
    };
    draft.hint.row = chain.row.unwrap_or("user/peer");
    let from: Vec<&str> = messages.iter().filter_map(|(from, _)| *from).collect();
    draft.event.data = Some(redact_json(json!({ "from": from })));
    draft
}

/// Something a person typed; in a sub-agent, the task its parent gave.
pub(super) fn person(chain: &Chain<'_>, piece: Piece, text: &str) -> Draft {
    let origin = if chain.is_side() { Origin::Agent } else { Origin::User };
    let mut draft = chain.draft("user/prompt", piece, Kind::User, origin);
    draft.event.text = words(text);
    // The text of a skill without its flag may be a request, but the skill's author wrote it.
    let is_composed = is_composed(chain.json) || matches!(said::of(text), Words::Skill);
    draft.event.data = match is_composed && !chain.is_side() {
        true => Some(redact_json(json!({
            "composed": true,
            "permissionMode": chain.json.get("permissionMode"),
            "promptSource": chain.json.get("promptSource"),
        }))),
        false => pick(chain.json, &["permissionMode", "promptSource", "imagePasteIds"]),
    };
    draft.hint.opens_turn = true;
    // In 1.0.x only the text links a side chain to the call that started it.
    draft.hint.look_for(if chain.is_side() {
        Rule::Task(print_of(text))
    } else {
        Rule::Prompt(print_of(text))
    });
    draft
}

fn given_along(chain: &Chain<'_>, block: &Block<'_>) -> Draft {
    let row = if block.kind == "image" { "user/image" } else { "user/document" };
    let origin = if chain.is_side() { Origin::Agent } else { Origin::User };
    let mut draft = chain.draft(row, block.piece.clone(), Kind::Attachment, origin);
    let source = block.json.get("source").unwrap_or(&Json::Null);
    draft.event.data = Some(redact_json(json!({
        "media_type": source.get("media_type"),
        "base64_bytes": field::text(source, "data").map(str::len),
        "title": block.json.get("title"),
        // The location of the bytes: this record, this block.
        "ref": draft.event.id.to_string(),
    })));
    draft
}

/// A text that no person typed as a prompt.
fn text(chain: &Chain<'_>, block: &Block<'_>, whose: Words<'_>, state: &mut State, out: &mut Out) {
    let text = block.text();
    let draft = |row, kind, origin| {
        let mut draft = chain.draft(row, block.piece.clone(), kind, origin);
        draft.event.text = words(text);
        draft
    };
    match whose {
        Words::Interruption => out.push(interruption(chain, block)),
        Words::Summary => {
            let mut draft = draft("user/compact_summary", Kind::Compaction, Origin::Model);
            if let Some(boundary) = state.boundary.take() {
                draft.event.data = Some(redact_json(boundary.facts));
                draft.hint.look_for(Rule::Summary(boundary.uuid));
            }
            out.push(draft);
        }
        Words::Notification => {
            out.push(notification::read(chain, "user/task_notification", block.piece.clone(), text));
        }
        Words::Peer => out.push(peer(chain, block.piece.clone(), text)),
        Words::Command(command) => {
            let asked = command.asks_model && !command.args.is_empty();
            let mut draft = match asked {
                true => draft("user/command", Kind::User, Origin::User),
                false => draft("user/command", Kind::Note, Origin::User),
            };
            draft.event.text = words(if asked { command.args } else { text });
            let mut data = json!({ "command": command.name, "asks_model": command.asks_model });
            if asked
                && is_composed(chain.json)
                && let Some(fields) = data.as_object_mut()
            {
                fields.insert("composed".to_owned(), true.into());
            }
            draft.event.data = Some(redact_json(data));
            draft.hint.opens_turn = command.asks_model;
            out.push(draft);
        }
        Words::Output => out.push(command_output(chain, block)),
        Words::Shell(command) => {
            let mut draft = draft("user/bash_input", Kind::User, Origin::User);
            draft.event.text = words(command);
            draft.event.data = Some(redact_json(json!({ "shell": true })));
            draft.hint.look_for(Rule::Said(print_of(command)));
            draft.hint.opens_turn = true;
            out.push(draft);
        }
        Words::Plan => {
            let mut draft = draft("user/plan", Kind::Plan, Origin::Model);
            if chain.json.get("planContent").is_some() {
                draft.event.data = Some(redact_json(json!({ "accepted": true })));
            }
            draft.hint.opens_turn = true;
            out.push(draft);
        }
        Words::Ide => out.push(draft("user/ide", Kind::Attachment, Origin::Harness)),
        Words::Skill => {
            let mut draft = draft("user/skill", Kind::Attachment, Origin::Harness);
            draft.event.data = pick(chain.json, &["sourceToolUseID"]);
            out.push(draft);
        }
        Words::Harness | Words::Person => {
            let mut draft = draft("user/meta", Kind::Note, Origin::Harness);
            draft.hint.opens_turn = !field::is(chain.json, "isMeta") && !typed(chain.json);
            out.push(draft);
        }
    }
}

/// The marker of an interruption. Whether a call was cut off or only refused shows in
/// `interruptedMessageId` (2.1.217+, terminal), or because no one can refuse without a terminal.
/// Older logs do not show it.
fn interruption(chain: &Chain<'_>, block: &Block<'_>) -> Draft {
    let mut draft = chain.draft("user/interruption", block.piece.clone(), Kind::Interruption, Origin::User);
    draft.event.text = words(block.text());
    let cut_message = field::some(chain.json, "interruptedMessageId");
    draft.event.data = pick(chain.json, &["interruptedMessageId"]);
    if block.text().trim() == CUT_AT_TOOL {
        let entrypoint = field::some(chain.json, "entrypoint").unwrap_or_default();
        draft.hint.look_for(Rule::Stopped(match cut_message {
            Some(_) => Stop::Cut,
            None if entrypoint.starts_with("sdk") => Stop::Cut,
            None if entrypoint == "cli" => Stop::Refused,
            None => Stop::Unclear,
        }));
    }
    draft
}

/// The output of a slash command or of a typed shell command.
fn command_output(chain: &Chain<'_>, block: &Block<'_>) -> Draft {
    let text = block.text();
    let mut draft = chain.draft("user/command_output", block.piece.clone(), Kind::ToolResult, Origin::Tool);
    let parts: Vec<&str> = ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"]
        .into_iter()
        .filter_map(|name| said::tag(text, name))
        .filter(|part| !part.is_empty())
        .collect();
    let printed = parts.join("\n");
    draft.event.result = Some(Box::new(ToolResult {
        // A typed command has no call: its parent record made the request.
        call_id: chain.hangs_on.map(id).unwrap_or_default(),
        outcome: Outcome::Unknown,
        exit_code: None,
        duration_ms: None,
        truncated: false,
        bytes: printed.len() as u64,
        spilled_to: None,
        edits: Vec::new(),
    }));
    draft.event.text = words(&printed);
    draft
}
