//! The class, command, paths and edits of a call.

use retro_model::{Access, Edit, EditKind, PathUse, ToolCall, ToolClass};
use retro_text::{redact, redact_owned};

use crate::command::one_line;
use crate::words::{clean, id};
use crate::{Json, field};

/// The class of a tool, by its name.
pub(super) fn class(name: &str) -> ToolClass {
    match name {
        "Bash" | "PowerShell" | "BashOutput" | "KillShell" | "TaskOutput" | "TaskStop" => ToolClass::Shell,
        "Read" | "LS" | "LSP" => ToolClass::Read,
        "Grep" | "Glob" | "ToolSearch" => ToolClass::Search,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => ToolClass::Edit,
        "WebFetch" | "WebSearch" => ToolClass::Web,
        "Task" | "Agent" | "SendMessage" | "Workflow" => ToolClass::Subagent,
        "TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" | "ExitPlanMode"
        | "EnterPlanMode" => ToolClass::Plan,
        "AskUserQuestion" => ToolClass::Ask,
        name if name.starts_with("mcp__") => ToolClass::Mcp,
        name if name.starts_with("Team") => ToolClass::Subagent,
        _ => ToolClass::Other,
    }
}

/// Makes a call of a `tool_use` block. `cwd` is the program's folder.
pub(super) fn call(block: &Json<'_>, cwd: Option<&str>) -> ToolCall {
    let name = field::text(block, "name").unwrap_or_default();
    let input = block.get("input").unwrap_or(&Json::Null);
    let class = class(name);
    let command = field::some(input, "command").filter(|_| class == ToolClass::Shell);
    ToolCall {
        call_id: field::text(block, "id").map(id).unwrap_or_default(),
        parent_call: None,
        name: clean(name),
        class,
        args: Some(input.redacted()),
        command: command.map(|command| redact_owned(one_line(command))),
        cwd: cwd.filter(|_| class == ToolClass::Shell).map(redact),
        paths: paths(name, input),
        edits: edits(name, input),
    }
}

/// The paths a call names.
fn paths(name: &str, input: &Json<'_>) -> Vec<PathUse> {
    let (field_name, access) = match name {
        "Read" => ("file_path", Access::Read),
        "LSP" => ("filePath", Access::Read),
        "LS" | "Grep" | "Glob" => ("path", Access::Read),
        "Edit" | "MultiEdit" | "Write" => ("file_path", Access::Write),
        "NotebookEdit" => ("notebook_path", Access::Write),
        _ => return Vec::new(),
    };
    field::some(input, field_name).map(|path| PathUse { path: redact(path), access }).into_iter().collect()
}

/// The edits that a call requests. The result has the actual edits.
fn edits(name: &str, input: &Json<'_>) -> Vec<Edit> {
    let edit = |path: &str, kind, added, removed| Edit { path: redact(path), to: None, kind, added, removed };
    match name {
        "Edit" | "MultiEdit" => {
            let Some(path) = field::some(input, "file_path") else { return Vec::new() };
            let parts: Vec<&Json<'_>> = match name {
                "Edit" => vec![input],
                _ => field::list(input, "edits").iter().collect(),
            };
            let creates = parts.iter().any(|part| field::text(part, "old_string") == Some(""));
            let kind = if creates { EditKind::Create } else { EditKind::Update };
            // The call does not say how often the text occurs in the file.
            let counts = match parts.iter().any(|part| field::is(part, "replace_all")) {
                true => None,
                false => Some(
                    parts
                        .iter()
                        .map(|part| changed_lines(part))
                        .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1)),
                ),
            };
            vec![edit(path, kind, counts.map(|(added, _)| added), counts.map(|(_, removed)| removed))]
        }
        "Write" => {
            let Some(path) = field::some(input, "file_path") else { return Vec::new() };
            let added = field::text(input, "content").map(lines);
            vec![edit(path, EditKind::Update, added, None)]
        }
        "NotebookEdit" => {
            let Some(path) = field::some(input, "notebook_path") else { return Vec::new() };
            vec![edit(path, EditKind::Update, field::text(input, "new_source").map(lines), None)]
        }
        _ => Vec::new(),
    }
}

/// Lines that a replacement adds and removes, without the common lines at both ends.
fn changed_lines(part: &Json<'_>) -> (u64, u64) {
    let lines = |name| field::text(part, name).unwrap_or_default().lines().collect::<Vec<_>>();
    let (old, new) = (lines("old_string"), lines("new_string"));
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let shorter = old.len().min(new.len()) - head;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(shorter).take_while(|(old, new)| old == new).count();
    ((new.len() - head - tail) as u64, (old.len() - head - tail) as u64)
}

/// The number of lines in a text.
pub(super) fn lines(text: &str) -> u64 {
    text.lines().count() as u64
}

/// The actual edits, according to a result. `asked` are the edits that the call requested:
/// sub-agent files of 2.1.x have no others, because their results have only text.
pub(super) fn changed(facts: &Json<'_>, text: &str, asked: Vec<Edit>) -> Vec<Edit> {
    let path = field::some(facts, "filePath").or_else(|| field::some(facts, "notebook_path"));
    let is_edit = !asked.is_empty() || facts.get("structuredPatch").is_some();
    let Some(path) = path.filter(|_| is_edit) else {
        return asked.into_iter().map(|edit| Edit { kind: told_kind(text, edit.kind), ..edit }).collect();
    };
    let patch = field::list(facts, "structuredPatch");
    let count = |sign: char| {
        let lines = patch.iter().flat_map(|hunk| field::list(hunk, "lines"));
        lines.filter(|line| line.as_str().is_some_and(|line| line.starts_with(sign))).count() as u64
    };
    let created = match field::text(facts, "type") {
        Some(kind) => kind == "create",
        None => patch.is_empty() && field::text(facts, "oldString") == Some(""),
    };
    let content = field::text(facts, "content").or_else(|| field::text(facts, "newString")).map(lines);
    let (kind, added, removed) = match created {
        true => (EditKind::Create, content, Some(0)),
        false if facts.get("structuredPatch").is_some() => {
            (EditKind::Update, Some(count('+')), Some(count('-')))
        }
        false => (
            EditKind::Update,
            field::text(facts, "new_source").map(lines),
            field::text(facts, "old_source").map(lines),
        ),
    };
    vec![Edit { path: redact(path), to: None, kind, added, removed }]
}

/// Created or updated, according to the result's text.
fn told_kind(text: &str, asked: EditKind) -> EditKind {
    if text.starts_with("File created successfully") { EditKind::Create } else { asked }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn a_call_names_its_paths_and_edits() {
        let block = json!({ "id": "c1", "name": "Edit", "input": {
            "file_path": "/w/a.rs", "old_string": "a\nb\nc", "new_string": "a\nx\ny\nc" } });
        let call = call(&block, Some("/w"));
        assert_eq!(call.paths[0].access, Access::Write);
        assert_eq!((call.edits[0].added, call.edits[0].removed), (Some(2), Some(1)));
        assert_eq!(call.cwd, None);
    }

    #[test]
    fn the_result_tells_what_was_changed() {
        let asked = edits("Write", &json!({ "file_path": "/w/a", "content": "1\n2\n" }));
        let facts = json!({ "type": "update", "filePath": "/w/a", "content": "1\n2\n",
            "structuredPatch": [{ "lines": [" 0", "-1", "+1", "+2"] }] });
        let told = changed(&facts, "", asked.clone());
        assert_eq!((told[0].kind, told[0].added, told[0].removed), (EditKind::Update, Some(2), Some(1)));
        let silent = changed(&Json::Null, "File created successfully at: /w/a", asked);
        assert_eq!((silent[0].kind, silent[0].added), (EditKind::Create, Some(2)));
    }

    #[test]
    fn every_edit_in_a_file_is_counted_in_the_patch() {
        let asked = edits(
            "Edit",
            &json!({ "file_path": "/w/a", "old_string": "x", "new_string": "y", "replace_all": true }),
        );
        assert_eq!(asked[0].added, None);
    }
}
