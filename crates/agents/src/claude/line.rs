//! The fields that every chain record has, the blocks of its message, and the drafts made of it.

use retro_model::{Kind, Native, Origin, Part as Piece, Thread, Timestamp};

use super::mapping;
use crate::words::id;
use crate::{Draft, Json, Out, Record, field, identity};

/// Thread of side chain records inside the main log, until settling finds the real thread (1.0.x).
pub(super) const SIDE_CHAIN: &str = "side";

/// The common fields of chain records.
pub(super) struct Chain<'r> {
    pub record: &'r Record<'r>,
    /// The record, or the message inside an `agent_progress`.
    pub json: &'r Json<'r>,
    pub thread: Thread,
    pub ts: Option<Timestamp>,
    pub uuid: Option<&'r str>,
    pub hangs_on: Option<&'r str>,
    /// Set if all drafts belong to one row, for any kind of block.
    pub row: Option<&'static str>,
}

impl<'r> Chain<'r> {
    pub(super) fn read(record: &'r Record<'r>, home: &Thread) -> Chain<'r> {
        let json = record.json;
        let thread = match (home.is_main(), field::is(json, "isSidechain"), field::some(json, "agentId")) {
            (true, true, Some(agent)) => Thread::sub(agent),
            (true, true, None) => Thread::sub(SIDE_CHAIN),
            _ => home.clone(),
        };
        Chain {
            record,
            json,
            thread,
            ts: field::time(json, "timestamp"),
            uuid: field::some(json, "uuid"),
            // A boundary has no parent in the chain; the record before the cut is its logical one.
            hangs_on: field::some(json, "parentUuid").or_else(|| field::some(json, "logicalParentUuid")),
            row: None,
        }
    }

    /// True if it belongs to a sub-agent.
    pub(super) fn is_side(&self) -> bool {
        !self.thread.is_main()
    }

    /// A draft of this record, with the fields that all its events share.
    pub(super) fn draft(&self, row: &'static str, piece: Piece, kind: Kind, origin: Origin) -> Draft {
        let mut draft = self.nameless(row, piece, kind, origin);
        let piece = identity::label(&draft.event.id.part);
        draft.hint.identity = Some(match self.uuid {
            Some(uuid) => ["uuid:", uuid, "#", &piece].concat(),
            None => format!("side:{:x}#{piece}", identity::fingerprint(self.json)),
        });
        draft
    }

    /// The same without an identity, which the caller must set.
    pub(super) fn nameless(&self, row: &'static str, piece: Piece, kind: Kind, origin: Origin) -> Draft {
        let row = self.row.unwrap_or(row);
        let mut draft = self.record.draft(row, piece, kind, origin).at(self.ts);
        draft.event.thread = self.thread.clone();
        draft.event.native = self.native();
        draft.event.copy_of = self.copied_from();
        draft.hint.hangs_on = self.hangs_on.map(str::to_owned);
        draft
    }

    fn native(&self) -> Native {
        let message = &self.json["message"];
        Native {
            uuid: self.uuid.map(id),
            message_id: field::some(message, "id").map(id),
            request_id: field::some(self.json, "requestId").map(id),
            turn_id: field::some(self.json, "promptId").map(id),
            response_id: None,
        }
    }

    /// The session and record that this is a copy of, as /branch writes it (2.1.325).
    fn copied_from(&self) -> Option<String> {
        let from = self.json.get("forkedFrom")?;
        let session = field::some(from, "sessionId")?;
        Some(match field::some(from, "messageUuid") {
            Some(uuid) => format!("{}#{}", id(session), id(uuid)),
            None => id(session),
        })
    }

    /// Adds an event that the record gives beside its blocks. A record has one address for each
    /// such tag. If several of its blocks give one, the first has it.
    pub(super) fn derive(&self, draft: Draft, out: &mut Out) {
        let mut of_record =
            out.drafts.iter().rev().take_while(|other| other.event.raw.record == draft.event.raw.record);
        if of_record.all(|other| other.id() != draft.id()) {
            out.push(draft);
        }
    }

    /// Adds the whole record as an `unknown` event.
    pub(super) fn unknown(&self, out: &mut Out) {
        let mut draft = self.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
        draft.event.data = Some(self.json.redacted());
        out.push(draft);
    }
}

/// Adds a whole side record as an `unknown` event.
pub(super) fn unknown(record: &Record<'_>, home: &Thread, out: &mut Out) {
    let mut draft = record.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
    draft.event.thread = home.clone();
    draft.event.ts = field::time(record.json, "timestamp");
    draft.event.data = Some(record.json.redacted());
    draft.hint.identity = Some(format!("side:{:x}", identity::fingerprint(record.json)));
    out.push(draft);
}

/// The name of the mapping row `<family><name>`, if there is one.
pub(super) fn row_name(family: &str, name: &str) -> Option<&'static str> {
    mapping::named(family, name).map(|row| row.record)
}

/// A block of a message, and the event that it gives.
pub(super) struct Block<'r> {
    pub piece: Piece,
    pub kind: &'r str,
    pub json: &'r Json<'r>,
}

impl<'r> Block<'r> {
    /// The text of a text block, or of a message that is only text.
    pub(super) fn text(&self) -> &'r str {
        self.json.as_str().or_else(|| field::text(self.json, "text")).unwrap_or_default()
    }
}

/// The blocks of a message. A bare string is one text block.
pub(super) fn blocks<'r>(content: &'r Json<'r>) -> Option<Vec<Block<'r>>> {
    match content {
        Json::String(_) => Some(vec![Block { piece: Piece::Whole, kind: "text", json: content }]),
        Json::Array(items) => Some(
            items
                .iter()
                .zip(0..)
                .map(|(json, index)| Block {
                    piece: if items.len() == 1 { Piece::Whole } else { Piece::Block(index) },
                    kind: if json.is_string() {
                        "text"
                    } else {
                        field::text(json, "type").unwrap_or_default()
                    },
                    json,
                })
                .collect(),
        ),
        _ => None,
    }
}
