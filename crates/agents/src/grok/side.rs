//! Updates outside the conversation: background tasks, sub-agents, compactions, rewinds, hooks.

use retro_model::{Kind, Link, LinkKind, Origin, Outcome, Part as Piece, ToolResult};
use serde_json::{Value, json};

use super::call::ended;
use super::line::{Line, as_unknown, filled, without};
use super::result::source_of;
use super::rule::Rule;
use super::state::State;
use crate::json::pick;
use crate::words::{clean, id, words};
use crate::{Json, Out, field};

/// Reads the start, progress or end of a sub-agent. Only this record links the two.
pub(super) fn subagent(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    let update = line.update;
    let Some(child) = field::some(update, "child_session_id").or_else(|| field::some(update, "subagent_id"))
    else {
        let draft = line.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
        return out.push(as_unknown(draft, line.record));
    };
    let row = match kind {
        "subagent_spawned" => "subagent_spawned",
        "subagent_finished" => "subagent_finished",
        _ => "subagent_progress",
    };
    let mut draft = line.draft(row, Piece::Whole, Kind::Subagent, Origin::Model);
    draft.event.child = Some(id(child));
    draft.event.data = without(
        update,
        &[
            "sessionUpdate",
            "_meta",
            "output",
            "subagent_id",
            "child_session_id",
            "parent_session_id",
            "attempt_id",
        ],
    );
    match row {
        "subagent_spawned" => {
            draft.hint.identity = Some(spawned(child, field::some(update, "attempt_id")));
            draft.hint.look_for(Rule::Spawned(id(child)));
            // In a fork, a copied line names its parent's child.
            if !line.inherited {
                out.facts.links.insert(Link { kind: LinkKind::Child, session_id: id(child) });
            }
        }
        "subagent_finished" => state.finish(&id(child)),
        _ => {}
    }
    out.push(draft);
}

/// Identifies one start of a sub-agent in any file.
pub(super) fn spawned(child: &str, attempt: Option<&str>) -> String {
    format!("spawned:{child}:{}", attempt.unwrap_or_default())
}

/// Reads that a command continues in the background.
pub(super) fn backgrounded(line: &Line<'_>, out: &mut Out) {
    let update = line.update;
    let call_id = field::text(update, "tool_call_id").map(id).unwrap_or_default();
    let mut draft = line.draft("task_backgrounded", Piece::Whole, Kind::ToolResult, Origin::Tool);
    draft.event.result = Some(Box::new(ended(&call_id, Outcome::Unknown)));
    draft.hint.fold_only = true;
    draft.hint.look_for(Rule::Task(field::text(update, "task_id").map(id).unwrap_or_default()));
    out.push(draft);
}

/// Reads the end of a background command.
pub(super) fn task_completed(line: &Line<'_>, out: &mut Out) {
    let task = line.update.get("task_snapshot").unwrap_or(line.update);
    let file = field::some(task, "output_file").and_then(source_of);
    let exit_code = task.get("exit_code").and_then(Json::as_i64);
    let outcome = match exit_code {
        _ if field::is(task, "explicitly_killed") => Outcome::Interrupted,
        Some(0) => Outcome::Ok,
        Some(_) => Outcome::Failed,
        None if task.get("signal").is_some_and(|signal| !signal.is_null()) => Outcome::Failed,
        None => Outcome::Unknown,
    };
    let text = field::text(task, "output").unwrap_or_default();
    let mut draft = line.draft("task_completed", Piece::Whole, Kind::ToolResult, Origin::Tool);
    // The output file is named after the call. Settling knows the call by its task as well.
    let call_id = file.as_deref().and_then(|file| file.strip_suffix(".log")).unwrap_or_default().to_owned();
    draft.event.result = Some(Box::new(ToolResult {
        exit_code,
        duration_ms: duration_ms(task),
        truncated: field::is(task, "truncated"),
        bytes: text.len() as u64,
        spilled_to: file,
        ..ended(&call_id, outcome)
    }));
    draft.event.text = words(text);
    draft.event.data =
        pick(task, &["task_id", "kind", "signal", "description", "output_total_bytes", "explicitly_killed"]);
    draft.hint.look_for(Rule::TaskEnded(field::text(task, "task_id").map(id).unwrap_or_default()));
    out.push(draft);
}

fn duration_ms(task: &Json<'_>) -> Option<u64> {
    let nanos = |name: &str| {
        let time = task.get(name)?;
        let part = field::count(time, "nanos_since_epoch").unwrap_or(0);
        field::count(time, "secs_since_epoch")?.checked_mul(1_000_000_000)?.checked_add(part)
    };
    Some(nanos("end_time")?.checked_sub(nanos("start_time")?)? / 1_000_000)
}

/// Reads the list of background tasks. A process that resumes a session reports an empty one.
pub(super) fn background_tasks(line: &Line<'_>, out: &mut Out) {
    let mut draft = line.draft("background_tasks", Piece::Whole, Kind::Note, Origin::Harness);
    let tasks = field::list(line.update, "tasks");
    let listed: Vec<Value> = tasks
        .iter()
        .map(|task| json!({ "task_id": task.get("task_id"), "status": task.get("status"), "exit_code": task.get("exit_code") }))
        .collect();
    if tasks.is_empty() {
        draft.hint.look_for(Rule::TakenUp);
    }
    draft.event.data = filled(json!({ "tasks": listed }));
    out.push(draft);
}

/// Reads that a compaction has written its new history to a file.
pub(super) fn checkpoint(line: &Line<'_>, out: &mut Out) {
    let mut draft = line.draft("compaction_checkpoint", Piece::Whole, Kind::Compaction, Origin::Harness);
    draft.hint.fold_only = true;
    draft
        .hint
        .look_for(Rule::Checkpoint(field::text(line.update, "checkpoint_id").map(id).unwrap_or_default()));
    out.push(draft);
}

/// Reads that the context was summarized.
pub(super) fn compacted(line: &Line<'_>, out: &mut Out) {
    let mut draft = line.draft("auto_compact_completed", Piece::Whole, Kind::Compaction, Origin::Harness);
    draft.event.text = field::some(line.update, "summary_preview").and_then(words);
    // Only automatic compactions are timed.
    let trigger = if line.update.get("elapsed_ms").is_some() { "auto" } else { "manual" };
    draft.event.data = filled(json!({
        "trigger": trigger,
        "tokens_before": line.update.get("tokens_before"),
        "tokens_after": line.update.get("tokens_after"),
        "elapsed_ms": line.update.get("elapsed_ms"),
    }));
    out.push(draft);
}

/// Reads that the user went back to before a prompt.
pub(super) fn rewound(line: &Line<'_>, out: &mut Out) {
    let mut draft = line.draft("rewind_marker", Piece::Whole, Kind::Rewind, Origin::User);
    draft.event.data = pick(line.update, &["target_prompt_index"]);
    if let Some(index) = field::count(line.update, "target_prompt_index") {
        draft.hint.look_for(Rule::Rewind(index));
    }
    out.push(draft);
}

/// Reads the results of hooks. One of them may have refused a call.
pub(super) fn hook(line: &Line<'_>, out: &mut Out) {
    let refused = field::list(line.update, "runs").iter().any(refuses);
    let kind = if refused { Kind::Denial } else { Kind::Note };
    let mut draft = line.draft("hook_execution", Piece::Whole, kind, Origin::Harness);
    draft.event.data = pick(line.update, &["event_name", "tool_name", "prompt_id", "runs"]);
    if refused {
        let tool = field::text(line.update, "tool_name").unwrap_or_default();
        draft.hint.look_for(Rule::Refused(clean(tool)));
    }
    out.push(draft);
}

fn refuses(run: &Json<'_>) -> bool {
    let status = run.get("status").unwrap_or(&Json::Null);
    let said = [
        status.as_str(),
        field::text(status, "status"),
        field::text(status, "decision"),
        field::text(run, "decision"),
    ];
    said.into_iter().flatten().any(|word| matches!(word, "denied" | "deny" | "blocked" | "block"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn a_run_refuses_only_when_it_says_so() {
        assert!(!refuses(&json!({ "name": "a", "status": { "status": "success" } })));
        assert!(refuses(&json!({ "name": "a", "status": { "status": "denied" } })));
        assert!(refuses(&json!({ "name": "a", "decision": "block" })));
        assert!(!refuses(&json!("denied")));
    }

    #[test]
    fn a_task_ran_from_its_start_to_its_end() {
        let at = |secs: u64, nanos: u64| json!({ "secs_since_epoch": secs, "nanos_since_epoch": nanos });
        assert_eq!(
            duration_ms(&json!({ "start_time": at(5, 900_000_000), "end_time": at(7, 0) })),
            Some(1100)
        );
        assert_eq!(duration_ms(&json!({ "start_time": at(7, 0), "end_time": at(5, 0) })), None);
        assert_eq!(duration_ms(&json!({ "end_time": at(5, 0) })), None);
    }
}
