//! `updates.jsonl`: what was shown to the user, line by line.
//!
//! A line wraps an update of the Agent Client Protocol, or one of Grok's own,
//! with the time and number the process gave it. Numbers begin anew with every
//! process, and a fork has its parent's lines with the parent's numbers: the
//! session in front of the number says whose line it is.

use retro_model::{Kind, Native, Origin, Part as Piece, Timestamp};
use serde_json::{Value, json};

use super::record::{as_unknown, clean, fingerprint, id, label, pick, told, without, words};
use super::state::State;
use super::{call, mapping, result, side, turn};
use crate::field;
use crate::{Draft, Json, Out, Record};

/// One line, taken apart.
pub(super) struct Line<'r> {
    pub record: &'r Record<'r>,
    pub update: &'r Json<'r>,
    pub meta: &'r Json<'r>,
    pub ts: Option<Timestamp>,
    pub event_id: Option<&'r str>,
    /// The session that wrote the line first.
    pub owner: &'r str,
    /// Whether the line was copied from another session.
    pub inherited: bool,
}

impl<'r> Line<'r> {
    fn read(record: &'r Record<'r>, session: &'r str) -> Option<(Line<'r>, &'r str)> {
        let params = record.json.get("params")?;
        let update = params.get("update")?;
        let kind = field::some(update, "sessionUpdate")?;
        let meta = params.get("_meta").unwrap_or(&Json::Null);
        let event_id = field::some(meta, "eventId");
        let owner = event_id.and_then(numbered).map_or(session, |(owner, _)| owner);
        let millis = meta.get("agentTimestampMs").and_then(Json::as_i64);
        // When it was written, in whole seconds: all there is on a line without the other.
        let seconds = || record.json.get("timestamp").and_then(Json::as_i64)?.checked_mul(1000);
        let ts = millis.or_else(seconds).and_then(Timestamp::from_millis);
        Some((Line { record, update, meta, ts, event_id, owner, inherited: owner != session }, kind))
    }

    /// A draft of this line with everything the line tells of all its events.
    pub(super) fn draft(&self, row: &'static str, piece: Piece, kind: Kind, origin: Origin) -> Draft {
        let mut draft = self.record.draft(row, piece, kind, origin).at(self.ts);
        draft.event.native = Native {
            uuid: self.event_id.map(id),
            turn_id: field::some(self.meta, "promptId").map(id),
            ..Native::default()
        };
        if let Some(event_id) = self.event_id {
            if self.inherited {
                draft.event.copy_of = Some(format!("{}#{}", id(self.owner), id(event_id)));
            }
            // The number is unique within one process, number and time within the session.
            let millis = self.ts.map_or(0, Timestamp::as_millis);
            draft.hint.identity = Some(format!("{event_id}@{millis}#{}", label(&draft.event.id.part)));
        }
        draft
    }

    /// When the answer that this line is a part of began: the same for all its lines.
    pub(super) fn stream(&self) -> i64 {
        self.meta.get("streamStartMs").and_then(Json::as_i64).unwrap_or(0)
    }

    /// Key of the ledger row that the answer is counted in.
    pub(super) fn response(&self, turn: &str, model: Option<&str>) -> String {
        format!("grok:{}:{}:{}", id(self.owner), id(turn), clean(model.unwrap_or("unknown")))
    }

    /// The text of the update's content, if it is text.
    fn text(&self) -> Option<&'r str> {
        let content = self.update.get("content")?;
        content.as_str().or_else(|| field::text(content, "text"))
    }
}

/// An event id as the session that wrote it and its number there.
pub(super) fn numbered(event_id: &str) -> Option<(&str, u64)> {
    let (owner, number) = event_id.rsplit_once('-')?;
    Some((owner, number.parse().ok()?)).filter(|(owner, _)| !owner.is_empty())
}

pub(super) fn read(record: &Record<'_>, session: &str, state: &mut State, out: &mut Out) {
    let Some((line, kind)) = Line::read(record, session) else {
        return super::record::unknown(record, out);
    };
    match kind {
        "user_message_chunk" => prompt(&line, state, out),
        "agent_message_chunk" => said(&line, "agent_message_chunk", Kind::Assistant, state, out),
        "agent_thought_chunk" => said(&line, "agent_thought_chunk", Kind::Reasoning, state, out),
        "tool_call" => call::read(&line, state, out),
        "tool_call_update" => result::read(&line, out),
        "turn_completed" => turn::completed(&line, state, out),
        "subagent_spawned" | "subagent_finished" | "subagent_progress" => {
            side::subagent(&line, kind, state, out)
        }
        "task_backgrounded" => side::backgrounded(&line, out),
        "task_completed" => side::task_completed(&line, out),
        "background_tasks" => side::background_tasks(&line, out),
        "compaction_checkpoint" => side::checkpoint(&line, out),
        "auto_compact_completed" => side::compacted(&line, out),
        "auto_compact_started" => out.fold("auto_compact_started"),
        "rewind_marker" => side::rewound(&line, out),
        "hook_execution" => side::hook(&line, out),
        kind => other(&line, kind, out),
    }
}

/// Updates that are told as they are.
fn other(line: &Line<'_>, kind: &str, out: &mut Out) {
    let Some(row) = mapping::named("", kind).filter(|row| is_plain(row.record)) else {
        let draft = line.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
        return out.push(as_unknown(draft, line.record));
    };
    let event = row.gives.first().copied().unwrap_or(Kind::Note);
    let origin = match row.record {
        "plan" | "goal_updated" => Origin::Model,
        "model_changed" => Origin::User,
        _ => Origin::Harness,
    };
    let mut draft = line.draft(row.record, Piece::Whole, event, origin);
    let wordy: &[&str] = match event {
        Kind::Error => &["reason", "error", "message"],
        Kind::Plan => &["goal", "objective"],
        _ => &[],
    };
    let said =
        wordy.iter().find(|name| field::some(line.update, name).is_some()).copied().unwrap_or_default();
    draft.event.text = field::some(line.update, said).and_then(words);
    draft.event.data = without(line.update, &["sessionUpdate", "_meta", said]);
    if event == Kind::Model {
        let named = ["model_id", "modelId", "model", "new_model_id", "to"];
        draft.event.model = named.iter().find_map(|name| field::some(line.update, name)).map(clean);
    }
    out.push(draft);
}

/// Whether a row is one of an update that needs no reading of its own.
fn is_plain(row: &str) -> bool {
    !matches!(row, "feedback" | "unknown")
}

/// A content block of a prompt, typed or not.
fn prompt(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let meta = line.update.get("_meta").unwrap_or(&Json::Null);
    let text = line.text();
    let index = field::count(meta, "promptIndex").map_or_else(String::new, |index| index.to_string());
    if field::is(meta, "hostTurn") {
        let mut draft = line.draft("user_message_chunk/host", Piece::Whole, Kind::Note, Origin::User);
        draft.event.text = text.and_then(words);
        draft.hint.rule = Some(("opener", String::new()));
        return out.push(draft);
    }
    let is_reminder = text.is_some_and(|text| text.trim_start().starts_with("<system-reminder>"));
    if field::is(meta, "hideFromScrollback") || is_reminder {
        let mut draft = line.draft("user_message_chunk/hidden", Piece::Whole, Kind::Note, Origin::Harness);
        draft.event.text = text.and_then(words);
        draft.hint.rule = Some(("opener", index));
        return out.push(draft);
    }
    if let Some(model) = field::some(meta, "modelId") {
        state.model = Some(clean(model));
    }
    let Some(text) = text else {
        let mut draft = line.draft("user_message_chunk/media", Piece::Whole, Kind::Attachment, Origin::User);
        draft.event.data = line.update.get("content").and_then(|content| told(described(content)));
        draft.hint.rule = Some(("prompt", format!("{index}:")));
        return out.push(draft);
    };
    let mut draft = line.draft("user_message_chunk/text", Piece::Whole, Kind::User, Origin::User);
    draft.event.text = words(text);
    draft.hint.opens_turn = true;
    draft.hint.rule = Some(("prompt", format!("{index}:{:016x}", fingerprint(text))));
    out.push(draft);
    // Stands only if it turns out that the turn never ended; when it did, nobody wrote down.
    let mut killed =
        line.draft("turn/killed", Piece::Tag("interruption"), Kind::Interruption, Origin::Harness).at(None);
    killed.event.data = told(json!({ "reason": "unfinished" }));
    killed.hint.fold_only = true;
    out.push(killed);
}

/// A content block without its bytes: they stand in the record.
fn described(content: &Json<'_>) -> Value {
    let bytes = field::text(content, "data").map(|data| data.len() as u64 / 4 * 3);
    json!({
        "type": content.get("type"),
        "mime_type": content.get("mimeType"),
        "name": content.get("name"),
        "uri": content.get("uri"),
        "bytes": bytes,
    })
}

/// Words of the model.
fn said(line: &Line<'_>, row: &'static str, kind: Kind, state: &State, out: &mut Out) {
    let mut draft = line.draft(row, Piece::Whole, kind, Origin::Model);
    let text = line.text().unwrap_or_default();
    draft.event.text = words(text);
    draft.event.response =
        field::some(line.meta, "promptId").map(|turn| line.response(turn, state.model.as_deref()));
    draft.hint.rule = Some(("said", format!("{}:{:016x}", line.stream(), fingerprint(text))));
    if line.text().is_none() {
        draft.event.data = pick(line.update, &["content"]);
    }
    out.push(draft);
}
