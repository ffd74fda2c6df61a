//! Why a question has no answer.

/// An error of a question.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine or the store refused.
    #[error(transparent)]
    Engine(#[from] retro_engine::Error),
    /// The text index or the vectors failed.
    #[error(transparent)]
    Search(#[from] retro_search::Error),
    /// No such agent.
    #[error("there is no agent {name:?}{hint}\nhint: `retro agents` lists them")]
    NoAgent {
        /// What was asked for.
        name: String,
        /// The nearest right one, as a sentence part.
        hint: String,
    },
    /// The store has no session at all, or none of the agent that was asked for.
    #[error("the store has no such session yet\nhint: `retro sync` captures what is on this machine")]
    NoneYet,
    /// No such session.
    #[error("no session{} in the store begins with {id:?}\nhint: {}", of_agent(agent), list_command(agent))]
    NoSession {
        /// The agent.
        agent: String,
        /// What was asked for.
        id: String,
    },
    /// Several sessions.
    #[error("{id:?} could be {count} sessions, such as {examples}\nhint: type more of the id")]
    Ambiguous {
        /// What was asked for.
        id: String,
        /// How many fit.
        count: usize,
        /// Some of them.
        examples: String,
    },
    /// A vector of another model.
    #[error(
        "the vector has {found} numbers, and the embedding model makes {wanted}\nhint: `retro embed status` names the model"
    )]
    Dimension {
        /// How many it has.
        found: usize,
        /// How many it needs.
        wanted: usize,
    },
    /// No such event.
    #[error(
        "session {session} has no event {event:?} and no turn of that number\nhint: `retro events` prints all of them with their ids"
    )]
    NoEvent {
        /// The session.
        session: String,
        /// What was asked for.
        event: String,
    },
    /// No such memory.
    #[error("there is no memory {0:?}\nhint: `retro memory list` shows what there is")]
    NoMemory(String),
    /// Several memories.
    #[error("several memories begin with {0:?}\nhint: type more of the id")]
    ManyMemories(String),
    /// No such source of a session.
    #[error("session {session} has no source {name:?}\nhint: it has {there}, and --file chooses one")]
    NoSource {
        /// The session.
        session: String,
        /// What was asked for.
        name: String,
        /// What there is.
        there: String,
    },
}

impl Error {
    /// Whether an embedding model cannot be loaded or run.
    pub fn is_of_model(&self) -> bool {
        use retro_search::Error::Embed;
        matches!(self, Error::Search(Embed(_)) | Error::Engine(retro_engine::Error::Search(Embed(_))))
    }
}

fn of_agent(agent: &str) -> String {
    if matches!(agent, "*" | "all") { String::new() } else { format!(" of {agent}") }
}

fn list_command(agent: &str) -> String {
    match agent {
        "*" | "all" => "`retro list` shows what there is".to_owned(),
        _ => format!("`retro list --agent {agent}` shows what there is"),
    }
}

impl From<retro_store::Error> for Error {
    fn from(error: retro_store::Error) -> Self {
        Error::Engine(error.into())
    }
}
