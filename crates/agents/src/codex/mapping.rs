//! The records that Codex writes, and the events that each becomes.
//!
//! One sorted table, for people and for the parser: a record that is not listed stays `unknown`,
//! and a listed one may give only the kinds of events of its row. Rows are named after the record
//! as it is in the log: `response_item/<type>` (bare items of 0.8 - 0.29 too), `event_msg/<type>`,
//! `item/<type>` for `event_msg/item_completed`, `exec/<type>` for the stream of
//! `codex exec --json`, and other records by their bare type.

use retro_model::Kind::{self, *};

use crate::{Row, mapping};

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
    Row::gives(
        "compacted",
        &[Compaction],
        "the context was summarized; the history it keeps is never opened",
    ),
    Row::may_fold("event_msg/agent_message", &[Assistant, Note], ECHO),
    Row::may_fold("event_msg/agent_reasoning", &[Reasoning], ECHO),
    Row::may_fold("event_msg/agent_reasoning_raw_content", &[Reasoning], ECHO),
    Row::may_fold("event_msg/collab_agent_interaction_end", ACT, COMPLETES),
    Row::gives("event_msg/collab_agent_spawn_end", &[Subagent], "a child thread was started"),
    Row::may_fold("event_msg/collab_close_end", ACT, COMPLETES),
    Row::may_fold("event_msg/collab_waiting_end", ACT, COMPLETES),
    Row::folded("event_msg/context_compacted", "marks the compaction before it"),
    Row::may_fold("event_msg/dynamic_tool_call_request", ACT, COMPLETES),
    Row::may_fold("event_msg/dynamic_tool_call_response", ACT, COMPLETES),
    Row::gives("event_msg/entered_review_mode", &[Subagent], "a review begins, in a thread of its own"),
    Row::gives("event_msg/error", &[Error], "something went wrong"),
    Row::may_fold("event_msg/exec_command_end", ACT, COMPLETES),
    Row::gives("event_msg/exited_review_mode", &[Subagent], "a review ended, with its findings"),
    Row::gives("event_msg/guardian_assessment", &[Note, Denial], "a denial if the call was refused"),
    Row::may_fold("event_msg/image_generation_end", ACT, COMPLETES),
    Row::may_fold("event_msg/mcp_tool_call_end", ACT, COMPLETES),
    Row::may_fold("event_msg/patch_apply_end", ACT, COMPLETES),
    Row::gives("event_msg/stream_error", &[Error], "a try failed and is repeated"),
    Row::gives("event_msg/sub_agent_activity", &[Subagent], "a child thread started or ended"),
    Row::gives("event_msg/task_complete", &[Note, Error], "a turn ended; an error if it failed"),
    Row::folded("event_msg/task_started", "a turn begins"),
    Row::gives("event_msg/thread_goal_updated", NOTE, STATE),
    Row::gives("event_msg/thread_name_updated", NOTE, "the thread got a name"),
    Row::gives("event_msg/thread_rolled_back", &[Rewind], "the user went back; the last turns are abandoned"),
    Row::gives("event_msg/thread_settings_applied", NOTE, STATE),
    Row::may_fold(
        "event_msg/token_count",
        &[Usage],
        "a state that is broadcast again and again: counted once a response",
    ),
    Row::gives("event_msg/turn_aborted", &[Interruption], "the turn was cut off"),
    Row::gives("event_msg/undo_completed", NOTE, STATE),
    Row::may_fold("event_msg/user_message", &[User], "typed by a person; in a child thread, its task"),
    Row::may_fold("event_msg/view_image_tool_call", ACT, COMPLETES),
    Row::gives("event_msg/warning", &[Error], "something may be wrong"),
    Row::may_fold("event_msg/web_search_end", ACT, COMPLETES),
    Row::gives("exec/error", &[Error], "told by the stream alone"),
    Row::may_fold("exec/item.completed/agent_message", &[Assistant], STREAM),
    Row::may_fold("exec/item.completed/collab_tool_call", ACT, STREAM),
    Row::may_fold("exec/item.completed/command_execution", ACT, STREAM),
    Row::gives("exec/item.completed/error", &[Error], "told by the stream alone"),
    Row::may_fold("exec/item.completed/file_change", ACT, STREAM),
    Row::may_fold("exec/item.completed/mcp_tool_call", ACT, STREAM),
    Row::may_fold("exec/item.completed/reasoning", &[Reasoning], STREAM),
    Row::may_fold("exec/item.completed/todo_list", &[Plan], STREAM),
    Row::may_fold("exec/item.completed/web_search", ACT, STREAM),
    Row::may_fold(
        "exec/item.started",
        &[ToolCall],
        "an item begins; a call if it never ended and the thread has no rollout",
    ),
    Row::folded("exec/item.updated", "an item so far; its end has it all"),
    Row::may_fold("exec/thread.started", &[Session], STREAM),
    Row::may_fold(
        "exec/turn.completed",
        &[Usage],
        "the thread's sum so far; counted only if the thread has no rollout",
    ),
    Row::may_fold("exec/turn.failed", &[Error], STREAM),
    Row::folded("exec/turn.started", "a turn begins"),
    Row::gives("header", &[Session], "first line of 0.8 - 0.29"),
    Row::gives("inter_agent_communication", NOTE, STATE),
    Row::gives("inter_agent_communication_metadata", NOTE, "whether the message that follows starts a turn"),
    Row::may_fold("item/AgentMessage", &[Assistant, Note], ECHO),
    Row::may_fold("item/CollabAgentToolCall", ACT, COMPLETES),
    Row::may_fold("item/CommandExecution", ACT, COMPLETES),
    Row::folded("item/ContextCompaction", "marks the compaction before it"),
    Row::gives("item/EnteredReviewMode", &[Subagent], "a review begins, in a thread of its own"),
    Row::gives("item/ExitedReviewMode", &[Subagent], "a review ended, with its findings"),
    Row::may_fold("item/Extension", ACT, COMPLETES),
    Row::may_fold("item/FileChange", ACT, COMPLETES),
    Row::gives("item/HookPrompt", NOTE, "words of a hook"),
    Row::may_fold("item/ImageView", ACT, COMPLETES),
    Row::may_fold("item/McpToolCall", ACT, COMPLETES),
    Row::gives("item/Plan", &[Plan], "a plan that was proposed"),
    Row::may_fold("item/Reasoning", &[Reasoning], ECHO),
    Row::gives("item/SubAgentActivity", &[Subagent], "a child thread started or ended"),
    Row::may_fold("item/UserMessage", &[User], "typed by a person; in a child thread, its task"),
    Row::may_fold("item/WebSearch", ACT, COMPLETES),
    Row::folded("record_type/state", "server-side state of 0.8 - 0.29"),
    Row::gives("response_item/additional_tools", NOTE, "tool schemas"),
    Row::gives("response_item/agent_message", &[Subagent], "words of one agent to another"),
    Row::may_fold(
        "response_item/custom_tool_call",
        &[ToolCall],
        "class by the tool's name; a call in a script of code mode is folded where items tell of it",
    ),
    Row::may_fold(
        "response_item/custom_tool_call_output",
        ANSWER,
        "an interruption that the turn tells too is folded",
    ),
    Row::gives(
        "response_item/function_call",
        &[ToolCall, Plan],
        "class by the tool's name; update_plan gives a plan too",
    ),
    Row::may_fold(
        "response_item/function_call_output",
        ANSWER,
        "an interruption that the turn tells too is folded",
    ),
    Row::gives("response_item/ghost_snapshot", NOTE, "a git snapshot for undo"),
    Row::gives("response_item/image_generation_call", &[ToolCall], "an image was asked for"),
    Row::gives("response_item/local_shell_call", &[ToolCall], "a command (0.8)"),
    Row::may_fold(
        "response_item/message/assistant",
        &[Assistant, Compaction],
        "a summary is folded into its compaction",
    ),
    Row::gives("response_item/message/developer", NOTE, "context the program gives the model; not indexed"),
    Row::may_fold(
        "response_item/message/user",
        &[User, Note, Attachment, Subagent],
        "folded where an event repeats it as the user's words; else by its head",
    ),
    Row::gives("response_item/reasoning", &[Reasoning], "often without readable words"),
    Row::gives("response_item/tool_search_call", &[ToolCall], "tools were looked up"),
    Row::gives("response_item/tool_search_output", &[ToolResult], "the tools that were found"),
    Row::gives(
        "response_item/web_search_call",
        &[ToolCall],
        "has no output; the event beside it is the result",
    ),
    Row::gives("security_risk_score", NOTE, STATE),
    Row::may_fold(
        "session_meta",
        &[Session, Rewind, Note],
        "a resume mark when it comes again; the parent's is folded",
    ),
    Row::may_fold(
        "state/thread",
        NOTE,
        "name, branch and tree of a thread, from the program's database; a note if archived",
    ),
    Row::may_fold("token_usage_record", &[Usage], "tokens of one response"),
    Row::may_fold("turn_context", &[Model], "told when model or effort changed"),
    Row::gives("unknown", &[Unknown], "anything else; kept whole"),
    Row::gives("world_state", NOTE, "what the model was told of its surroundings; not indexed"),
];

/// The name of the row `<family><name>`, such as `event_msg/` and `error`.
pub(super) fn named(family: &str, name: &str) -> Option<&'static str> {
    mapping::named(ROWS, family, name).map(|row| row.record)
}
