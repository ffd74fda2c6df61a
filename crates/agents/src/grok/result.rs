//! `tool_call_update`: a call that is about to run, and how it ended.
//!
//! The status is not enough to recognise a failure: a command that exits with 1 is `completed`
//! (1.0.41). This module reads the line itself, by exit code, then status. If the event log has the
//! call, it decides when the session settles.

use retro_model::{
    Access, Kind, Origin, Outcome, Part as Piece, PathUse, SourceKey, ToolCall, ToolClass, ToolResult,
};
use retro_text::{Redacted, redact};
use serde_json::{Value, json};

use super::call::diffs;
use super::line::{Line, filled};
use super::rule::Rule;
use crate::json::pick;
use crate::words::{clean, id, words};
use crate::{Json, Out, field};

pub(super) fn read(line: &Line<'_>, out: &mut Out) {
    match field::text(line.update, "status") {
        Some("completed" | "failed" | "cancelled") => result(line, out),
        // `pending` and `in_progress` of the protocol, or no status at all.
        _ => pending(line, out),
    }
}

/// Reads a call that is about to run, with the same fields for every tool.
fn pending(line: &Line<'_>, out: &mut Out) {
    let update = line.update;
    let edits = diffs(field::list(update, "content"));
    let access = if edits.is_empty() { Access::Read } else { Access::Write };
    let paths = field::list(update, "locations").iter().filter_map(|place| field::some(place, "path"));
    let mut draft = line.draft("tool_call_update/pending", Piece::Whole, Kind::ToolCall, Origin::Model);
    draft.event.tool = Some(Box::new(ToolCall {
        call_id: field::text(update, "toolCallId").map(id).unwrap_or_default(),
        parent_call: None,
        name: String::new(),
        class: ToolClass::Other,
        args: None,
        command: None,
        cwd: None,
        paths: paths.map(|path| PathUse { path: redact(path), access }).collect(),
        edits,
    }));
    draft.hint.fold_only = true;
    out.push(draft);
}

fn result(line: &Line<'_>, out: &mut Out) {
    let update = line.update;
    let call_id = field::text(update, "toolCallId").map(id).unwrap_or_default();
    let output = update.get("rawOutput").unwrap_or(&Json::Null);
    let content = field::list(update, "content");
    let text = answer(output, content);
    let exit_code = output.get("exit_code").and_then(Json::as_i64).filter(|_| is(output, "Bash"));
    let failed = field::text(update, "status") == Some("failed");
    let refused = failed && output.is_null() && is_refusal(&text);
    let background = is(output, "BackgroundTaskStarted");
    let outcome = match exit_code {
        _ if refused => Outcome::Denied,
        _ if background && !failed => Outcome::Unknown,
        _ if field::text(update, "status") == Some("cancelled") => Outcome::Interrupted,
        Some(0) if field::is(output, "timed_out") => Outcome::Failed,
        Some(code) if code != 0 => Outcome::Failed,
        _ if failed => Outcome::Failed,
        _ => Outcome::Ok,
    };
    let mut draft = line.draft("tool_call_update/result", Piece::Whole, Kind::ToolResult, Origin::Tool);
    draft.event.result = Some(Box::new(ToolResult {
        call_id: call_id.clone(),
        outcome,
        exit_code,
        duration_ms: field::count(output, "duration_ms"),
        truncated: field::is(output, "truncated"),
        bytes: text.len() as u64,
        spilled_to: field::some(output, "output_file").and_then(source_of),
        edits: if outcome == Outcome::Ok { diffs(content) } else { Vec::new() },
    }));
    draft.event.child = field::some(output, "subagent_id").map(id);
    draft.event.text = words(&text);
    draft.event.data = facts(output);
    if let Some(task) = field::some(output, "task_id").filter(|_| background) {
        draft.hint.look_for(Rule::Background(id(task)));
    } else if refused {
        draft.hint.look_for(Rule::RefusedCall);
    }
    out.push(draft);
    if refused {
        let mut denial =
            line.draft("tool_call_update/result", Piece::Tag("denial"), Kind::Denial, Origin::Harness);
        denial.event.text = words(&text);
        denial.event.data = filled(json!({ "call_id": &call_id }));
        denial.hint.look_for(Rule::Denied(call_id));
        out.push(denial);
    }
}

fn is(output: &Json<'_>, kind: &str) -> bool {
    field::text(output, "type") == Some(kind)
}

/// True if the program says that it did not run the call.
fn is_refusal(text: &str) -> bool {
    text.starts_with("Tool `")
        && text.lines().next().is_some_and(|line| line.contains("` was not executed: "))
}

/// The source of a file in the `terminal` folder.
pub(super) fn source_of(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    (!name.is_empty()).then(|| SourceKey::new(&clean(name)).to_string())
}

/// The answer of the tool, as the model received it if the line has that form.
fn answer(output: &Json<'_>, content: &[Json<'_>]) -> String {
    let of_kind = match field::text(output, "type") {
        Some("Bash") => {
            field::text(output, "output_for_prompt").map(str::to_owned).or_else(|| bytes(output, "output"))
        }
        Some("GrepSearch") => {
            bytes(output, "stdout").filter(|text| !text.is_empty()).or_else(|| bytes(output, "stderr"))
        }
        Some("SubagentCompleted") => field::text(output, "output").map(str::to_owned),
        Some("BackgroundTaskStarted") => field::text(output, "summary").map(str::to_owned),
        Some("MCP") => output.get("output").and_then(variant),
        Some(_) => variant(output),
        None => None,
    };
    of_kind.filter(|text| !text.is_empty()).unwrap_or_else(|| shown(content))
}

/// The text of an output's variant: `FileContent`, `NoMatchesFound`, …
fn variant(output: &Json<'_>) -> Option<String> {
    let (_, inner) = output.as_object()?.iter().find(|(name, _)| *name != "type")?;
    let fields = ["tool_output_for_prompt", "summary_for_prompt", "content", "message", "text", "error"];
    match inner {
        Json::String(text) => Some(text.to_string()),
        Json::Object(_) => fields.iter().find_map(|name| field::text(inner, name)).map(str::to_owned),
        Json::Array(blocks) => Some(shown(blocks)),
        _ => None,
    }
}

/// Bytes that are logged as a list of numbers.
fn bytes(output: &Json<'_>, name: &str) -> Option<String> {
    let numbers = output.get(name)?.as_array()?;
    let bytes: Vec<u8> =
        numbers.iter().filter_map(Json::as_u64).filter_map(|number| u8::try_from(number).ok()).collect();
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of content blocks. Images are named, and their bytes stay in the raw record.
pub(super) fn shown(content: &[Json<'_>]) -> String {
    let parts: Vec<&str> = content
        .iter()
        .filter_map(|block| {
            let inner = block.get("content").filter(|inner| inner.is_object()).unwrap_or(block);
            match field::text(inner, "type") {
                Some("image") => Some("[image]"),
                _ => inner.as_str().or_else(|| field::text(inner, "text")),
            }
        })
        .collect();
    parts.join("\n")
}

/// The facts that no other field of the event has.
fn facts(output: &Json<'_>) -> Option<Redacted<Value>> {
    pick(
        output,
        &[
            "type",
            "signal",
            "timed_out",
            "total_bytes",
            "match_count",
            "tool_name",
            "server_name",
            "subagent_type",
            "tool_calls",
            "turns",
            "worktree_path",
            "task_id",
            "pid",
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn every_kind_of_output_has_its_text() {
        let said = |output: Json<'_>| answer(&output, &[]);
        assert_eq!(
            said(json!({ "type": "Bash", "output": [104, 105], "output_for_prompt": "exit: 0\nhi" })),
            "exit: 0\nhi"
        );
        assert_eq!(said(json!({ "type": "Bash", "output": [104, 105, 255, 999] })), "hi\u{fffd}");
        assert_eq!(said(json!({ "type": "GrepSearch", "stdout": [97], "stderr": [] })), "a");
        assert_eq!(said(json!({ "type": "ReadFile", "FileContent": { "content": "1→x" } })), "1→x");
        assert_eq!(said(json!({ "type": "ReadFile", "FileNotFound": "Error: no a" })), "Error: no a");
        assert_eq!(
            said(json!({ "type": "SearchReplace", "NoMatchesFound": { "message": "not there" } })),
            "not there"
        );
        assert_eq!(said(json!({ "type": "MCP", "output": { "Error": "no such ticket" } })), "no such ticket");
        assert_eq!(said(json!({ "type": "Todo", "TodosUpdated": { "summary_for_prompt": "- a" } })), "- a");
        assert_eq!(said(json!({ "type": "New" })), "");
    }

    #[test]
    fn blocks_are_the_text_where_there_is_no_other() {
        let content = [
            json!({ "type": "content", "content": { "type": "text", "text": "a" } }),
            json!({ "type": "image" }),
        ];
        assert_eq!(answer(&Json::Null, &content), "a\n[image]");
    }

    #[test]
    fn only_the_programs_own_sentence_is_a_refusal() {
        assert!(is_refusal("Tool `write` was not executed: Denied by permission policy: x"));
        assert!(!is_refusal("sh: rm was not executed: x"));
    }

    #[test]
    fn a_spilled_file_is_named_by_its_last_part() {
        assert_eq!(source_of("/h/.grok/s/terminal/call_1.log").as_deref(), Some("call_1.log"));
        assert_eq!(source_of(r"C:\h\terminal\call:2.log").as_deref(), Some("call%3A2.log"));
        assert_eq!(source_of("/h/"), None);
    }
}
