//! What the rules of settling look for in a draft.

use retro_model::Outcome;

/// Why a rule of `settle` looks at a draft.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A prompt on the main thread, which may be a rewind, with a print of its words.
    Prompt(u64),
    /// Other words of the user that may have waited in the queue, as a print.
    Said(u64),
    /// What happens to the queue of prompts.
    Queue(Step),
    /// A prompt that waits in the queue, as a print of its words.
    Queued(u64),
    /// A call that starts a sub-agent, with a print of the task it gives.
    Starts(u64),
    /// The first words of a side chain, as a print: the task of the call that
    /// started it (1.0.x).
    Task(u64),
    /// A message of a sub-agent in a progress record of this call.
    Progress(String),
    /// A sub-agent that this call started.
    Subagent(String),
    /// The boundary of a compaction, by its uuid.
    Boundary(String),
    /// The summary that takes over what the boundary with this uuid said.
    Summary(String),
    /// A refused call; `flagged` if it may have been cut off in truth.
    Refused { flagged: bool },
    /// The marker of an interruption.
    Stopped(Stop),
    /// Tokens of which some could not be read.
    Unread,
    /// The result of a call that goes on in the background.
    Background(String),
    /// A notification that a call in the background ended.
    Ended { call: String, outcome: Outcome },
}

/// What an interruption did to the calls before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// They ran and were cut off.
    Cut,
    /// They were refused.
    Refused,
    /// The log does not say.
    Unclear,
}

/// One operation on the queue of prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Something joins its end.
    Enqueue,
    /// The first one becomes a turn of its own.
    Dequeue,
    /// One is taken out in the middle of a turn: with these words, or the first.
    Remove(Option<u64>),
    /// The user takes all of them back.
    Clear,
    /// An operation that is not known.
    Other,
}
