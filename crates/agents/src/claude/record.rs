//! From one record to its drafts: the entry of the parser.
//!
//! Chain records (`user`, `assistant`, `system`, `attachment`, and `progress`
//! up to 2.1.79) have a uuid and hang on each other; everything they share is
//! read once, into a [`Chain`], and each family has its own file from there.
//! All other records are side records. Small documents beside the logs are read
//! by `documents`.

use retro_model::{Kind, Native, Origin, Part as Piece, Thread, Timestamp};
use retro_text::{Redacted, redact};
use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use super::mapping;
use super::state::State;
use super::{assistant, attachment, documents, ground, progress, side, system, user};
pub(super) use crate::json::pick;
use crate::{Draft, Format, Json, Out, Parse, Part, Record, field};

/// Thread of records of a side chain inside the main log, until settling finds
/// out which one it is (1.0.x).
pub(super) const SIDE_CHAIN: &str = "side";

/// Reads the records of one source.
pub(super) struct Parser {
    part: Part,
    /// The thread of records that name none.
    home: Thread,
    state: State,
}

impl Parser {
    pub(super) fn new(part: &Part, state: Option<&[u8]>) -> Parser {
        let home = match part.source.as_str().strip_prefix("agent-") {
            Some(agent) => Thread::sub(agent),
            None => Thread::main(),
        };
        Parser { part: part.clone(), home, state: State::load(state) }
    }
}

impl Parse for Parser {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        if self.part.format == Format::Json {
            return documents::read(self.part.source.as_str(), record, out);
        }
        match field::text(record.json, "type") {
            Some(kind @ ("user" | "assistant" | "system" | "attachment" | "progress")) => {
                let chain = Chain::read(record, &self.home);
                ground::see(&chain, &mut self.state, out);
                match kind {
                    "user" => user::read(&chain, &mut self.state, out),
                    "assistant" => assistant::read(&chain, &mut self.state, out),
                    "system" => system::read(&chain, &mut self.state, out),
                    "attachment" => attachment::read(&chain, &mut self.state, out),
                    _ => progress::read(&chain, &mut self.state, out),
                }
            }
            kind => side::read(kind.unwrap_or_default(), record, &self.home, &mut self.state, out),
        }
    }

    fn save(&self) -> Vec<u8> {
        self.state.save()
    }
}

/// What every chain record has.
pub(super) struct Chain<'r> {
    pub record: &'r Record<'r>,
    /// The record, or the message inside an `agent_progress`.
    pub json: &'r Json<'r>,
    pub thread: Thread,
    pub ts: Option<Timestamp>,
    pub uuid: Option<&'r str>,
    pub hangs_on: Option<&'r str>,
    /// Set when all drafts belong to one row, whatever their block is.
    pub row: Option<&'static str>,
}

impl<'r> Chain<'r> {
    fn read(record: &'r Record<'r>, home: &Thread) -> Chain<'r> {
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

    /// Whether it belongs to a sub-agent.
    pub(super) fn is_side(&self) -> bool {
        !self.thread.is_main()
    }

    /// A draft of this record with everything the record tells of all its events.
    pub(super) fn draft(&self, row: &'static str, piece: Piece, kind: Kind, origin: Origin) -> Draft {
        let mut draft = self.nameless(row, piece, kind, origin);
        let piece = label(&draft.event.id.part);
        draft.hint.identity = Some(match self.uuid {
            Some(uuid) => ["uuid:", uuid, "#", &piece].concat(),
            None => format!("side:{:x}#{piece}", fingerprint(self.json)),
        });
        draft
    }

    /// The same without an identity, for whoever gives it one.
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

    /// The session and record this is a copy of, as /branch writes it (2.1.325).
    fn copied_from(&self) -> Option<String> {
        let from = self.json.get("forkedFrom")?;
        let session = field::some(from, "sessionId")?;
        Some(match field::some(from, "messageUuid") {
            Some(uuid) => format!("{}#{}", id(session), id(uuid)),
            None => id(session),
        })
    }

    /// Takes an event that is told beside the blocks of the record. A record has
    /// one address for each such tag: should several of its blocks give one, the
    /// first has it.
    pub(super) fn derive(&self, draft: Draft, out: &mut Out) {
        let mut of_record =
            out.drafts.iter().rev().take_while(|other| other.event.raw.record == draft.event.raw.record);
        if of_record.all(|other| other.id() != draft.id()) {
            out.push(draft);
        }
    }

    /// The whole record, as something that is not known.
    pub(super) fn unknown(&self, out: &mut Out) {
        let mut draft = self.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
        draft.event.data = Some(self.json.redacted());
        out.push(draft);
    }
}

/// The whole of a side record, as something that is not known.
pub(super) fn unknown(record: &Record<'_>, home: &Thread, out: &mut Out) {
    let mut draft = record.draft("unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
    draft.event.thread = home.clone();
    draft.event.ts = field::time(record.json, "timestamp");
    draft.event.data = Some(record.json.redacted());
    draft.hint.identity = Some(format!("side:{:x}", fingerprint(record.json)));
    out.push(draft);
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
    // Without an early end, so that many bytes are looked at at once.
    let is_plain = || text.bytes().fold(true, |so_far, byte| so_far & plain(byte));
    if text.len() <= 128 && is_plain() { text.to_owned() } else { clean(text) }
}

/// Which event of its record, for identities.
fn label(piece: &Piece) -> Cow<'static, str> {
    match piece {
        Piece::Whole => Cow::Borrowed("0"),
        Piece::Block(index) => Cow::Owned(index.to_string()),
        Piece::Tag(tag) => Cow::Borrowed(tag),
    }
}

/// A number that is equal for equal values, on every machine.
pub(super) fn fingerprint(value: &impl Hash) -> u64 {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        }
        fn finish(&self) -> u64 {
            self.0
        }
    }
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    value.hash(&mut hasher);
    hasher.finish()
}

/// The name of the mapping row `<family><name>`, if there is one.
pub(super) fn row_name(family: &str, name: &str) -> Option<&'static str> {
    mapping::named(family, name).map(|row| row.record)
}
