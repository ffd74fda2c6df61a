//! The records Claude Code writes and what becomes of each.
//!
//! One sorted table, for readers and for the parser: a record type that is not
//! here stays `unknown`, and whatever is here may give the kinds of events of
//! its row and no others. Rows are named like the log names the record:
//! `system/<subtype>`, `attachment/<type>`, `progress/<type>`, `user/<what the
//! block is>`, `assistant/<block>`, `file/<document>`, and side records by their
//! bare type.

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

const CONTEXT: &str = "context the program gives the model; not indexed";
const STATE: &str = "state of the program; the last one holds";
const HOOK: &str = "a hook ran";
const MODE: &str = "a mode was switched";

/// Every row, sorted by name.
pub(super) static ROWS: &[Row] = &[
    gives("agent-color", NOTE, STATE),
    gives("agent-name", NOTE, "name of the session, carried over by /clear"),
    gives("agent-setting", NOTE, STATE),
    gives("ai-title", NOTE, "title the program had made"),
    folded("api-request", "one HTTP try; its id proves whose answer it is"),
    folded("api-request-blob", "a second copy of a message, by hash"),
    folded("api-request-shape", "system prompt and tool schemas, by hash"),
    gives("artifact-*", NOTE, STATE),
    gives("assistant/error", &[Error], "an API error, told as a synthetic answer"),
    gives("assistant/fallback", &[Model], "another model went on"),
    gives("assistant/model", &[Model], "another model than before answers on this thread"),
    gives("assistant/redacted_thinking", &[Reasoning], "thinking that is encrypted"),
    gives("assistant/synthetic", NOTE, "put in by the program; never a model's words, never counted"),
    gives("assistant/text", &[Assistant], "words of the model"),
    gives("assistant/thinking", &[Reasoning], "often empty, with only a signature"),
    gives("assistant/tool_use", &[ToolCall], "class by the tool's name"),
    may_fold(
        "assistant/usage",
        &[Usage],
        "once a response: the line with the largest output, the later on a tie",
    ),
    gives("atis-latch", NOTE, STATE),
    gives("attachment/agent_listing_delta", NOTE, CONTEXT),
    gives("attachment/async_hook_response", NOTE, HOOK),
    gives("attachment/auto_mode", NOTE, MODE),
    gives("attachment/batching_reminder_sent", NOTE, CONTEXT),
    gives("attachment/budget_usd", NOTE, CONTEXT),
    gives("attachment/command_permissions", NOTE, "tools a slash command may use"),
    gives(
        "attachment/compact_file_reference",
        &[Attachment],
        "a file named, not restored, after a compaction",
    ),
    gives("attachment/date", NOTE, CONTEXT),
    gives("attachment/date_change", NOTE, CONTEXT),
    gives("attachment/deferred_tools_delta", NOTE, CONTEXT),
    gives("attachment/deferred_tools_record", NOTE, CONTEXT),
    gives("attachment/diagnostics", &[Attachment], "what an editor or language server reports"),
    gives("attachment/directory", &[Attachment], "a folder the user mentioned"),
    gives("attachment/dynamic_skill", NOTE, CONTEXT),
    gives(
        "attachment/edited_text_file",
        &[Attachment],
        "a file changed by something else than the edit tools",
    ),
    gives("attachment/environment", NOTE, CONTEXT),
    gives("attachment/file", &[Attachment], "a file the user mentioned, or one restored after a compaction"),
    gives("attachment/goal_status", NOTE, CONTEXT),
    gives("attachment/hook_*", NOTE, HOOK),
    gives("attachment/hook_additional_context", &[Attachment], "words of a hook, given to the model"),
    gives("attachment/hook_blocking_error", &[Denial], "a hook blocked"),
    gives("attachment/hook_cancelled", NOTE, HOOK),
    gives("attachment/hook_non_blocking_error", NOTE, HOOK),
    gives("attachment/hook_permission_decision", &[Denial, Note], "a denial if the hook denied"),
    gives("attachment/hook_success", NOTE, HOOK),
    gives("attachment/hook_system_message", NOTE, HOOK),
    gives("attachment/invoked_skills", NOTE, CONTEXT),
    gives("attachment/max_turns_reached", NOTE, CONTEXT),
    gives("attachment/mcp_instructions_delta", NOTE, CONTEXT),
    gives("attachment/mcp_resource", &[Attachment], "a resource of an MCP server"),
    gives("attachment/model", &[Model], "the model the program says it uses"),
    gives("attachment/nested_memory", &[Attachment], "a rule file loaded on the way"),
    gives("attachment/plan_mode", NOTE, MODE),
    gives("attachment/plan_mode_exit", NOTE, MODE),
    gives("attachment/plan_mode_reentry", NOTE, MODE),
    gives("attachment/prompt_snapshot", NOTE, CONTEXT),
    gives(
        "attachment/queued_command",
        &[User, Subagent, ToolResult, Note],
        "typed while the agent worked and delivered in the middle of the turn; or the end of a background task",
    ),
    gives("attachment/read_truncation_notice", NOTE, CONTEXT),
    gives("attachment/relevant_memories", &[Attachment], "memory files the program chose"),
    gives("attachment/remote_session_change", NOTE, CONTEXT),
    gives("attachment/session_context", NOTE, CONTEXT),
    gives("attachment/silent_turn_reminder", NOTE, CONTEXT),
    gives("attachment/skill_listing", NOTE, CONTEXT),
    gives("attachment/structured_output", NOTE, CONTEXT),
    gives("attachment/task_reminder", &[Note, Plan], "a plan if the list is not empty and changed"),
    gives("attachment/task_status", NOTE, CONTEXT),
    gives("attachment/teammate_mailbox", &[Subagent], "words of another agent of the team"),
    gives("attachment/todo_reminder", &[Note, Plan], "a plan if the list is not empty and changed"),
    gives("attachment/total_tokens_reminder", NOTE, CONTEXT),
    gives("attachment/ultra_effort_enter", NOTE, MODE),
    gives("attachment/ultra_effort_exit", NOTE, MODE),
    gives("attribution-snapshot", NOTE, STATE),
    gives("bridge-session", NOTE, STATE),
    gives("checkpoint", NOTE, STATE),
    gives("content-replacement", NOTE, STATE),
    gives("continued-in", NOTE, "the session goes on under another id"),
    gives("cost-state", &[Usage], "sums of the session so far; a check, never added"),
    gives("custom-title", NOTE, "title the user gave"),
    gives("data-flow-*", NOTE, STATE),
    gives("derived-from", NOTE, "sessions this one was made from"),
    gives("dev-mods", NOTE, STATE),
    gives("ended-by-model", NOTE, STATE),
    gives("file-history-delta", NOTE, "which file was backed up before an edit"),
    gives("file-history-snapshot", NOTE, "which files were backed up at a prompt"),
    folded("file/custom-title", "title the user gave; the log repeats it"),
    may_fold("file/meta", &[Subagent], "ties a sub-agent to its call, where no result does yet"),
    folded("file/task", "an entry of the task list; the log has its changes"),
    folded("file/todos", "the todo list; the log has its changes"),
    gives("file/workflow", NOTE, "a workflow run"),
    gives("fork-context-ref", NOTE, STATE),
    gives("frame-link", NOTE, "a page that was published"),
    gives("history-suppression", NOTE, STATE),
    gives("isolation-latch", NOTE, STATE),
    gives("last-prompt", NOTE, "a copy of the last prompt; not indexed"),
    gives("memory-mode", NOTE, STATE),
    gives("mode", NOTE, STATE),
    gives("observer-ref", NOTE, STATE),
    gives("permission-mode", NOTE, STATE),
    gives("pr-link", NOTE, "a pull request made in the session; the last one of a number holds"),
    may_fold(
        "progress/agent_progress",
        &[
            User,
            Assistant,
            Reasoning,
            ToolCall,
            ToolResult,
            Plan,
            Compaction,
            Interruption,
            Denial,
            Error,
            Model,
            Subagent,
            Attachment,
            Note,
            Unknown,
        ],
        "messages of a sub-agent again; events only if its own file is absent, tokens never",
    ),
    folded("progress/bash_progress", "output so far; the result has it"),
    folded("progress/hook_progress", "a hook runs"),
    folded("progress/mcp_progress", "an MCP call runs"),
    folded("progress/query_update", "a web search runs"),
    folded("progress/search_results_received", "a web search runs"),
    folded("progress/waiting_for_task", "a background task runs"),
    gives("queue-operation", NOTE, "the prompt queue; its text comes again as a prompt and is not indexed"),
    gives("relocated", NOTE, "the session moved to another folder"),
    gives("result", NOTE, "workflow journal: an agent ended"),
    gives("resume-head-vouch", NOTE, STATE),
    gives("rewind", &[Rewind], "a prompt that hangs on an older record, whose earlier answer it abandons"),
    gives("session", &[Session], "the first record of the conversation in a file"),
    gives("session-owner", NOTE, STATE),
    gives("session/changed", NOTE, "folder, branch, version or entry point is another than before"),
    gives("started", NOTE, "workflow journal: an agent started"),
    gives("summary", NOTE, "title of the conversation that ends at its leaf, mostly of another file"),
    gives("system", NOTE, "a notice without a name, as hooks of 1.0.5x left them"),
    gives("system/agents_killed", NOTE, "background agents were ended"),
    gives("system/api_error", &[Error], "a try failed and will be repeated"),
    gives("system/api_refusal", &[Error], "the model refused"),
    gives("system/away_summary", NOTE, "a recap for the returning user"),
    gives("system/bridge_status", NOTE, STATE),
    may_fold("system/compact_boundary", &[Compaction], "folded into the summary that follows it"),
    gives("system/error", &[Error], "something went wrong in the program"),
    gives("system/file_snapshot", NOTE, STATE),
    gives("system/informational", NOTE, "a notice"),
    gives(
        "system/local_command",
        &[Note, Model],
        "a slash command without a model turn; /model changes the model",
    ),
    gives("system/memory_saved", NOTE, "a memory was written"),
    gives("system/microcompact_boundary", &[Compaction], "old tool results were cleared"),
    gives("system/model_consent_fallback", &[Model], "another model went on"),
    gives("system/model_fallback", &[Model], "another model went on"),
    gives("system/model_refusal_fallback", &[Model], "another model went on after a refusal"),
    gives("system/permission_retry", NOTE, STATE),
    gives("system/read_divider", NOTE, STATE),
    gives("system/scheduled_task_fire", NOTE, "a scheduled task begins"),
    gives("system/session_start", NOTE, STATE),
    gives("system/stop_hook_summary", NOTE, "what the hooks at the end of a turn said"),
    gives("system/thinking", NOTE, STATE),
    gives("system/turn_duration", NOTE, "a turn ended"),
    gives("tag", NOTE, "a label the user gave"),
    gives("tools-used", NOTE, STATE),
    gives("unknown", &[Unknown], "anything else; kept whole"),
    gives("user/bash_input", &[User], "a command typed behind `!`"),
    gives(
        "user/command",
        &[Note, User],
        "a slash command; the user's words if it has some and starts a model turn",
    ),
    gives("user/command_output", &[ToolResult], "what a typed command printed"),
    gives("user/compact_summary", &[Compaction], "the summary; joins the boundary before it"),
    gives("user/document", &[Attachment], "a document given along"),
    gives("user/ide", &[Attachment], "what the editor has open or selected"),
    gives("user/image", &[Attachment], "an image given along; its bytes stay in the raw record"),
    may_fold(
        "user/interruption",
        &[Interruption],
        "folded into the denial when the user only refused a call",
    ),
    gives("user/meta", NOTE, "words of the program: caveats, hook feedback, requests to go on"),
    gives("user/plan", &[Plan], "the accepted plan, given to a fresh context"),
    gives("user/prompt", &[User], "typed by a person; in a sub-agent, its task"),
    gives("user/skill", &[Attachment], "the text of a skill or slash command"),
    gives("user/task_notification", &[Subagent, ToolResult], "a background task ended; a turn begins"),
    may_fold(
        "user/tool_result",
        &[ToolResult, Denial, Subagent, Plan],
        "the denial of a call that was in truth cut off is folded",
    ),
    gives("worktree-state", NOTE, "the session entered a git worktree"),
];

/// The row of this name.
pub(super) fn row(record: &str) -> Option<&'static Row> {
    named("", record)
}

/// The row `<family><name>`, such as `system/` and `turn_duration`.
pub(super) fn named(family: &str, name: &str) -> Option<&'static Row> {
    let wanted = || family.bytes().chain(name.bytes());
    let at = ROWS.binary_search_by(|row| row.record.bytes().cmp(wanted())).ok()?;
    ROWS.get(at)
}

/// The row of a side record, by its type.
pub(super) fn side(name: &str) -> Option<&'static Row> {
    // Only bare names: `user/image` is no type that a record has.
    row(name)
        .filter(|_| {
            !name.contains(['/', '*']) && !matches!(name, "rewind" | "session" | "system" | "unknown")
        })
        .or_else(|| {
            ["artifact-*", "data-flow-*"]
                .into_iter()
                .find(|family| name.starts_with(family.trim_end_matches('*')))
                .and_then(row)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_found_by_name() {
        assert!(ROWS.is_sorted_by_key(|row| row.record));
        for wanted in ROWS {
            assert_eq!(row(wanted.record).map(|row| row.record), Some(wanted.record));
        }
        assert_eq!(named("system/", "turn_duration").map(|row| row.record), Some("system/turn_duration"));
        assert!(named("system/", "nope").is_none());
    }

    #[test]
    fn side_records_are_found_by_their_type_alone() {
        assert_eq!(side("mode").map(|row| row.record), Some("mode"));
        assert_eq!(side("artifact-published").map(|row| row.record), Some("artifact-*"));
        for name in ["user/image", "session", "rewind", "system", "artifact-*", "x"] {
            assert!(side(name).is_none() || name == "artifact-*", "{name}");
        }
    }
}
