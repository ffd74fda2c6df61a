//! The marks that settling rules look for in a draft.

/// The settling rule for which a draft is marked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The session's own facts.
    Session { is_subagent: bool, is_headless: bool },
    /// A process resumed the session.
    TakenUp,
    /// A block of a prompt that the user typed.
    Prompt(Prompt),
    /// A prompt that the user did not type, with its index.
    Opener(Option<u64>),
    /// A text of the model: the start time of its answer, and a hash of the text.
    Said { stream: i64, print: u64 },
    /// A call, with the start time of the answer that made it.
    Call { stream: i64 },
    /// A call that was refused, according to its result.
    RefusedCall,
    /// This call was refused.
    Denied(String),
    /// A call of this tool was refused.
    Refused(String),
    /// The end of a call, according to the event log.
    Completed,
    /// This task continues in the background.
    Task(String),
    /// The result of a call whose task continues in the background.
    Background(String),
    /// This task ended.
    TaskEnded(String),
    /// This sub-agent started.
    Spawned(String),
    /// A turn ended, according to the updates.
    Ended,
    /// A turn began, according to the event log.
    TurnBegan,
    /// A turn ended, according to the event log.
    TurnOver,
    /// The model changed, according to the event log.
    Model,
    /// A text that the user typed while the model worked, as a hash.
    Interjected(u64),
    /// A compaction wrote this checkpoint.
    Checkpoint(String),
    /// The summary of a compaction, with its checkpoint. `None` in the chat.
    Summary(Option<String>),
    /// The user went back to before the prompt with this index.
    Rewind(u64),
    /// A prompt in the chat.
    ChatPrompt(Prompt),
    /// A text of the model in the chat, as a hash.
    ChatSaid(u64),
    /// Reasoning in the chat, as a hash if it is readable.
    ChatThought(Option<u64>),
    /// A call in the chat.
    ChatCall,
    /// A result in the chat.
    ChatResult,
}

/// Identifies a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Prompt {
    /// Its number in the session, if the log has one.
    pub index: Option<u64>,
    /// A hash of its text, if it has any.
    pub print: Option<u64>,
}
