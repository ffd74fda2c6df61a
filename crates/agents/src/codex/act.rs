//! The program's own records of tools, beside the conversation: which command ran and how it ended,
//! which files were changed, what a server answered.
//!
//! Each such record gives a call and a result with the id of the call that it belongs to. Both are
//! held back (`fold_only`), and `joins` completes the conversation's call and result with them. If
//! the conversation has no such call (commands inside a script of code mode, those the user ran,
//! those of a review), they become events of their own.

use retro_model::{
    Access, Edit, EditKind, Kind, Link, LinkKind, Origin, Outcome, Part as Piece, PathUse, ToolCall,
    ToolClass, ToolResult,
};
use retro_text::{Redacted, redact, redact_json, redact_owned};
use serde_json::json;

use super::call::sought;
use super::line::{Line, row};
use super::rule::Rule;
use super::state::State;
use super::tools::written;
use crate::command::{one_line, script};
use crate::words::{clean, id};
use crate::{Json, Out, field, patch};

/// The old events and the items that replaced them (0.149), by the shape that both share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Command,
    Patch,
    Mcp,
    Search,
    Image,
    Collaboration,
    Dynamic,
}

fn shape(kind: &str) -> Option<Shape> {
    Some(match kind {
        "CommandExecution" | "exec_command_end" => Shape::Command,
        "FileChange" | "patch_apply_end" => Shape::Patch,
        "McpToolCall" | "mcp_tool_call_end" => Shape::Mcp,
        "WebSearch" | "Extension" | "web_search_end" => Shape::Search,
        "ImageView" | "view_image_tool_call" | "image_generation_end" => Shape::Image,
        "CollabAgentToolCall"
        | "collab_agent_interaction_end"
        | "collab_waiting_end"
        | "collab_close_end" => Shape::Collaboration,
        "dynamic_tool_call_request" | "dynamic_tool_call_response" => Shape::Dynamic,
        _ => return None,
    })
}

pub(super) fn is_event(kind: &str) -> bool {
    shape(kind).is_some() && kind.contains('_')
}

pub(super) fn is_item(kind: &str) -> bool {
    shape(kind).is_some() && !kind.contains('_')
}

/// Reads an event of an older version.
pub(super) fn event(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    let call = ["call_id", "callId"].iter().find_map(|name| field::some(line.payload, name)).map(id);
    tell(line, row("event_msg/", kind), kind, line.payload, call, state, out);
}

/// Reads an item of `item_completed`.
pub(super) fn item(line: &Line<'_>, kind: &str, item: &Json<'_>, state: &mut State, out: &mut Out) {
    tell(line, row("item/", kind), kind, item, field::some(item, "id").map(id), state, out);
}

fn tell(
    line: &Line<'_>,
    row: &'static str,
    kind: &str,
    told: &Json<'_>,
    call_id: Option<String>,
    state: &mut State,
    out: &mut Out,
) {
    let Some(shape) = shape(kind) else { return line.unknown(out) };
    let mut call_id = call_id.unwrap_or_else(|| format!("{kind}:{}", line.record.address.record));
    if shape == Shape::Search {
        let action = told.get("action").unwrap_or(&Json::Null);
        if let Some(call) = state.search(sought(action), &call_id) {
            call_id = call;
        }
    }
    let by_user = field::text(told, "source") == Some("user_shell");
    // No other record has this call: its id has a special form (0.166, code mode).
    let is_nested = call_id.starts_with("exec-");
    let mut call = call(shape, &call_id, told);
    if is_nested {
        call.parent_call = state.script().map(str::to_owned);
    }
    let result = result(shape, &call_id, told, &call.edits);
    let stays = is_nested || by_user;
    let child = child(shape, told);
    if let Some(child) = child.clone().filter(|_| line.copy_of.is_none()) {
        out.facts.links.insert(Link { kind: LinkKind::Child, session_id: child });
    }

    let origin = if by_user { Origin::User } else { Origin::Model };
    let mut draft = line.nameless(row, Piece::Tag("call"), Kind::ToolCall, origin);
    line.identify(&mut draft, "act", &call_id);
    draft.event.native.message_id = None;
    draft.event.child = child;
    draft.event.tool = Some(Box::new(call));
    draft.hint.fold_only = !stays;
    draft.hint.look_for(if by_user { Rule::OwnAct(call_id.clone()) } else { Rule::Act(call_id.clone()) });
    out.push(draft);

    let Some((result, text)) = result else { return };
    let origin = if matches!(shape, Shape::Mcp | Shape::Search) { Origin::External } else { Origin::Tool };
    let mut draft = line.nameless(row, Piece::Tag("result"), Kind::ToolResult, origin);
    line.identify(&mut draft, "act", &call_id);
    draft.event.native.message_id = None;
    draft.event.result = Some(Box::new(result));
    draft.event.text = text;
    draft.hint.fold_only = !stays;
    draft.hint.look_for(Rule::Act(call_id));
    out.push(draft);
}

fn call(shape: Shape, call_id: &str, told: &Json<'_>) -> ToolCall {
    let mut call = ToolCall {
        call_id: call_id.to_owned(),
        parent_call: None,
        name: String::new(),
        class: ToolClass::Other,
        args: None,
        command: None,
        cwd: field::some(told, "cwd").map(local_path).map(redact_owned),
        paths: Vec::new(),
        edits: Vec::new(),
    };
    match shape {
        Shape::Command => {
            let words: Vec<&str> = field::list(told, "command").iter().filter_map(Json::as_str).collect();
            (call.name, call.class) = ("exec_command".to_owned(), ToolClass::Shell);
            call.command = Some(redact_owned(one_line(&script(&words))));
            call.paths = field::list(told, "parsed_cmd").iter().filter_map(path_read).collect();
        }
        Shape::Patch => {
            (call.name, call.class) = ("apply_patch".to_owned(), ToolClass::Edit);
            call.edits = changes(told.get("changes").unwrap_or(&Json::Null));
            call.paths = written(&call.edits).collect();
        }
        Shape::Mcp => {
            let invocation = told.get("invocation").unwrap_or(told);
            let part = |name| field::text(invocation, name).unwrap_or_default();
            call.name = clean(&format!("mcp__{}__{}", part("server"), part("tool")));
            call.class = ToolClass::Mcp;
            call.args = invocation.get("arguments").map(Json::redacted);
        }
        Shape::Search => {
            (call.name, call.class) = ("web_search".to_owned(), ToolClass::Web);
            call.args = told.get("action").map(Json::redacted);
        }
        Shape::Image if told.get("revised_prompt").is_some() => {
            call.name = "image_generation".to_owned();
            call.args = Some(redact_json(json!({ "prompt": told.get("revised_prompt") })));
        }
        Shape::Image => {
            (call.name, call.class) = ("view_image".to_owned(), ToolClass::Read);
            let path = field::some(told, "path").map(local_path);
            call.paths = path
                .map(|path| PathUse { path: redact_owned(path), access: Access::Read })
                .into_iter()
                .collect();
        }
        Shape::Collaboration => {
            call.name = field::some(told, "tool").map(clean).unwrap_or_else(|| "agent".to_owned());
            call.class = ToolClass::Subagent;
        }
        Shape::Dynamic => {
            call.name = field::some(told, "tool").map(clean).unwrap_or_else(|| "dynamic".to_owned());
            call.args = told.get("arguments").map(Json::redacted);
        }
    }
    call
}

type Told = (ToolResult, Option<Redacted<String>>);

fn result(shape: Shape, call_id: &str, told: &Json<'_>, edits: &[Edit]) -> Option<Told> {
    // A request has no result yet.
    if shape == Shape::Dynamic && told.get("success").is_none() && told.get("call_id").is_none() {
        return None;
    }
    let exit_code = told.get("exit_code").and_then(Json::as_i64);
    let outcome = ended(shape, told, exit_code);
    let text = text(shape, told);
    let result = ToolResult {
        call_id: call_id.to_owned(),
        outcome,
        exit_code: exit_code.filter(|code| *code >= 0),
        duration_ms: told.get("duration").and_then(duration_ms),
        // The mark is in the middle of the text (0.166).
        truncated: text.contains("... command output truncated for persistence ..."),
        bytes: text.len() as u64,
        spilled_to: None,
        edits: if outcome == Outcome::Ok { edits.to_vec() } else { Vec::new() },
    };
    Some((result, (!text.is_empty()).then(|| redact_owned(text))))
}

fn ended(shape: Shape, told: &Json<'_>, exit_code: Option<i64>) -> Outcome {
    let result = told.get("result").unwrap_or(&Json::Null);
    let inner = result.get("Ok").unwrap_or(result);
    if shape == Shape::Mcp
        && (result.get("Err").is_some() || field::is(inner, "isError") || field::is(inner, "is_error"))
    {
        return Outcome::Failed;
    }
    if let Some(success) = told.get("success").and_then(Json::as_bool) {
        return if success { Outcome::Ok } else { Outcome::Failed };
    }
    match (field::text(told, "status"), exit_code) {
        (Some("declined"), _) => Outcome::Denied,
        // Killed: the turn shows whether a person did it.
        (Some("failed"), Some(-1)) => Outcome::Interrupted,
        (Some("failed"), _) => Outcome::Failed,
        (Some("in_progress"), _) => Outcome::Unknown,
        (_, Some(code)) if code != 0 => Outcome::Failed,
        _ => Outcome::Ok,
    }
}

fn text(shape: Shape, told: &Json<'_>) -> String {
    match shape {
        Shape::Command => field::text(told, "aggregated_output").unwrap_or_default().to_owned(),
        Shape::Patch => ["stdout", "stderr"]
            .iter()
            .filter_map(|name| field::some(told, name))
            .collect::<Vec<_>>()
            .join("\n"),
        Shape::Mcp | Shape::Dynamic => {
            let result = told.get("result").unwrap_or(told);
            let inner = result.get("Ok").unwrap_or(result);
            let parts = field::list(inner, "content").iter().chain(field::list(inner, "content_items"));
            let texts: Vec<&str> = parts.filter_map(|part| field::text(part, "text")).collect();
            match (texts.is_empty(), result.get("Err").or_else(|| told.get("error"))) {
                (true, Some(Json::String(error))) => error.to_string(),
                _ => texts.join("\n"),
            }
        }
        Shape::Search => {
            let results = field::list(told, "results").iter();
            results
                .filter_map(|result| field::some(result, "url").or_else(|| field::some(result, "title")))
                .collect::<Vec<_>>()
                .join("\n")
        }
        Shape::Image | Shape::Collaboration => String::new(),
    }
}

/// The files that a patch changed: full paths and actual diffs.
fn changes(changes: &Json<'_>) -> Vec<Edit> {
    let change = |(path, change): (&str, &Json<'_>)| {
        let lines = |name: &str| field::text(change, name).map(|text| text.lines().count() as u64);
        let to = field::some(change, "move_path").map(redact);
        let (kind, added, removed) = match field::text(change, "type") {
            Some("add") => (EditKind::Create, lines("content"), Some(0)),
            Some("delete") => (EditKind::Delete, Some(0), lines("content")),
            _ => {
                let counts = field::text(change, "unified_diff").map(patch::diff_lines);
                let kind = if to.is_some() { EditKind::Move } else { EditKind::Update };
                (kind, counts.map(|(added, _)| added), counts.map(|(_, removed)| removed))
            }
        };
        Edit { path: redact(path), to, kind, added, removed }
    };
    changes.as_object().into_iter().flatten().map(change).collect()
}

/// A file that a command only read, as the program parsed the command.
fn path_read(parsed: &Json<'_>) -> Option<PathUse> {
    let path = field::some(parsed, "path").filter(|_| field::text(parsed, "type") == Some("read"))?;
    Some(PathUse { path: redact(path), access: Access::Read })
}

/// The thread that an agent's call is about, if there is one.
fn child(shape: Shape, told: &Json<'_>) -> Option<String> {
    if shape != Shape::Collaboration {
        return None;
    }
    let threads = field::list(told, "receiver_thread_ids");
    let one = threads.first().filter(|_| threads.len() == 1).and_then(Json::as_str);
    one.or_else(|| field::some(told, "receiver_thread_id")).map(id)
}

fn duration_ms(duration: &Json<'_>) -> Option<u64> {
    let (secs, nanos) = (field::count(duration, "secs")?, field::count(duration, "nanos").unwrap_or(0));
    secs.checked_mul(1000)?.checked_add(nanos / 1_000_000)
}

/// Converts a `file://` URL to a path (0.166 writes URLs).
fn local_path(address: &str) -> String {
    let Some(encoded) = address.strip_prefix("file://") else { return address.to_owned() };
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, code) {
            (b'%', Some(code)) => {
                bytes.push(code);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn addresses_become_paths() {
        assert_eq!(local_path("file:///w/a%20b/%C3%A9"), "/w/a b/é");
        assert_eq!(local_path("/w/100%"), "/w/100%");
        assert_eq!(local_path("file:///w/100%"), "/w/100%");
    }

    #[test]
    fn changes_are_told_with_their_lines() {
        let edits = changes(&json!({
            "/w/a": { "type": "add", "content": "1\n2\n" },
            "/w/b": { "type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": "/w/c" },
            "/w/d": { "type": "delete", "content": "1\n" },
        }));
        let kinds: Vec<_> = edits.iter().map(|edit| (edit.kind, edit.added, edit.removed)).collect();
        assert_eq!(
            kinds,
            [
                (EditKind::Create, Some(2), Some(0)),
                (EditKind::Move, Some(1), Some(1)),
                (EditKind::Delete, Some(0), Some(1))
            ]
        );
    }

    #[test]
    fn a_server_may_answer_that_it_failed() {
        let told = json!({ "status": "completed", "result": { "Ok": { "content": [{ "text": "no" }], "isError": true } } });
        let (result, text) = result(Shape::Mcp, "c", &told, &[]).unwrap();
        assert_eq!((result.outcome, text.unwrap().as_str()), (Outcome::Failed, "no"));
    }
}
