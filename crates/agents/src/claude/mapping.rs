//! The records that Claude Code writes, and the events that each becomes.
//!
//! One sorted table, for people and for the parser: a record type that is not listed stays
//! `unknown`, and a listed one may give only the kinds of events of its row. Rows are named after
//! the record as it is in the log: `system/<subtype>`, `attachment/<type>`, `progress/<type>`,
//! `user/<kind of block>`, `assistant/<block>`, `file/<document>`, and side records by their bare
//! type.

use retro_model::Kind::{self, *};

use crate::{Row, mapping};

const NOTE: &[Kind] = &[Note];

const CONTEXT: &str = "context the program gives the model; not indexed";
const STATE: &str = "state of the program; the last one holds";
const HOOK: &str = "a hook ran";
const MODE: &str = "a mode was switched";

/// Every row, sorted by name.
pub(super) static ROWS: &[Row] = &[
    Row::gives("agent-color", NOTE, STATE),
    Row::gives("agent-name", NOTE, "name of the session, carried over by /clear"),
    Row::gives("agent-setting", NOTE, STATE),
    Row::gives("ai-title", NOTE, "title the program had made"),
    Row::folded("api-request", "one HTTP try; its id proves whose answer it is"),
    Row::folded("api-request-blob", "a second copy of a message, by hash"),
    Row::folded("api-request-shape", "system prompt and tool schemas, by hash"),
    Row::gives("artifact-*", NOTE, STATE),
    Row::gives("assistant/error", &[Error], "an API error, told as a synthetic answer"),
    Row::gives("assistant/fallback", &[Model], "another model went on"),
    Row::gives("assistant/model", &[Model], "another model than before answers on this thread"),
    Row::gives("assistant/redacted_thinking", &[Reasoning], "thinking that is encrypted"),
    Row::gives("assistant/synthetic", NOTE, "put in by the program; never a model's words, never counted"),
    Row::gives("assistant/text", &[Assistant], "words of the model"),
    Row::gives("assistant/thinking", &[Reasoning], "often empty, with only a signature"),
    Row::gives("assistant/tool_use", &[ToolCall], "class by the tool's name"),
    Row::may_fold(
        "assistant/usage",
        &[Usage],
        "once a response: the line with the largest output, the later on a tie",
    ),
    Row::gives("atis-latch", NOTE, STATE),
    Row::gives("attachment/agent_listing_delta", NOTE, CONTEXT),
    Row::gives("attachment/async_hook_response", NOTE, HOOK),
    Row::gives("attachment/auto_mode", NOTE, MODE),
    Row::gives("attachment/batching_reminder_sent", NOTE, CONTEXT),
    Row::gives("attachment/budget_usd", NOTE, CONTEXT),
    Row::gives("attachment/command_permissions", NOTE, "tools a slash command may use"),
    Row::gives(
        "attachment/compact_file_reference",
        &[Attachment],
        "a file named, not restored, after a compaction",
    ),
    Row::gives("attachment/date", NOTE, CONTEXT),
    Row::gives("attachment/date_change", NOTE, CONTEXT),
    Row::gives("attachment/deferred_tools_delta", NOTE, CONTEXT),
    Row::gives("attachment/deferred_tools_record", NOTE, CONTEXT),
    Row::gives("attachment/diagnostics", &[Attachment], "what an editor or language server reports"),
    Row::gives("attachment/directory", &[Attachment], "a folder the user mentioned"),
    Row::gives("attachment/dynamic_skill", NOTE, CONTEXT),
    Row::gives(
        "attachment/edited_text_file",
        &[Attachment],
        "a file changed by something else than the edit tools",
    ),
    Row::gives("attachment/environment", NOTE, CONTEXT),
    Row::gives(
        "attachment/file",
        &[Attachment],
        "a file the user mentioned, or one restored after a compaction",
    ),
    Row::gives("attachment/goal_status", NOTE, CONTEXT),
    Row::gives("attachment/hook_*", NOTE, HOOK),
    Row::gives("attachment/hook_additional_context", &[Attachment], "words of a hook, given to the model"),
    Row::gives("attachment/hook_blocking_error", &[Denial], "a hook blocked"),
    Row::gives("attachment/hook_cancelled", NOTE, HOOK),
    Row::gives("attachment/hook_non_blocking_error", NOTE, HOOK),
    Row::gives("attachment/hook_permission_decision", &[Denial, Note], "a denial if the hook denied"),
    Row::gives("attachment/hook_success", NOTE, HOOK),
    Row::gives("attachment/hook_system_message", NOTE, HOOK),
    Row::gives("attachment/invoked_skills", NOTE, CONTEXT),
    Row::gives("attachment/max_turns_reached", NOTE, CONTEXT),
    Row::gives("attachment/mcp_instructions_delta", NOTE, CONTEXT),
    Row::gives("attachment/mcp_resource", &[Attachment], "a resource of an MCP server"),
    Row::gives("attachment/model", &[Model], "the model the program says it uses"),
    Row::gives("attachment/nested_memory", &[Attachment], "a rule file loaded on the way"),
    Row::gives("attachment/plan_mode", NOTE, MODE),
    Row::gives("attachment/plan_mode_exit", NOTE, MODE),
    Row::gives("attachment/plan_mode_reentry", NOTE, MODE),
    Row::gives("attachment/prompt_snapshot", NOTE, CONTEXT),
    Row::gives(
        "attachment/queued_command",
        &[User, Subagent, ToolResult, Note],
        "typed while the agent worked and delivered in the middle of the turn; or the end of a background task",
    ),
    Row::gives("attachment/read_truncation_notice", NOTE, CONTEXT),
    Row::gives("attachment/relevant_memories", &[Attachment], "memory files the program chose"),
    Row::gives("attachment/remote_session_change", NOTE, CONTEXT),
    Row::gives("attachment/session_context", NOTE, CONTEXT),
    Row::gives("attachment/silent_turn_reminder", NOTE, CONTEXT),
    Row::gives("attachment/skill_listing", NOTE, CONTEXT),
    Row::gives("attachment/structured_output", NOTE, CONTEXT),
    Row::gives("attachment/task_reminder", &[Note, Plan], "a plan if the list is not empty and changed"),
    Row::gives("attachment/task_status", NOTE, CONTEXT),
    Row::gives("attachment/teammate_mailbox", &[Subagent], "words of another agent of the team"),
    Row::gives("attachment/todo_reminder", &[Note, Plan], "a plan if the list is not empty and changed"),
    Row::gives("attachment/total_tokens_reminder", NOTE, CONTEXT),
    Row::gives("attachment/ultra_effort_enter", NOTE, MODE),
    Row::gives("attachment/ultra_effort_exit", NOTE, MODE),
    Row::gives("attribution-snapshot", NOTE, STATE),
    Row::gives("bridge-session", NOTE, STATE),
    Row::gives("checkpoint", NOTE, STATE),
    Row::gives("content-replacement", NOTE, STATE),
    Row::gives("continued-in", NOTE, "the session goes on under another id"),
    Row::gives("cost-state", &[Usage], "sums of the session so far; a check, never added"),
    Row::gives("custom-title", NOTE, "title the user gave"),
    Row::gives("data-flow-*", NOTE, STATE),
    Row::gives("derived-from", NOTE, "sessions this one was made from"),
    Row::gives("dev-mods", NOTE, STATE),
    Row::gives("ended-by-model", NOTE, STATE),
    Row::gives("file-history-delta", NOTE, "which file was backed up before an edit"),
    Row::gives("file-history-snapshot", NOTE, "which files were backed up at a prompt"),
    Row::folded("file/custom-title", "title the user gave; the log repeats it"),
    Row::may_fold("file/meta", &[Subagent], "ties a sub-agent to its call, where no result does yet"),
    Row::folded("file/task", "an entry of the task list; the log has its changes"),
    Row::folded("file/todos", "the todo list; the log has its changes"),
    Row::gives("file/workflow", NOTE, "a workflow run"),
    Row::gives("fork-context-ref", NOTE, STATE),
    Row::gives("frame-link", NOTE, "a page that was published"),
    Row::gives("history-suppression", NOTE, STATE),
    Row::gives("isolation-latch", NOTE, STATE),
    Row::gives("last-prompt", NOTE, "a copy of the last prompt; not indexed"),
    Row::gives("memory-mode", NOTE, STATE),
    Row::gives("mode", NOTE, STATE),
    Row::gives("observer-ref", NOTE, STATE),
    Row::gives("permission-mode", NOTE, STATE),
    Row::gives("pr-link", NOTE, "a pull request made in the session; the last one of a number holds"),
    Row::may_fold(
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
            Usage,
            Note,
            Unknown,
        ],
        "messages of a sub-agent again; events only if its own file is absent, tokens only if no other record has them",
    ),
    Row::folded("progress/bash_progress", "output so far; the result has it"),
    Row::folded("progress/hook_progress", "a hook runs"),
    Row::folded("progress/mcp_progress", "an MCP call runs"),
    Row::folded("progress/query_update", "a web search runs"),
    Row::folded("progress/search_results_received", "a web search runs"),
    Row::folded("progress/waiting_for_task", "a background task runs"),
    Row::may_fold(
        "queue-operation",
        &[Note, User],
        "the prompt queue; its text comes again as a prompt. A prompt that comes nowhere else is the user's",
    ),
    Row::gives("relocated", NOTE, "the session moved to another folder"),
    Row::gives("result", NOTE, "workflow journal: an agent ended"),
    Row::gives("resume-head-vouch", NOTE, STATE),
    Row::gives(
        "rewind",
        &[Rewind],
        "a prompt that hangs on an older record, whose earlier answer it abandons",
    ),
    Row::gives("session", &[Session], "the first record of the conversation in a file"),
    Row::gives("session-owner", NOTE, STATE),
    Row::gives("session/changed", NOTE, "folder, branch, version or entry point is another than before"),
    Row::gives("started", NOTE, "workflow journal: an agent started"),
    Row::gives("summary", NOTE, "title of the conversation that ends at its leaf, mostly of another file"),
    Row::gives("system", NOTE, "a notice without a name, as hooks of 1.0.5x left them"),
    Row::gives("system/agents_killed", NOTE, "background agents were ended"),
    Row::gives("system/api_error", &[Error], "a try failed and will be repeated"),
    Row::gives("system/api_refusal", &[Error], "the model refused"),
    Row::gives("system/away_summary", NOTE, "a recap for the returning user"),
    Row::gives("system/bridge_status", NOTE, STATE),
    Row::may_fold("system/compact_boundary", &[Compaction], "folded into the summary that follows it"),
    Row::gives("system/error", &[Error], "something went wrong in the program"),
    Row::gives("system/file_snapshot", NOTE, STATE),
    Row::gives("system/informational", NOTE, "a notice"),
    Row::gives(
        "system/local_command",
        &[Note, Model],
        "a slash command without a model turn; /model changes the model",
    ),
    Row::gives("system/memory_saved", NOTE, "a memory was written"),
    Row::gives("system/microcompact_boundary", &[Compaction], "old tool results were cleared"),
    Row::gives("system/model_consent_fallback", &[Model], "another model went on"),
    Row::gives("system/model_fallback", &[Model], "another model went on"),
    Row::gives("system/model_refusal_fallback", &[Model], "another model went on after a refusal"),
    Row::gives("system/permission_retry", NOTE, STATE),
    Row::gives("system/read_divider", NOTE, STATE),
    Row::gives("system/scheduled_task_fire", NOTE, "a scheduled task begins"),
    Row::gives("system/session_start", NOTE, STATE),
    Row::gives("system/stop_hook_summary", NOTE, "what the hooks at the end of a turn said"),
    Row::gives("system/thinking", NOTE, STATE),
    Row::gives("system/turn_duration", NOTE, "a turn ended"),
    Row::gives("tag", NOTE, "a label the user gave"),
    Row::gives("tools-used", NOTE, STATE),
    Row::gives("unknown", &[Unknown], "anything else; kept whole"),
    Row::gives("user/bash_input", &[User], "a command typed behind `!`"),
    Row::gives(
        "user/command",
        &[Note, User],
        "a slash command; the user's words if it has some and starts a model turn",
    ),
    Row::gives("user/command_output", &[ToolResult], "what a typed command printed"),
    Row::gives("user/compact_summary", &[Compaction], "the summary; joins the boundary before it"),
    Row::gives("user/document", &[Attachment], "a document given along"),
    Row::gives("user/ide", &[Attachment], "what the editor has open or selected"),
    Row::gives("user/image", &[Attachment], "an image given along; its bytes stay in the raw record"),
    Row::may_fold(
        "user/interruption",
        &[Interruption],
        "folded into the denial when the user only refused a call",
    ),
    Row::gives("user/meta", NOTE, "words of the program: caveats, hook feedback, requests to go on"),
    Row::gives("user/peer", &[Subagent, User, Note], "words of another agent; in a sub-agent, its task"),
    Row::gives("user/plan", &[Plan], "the accepted plan, given to a fresh context"),
    Row::gives("user/prompt", &[User], "typed by a person; in a sub-agent, its task"),
    Row::gives("user/skill", &[Attachment], "the text of a skill or slash command"),
    Row::gives("user/task_notification", &[Subagent, ToolResult], "a background task ended; a turn begins"),
    Row::may_fold(
        "user/tool_result",
        &[ToolResult, Denial, Subagent, Plan],
        "the denial of a call that was in truth cut off is folded",
    ),
    Row::gives("worktree-state", NOTE, "the session entered a git worktree"),
];

/// The row of this name.
pub(super) fn row(record: &str) -> Option<&'static Row> {
    named("", record)
}

/// The row `<family><name>`, such as `system/` and `turn_duration`.
pub(super) fn named(family: &str, name: &str) -> Option<&'static Row> {
    mapping::named(ROWS, family, name)
}

/// The row of a side record, by its type.
pub(super) fn side(name: &str) -> Option<&'static Row> {
    // Only bare names: `user/image` is not a type of record.
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
    fn side_records_are_found_by_their_type_alone() {
        assert_eq!(side("mode").map(|row| row.record), Some("mode"));
        assert_eq!(side("artifact-published").map(|row| row.record), Some("artifact-*"));
        for name in ["user/image", "session", "rewind", "system", "artifact-*", "x"] {
            assert!(side(name).is_none() || name == "artifact-*", "{name}");
        }
    }
}
