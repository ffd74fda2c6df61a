//! Errors of queries.

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine or the store refused.
    #[error(transparent)]
    Engine(#[from] retro_engine::Error),
    /// The text index or the vectors failed.
    #[error(transparent)]
    Search(#[from] retro_search::Error),
    /// There is no such agent.
    #[error("there is no agent {name:?}{hint}\nhint: `retro agents` lists them")]
    NoAgent {
        /// The name that was given.
        name: String,
        /// A sentence that suggests the nearest name.
        hint: String,
    },
    /// The store has no session at all, or none of the agent that was asked for.
    #[error("the store has no such session yet\nhint: `retro sync` captures what is on this machine")]
    NoneYet,
    /// There is no such session.
    #[error("no session{} in the store begins with {id:?}\nhint: {}", of_agent(agent), list_command(agent))]
    NoSession {
        /// The agent that was asked for.
        agent: String,
        /// The id that was given.
        id: String,
    },
    /// The id fits several sessions.
    #[error("{id:?} could be {count} sessions, such as {examples}\nhint: type more of the id")]
    Ambiguous {
        /// The id that was given.
        id: String,
        /// How many sessions fit.
        count: usize,
        /// The first few of them.
        examples: String,
    },
    /// A vector from another model.
    #[error(
        "the vector has {found} numbers, and the embedding model makes {wanted}\nhint: `retro embed status` names the model"
    )]
    Dimension {
        /// Dimensions of the stored vector.
        found: usize,
        /// Dimensions that the model needs.
        wanted: usize,
    },
    /// There is no such event.
    #[error(
        "session {session} has no event {event:?} and no turn of that number\nhint: `retro events` prints all of them with their ids"
    )]
    NoEvent {
        /// The session's id.
        session: String,
        /// The event that was asked for.
        event: String,
    },
    /// There is no such memory.
    #[error("there is no memory {0:?}\nhint: `retro memory list` shows what there is")]
    NoMemory(String),
    /// The id fits several memories.
    #[error("several memories begin with {0:?}\nhint: type more of the id")]
    ManyMemories(String),
    /// The session has no such source.
    #[error("session {session} has no source {name:?}\nhint: it has {there}, and --file chooses one")]
    NoSource {
        /// The session's id.
        session: String,
        /// The name that was given.
        name: String,
        /// The sources that it has.
        there: String,
    },
}

impl Error {
    /// True if an embedding model cannot be loaded or run.
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
