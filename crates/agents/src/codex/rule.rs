//! The marks that settling rules look for in a draft.

use retro_model::ToolClass;

use super::cell::Inside;

/// The settling rule for which a draft is marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A message in the user role. It is the user's if its event confirms it.
    Held,
    /// The event of a user's message, with the record of the message that it repeats.
    Said(Option<u64>),
    /// An image in a message of the user.
    Image,
    /// A command that the user ran.
    Shell,
    /// An answer of the model, with a hash of its text.
    Words(u64),
    /// The event that repeats such an answer.
    WordsAgain(u64),
    /// Reasoning of the model, with a hash of each part.
    Thought(Vec<u64>),
    /// The event that repeats such reasoning.
    ThoughtAgain(Vec<u64>),
    /// The program's own record of this call.
    Act(String),
    /// A call inside the script of this call, or its result, as the script shows it.
    Inside { script: String, class: ToolClass, inside: Inside },
    /// A call that the user made by hand.
    OwnAct(String),
    /// The output of a later call that ended the command of this one.
    Ends(String),
    /// A child thread that this call started.
    Child(String),
    /// A call that was cut off.
    Cut,
    /// A turn that was aborted.
    Aborted,
    /// The summary of a compaction, as an answer of the model.
    Summary,
    /// The record of a compaction.
    Compacted,
    /// The user took back this many turns.
    RolledBack(u64),
    /// This file begins inside another, at this byte offset.
    Base { thread: String, offset: u64 },
    /// A call that begins in the stream of `codex exec`.
    Begun(String),
    /// The result of such a call.
    Streamed(String),
}
