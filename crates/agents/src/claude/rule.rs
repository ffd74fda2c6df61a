//! The marks that settling rules look for in a draft.

use retro_model::Outcome;

/// The settling rule for which a draft is marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A prompt on the main thread, which may be a rewind, with a hash of its text.
    Prompt(u64),
    /// Another text of the user that may have been queued, as a hash.
    Said(u64),
    /// An operation on the queue of prompts.
    Queue(Step),
    /// A prompt in the queue, as a hash of its text.
    Queued(u64),
    /// A call that starts a sub-agent, with a hash of the task that it gives.
    Starts(u64),
    /// The first text of a side chain, as a hash: the task of the call that started it (1.0.x).
    Task(u64),
    /// A message of a sub-agent in a progress record of this call.
    Progress(String),
    /// A sub-agent that this call started.
    Subagent(String),
    /// The boundary of a compaction, by its uuid.
    Boundary(String),
    /// The summary that replaces the boundary with this uuid.
    Summary(String),
    /// A refused call. `flagged` if it may really have been cut off.
    Refused { flagged: bool },
    /// The marker of an interruption.
    Stopped(Stop),
    /// Tokens with some counters that could not be read.
    Unread,
    /// The result of a call that continues in the background.
    Background(String),
    /// A notification that a background call ended.
    Ended { call: String, outcome: Outcome },
}

/// The effect of an interruption on the calls before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The calls ran and were cut off.
    Cut,
    /// The calls were refused.
    Refused,
    /// The log does not show which.
    Unclear,
}

/// One operation on the queue of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// An entry is appended.
    Enqueue,
    /// The first entry becomes a turn of its own.
    Dequeue,
    /// An entry is taken out in the middle of a turn: the one with this text, or the first.
    Remove(Option<u64>),
    /// The user takes all entries back.
    Clear,
    /// An operation that is not known.
    Other,
}
