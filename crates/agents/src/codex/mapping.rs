//! The records Codex writes and what becomes of each.
//!
//! One sorted table, for readers and for the parser: a record that is not here
//! stays `unknown`, and whatever is here may give the kinds of events of its row
//! and no others. Rows are named like the log names the record:
//! `response_item/<type>` (bare items of 0.8 - 0.29 too), `event_msg/<type>`,
//! `item/<type>` for `event_msg/item_completed`, `exec/<type>` for the stream of
//! `codex exec --json`, and other records by their bare type.

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
const ACT: &[Kind] = &[ToolCall, ToolResult];
const ANSWER: &[Kind] = &[ToolResult, Denial, Interruption];

const ECHO: &str = "an utterance again; an event only if the conversation lacks it";
const COMPLETES: &str =
    "completes the call and its result; both of its own where the conversation has no such call";
const STATE: &str = "state of the program";
const STREAM: &str = "an event only if the thread has no rollout";

/// Every row, sorted by name.
pub(super) static ROWS: &[Row] = &[
    gives("compacted", &[Compaction], "the context was summarized; the history it keeps is never opened"),
    may_fold("event_msg/agent_message", &[Assistant, Note], ECHO),
    may_fold("event_msg/agent_reasoning", &[Reasoning], ECHO),
    may_fold("event_msg/agent_reasoning_raw_content", &[Reasoning], ECHO),
    may_fold("event_msg/collab_agent_interaction_end", ACT, COMPLETES),
    gives("event_msg/collab_agent_spawn_end", &[Subagent], "a child thread was started"),
    may_fold("event_msg/collab_close_end", ACT, COMPLETES),
    may_fold("event_msg/collab_waiting_end", ACT, COMPLETES),
    folded("event_msg/context_compacted", "marks the compaction before it"),
    may_fold("event_msg/dynamic_tool_call_request", ACT, COMPLETES),
    may_fold("event_msg/dynamic_tool_call_response", ACT, COMPLETES),
    gives("event_msg/entered_review_mode", &[Subagent], "a review begins, in a thread of its own"),
    gives("event_msg/error", &[Error], "something went wrong"),
    may_fold("event_msg/exec_command_end", ACT, COMPLETES),
    gives("event_msg/exited_review_mode", &[Subagent], "a review ended, with its findings"),
    gives("event_msg/guardian_assessment", &[Note, Denial], "a denial if the call was refused"),
    may_fold("event_msg/image_generation_end", ACT, COMPLETES),
    may_fold("event_msg/mcp_tool_call_end", ACT, COMPLETES),
    may_fold("event_msg/patch_apply_end", ACT, COMPLETES),
    gives("event_msg/stream_error", &[Error], "a try failed and is repeated"),
    gives("event_msg/sub_agent_activity", &[Subagent], "a child thread started or ended"),
    gives("event_msg/task_complete", &[Note, Error], "a turn ended; an error if it failed"),
    folded("event_msg/task_started", "a turn begins"),
    gives("event_msg/thread_goal_updated", NOTE, STATE),
    gives("event_msg/thread_name_updated", NOTE, "the thread got a name"),
    gives("event_msg/thread_rolled_back", &[Rewind], "the user went back; the last turns are abandoned"),
    gives("event_msg/thread_settings_applied", NOTE, STATE),
    may_fold(
        "event_msg/token_count",
        &[Usage],
        "a state that is broadcast again and again: counted once a response",
    ),
    gives("event_msg/turn_aborted", &[Interruption], "the turn was cut off"),
    gives("event_msg/undo_completed", NOTE, STATE),
    may_fold("event_msg/user_message", &[User], "typed by a person; in a child thread, its task"),
    may_fold("event_msg/view_image_tool_call", ACT, COMPLETES),
    gives("event_msg/warning", &[Error], "something may be wrong"),
    may_fold("event_msg/web_search_end", ACT, COMPLETES),
    gives("exec/error", &[Error], "told by the stream alone"),
    may_fold("exec/item.completed/agent_message", &[Assistant], STREAM),
    may_fold("exec/item.completed/collab_tool_call", ACT, STREAM),
    may_fold("exec/item.completed/command_execution", ACT, STREAM),
    gives("exec/item.completed/error", &[Error], "told by the stream alone"),
    may_fold("exec/item.completed/file_change", ACT, STREAM),
    may_fold("exec/item.completed/mcp_tool_call", ACT, STREAM),
    may_fold("exec/item.completed/reasoning", &[Reasoning], STREAM),
    may_fold("exec/item.completed/todo_list", &[Plan], STREAM),
    may_fold("exec/item.completed/web_search", ACT, STREAM),
    may_fold(
        "exec/item.started",
        &[ToolCall],
        "an item begins; a call if it never ended and the thread has no rollout",
    ),
    folded("exec/item.updated", "an item so far; its end has it all"),
    may_fold("exec/thread.started", &[Session], STREAM),
    may_fold(
        "exec/turn.completed",
        &[Usage],
        "the thread's sum so far; counted only if the thread has no rollout",
    ),
    may_fold("exec/turn.failed", &[Error], STREAM),
    folded("exec/turn.started", "a turn begins"),
    gives("header", &[Session], "first line of 0.8 - 0.29"),
    gives("inter_agent_communication", NOTE, STATE),
    gives("inter_agent_communication_metadata", NOTE, "whether the message that follows starts a turn"),
    may_fold("item/AgentMessage", &[Assistant, Note], ECHO),
    may_fold("item/CollabAgentToolCall", ACT, COMPLETES),
    may_fold("item/CommandExecution", ACT, COMPLETES),
    folded("item/ContextCompaction", "marks the compaction before it"),
    gives("item/EnteredReviewMode", &[Subagent], "a review begins, in a thread of its own"),
    gives("item/ExitedReviewMode", &[Subagent], "a review ended, with its findings"),
    may_fold("item/Extension", ACT, COMPLETES),
    may_fold("item/FileChange", ACT, COMPLETES),
    gives("item/HookPrompt", NOTE, "words of a hook"),
    may_fold("item/ImageView", ACT, COMPLETES),
    may_fold("item/McpToolCall", ACT, COMPLETES),
    gives("item/Plan", &[Plan], "a plan that was proposed"),
    may_fold("item/Reasoning", &[Reasoning], ECHO),
    gives("item/SubAgentActivity", &[Subagent], "a child thread started or ended"),
    may_fold("item/UserMessage", &[User], "typed by a person; in a child thread, its task"),
    may_fold("item/WebSearch", ACT, COMPLETES),
    folded("record_type/state", "server-side state of 0.8 - 0.29"),
    gives("response_item/additional_tools", NOTE, "tool schemas"),
    gives("response_item/agent_message", &[Subagent], "words of one agent to another"),
    gives("response_item/custom_tool_call", &[ToolCall], "class by the tool's name"),
    may_fold(
        "response_item/custom_tool_call_output",
        ANSWER,
        "an interruption that the turn tells too is folded",
    ),
    gives(
        "response_item/function_call",
        &[ToolCall, Plan],
        "class by the tool's name; update_plan gives a plan too",
    ),
    may_fold(
        "response_item/function_call_output",
        ANSWER,
        "an interruption that the turn tells too is folded",
    ),
    gives("response_item/ghost_snapshot", NOTE, "a git snapshot for undo"),
    gives("response_item/image_generation_call", &[ToolCall], "an image was asked for"),
    gives("response_item/local_shell_call", &[ToolCall], "a command (0.8)"),
    may_fold(
        "response_item/message/assistant",
        &[Assistant, Compaction],
        "a summary is folded into its compaction",
    ),
    gives("response_item/message/developer", NOTE, "context the program gives the model; not indexed"),
    may_fold(
        "response_item/message/user",
        &[User, Note, Attachment, Subagent],
        "folded where an event repeats it as the user's words; else by its head",
    ),
    gives("response_item/reasoning", &[Reasoning], "often without readable words"),
    gives("response_item/tool_search_call", &[ToolCall], "tools were looked up"),
    gives("response_item/tool_search_output", &[ToolResult], "the tools that were found"),
    gives("response_item/web_search_call", &[ToolCall], "has no output; the event beside it is the result"),
    gives("security_risk_score", NOTE, STATE),
    may_fold(
        "session_meta",
        &[Session, Rewind, Note],
        "a resume mark when it comes again; the parent's is folded",
    ),
    may_fold(
        "state/thread",
        NOTE,
        "name, branch and tree of a thread, from the program's database; a note if archived",
    ),
    may_fold("token_usage_record", &[Usage], "tokens of one response"),
    may_fold("turn_context", &[Model], "told when model or effort changed"),
    gives("unknown", &[Unknown], "anything else; kept whole"),
    gives("world_state", NOTE, "what the model was told of its surroundings; not indexed"),
];

/// The name of the row `<family><name>`, such as `event_msg/` and `error`.
pub(super) fn named(family: &str, name: &str) -> Option<&'static str> {
    let compared = |row: &Row| {
        let (head, rest) = row.record.as_bytes().split_at(family.len().min(row.record.len()));
        head.cmp(family.as_bytes()).then_with(|| rest.cmp(name.as_bytes()))
    };
    let at = ROWS.binary_search_by(compared).ok()?;
    ROWS.get(at).map(|row| row.record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_found_by_name() {
        assert!(ROWS.is_sorted_by_key(|row| row.record));
        for row in ROWS {
            assert_eq!(named("", row.record), Some(row.record));
        }
        assert_eq!(named("event_msg/", "error"), Some("event_msg/error"));
        assert_eq!(named("event_msg/", "turn.completed"), None);
    }
}
