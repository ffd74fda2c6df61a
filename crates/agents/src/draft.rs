//! The drafts that a parser makes of one record, before the session is settled.

use retro_model::{
    Address, Event, EventId, Facts, Gap, GapReason, Kind, Native, Origin, Part, RawRef, Thread, Timestamp,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Json;
use crate::json::Room;
use crate::shelf::Shelved;

/// One parsed record of a source.
pub struct Record<'a> {
    /// The record's address in its session.
    pub address: &'a Address,
    /// Offset of its first byte in the source.
    pub offset: u64,
    /// Length in bytes, without the line end.
    pub length: u64,
    /// The parsed content of the record.
    pub json: &'a Json<'a>,
    /// The arena of the JSON tree, also used for values that are parsed later.
    pub room: &'a Room,
}

impl Record<'_> {
    /// A draft of an event of this record, on thread `main` and live, with everything else empty.
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
    /// The event. Its `seq`, `turn`, `live` and `parent` are still open. Boxed because it is large
    /// and is moved often.
    pub event: Box<Event>,
    /// Additional facts that settling needs.
    pub hint: Hint,
}

impl Draft {
    /// Sets the time of the event.
    pub fn at(mut self, ts: Option<Timestamp>) -> Draft {
        self.event.ts = ts;
        self
    }

    /// The address of its event.
    pub fn id(&self) -> &EventId {
        &self.event.id
    }
}

/// The facts about a draft that settling needs. Small: nothing else of a very large session is held
/// in memory.
#[derive(Debug, Clone, Default)]
pub struct Hint {
    /// The row of the mapping table that made it.
    pub row: &'static str,
    /// Two drafts of a session with the same identity are the same event logged twice: the first in
    /// source order stays, and the others only complete it. `None`: always an event of its own.
    pub identity: Option<String>,
    /// Native id of the preceding record in the conversation.
    pub hangs_on: Option<String>,
    /// True if a turn begins here.
    pub opens_turn: bool,
    /// True if it only completes other events and is then dropped.
    pub fold_only: bool,
    /// The draft whose text replaces its own, for agents that log an event in one source and its
    /// final words in another.
    pub text_from: Option<Box<EventId>>,
    /// Drafts whose texts follow its own, each with the separator before it: pieces of one message
    /// that the log split. The joined text is scanned for secrets again.
    pub text_also: Vec<(&'static str, EventId)>,
    /// Hash of the record's bytes. The reader sets it on drafts without an identity, so that equal
    /// records of a rewritten source can be matched.
    pub content: u64,
    /// Where its text, arguments and data are stored while a large session is settled.
    pub shelved: Option<Shelved>,
    /// A value for a settling rule of the agent. Each agent has its own type.
    pub(crate) rule: Option<Arc<dyn Any + Send + Sync>>,
}

impl Hint {
    /// Marks the draft for a settling rule of its agent.
    pub(crate) fn look_for<R: Any + Send + Sync>(&mut self, rule: R) {
        self.rule = Some(Arc::new(rule));
    }

    /// The value for a settling rule, if the draft is marked for a rule of this type.
    pub(crate) fn rule<R: Any>(&self) -> Option<&R> {
        self.rule.as_ref()?.downcast_ref()
    }
}

/// Collects the results of a parser.
#[derive(Debug, Default)]
pub struct Out {
    /// The drafts, in source order.
    pub drafts: Vec<Draft>,
    /// Facts about the session that the records contain.
    pub facts: Facts,
    /// The parts that could not be read.
    pub gaps: Vec<Gap>,
    /// Counts of records that gave no draft at all, by mapping row.
    pub folded: BTreeMap<&'static str, u64>,
    /// The number of records that could not be read.
    pub malformed: u64,
}

impl Out {
    /// Adds a draft, and its facts to the session's.
    pub fn push(&mut self, draft: Draft) {
        if !draft.hint.fold_only {
            self.facts.absorb(&draft.event);
        }
        self.drafts.push(draft);
    }

    /// Counts a record that gives no event and needs no draft.
    pub fn fold(&mut self, row: &'static str) {
        *self.folded.entry(row).or_default() += 1;
    }

    /// Reports a record that could not be read.
    pub fn malformed(&mut self, address: &Address, offset: u64, detail: String) {
        self.malformed += 1;
        self.gaps.push(Gap { detail: Some(detail), ..Gap::at(address, offset, GapReason::Malformed) });
    }

    /// Adds the results of a later part of the same source.
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
