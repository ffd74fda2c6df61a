//! From one record of a rollout to its drafts: the entry of the parser.
//!
//! Three envelopes (0.8 - 0.29 bare, then `{timestamp, type, payload}`, with an
//! `ordinal` from 0.149 on) are read into one [`Line`]; each family of records
//! has its own file from there. Which envelope it is never matters afterwards:
//! a thread of one version is continued in the same file by the next.

use retro_model::{Kind, Native, Origin, Part as Piece, Timestamp};
use retro_text::{Redacted, redact};
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use super::state::State;
use super::{act, call, mapping, message, meta, notice, output, usage};
pub(super) use crate::json::pick;
use crate::{Draft, Json, Out, Parse, Part, Record, field};

/// Copies of one fork follow each other within so many milliseconds. They share
/// one write time in every recorded fork (0.130); a long history may take longer.
const COPY_GAP_MS: i64 = 5;

/// Bytes of the number of an occurrence and what stands around it.
const OCCURRENCE_BYTES_MAX: usize = 6;

/// Reads the records of one rollout.
pub(super) struct Parser {
    part: Part,
    state: State,
}

impl Parser {
    pub(super) fn new(part: &Part, state: Option<&[u8]>) -> Parser {
        Parser { part: part.clone(), state: State::load(state) }
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
        self.state.save()
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

/// An item of the conversation.
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

/// Something the program tells beside the conversation.
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

/// `item_completed` (0.149 on): what older versions told as events of many kinds.
fn completed(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let Some(item) = line.payload.get("item").filter(|item| item.is_object()) else {
        return line.unknown(out);
    };
    // A review's items stand in its parent too, under the review's thread id (0.166).
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

/// The thread a record was copied from, if it was.
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
        // Ids of turns begin with their time: one that is younger than the thread is its own.
        (Some(turn), _) => state.chain.first().is_some_and(|own| turn > own.as_str()),
        (None, Some(now)) => !(0..=COPY_GAP_MS).contains(&(now - copied_at)),
        (None, None) => false,
    };
    state.copied_at = if own { None } else { Some(now.unwrap_or(copied_at)) };
    parent.filter(|_| !own)
}

/// One record, out of its envelope.
pub(super) struct Line<'r> {
    pub record: &'r Record<'r>,
    pub payload: &'r Json<'r>,
    pub ts: Option<Timestamp>,
    /// No envelope (0.8 - 0.29).
    pub bare: bool,
    /// The thread it was copied from.
    pub copy_of: Option<String>,
    /// The turn it belongs to.
    pub turn: Option<String>,
}

impl Line<'_> {
    /// A draft of this record with everything the record tells of all its events.
    pub(super) fn draft(&self, row: &'static str, piece: Piece, kind: Kind, origin: Origin) -> Draft {
        let mut draft = self.nameless(row, piece, kind, origin);
        let own_id = self.own_id(row);
        if self.ts.is_some() || own_id.is_some() {
            match own_id.or_else(|| field::some(self.payload, "call_id")) {
                Some(id) => self.identify(&mut draft, row, id),
                None => self.identify(&mut draft, row, &format!("{:x}", fingerprint(self.payload))),
            }
        }
        draft
    }

    /// The same without an identity, for whoever gives it one.
    pub(super) fn nameless(&self, row: &'static str, piece: Piece, kind: Kind, origin: Origin) -> Draft {
        let mut draft = self.record.draft(row, piece, kind, origin).at(self.ts);
        let message_id = self.own_id(row).map(id);
        draft.event.native = Native { message_id, turn_id: self.turn.clone(), ..Native::default() };
        draft.event.copy_of = self.copy_of.clone();
        draft
    }

    fn own_id(&self, row: &str) -> Option<&str> {
        field::some(self.payload, "id").filter(|_| !row.starts_with("item/"))
    }

    /// Names what a draft is, in words that stay when the program rewrites the
    /// file in another form: migrating a rollout (0.166) keeps times and items,
    /// and tells events under other names.
    pub(super) fn identify(&self, draft: &mut Draft, what: &str, key: &str) {
        let mut ms = itoa::Buffer::new();
        let ms = ms.format(self.ts.map_or(0, Timestamp::as_millis));
        let label = label(&draft.event.id.part);
        let pieces = [what, "|", ms, "|", key, "|", &label];
        // Settling says behind it which of its kind it is.
        let room = draft.event.id.source.as_str().len() + OCCURRENCE_BYTES_MAX;
        let mut identity =
            String::with_capacity(pieces.iter().map(|piece| piece.len()).sum::<usize>() + room);
        pieces.iter().for_each(|piece| identity.push_str(piece));
        draft.hint.identity = Some(identity);
    }

    /// The whole record, as something that is not known.
    pub(super) fn unknown(&self, out: &mut Out) {
        let mut draft = self.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
        draft.event.data = Some(self.record.json.redacted());
        out.push(draft);
    }

    /// A field of the object that stands beside the payload (0.166).
    pub(super) fn is_marked(&self, name: &str) -> bool {
        self.record.json.get("metadata").is_some_and(|metadata| field::is(metadata, name))
    }
}

/// Which event of its record, for identities.
fn label(piece: &Piece) -> Cow<'static, str> {
    match piece {
        Piece::Whole => Cow::Borrowed(""),
        Piece::Block(index) => Cow::Owned(index.to_string()),
        Piece::Tag(tag) => Cow::Borrowed(tag),
    }
}

/// A redacted text, unless it is empty.
pub(super) fn words(text: &str) -> Option<Redacted<String>> {
    (!text.is_empty()).then(|| redact(text))
}

/// A name from the log, such as a model's, without what looks like a secret.
pub(super) fn clean(name: &str) -> String {
    redact(name).into_inner()
}

/// An id from the log. What is shaped like an id stays as it is, so that ids
/// that belong together stay equal.
pub(super) fn id(text: &str) -> String {
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'/' | b'~');
    if text.len() <= 128 && text.bytes().all(plain) { text.to_owned() } else { clean(text) }
}

/// A number that is equal for equal words.
pub(super) fn print_of(words: &str) -> u64 {
    xxh3_64(words.trim().as_bytes())
}

/// A number that is equal for equal values.
pub(super) fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = Xxh3Default::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The row of a record that the table must have; what it lacks is unknown.
pub(super) fn row(family: &str, name: &str) -> &'static str {
    mapping::named(family, name).unwrap_or("unknown")
}
