//! Why a question has no answer.

/// An error of a question.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine or the store refused.
    #[error(transparent)]
    Engine(#[from] retro_engine::Error),
    /// No such agent.
    #[error("there is no agent {name:?}{hint}; `retro agents` lists them")]
    NoAgent {
        /// What was asked for.
        name: String,
        /// The nearest right one, as a sentence part.
        hint: String,
    },
    /// No such session.
    #[error(
        "no {agent} session in the store begins with {id:?}; `retro list --agent {agent}` shows what there is"
    )]
    NoSession {
        /// The agent.
        agent: String,
        /// What was asked for.
        id: String,
    },
    /// Several sessions.
    #[error("{id:?} could be {count} {agent} sessions, such as {examples}; type more of it")]
    Ambiguous {
        /// The agent.
        agent: String,
        /// What was asked for.
        id: String,
        /// How many fit.
        count: usize,
        /// Some of them.
        examples: String,
    },
    /// No such source of a session.
    #[error("session {session} has no source {name:?}; it has {there}")]
    NoSource {
        /// The session.
        session: String,
        /// What was asked for.
        name: String,
        /// What there is.
        there: String,
    },
}

impl From<retro_store::Error> for Error {
    fn from(error: retro_store::Error) -> Self {
        Error::Engine(error.into())
    }
}
