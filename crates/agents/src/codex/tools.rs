//! The class, command, paths and edits of a call.
//!
//! The tool set depends on version and model, so every form is accepted in
//! every version.

use retro_model::{Access, Edit, PathUse, ToolCall, ToolClass};
use retro_text::{redact, redact_owned};

use crate::command::{one_line, script};
use crate::words::{clean, id};
use crate::{Json, field, patch};

/// The class of a tool. `args` distinguishes the two tools named `wait`: one polls a script
/// (0.166), the other waits for agents (0.104).
pub(super) fn class(name: &str, namespace: Option<&str>, args: &Json<'_>) -> ToolClass {
    if is_mcp(name, namespace) {
        return ToolClass::Mcp;
    }
    match name {
        "shell" | "shell_command" | "exec_command" | "write_stdin" | "local_shell" | "exec" => {
            ToolClass::Shell
        }
        "container.exec" | "unified_exec" => ToolClass::Shell,
        "apply_patch" => ToolClass::Edit,
        "view_image" | "read_file" => ToolClass::Read,
        "tool_search" | "grep_files" | "list_dir" => ToolClass::Search,
        "web_search" | "web__run" => ToolClass::Web,
        "wait" if args.get("cell_id").is_some() => ToolClass::Shell,
        "spawn_agent" | "wait" | "wait_agent" | "send_input" | "send_message" | "followup_task"
        | "resume_agent" | "close_agent" | "interrupt_agent" | "list_agents" => ToolClass::Subagent,
        "update_plan" => ToolClass::Plan,
        "request_user_input" | "request_user_input_async" => ToolClass::Ask,
        name if name.starts_with("list_mcp_") => ToolClass::Search,
        name if name.ends_with("_goal") => ToolClass::Plan,
        _ => ToolClass::Other,
    }
}

pub(super) fn is_mcp(name: &str, namespace: Option<&str>) -> bool {
    name.starts_with("mcp__") || namespace.is_some_and(|namespace| namespace.starts_with("mcp__"))
}

/// Makes a call from its parts. `args` are its arguments, `cwd` is the thread's working directory.
pub(super) fn call(
    call_id: &str,
    name: &str,
    namespace: Option<&str>,
    args: &Json<'_>,
    cwd: Option<&str>,
) -> ToolCall {
    let mut class = class(name, namespace, args);
    let script = command(name, args);
    let patch = match name {
        "apply_patch" => args.as_str().or_else(|| field::text(args, "input")),
        _ if class == ToolClass::Shell => {
            patch_of(args).or_else(|| script.as_deref().and_then(patch::in_script))
        }
        _ => None,
    };
    let edits = patch.map(patch::edits).unwrap_or_default();
    if patch.is_some() {
        class = ToolClass::Edit;
    }
    let workdir = field::some(args, "workdir").or_else(|| field::some(args, "working_directory"));
    let runs = matches!(class, ToolClass::Shell | ToolClass::Edit);
    ToolCall {
        call_id: id(call_id),
        parent_call: None,
        name: match namespace.filter(|_| class == ToolClass::Mcp && !name.starts_with("mcp__")) {
            Some(namespace) => clean(&format!("{namespace}__{name}")),
            None => clean(name),
        },
        class,
        command: script.filter(|_| class == ToolClass::Shell).map(|script| redact_owned(one_line(&script))),
        cwd: workdir.or(cwd).filter(|_| runs).map(redact),
        paths: paths(name, args, &edits),
        edits,
        args: Some(args.redacted()),
    }
}

/// The script that a shell call runs.
fn command(name: &str, args: &Json<'_>) -> Option<String> {
    let value = match name {
        "exec_command" => args.get("cmd").or_else(|| args.get("command")),
        "exec" | "write_stdin" | "wait" => None,
        _ => args.get("command").or_else(|| args.get("cmd")),
    };
    match value? {
        Json::String(script) => Some(script.to_string()),
        Json::Array(words) => Some(script(&words.iter().filter_map(Json::as_str).collect::<Vec<_>>())),
        _ => None,
    }
}

/// The patch in `["apply_patch", PATCH]` (0.8 - 0.47).
fn patch_of<'t>(args: &'t Json<'_>) -> Option<&'t str> {
    match field::list(args, "command") {
        [program, patch] if matches!(program.as_str(), Some("apply_patch" | "applypatch")) => patch.as_str(),
        _ => None,
    }
}

fn paths(name: &str, args: &Json<'_>, edits: &[Edit]) -> Vec<PathUse> {
    let read = match name {
        "view_image" => field::some(args, "path"),
        "read_file" => field::some(args, "file_path").or_else(|| field::some(args, "path")),
        _ => None,
    };
    let read = read.map(|path| PathUse { path: redact(path), access: Access::Read });
    read.into_iter().chain(written(edits)).collect()
}

/// The paths that edits write.
pub(super) fn written(edits: &[Edit]) -> impl Iterator<Item = PathUse> {
    let path = |edit: &Edit| PathUse {
        path: edit.to.clone().unwrap_or_else(|| edit.path.clone()),
        access: Access::Write,
    };
    edits.iter().map(path).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn every_form_of_a_command_is_one_line() {
        for (name, args) in [
            ("shell", json!({ "command": ["bash", "-lc", "cargo test"] })),
            ("shell_command", json!({ "command": "cargo test" })),
            ("exec_command", json!({ "cmd": "cargo test" })),
            ("local_shell", json!({ "command": ["cargo", "test"] })),
        ] {
            let call = call("c", name, None, &args, Some("/w"));
            assert_eq!(call.command.as_deref().map(String::as_str), Some("cargo test"), "{name}");
            assert_eq!((call.class, call.cwd.unwrap().to_string()), (ToolClass::Shell, "/w".to_owned()));
        }
    }

    #[test]
    fn a_patch_is_an_edit_however_it_is_handed_over() {
        let patch = "*** Begin Patch\n*** Add File: a.rs\n+x\n*** End Patch";
        let script = format!("apply_patch <<'EOF'\n{patch}\nEOF");
        for (name, args) in [
            ("apply_patch", json!(patch)),
            ("apply_patch", json!({ "input": patch })),
            ("shell", json!({ "command": ["apply_patch", patch] })),
            ("shell", json!({ "command": ["bash", "-lc", script] })),
            ("exec_command", json!({ "cmd": script, "workdir": "/v" })),
        ] {
            let call = call("c", name, None, &args, Some("/w"));
            assert_eq!((call.class, call.edits.len(), call.command), (ToolClass::Edit, 1, None), "{name}");
            assert_eq!(call.paths[0].access, Access::Write);
        }
    }

    #[test]
    fn tools_are_classed_by_name_and_namespace() {
        let none = json!({});
        assert_eq!(class("get_ticket", Some("mcp__tickets"), &none), ToolClass::Mcp);
        assert_eq!(class("spawn_agent", Some("collaboration"), &none), ToolClass::Subagent);
        assert_eq!(class("wait", None, &json!({ "cell_id": "1" })), ToolClass::Shell);
        assert_eq!(class("wait", None, &json!({ "ids": [] })), ToolClass::Subagent);
        assert_eq!(class("update_goal", None, &none), ToolClass::Plan);
        assert_eq!(class("list_mcp_resources", None, &none), ToolClass::Search);
        assert_eq!(class("invented", None, &none), ToolClass::Other);
        assert_eq!(call("c", "get", Some("mcp__t"), &none, None).name, "mcp__t__get");
    }
}
