//! The entry of the parser: turns one record of a rollout into drafts.
//!
//! Three envelopes (0.8 - 0.29 bare, then `{timestamp, type, payload}`, with an `ordinal` from
//! 0.149 on) are read into one [`Line`], and each family of records is parsed in its own file. The
//! kind of envelope does not matter afterwards: a newer version continues a thread in the same
//! file.

use retro_model::Timestamp;

use super::line::Line;
use super::state::State;
use super::{act, call, message, meta, notice, output, usage};
use crate::words::id;
use crate::{Out, Parse, Part, Record, field, state};

/// The longest pause between the copies of one fork, in milliseconds. In every recorded fork
/// (0.130) they have the same write time, but a long history may take longer.
const COPY_GAP_MS: i64 = 5;

/// The parser for the records of one rollout.
pub(super) struct Parser {
    part: Part,
    state: State,
}

impl Parser {
    pub(super) fn new(part: &Part, saved: Option<&[u8]>) -> Parser {
        Parser { part: part.clone(), state: state::load(saved) }
    }
}

impl Parse for Parser {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let json = record.json;
        let enveloped = json.get("payload").filter(|payload| payload.is_object());
        let mut line = Line {
            record,
            payload: enveloped.unwrap_or(json),
            ts: field::time(json, "timestamp"),
            bare: enveloped.is_none(),
            copy_of: None,
            turn: None,
        };
        let kind = field::text(json, "type").unwrap_or_default();
        if kind == "session_meta" {
            return meta::session(&line, &self.part, &mut self.state, out);
        }
        line.copy_of = copied_from(&line, kind, &mut self.state);
        line.turn = self.state.turn.clone();
        read(&line, kind, &mut self.state, out);
    }

    fn save(&self) -> Vec<u8> {
        state::save(&self.state)
    }
}

fn read(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    let inner = field::text(line.payload, "type").unwrap_or_default();
    match kind {
        "response_item" if !line.bare => item(line, inner, state, out),
        "event_msg" if !line.bare => event(line, inner, state, out),
        "turn_context" if !line.bare => meta::turn_context(line, state, out),
        "compacted" if !line.bare => notice::compacted(line, out),
        "token_usage_record" if !line.bare => usage::record(line, state, out),
        "" if line.bare => meta::bare(line, state, out),
        _ if line.bare => item(line, kind, state, out),
        _ => notice::side(line, kind, state, out),
    }
}

/// Reads an item of the conversation.
fn item(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    match kind {
        "message" => message::read(line, state, out),
        "reasoning" => message::reasoning(line, out),
        "function_call"
        | "custom_tool_call"
        | "local_shell_call"
        | "tool_search_call"
        | "web_search_call"
        | "image_generation_call" => call::read(line, kind, state, out),
        "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
            output::read(line, kind, state, out);
        }
        "agent_message" => message::of_agent(line, state, out),
        "additional_tools" | "ghost_snapshot" => notice::note(line, "response_item/", kind, out),
        _ => line.unknown(out),
    }
}

/// Reads an event, which the program logs beside the conversation.
fn event(line: &Line<'_>, kind: &str, state: &mut State, out: &mut Out) {
    match kind {
        "item_completed" => completed(line, state, out),
        "user_message" => message::said(line, "event_msg/user_message", None, state, out),
        "agent_message" => message::echo(line, "event_msg/agent_message", state, out),
        "agent_reasoning" | "agent_reasoning_raw_content" => message::thought(line, kind, out),
        "token_count" => usage::count(line, state, out),
        "task_started" => meta::turn_started(line, state, out),
        _ if act::is_event(kind) => act::event(line, kind, state, out),
        _ => notice::event(line, kind, state, out),
    }
}

/// Reads `item_completed` (0.149 on), which replaced many kinds of events.
fn completed(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let Some(item) = line.payload.get("item").filter(|item| item.is_object()) else {
        return line.unknown(out);
    };
    // A review's items are in its parent too, with the review's thread id (0.166).
    let thread = field::some(line.payload, "thread_id");
    let foreign = thread.filter(|thread| state.chain.first().is_some_and(|own| own != thread)).map(id);
    let line = &Line {
        record: line.record,
        payload: line.payload,
        copy_of: line.copy_of.clone().or_else(|| foreign.clone()),
        turn: field::some(line.payload, "turn_id").map(id).or_else(|| line.turn.clone()),
        ..*line
    };
    let kind = field::text(item, "type").unwrap_or_default();
    match kind {
        "UserMessage" => message::said(line, "item/UserMessage", foreign.as_deref(), state, out),
        "AgentMessage" => message::echo(line, "item/AgentMessage", state, out),
        "Reasoning" => message::thought(line, kind, out),
        _ if act::is_item(kind) => act::item(line, kind, item, state, out),
        _ => notice::item(line, kind, item, state, out),
    }
}

/// The thread that a record was copied from, if any.
fn copied_from(line: &Line<'_>, kind: &str, state: &mut State) -> Option<String> {
    let parent = state.chain.get(1).cloned();
    if let (Some(below), Some(ordinal)) = (state.inherited_below, field::count(line.record.json, "ordinal")) {
        return parent.filter(|_| ordinal < below);
    }
    let copied_at = state.copied_at?;
    let starts = field::some(line.payload, "turn_id")
        .filter(|_| kind == "event_msg" && field::text(line.payload, "type") == Some("task_started"));
    let now = line.ts.map(Timestamp::as_millis);
    let own = match (starts, now) {
        // Ids of turns begin with their time: a turn younger than the thread is its own.
        (Some(turn), _) => state.chain.first().is_some_and(|own| turn > own.as_str()),
        (None, Some(now)) => !(0..=COPY_GAP_MS).contains(&(now - copied_at)),
        (None, None) => false,
    };
    state.copied_at = if own { None } else { Some(now.unwrap_or(copied_at)) };
    parent.filter(|_| !own)
}
