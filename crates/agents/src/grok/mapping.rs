//! The records that Grok writes, and the events that each becomes.
//!
//! One sorted table, for people and for the parser: a record type that is not listed stays
//! `unknown`, and a listed one may give only the kinds of events of its row. Rows of
//! `updates.jsonl` have the bare name of the update; those of the other logs begin with `chat/` and
//! `events/`, documents with `file/`. A name that ends in `*` matches every name with that prefix.

use retro_model::Kind::{self, *};

use crate::{Row, mapping};

const NOTE: &[Kind] = &[Note];

const PIECES: &str = "pieces of one utterance are one event; final words from the chat history";
const CONTEXT: &str = "what the program puts into the context; nobody's words";
const COUNTERS: &str = "state of the program; the last one holds";
const PROGRESS: &str = "how the work goes on; seen in the calls and answers too";
const OWN: &str = "an event of its own only where the updates have no counterpart";

/// Every row, sorted by name.
pub(super) static ROWS: &[Row] = &[
    Row::may_fold("agent_message_chunk", &[Assistant], PIECES),
    Row::may_fold("agent_thought_chunk", &[Reasoning], PIECES),
    Row::gives("auto_compact_cancelled", &[Error], "the context stays as it was"),
    Row::gives(
        "auto_compact_completed",
        &[Compaction],
        "manual ones too; the summary stands in the checkpoint and the chat",
    ),
    Row::gives("auto_compact_failed", &[Error], "the context stays as it was"),
    Row::folded("auto_compact_started", "its end tells the same"),
    Row::gives("auto_recovery_*", NOTE, PROGRESS),
    Row::gives("background_tasks", NOTE, "an empty list is written at every resume"),
    Row::may_fold(
        "call/unanswered",
        &[ToolResult],
        "derived: a call that nothing answered was cut off, or ended as the event log says",
    ),
    Row::may_fold("chat/assistant", &[Assistant, ToolCall], OWN),
    Row::may_fold("chat/backend_tool_call", &[ToolCall], "a search that the provider made"),
    Row::may_fold(
        "chat/interjection",
        &[User],
        "typed while the model worked; an event where no other record has it",
    ),
    Row::may_fold("chat/prompt", &[User], OWN),
    Row::may_fold("chat/reasoning", &[Reasoning], OWN),
    Row::folded("chat/summary", "gives its text to the compaction"),
    Row::folded("chat/system", CONTEXT),
    Row::may_fold("chat/tool_result", &[ToolResult], OWN),
    Row::folded("chat/user", CONTEXT),
    Row::folded("compaction_checkpoint", "names the file with the summary"),
    Row::gives("diff_review", NOTE, PROGRESS),
    Row::folded("events/first_token", PROGRESS),
    Row::folded("events/goal_*", PROGRESS),
    Row::may_fold(
        "events/interjected",
        &[User],
        "typed while the model worked; an event where no other record has it",
    ),
    Row::folded("events/laziness_*", PROGRESS),
    Row::folded("events/loop_started", PROGRESS),
    Row::folded("events/mcp_*", "servers and their calls; the call and its result tell the same"),
    Row::folded("events/permission_requested", "written for approved calls too"),
    Row::may_fold("events/permission_resolved", &[Denial], "a refusal, where no result tells it"),
    Row::folded("events/phase_changed", PROGRESS),
    Row::folded("events/todo_gate_*", PROGRESS),
    Row::may_fold(
        "events/tool_completed",
        &[Denial],
        "outcome and duration of a call; a refusal, where no result tells it",
    ),
    Row::folded("events/tool_started", PROGRESS),
    Row::may_fold(
        "events/turn_ended",
        &[Error, Interruption],
        "an event where the updates do not tell the end of the turn",
    ),
    Row::may_fold(
        "events/turn_started",
        &[Model, Note],
        "another model than before; a prompt that followed an abort",
    ),
    Row::folded("events/yolo_toggled", PROGRESS),
    Row::gives("feedback", NOTE, "the user rated an answer"),
    Row::folded("file/checkpoint", "gives its summary to the compaction"),
    Row::may_fold(
        "file/meta",
        &[Subagent],
        "a sub-agent, as its parent knows it; an event where no update tells its start",
    ),
    Row::folded("file/output", "a sub-agent's last words; they are the result of its call"),
    Row::folded("file/plan", COUNTERS),
    Row::folded("file/rewind_points", "files before and after each prompt"),
    Row::folded("file/signals", COUNTERS),
    Row::gives("file/summary", &[Session], "what the session is: folder, title, kind, fork parent"),
    Row::folded("file/usage", "sums of the turns; for a fork also those of its parent"),
    Row::gives("goal_updated", &[Plan], "the goal the user set"),
    Row::may_fold("hook_execution", &[Denial, Note], "a run that refused a call is a denial"),
    Row::gives("image_compressed", NOTE, CONTEXT),
    Row::gives("image_dropped", NOTE, CONTEXT),
    Row::gives("memory_session_saved", NOTE, "the program wrote a memory of the session"),
    Row::gives("model_auto_switched", &[Model], "by the program"),
    Row::gives("model_changed", &[Model], "by the user"),
    Row::gives("monitor_event", NOTE, PROGRESS),
    Row::gives("plan", &[Plan], "the whole task list after a change"),
    Row::gives("retry_state", &[Error], "the model could not be reached"),
    Row::gives("rewind_marker", &[Rewind], "prompts from this index on are dead"),
    Row::gives("scheduled_task_*", NOTE, PROGRESS),
    Row::gives("session_recap", NOTE, PROGRESS),
    Row::gives("session_summary_generated", NOTE, PROGRESS),
    Row::gives("subagent_finished", &[Subagent], "its tokens are in the turn that ends next"),
    Row::gives("subagent_progress", &[Subagent], PROGRESS),
    Row::gives("subagent_spawned", &[Subagent], "the child is a session of its own"),
    Row::folded("task_backgrounded", "tells which call a background task is of"),
    Row::gives("task_completed", &[ToolResult], "the end of a background command"),
    Row::gives("tool_call", &[ToolCall], "class by the tool's name"),
    Row::folded("tool_call_update/pending", "about to run: paths and changes in one shape for all tools"),
    Row::gives(
        "tool_call_update/result",
        &[ToolResult, Denial],
        "failure by event log, exit code, status, in this order",
    ),
    Row::may_fold("turn/killed", &[Interruption], "derived: a typed prompt whose turn never ended"),
    Row::may_fold(
        "turn_completed",
        &[Error, Interruption, Usage],
        "one usage for each model; turns of slash commands have none",
    ),
    Row::gives("unknown", &[Unknown], "not in this table"),
    Row::gives(
        "user_message_chunk/hidden",
        NOTE,
        "a prompt of the program, such as the end of a background task",
    ),
    Row::gives("user_message_chunk/host", NOTE, "a slash command"),
    Row::gives("user_message_chunk/media", &[Attachment], "an image or a file given along"),
    Row::may_fold("user_message_chunk/text", &[User], "chunks of one prompt index are one event"),
    Row::gives("workflow_updated", NOTE, PROGRESS),
];

/// The row of a record type in `family`, by its name or by a `*` row that matches.
pub(super) fn named(family: &str, name: &str) -> Option<&'static Row> {
    // Rows of another family, or with a slash in their name, are not record types.
    let is_type = |name: &&str| !name.contains('/');
    let is_above = |row: &&Row| {
        let of_family = row.record.strip_prefix(family).filter(is_type);
        of_family.and_then(|row| row.strip_suffix('*')).is_some_and(|head| name.starts_with(head))
    };
    let exact = mapping::named(ROWS, family, name).filter(|_| is_type(&name));
    exact.or_else(|| ROWS.iter().find(is_above))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_record() {
        assert_eq!(named("", "diff_review").map(|row| row.record), Some("diff_review"));
        assert_eq!(named("", "scheduled_task_fired").map(|row| row.record), Some("scheduled_task_*"));
        assert_eq!(named("events/", "mcp_server_connected").map(|row| row.record), Some("events/mcp_*"));
        assert_eq!(named("events/", "diff_review").map(|row| row.record), None);
        assert_eq!(named("", "events/first_token").map(|row| row.record), None);
        assert_eq!(named("", "chat/user").map(|row| row.record), None);
    }
}
