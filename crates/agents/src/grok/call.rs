//! The class, command, paths and edits of a call.

use retro_model::{
    Access, Edit, EditKind, Kind, Origin, Outcome, Part as Piece, PathUse, ToolCall, ToolClass, ToolResult,
};
use retro_text::{redact, redact_owned};

use super::line::Line;
use super::rule::Rule;
use super::state::State;
use crate::command::one_line;
use crate::words::{clean, id};
use crate::{Json, Out, field, lines};

/// The class of a tool, by its name.
pub(super) fn class(name: &str) -> ToolClass {
    match name {
        "run_terminal_command"
        | "get_command_or_subagent_output"
        | "kill_command_or_subagent"
        | "monitor" => ToolClass::Shell,
        "read_file" => ToolClass::Read,
        "list_dir" | "grep" | "search_tool" => ToolClass::Search,
        "search_replace" | "write" => ToolClass::Edit,
        "use_tool" => ToolClass::Mcp,
        "spawn_subagent" => ToolClass::Subagent,
        "todo_write" | "enter_plan_mode" | "exit_plan_mode" => ToolClass::Plan,
        "ask_user_question" => ToolClass::Ask,
        name if name.starts_with("web_") => ToolClass::Web,
        _ => ToolClass::Other,
    }
}

/// Reads a `tool_call` line.
pub(super) fn read(line: &Line<'_>, state: &State, out: &mut Out) {
    let update = line.update;
    let call_id = field::text(update, "toolCallId").map(id).unwrap_or_default();
    let about = update.get("_meta").and_then(|meta| meta.get("x.ai/tool")).unwrap_or(&Json::Null);
    // The title is the tool's name until the call is about to run.
    let name = field::some(about, "name").or_else(|| field::some(update, "title")).unwrap_or_default();
    let mut draft = line.draft("tool_call", Piece::Whole, Kind::ToolCall, Origin::Model);
    draft.event.tool = Some(Box::new(of(&call_id, name, update.get("rawInput").unwrap_or(&Json::Null))));
    draft.event.response =
        field::some(line.meta, "promptId").map(|turn| line.response(turn, state.model.as_deref()));
    draft.hint.look_for(Rule::Call { stream: line.stream() });
    out.push(draft);
    // Becomes an event only if the call has no answer.
    let mut cut =
        line.draft("call/unanswered", Piece::Tag("result"), Kind::ToolResult, Origin::Harness).at(None);
    cut.event.result = Some(Box::new(ended(&call_id, Outcome::Interrupted)));
    cut.hint.fold_only = true;
    out.push(cut);
}

/// Makes a call from its name and arguments.
pub(super) fn of(call_id: &str, name: &str, args: &Json<'_>) -> ToolCall {
    let class = class(name);
    let command = field::some(args, "command").filter(|_| class == ToolClass::Shell);
    ToolCall {
        call_id: call_id.to_owned(),
        parent_call: None,
        name: clean(name),
        class,
        args: Some(args.redacted()),
        command: command.map(|command| redact_owned(one_line(command))),
        cwd: None,
        paths: paths(name, args),
        edits: edits(name, args),
    }
}

/// A result that only has an outcome.
pub(super) fn ended(call_id: &str, outcome: Outcome) -> ToolResult {
    ToolResult {
        call_id: call_id.to_owned(),
        outcome,
        exit_code: None,
        duration_ms: None,
        truncated: false,
        bytes: 0,
        spilled_to: None,
        edits: Vec::new(),
    }
}

/// The paths that a call names.
fn paths(name: &str, args: &Json<'_>) -> Vec<PathUse> {
    let (field_name, access) = match name {
        "read_file" => ("target_file", Access::Read),
        "list_dir" => ("target_directory", Access::Read),
        "grep" => ("path", Access::Read),
        "search_replace" | "write" => ("file_path", Access::Write),
        _ => return Vec::new(),
    };
    field::some(args, field_name).map(|path| PathUse { path: redact(path), access }).into_iter().collect()
}

/// The edits that a call requests. The result has the actual edits.
fn edits(name: &str, args: &Json<'_>) -> Vec<Edit> {
    let Some(path) = field::some(args, "file_path") else { return Vec::new() };
    match name {
        "search_replace" => {
            let text = |name| field::text(args, name).unwrap_or_default();
            let (added, removed) = lines::changed(text("old_string"), text("new_string"));
            // The call does not say how often the text occurs in the file.
            let once = !field::is(args, "replace_all");
            let kind = if text("old_string").is_empty() { EditKind::Create } else { EditKind::Update };
            vec![edit(path, kind, once.then_some(added), once.then_some(removed))]
        }
        "write" => {
            let added = field::text(args, "content").map(|content| lines::changed("", content).0);
            vec![edit(path, EditKind::Update, added, None)]
        }
        _ => Vec::new(),
    }
}

fn edit(path: &str, kind: EditKind, added: Option<u64>, removed: Option<u64>) -> Edit {
    Edit { path: redact(path), to: None, kind, added, removed }
}

/// The changes in the `diff` blocks of an update, one per file.
pub(super) fn diffs(content: &[Json<'_>]) -> Vec<Edit> {
    let mut all: Vec<Edit> = Vec::new();
    for block in content.iter().filter(|block| field::text(block, "type") == Some("diff")) {
        let Some(path) = field::some(block, "path") else { continue };
        let old = field::text(block, "oldText").unwrap_or_default();
        let (added, removed) = lines::changed(old, field::text(block, "newText").unwrap_or_default());
        let kind = if old.is_empty() { EditKind::Create } else { EditKind::Update };
        let next = edit(path, kind, Some(added), Some(removed));
        match all.iter_mut().find(|edit| edit.path == next.path) {
            Some(same) => {
                same.added = same.added.zip(next.added).map(|(a, b)| a.saturating_add(b));
                same.removed = same.removed.zip(next.removed).map(|(a, b)| a.saturating_add(b));
            }
            None => all.push(next),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn every_tool_has_a_class() {
        for (name, wanted) in [
            ("run_terminal_command", ToolClass::Shell),
            ("monitor", ToolClass::Shell),
            ("read_file", ToolClass::Read),
            ("grep", ToolClass::Search),
            ("write", ToolClass::Edit),
            ("web_fetch", ToolClass::Web),
            ("use_tool", ToolClass::Mcp),
            ("spawn_subagent", ToolClass::Subagent),
            ("exit_plan_mode", ToolClass::Plan),
            ("ask_user_question", ToolClass::Ask),
            ("memory_search", ToolClass::Other),
        ] {
            assert_eq!(class(name), wanted, "{name}");
        }
    }

    #[test]
    fn a_call_names_its_command_paths_and_edits() {
        let run = of("c1", "run_terminal_command", &json!({ "command": "make \\\n test" }));
        assert_eq!(run.command.unwrap().as_str(), "make test");
        let call = of(
            "c2",
            "search_replace",
            &json!({ "file_path": "/w/a", "old_string": "a\nb", "new_string": "a\nc\nd" }),
        );
        assert_eq!(call.paths[0].access, Access::Write);
        assert_eq!((call.edits[0].added, call.edits[0].removed), (Some(2), Some(1)));
        let every = json!({ "file_path": "/w/a", "old_string": "a", "new_string": "b", "replace_all": true });
        assert_eq!(of("c3", "search_replace", &every).edits[0].added, None);
    }

    #[test]
    fn diffs_of_one_file_are_one_edit() {
        let content = [
            json!({ "type": "diff", "path": "/w/a", "oldText": "x", "newText": "y" }),
            json!({ "type": "diff", "path": "/w/a", "oldText": "p\nq", "newText": "p" }),
            json!({ "type": "diff", "path": "/w/b", "oldText": null, "newText": "1\n2\n" }),
            json!({ "type": "content" }),
        ];
        let edits = diffs(&content);
        assert_eq!(edits.len(), 2);
        assert_eq!((edits[0].kind, edits[0].added, edits[0].removed), (EditKind::Update, Some(1), Some(2)));
        assert_eq!((edits[1].kind, edits[1].added, edits[1].removed), (EditKind::Create, Some(2), Some(0)));
    }
}
