//! What a record is, out of whichever envelope it came in, and the drafts that are
//! made of it.

use retro_model::{Kind, Native, Origin, Part as Piece, Timestamp};

use super::mapping;
use crate::words::id;
use crate::{Draft, Json, Out, Record, field, identity};

/// Bytes of the number of an occurrence and what is around it.
const OCCURRENCE_BYTES_MAX: usize = 6;

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
    /// A draft of this record with what the record says of all its events.
    pub(super) fn draft(&self, row: &'static str, piece: Piece, kind: Kind, origin: Origin) -> Draft {
        let mut draft = self.nameless(row, piece, kind, origin);
        let own_id = self.own_id(row);
        if self.ts.is_some() || own_id.is_some() {
            match own_id.or_else(|| field::some(self.payload, "call_id")) {
                Some(id) => self.identify(&mut draft, row, id),
                None => self.identify(&mut draft, row, &format!("{:x}", identity::fingerprint(self.payload))),
            }
        }
        draft
    }

    /// The same without an identity: the caller sets one.
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
    /// and gives events other names.
    pub(super) fn identify(&self, draft: &mut Draft, what: &str, key: &str) {
        let mut ms = itoa::Buffer::new();
        let ms = ms.format(self.ts.map_or(0, Timestamp::as_millis));
        let label = identity::label(&draft.event.id.part);
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

    /// A field of the object beside the payload (0.166).
    pub(super) fn is_marked(&self, name: &str) -> bool {
        self.record.json.get("metadata").is_some_and(|metadata| field::is(metadata, name))
    }
}

/// The row of a record that the table must have; what it lacks is unknown.
pub(super) fn row(family: &str, name: &str) -> &'static str {
    mapping::named(family, name).unwrap_or("unknown")
}
