//! What the rules of settling look for in a draft.

use retro_model::ToolClass;

use super::cell::Inside;

/// Why a rule of `settle` looks at a draft.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// A message in the user's role, the user's if its event says so.
    Held,
    /// The event of the user's words, with the record of the message it repeats.
    Said(Option<u64>),
    /// An image in a message of the user.
    Image,
    /// A command that the user ran.
    Shell,
    /// An answer of the model, with a print of its words.
    Words(u64),
    /// The event of such an answer.
    WordsAgain(u64),
    /// What the model thought, with a print of each part.
    Thought(Vec<u64>),
    /// The event of such a thought.
    ThoughtAgain(Vec<u64>),
    /// What the program says of this call beside the conversation.
    Act(String),
    /// A call inside the script of this one, or its result, as the script says.
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
    /// A compaction.
    Compacted,
    /// So many turns were taken back.
    RolledBack(u64),
    /// This file begins inside another, behind so many of its bytes.
    Base { thread: String, offset: u64 },
    /// A call that begins in the stream of `codex exec`.
    Begun(String),
    /// The result of such a call.
    Streamed(String),
}
