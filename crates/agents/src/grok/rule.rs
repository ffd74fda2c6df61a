//! What the rules of settling look for in a draft.

/// Why a rule of `settle` looks at a draft.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// What the session is.
    Session { is_subagent: bool, is_headless: bool },
    /// A process took the session up.
    TakenUp,
    /// A block of a prompt that the user typed.
    Prompt(Prompt),
    /// A prompt that the user did not type, with its index.
    Opener(Option<u64>),
    /// Words of the model: when its answer began, and a print of them.
    Said { stream: i64, print: u64 },
    /// A call: when the answer that made it began.
    Call { stream: i64 },
    /// A call that was refused, as its result says.
    RefusedCall,
    /// This call was refused.
    Denied(String),
    /// A call of this tool was refused.
    Refused(String),
    /// How a call ended, by the event log.
    Completed,
    /// This task goes on in the background.
    Task(String),
    /// The result of a call whose task goes on in the background.
    Background(String),
    /// This task ended.
    TaskEnded(String),
    /// This sub-agent started.
    Spawned(String),
    /// A turn ended, by the updates.
    Ended,
    /// A turn began, by the event log.
    TurnBegan,
    /// A turn ended, by the event log.
    TurnOver,
    /// The model changed, by the event log.
    Model,
    /// The user typed while the model worked, with a print of the words.
    Interjected(u64),
    /// A compaction wrote this checkpoint.
    Checkpoint(String),
    /// The summary of a compaction, with its checkpoint; none in the chat.
    Summary(Option<String>),
    /// The user went back to before the prompt with this index.
    Rewind(u64),
    /// A prompt in the chat.
    ChatPrompt(Prompt),
    /// Words of the model in the chat, as a print.
    ChatSaid(u64),
    /// A thought in the chat, as a print if it is readable.
    ChatThought(Option<u64>),
    /// A call in the chat.
    ChatCall,
    /// A result in the chat.
    ChatResult,
}

/// Which prompt it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Prompt {
    /// Its number in the session, where the log has one.
    pub index: Option<u64>,
    /// A print of its words, if it has any.
    pub print: Option<u64>,
}
