//! A record without its envelope, and the drafts made of it.

use retro_model::{Kind, Native, Origin, Part as Piece, Timestamp};

use super::mapping;
use crate::words::id;
use crate::{Draft, Json, Out, Record, field, identity};

/// Space for the number of an occurrence and its delimiters, in bytes.
const OCCURRENCE_BYTES_MAX: usize = 6;

/// One record, taken out of its envelope.
pub(super) struct Line<'r> {
    pub record: &'r Record<'r>,
    pub payload: &'r Json<'r>,
    pub ts: Option<Timestamp>,
    /// True if it had no envelope (0.8 - 0.29).
    pub bare: bool,
    /// The thread that it was copied from.
    pub copy_of: Option<String>,
    /// The turn it belongs to.
    pub turn: Option<String>,
}

impl Line<'_> {
    /// A draft of this record, with the fields that all its events share.
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

    /// The same without an identity, which the caller must set.
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

    /// Sets an identity that stays the same when the program rewrites the file in another form.
    /// Migrating a rollout (0.166) keeps times and items, and renames events.
    pub(super) fn identify(&self, draft: &mut Draft, what: &str, key: &str) {
        let mut ms = itoa::Buffer::new();
        let ms = ms.format(self.ts.map_or(0, Timestamp::as_millis));
        let label = identity::label(&draft.event.id.part);
        let pieces = [what, "|", ms, "|", key, "|", &label];
        // Settling appends the number of the occurrence.
        let room = draft.event.id.source.as_str().len() + OCCURRENCE_BYTES_MAX;
        let mut identity =
            String::with_capacity(pieces.iter().map(|piece| piece.len()).sum::<usize>() + room);
        pieces.iter().for_each(|piece| identity.push_str(piece));
        draft.hint.identity = Some(identity);
    }

    /// Adds the whole record as an `unknown` event.
    pub(super) fn unknown(&self, out: &mut Out) {
        let mut draft = self.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
        draft.event.data = Some(self.record.json.redacted());
        out.push(draft);
    }

    /// True if the object beside the payload has this field (0.166).
    pub(super) fn is_marked(&self, name: &str) -> bool {
        self.record.json.get("metadata").is_some_and(|metadata| field::is(metadata, name))
    }
}

/// The row of a record that the table should have. A missing one is `unknown`.
pub(super) fn row(family: &str, name: &str) -> &'static str {
    mapping::named(family, name).unwrap_or("unknown")
}
