//! From one record to its drafts: the entry of the parser, and what all its
//! files share.

use retro_model::{Kind, Origin, Part as Piece};
use retro_text::{Redacted, redact, redact_json};
use serde_json::{Map, Value};

use super::state::State;
use super::{chat, documents, events, update};
pub(super) use crate::json::pick;
use crate::{Draft, Json, Out, Parse, Part, Record, field};

/// Reads the records of one source.
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
        let session = self.part.session.id.as_str();
        match self.part.source.as_str() {
            "m" => update::read(record, session, &mut self.state, out),
            "chat" => chat::read(record, out),
            "events" => events::read(record, &mut self.state, out),
            key => documents::read(key, session, record, out),
        }
    }

    fn save(&self) -> Vec<u8> {
        self.state.save()
    }
}

/// The whole record, as something that is not known.
pub(super) fn unknown(record: &Record<'_>, out: &mut Out) {
    let ts = field::time(record.json, "ts").or_else(|| field::time(record.json, "timestamp"));
    let draft = record.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness).at(ts);
    out.push(as_unknown(draft, record));
}

/// A draft of something that is not known, with the whole record.
pub(super) fn as_unknown(mut draft: Draft, record: &Record<'_>) -> Draft {
    draft.event.data = Some(record.json.redacted());
    draft
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
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    if text.len() <= 128 && text.bytes().all(plain) { text.to_owned() } else { clean(text) }
}

/// What is told beside an event, without what the log left open.
pub(super) fn told(mut fields: Value) -> Option<Redacted<Value>> {
    let told = fields.as_object_mut()?;
    told.retain(|_, value| !value.is_null());
    (!told.is_empty()).then(|| redact_json(fields))
}

/// All fields of an object but these and what is empty, redacted.
pub(super) fn without(from: &Json<'_>, names: &[&str]) -> Option<Redacted<Value>> {
    let rest: Map<String, Value> = from
        .as_object()?
        .iter()
        .filter(|(name, value)| !names.contains(name) && !value.is_null())
        .map(|(name, value)| (name.to_owned(), value.value()))
        .collect();
    (!rest.is_empty()).then(|| redact_json(rest.into()))
}

/// A number that is equal for equal words, whatever blanks stand around them.
pub(super) fn fingerprint(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.trim().as_bytes())
}

/// Which event of its record, for identities.
pub(super) fn label(piece: &Piece) -> String {
    match piece {
        Piece::Whole => "0".to_owned(),
        Piece::Block(index) => index.to_string(),
        Piece::Tag(tag) => (*tag).to_owned(),
    }
}

/// What a draft's hint says under a rule.
pub(super) fn rule<'d>(draft: &'d Draft, name: &str) -> Option<&'d str> {
    match &draft.hint.rule {
        Some((rule, key)) if *rule == name => Some(key),
        _ => None,
    }
}
