//! What a parser makes of one record, before the session is settled.

use retro_model::{
    Address, Event, EventId, Facts, Gap, GapReason, Kind, Native, Origin, Part, RawRef, Thread, Timestamp,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Json;
use crate::json::Room;
use crate::shelf::Shelved;

/// One record of a source, read.
pub struct Record<'a> {
    /// Where it is.
    pub address: &'a Address,
    /// First byte in the source.
    pub offset: u64,
    /// Bytes without the line end.
    pub length: u64,
    /// What it says.
    pub json: &'a Json<'a>,
    /// The memory its tree is in, with room for what is read out of it.
    pub room: &'a Room,
}

impl Record<'_> {
    /// A draft of an event of this record. Thread `main`, live, everything else empty.
    pub fn draft(&self, row: &'static str, part: Part, kind: Kind, origin: Origin) -> Draft {
        let Address { source, revision, record } = self.address.clone();
        Draft {
            event: Box::new(Event {
                id: self.address.event(part),
                seq: 0,
                turn: 0,
                thread: Thread::main(),
                live: true,
                ts: None,
                kind,
                origin,
                text: None,
                truncated: false,
                tool: None,
                result: None,
                usage: None,
                copy_of: None,
                parent: None,
                native: Native::default(),
                response: None,
                model: None,
                cwd: None,
                branch: None,
                child: None,
                raw: RawRef { source, revision, record, offset: self.offset, length: self.length },
                data: None,
            }),
            hint: Hint { row, ..Hint::default() },
        }
    }
}

/// An event that is not settled yet.
#[derive(Debug, Clone)]
pub struct Draft {
    /// The event, with `seq`, `turn`, `live` and `parent` still open. It is large, and
    /// goes through many hands.
    pub event: Box<Event>,
    /// What settling needs to know beside it.
    pub hint: Hint,
}

impl Draft {
    /// The same draft at a time.
    pub fn at(mut self, ts: Option<Timestamp>) -> Draft {
        self.event.ts = ts;
        self
    }

    /// Its address.
    pub fn id(&self) -> &EventId {
        &self.event.id
    }
}

/// What settling needs to know of a draft. Small: it is all that is held in
/// memory of a very large session.
#[derive(Debug, Clone, Default)]
pub struct Hint {
    /// The row of the mapping table that made it.
    pub row: &'static str,
    /// Equal identities in one session are one thing said twice: the first in
    /// source order stays, the others only complete it. None: an event of its own.
    pub identity: Option<String>,
    /// Native id of the record before it in the conversation.
    pub hangs_on: Option<String>,
    /// Whether a turn begins here.
    pub opens_turn: bool,
    /// No event of its own: it completes others and is then dropped.
    pub fold_only: bool,
    /// Takes the text of that draft instead of its own; for agents that log a
    /// thing in one source and its final words in another.
    pub text_from: Option<Box<EventId>>,
    /// Drafts whose texts follow its own, each with what comes between: pieces of
    /// one utterance that the log cut. The whole is scanned for secrets again.
    pub text_also: Vec<(&'static str, EventId)>,
    /// Hash of the record's bytes, set by the reader on drafts without an identity:
    /// when a source was rewritten, it shows which records are equal.
    pub content: u64,
    /// Where its text, arguments and data wait while a large session is settled.
    pub shelved: Option<Shelved>,
    /// What a settling rule of the agent looks for; each agent has a type of its own.
    pub(crate) rule: Option<Arc<dyn Any + Send + Sync>>,
}

impl Hint {
    /// Marks the draft for a settling rule of its agent.
    pub(crate) fn look_for<R: Any + Send + Sync>(&mut self, rule: R) {
        self.rule = Some(Arc::new(rule));
    }

    /// What a settling rule looks for in this draft, if it is marked for one.
    pub(crate) fn rule<R: Any>(&self) -> Option<&R> {
        self.rule.as_ref()?.downcast_ref()
    }
}

/// Where a parser puts what it made of a record.
#[derive(Debug, Default)]
pub struct Out {
    /// Events to be, in order.
    pub drafts: Vec<Draft>,
    /// What the records say of the session.
    pub facts: Facts,
    /// What could not be read.
    pub gaps: Vec<Gap>,
    /// Records that gave no draft at all, by mapping row.
    pub folded: BTreeMap<&'static str, u64>,
    /// Records that could not be read.
    pub malformed: u64,
}

impl Out {
    /// Takes a draft; its facts go to the session's.
    pub fn push(&mut self, draft: Draft) {
        if !draft.hint.fold_only {
            self.facts.absorb(&draft.event);
        }
        self.drafts.push(draft);
    }

    /// Says that a record gives no event and needs no draft.
    pub fn fold(&mut self, row: &'static str) {
        *self.folded.entry(row).or_default() += 1;
    }

    /// Says that a record could not be read.
    pub fn malformed(&mut self, address: &Address, offset: u64, detail: String) {
        self.malformed += 1;
        self.gaps.push(Gap { detail: Some(detail), ..Gap::at(address, offset, GapReason::Malformed) });
    }

    /// Adds what a later part of the same source gave.
    pub fn append(&mut self, later: Out) {
        self.drafts.extend(later.drafts);
        self.facts.merge(&later.facts);
        self.gaps.extend(later.gaps);
        for (row, count) in later.folded {
            *self.folded.entry(row).or_default() += count;
        }
        self.malformed += later.malformed;
    }
}
