//! The records Grok writes and what becomes of each.
//!
//! One sorted table, for readers and for the parser: a record type that is not
//! here stays `unknown`, and whatever is here may give the kinds of events of
//! its row and no others. Rows of `updates.jsonl` have the bare name of the
//! update; those of the other logs begin with `chat/` and `events/`, documents
//! with `file/`. A name that ends in `*` stands for all that begin so.

use retro_model::Kind::{self, *};

use crate::Row;

/// A record that gives events.
const fn gives(record: &'static str, gives: &'static [Kind], note: &'static str) -> Row {
    Row { record, gives, may_fold: false, note }
}

/// A record that gives events, or only completes one that is already there.
const fn may_fold(record: &'static str, gives: &'static [Kind], note: &'static str) -> Row {
    Row { record, gives, may_fold: true, note }
}

/// A record that never has an event of its own.
const fn folded(record: &'static str, note: &'static str) -> Row {
    Row { record, gives: &[], may_fold: true, note }
}

const NOTE: &[Kind] = &[Note];

const PIECES: &str = "pieces of one utterance are one event; final words from the chat history";
const CONTEXT: &str = "what the program puts into the context; nobody's words";
const COUNTERS: &str = "state of the program; the last one holds";
const PROGRESS: &str = "how the work goes on; seen in the calls and answers too";
const OWN: &str = "an event of its own only where the updates have no counterpart";

/// Every row, sorted by name.
pub(super) static ROWS: &[Row] = &[
    may_fold("agent_message_chunk", &[Assistant], PIECES),
    may_fold("agent_thought_chunk", &[Reasoning], PIECES),
    gives("auto_compact_cancelled", &[Error], "the context stays as it was"),
    gives(
        "auto_compact_completed",
        &[Compaction],
        "manual ones too; the summary stands in the checkpoint and the chat",
    ),
    gives("auto_compact_failed", &[Error], "the context stays as it was"),
    folded("auto_compact_started", "its end tells the same"),
    gives("auto_recovery_*", NOTE, PROGRESS),
    gives("background_tasks", NOTE, "an empty list is written at every resume"),
    may_fold(
        "call/unanswered",
        &[ToolResult],
        "derived: a call that nothing answered was cut off, or ended as the event log says",
    ),
    may_fold("chat/assistant", &[Assistant, ToolCall], OWN),
    may_fold("chat/backend_tool_call", &[ToolCall], "a search that the provider made"),
    may_fold(
        "chat/interjection",
        &[User],
        "typed while the model worked; an event where no other record has it",
    ),
    may_fold("chat/prompt", &[User], OWN),
    may_fold("chat/reasoning", &[Reasoning], OWN),
    folded("chat/summary", "gives its text to the compaction"),
    folded("chat/system", CONTEXT),
    may_fold("chat/tool_result", &[ToolResult], OWN),
    folded("chat/user", CONTEXT),
    folded("compaction_checkpoint", "names the file with the summary"),
    gives("diff_review", NOTE, PROGRESS),
    folded("events/first_token", PROGRESS),
    folded("events/goal_*", PROGRESS),
    may_fold(
        "events/interjected",
        &[User],
        "typed while the model worked; an event where no other record has it",
    ),
    folded("events/laziness_*", PROGRESS),
    folded("events/loop_started", PROGRESS),
    folded("events/mcp_*", "servers and their calls; the call and its result tell the same"),
    folded("events/permission_requested", "written for approved calls too"),
    may_fold("events/permission_resolved", &[Denial], "a refusal, where no result tells it"),
    folded("events/phase_changed", PROGRESS),
    folded("events/todo_gate_*", PROGRESS),
    may_fold(
        "events/tool_completed",
        &[Denial],
        "outcome and duration of a call; a refusal, where no result tells it",
    ),
    folded("events/tool_started", PROGRESS),
    may_fold(
        "events/turn_ended",
        &[Error, Interruption],
        "an event where the updates do not tell the end of the turn",
    ),
    may_fold(
        "events/turn_started",
        &[Model, Note],
        "another model than before; a prompt that followed an abort",
    ),
    folded("events/yolo_toggled", PROGRESS),
    gives("feedback", NOTE, "the user rated an answer"),
    folded("file/checkpoint", "gives its summary to the compaction"),
    may_fold(
        "file/meta",
        &[Subagent],
        "a sub-agent, as its parent knows it; an event where no update tells its start",
    ),
    folded("file/output", "a sub-agent's last words; they are the result of its call"),
    folded("file/plan", COUNTERS),
    folded("file/rewind_points", "files before and after each prompt"),
    folded("file/signals", COUNTERS),
    gives("file/summary", &[Session], "what the session is: folder, title, kind, fork parent"),
    folded("file/usage", "sums of the turns; for a fork also those of its parent"),
    gives("goal_updated", &[Plan], "the goal the user set"),
    may_fold("hook_execution", &[Denial, Note], "a run that refused a call is a denial"),
    gives("image_compressed", NOTE, CONTEXT),
    gives("image_dropped", NOTE, CONTEXT),
    gives("memory_session_saved", NOTE, "the program wrote a memory of the session"),
    gives("model_auto_switched", &[Model], "by the program"),
    gives("model_changed", &[Model], "by the user"),
    gives("monitor_event", NOTE, PROGRESS),
    gives("plan", &[Plan], "the whole task list after a change"),
    gives("retry_state", &[Error], "the model could not be reached"),
    gives("rewind_marker", &[Rewind], "prompts from this index on are dead"),
    gives("scheduled_task_*", NOTE, PROGRESS),
    gives("session_recap", NOTE, PROGRESS),
    gives("session_summary_generated", NOTE, PROGRESS),
    gives("subagent_finished", &[Subagent], "its tokens are in the turn that ends next"),
    gives("subagent_progress", &[Subagent], PROGRESS),
    gives("subagent_spawned", &[Subagent], "the child is a session of its own"),
    folded("task_backgrounded", "tells which call a background task is of"),
    gives("task_completed", &[ToolResult], "the end of a background command"),
    gives("tool_call", &[ToolCall], "class by the tool's name"),
    folded("tool_call_update/pending", "about to run: paths and changes in one shape for all tools"),
    gives(
        "tool_call_update/result",
        &[ToolResult, Denial],
        "failure by event log, exit code, status, in this order",
    ),
    may_fold("turn/killed", &[Interruption], "derived: a typed prompt whose turn never ended"),
    may_fold(
        "turn_completed",
        &[Error, Interruption, Usage],
        "one usage for each model; turns of slash commands have none",
    ),
    gives("unknown", &[Unknown], "not in this table"),
    gives("user_message_chunk/hidden", NOTE, "a prompt of the program, such as the end of a background task"),
    gives("user_message_chunk/host", NOTE, "a slash command"),
    gives("user_message_chunk/media", &[Attachment], "an image or a file given along"),
    may_fold("user_message_chunk/text", &[User], "chunks of one prompt index are one event"),
    gives("workflow_updated", NOTE, PROGRESS),
];

/// The row of a record type in `family`, by its name or by the `*` row it falls under.
pub(super) fn named(family: &str, name: &str) -> Option<&'static Row> {
    let of_family = |row: &'static Row| row.record.strip_prefix(family);
    // Rows below another family, or with a part of their own behind a slash, are no record types.
    let is_type = |rest: &str| !rest.contains('/');
    ROWS.iter().find(|row| of_family(row).is_some_and(|rest| is_type(rest) && rest == name)).or_else(|| {
        ROWS.iter().find(|row| {
            let head = of_family(row).filter(|rest| is_type(rest)).and_then(|rest| rest.strip_suffix('*'));
            head.is_some_and(|head| name.starts_with(head))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_found_by_their_record() {
        assert!(ROWS.is_sorted_by_key(|row| row.record));
        assert_eq!(named("", "diff_review").map(|row| row.record), Some("diff_review"));
        assert_eq!(named("", "scheduled_task_fired").map(|row| row.record), Some("scheduled_task_*"));
        assert_eq!(named("events/", "mcp_server_connected").map(|row| row.record), Some("events/mcp_*"));
        assert_eq!(named("events/", "diff_review").map(|row| row.record), None);
        assert_eq!(named("", "events/first_token").map(|row| row.record), None);
        assert_eq!(named("", "chat/user").map(|row| row.record), None);
    }
}
