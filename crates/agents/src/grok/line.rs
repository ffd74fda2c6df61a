//! A line of `updates.jsonl`, and helpers for records of all sources.

use retro_model::{Kind, Native, Origin, Part as Piece, Timestamp};
use retro_text::{Redacted, redact_json};
use serde_json::{Map, Value};

use crate::words::{clean, id};
use crate::{Draft, Json, Out, Record, field, identity};

/// One parsed line.
pub(super) struct Line<'r> {
    pub record: &'r Record<'r>,
    pub update: &'r Json<'r>,
    pub meta: &'r Json<'r>,
    pub ts: Option<Timestamp>,
    pub event_id: Option<&'r str>,
    /// The session that wrote the line originally.
    pub owner: &'r str,
    /// True if the line was copied from another session.
    pub inherited: bool,
}

impl<'r> Line<'r> {
    pub(super) fn read(record: &'r Record<'r>, session: &'r str) -> Option<(Line<'r>, &'r str)> {
        let params = record.json.get("params")?;
        let update = params.get("update")?;
        let kind = field::some(update, "sessionUpdate")?;
        let meta = params.get("_meta").unwrap_or(&Json::Null);
        let event_id = field::some(meta, "eventId");
        let owner = event_id.and_then(numbered).map_or(session, |(owner, _)| owner);
        let millis = meta.get("agentTimestampMs").and_then(Json::as_i64);
        // The time of writing, in whole seconds. Lines without the precise time have only this one.
        let seconds = || record.json.get("timestamp").and_then(Json::as_i64)?.checked_mul(1000);
        let ts = millis.or_else(seconds).and_then(Timestamp::from_millis);
        Some((Line { record, update, meta, ts, event_id, owner, inherited: owner != session }, kind))
    }

    /// A draft of this line, with the fields that all its events share.
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
            // The number is unique within one process, and number with time within the session.
            let millis = self.ts.map_or(0, Timestamp::as_millis);
            draft.hint.identity =
                Some(format!("{event_id}@{millis}#{}", identity::label(&draft.event.id.part)));
        }
        draft
    }

    /// The start time of the answer that this line is a part of. Equal for all its lines.
    pub(super) fn stream(&self) -> i64 {
        self.meta.get("streamStartMs").and_then(Json::as_i64).unwrap_or(0)
    }

    /// The ledger key under which the answer is counted.
    pub(super) fn response(&self, turn: &str, model: Option<&str>) -> String {
        format!("grok:{}:{}:{}", id(self.owner), id(turn), clean(model.unwrap_or("unknown")))
    }

    /// The text of the update's content, if it is text.
    pub(super) fn text(&self) -> Option<&'r str> {
        let content = self.update.get("content")?;
        content.as_str().or_else(|| field::text(content, "text"))
    }
}

/// Splits an event id into the session that wrote it and its number there.
pub(super) fn numbered(event_id: &str) -> Option<(&str, u64)> {
    let (owner, number) = event_id.rsplit_once('-')?;
    Some((owner, number.parse().ok()?)).filter(|(owner, _)| !owner.is_empty())
}

/// Adds the whole record as an `unknown` event.
pub(super) fn unknown(record: &Record<'_>, out: &mut Out) {
    let ts = field::time(record.json, "ts").or_else(|| field::time(record.json, "timestamp"));
    let draft = record.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness).at(ts);
    out.push(as_unknown(draft, record));
}

/// Turns a draft into an `unknown` event with the whole record.
pub(super) fn as_unknown(mut draft: Draft, record: &Record<'_>) -> Draft {
    draft.event.data = Some(record.json.redacted());
    draft
}

/// The fields that are not null, redacted. `None` if there are none.
pub(super) fn filled(mut fields: Value) -> Option<Redacted<Value>> {
    let filled = fields.as_object_mut()?;
    filled.retain(|_, value| !value.is_null());
    (!filled.is_empty()).then(|| redact_json(fields))
}

/// All fields of an object except these and null ones, redacted.
pub(super) fn without(from: &Json<'_>, names: &[&str]) -> Option<Redacted<Value>> {
    let rest: Map<String, Value> = from
        .as_object()?
        .iter()
        .filter(|(name, value)| !names.contains(name) && !value.is_null())
        .map(|(name, value)| (name.to_owned(), value.value()))
        .collect();
    (!rest.is_empty()).then(|| redact_json(rest.into()))
}
