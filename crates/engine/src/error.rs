//! What can go wrong in a sync as a whole. What goes wrong in one session is
//! reported with that session and stops no other.

use retro_model::Timestamp;
use std::path::PathBuf;

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] retro_store::Error),
    /// The text index or the vectors failed.
    #[error(transparent)]
    Search(#[from] retro_search::Error),
    /// The configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A path the user named cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file of ours outside the store cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Prices that cannot be used.
    #[error("the prices in {path} cannot be used: {what}; mend the file, or delete it and import again")]
    Prices {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A path the user named holds nothing we know.
    #[error("no agent session found in {0}; retro reads these agents: {agents}", agents = agent_names())]
    NothingThere(PathBuf),
    /// Somebody wanted us to stop while we waited for the store.
    #[error("stopped while another retro was writing; nothing was changed")]
    Interrupted,
    /// A session that is not in the store.
    #[error("session {0} is not in the store; `retro sync` captures what is on this machine")]
    NoSession(String),
    /// A session whose raw bytes were given up.
    #[error(
        "the raw bytes of {session} were given up on {}; its costs, outcome, files and memories are kept: \
         `retro digest {session}`",
        day(*at)
    )]
    Evicted {
        /// Which.
        session: String,
        /// When.
        at: Timestamp,
    },
    /// A raw file could not be read back.
    #[error("cannot read back {what}: {source}; `retro verify --deep` tells more")]
    Raw {
        /// Which source.
        what: String,
        /// Why.
        source: std::io::Error,
    },
    /// A large session needs room on disk while it is settled.
    #[error(
        "cannot put parts of a large session aside: {0}; free some space where the store or temporary files lie"
    )]
    Scratch(#[from] std::io::Error),
    /// Retention cannot know what is old.
    #[error(
        "the clock says {now}, and raw bytes were last given up at {last}: nothing is given up\nhint: set the \
         clock, or remove the last line of retention.jsonl in the store if that time is wrong"
    )]
    ClockBehind {
        /// What the clock says.
        now: Timestamp,
        /// When the last sweep was.
        last: Timestamp,
    },
    /// Somebody wanted to stop, or ran out of patience.
    #[error("stopped before the end")]
    Stopped,
    /// A pattern of the catalog that does not exist or cannot be used.
    #[error("{what}\nhint: {hint}")]
    Pattern {
        /// What is wrong.
        what: String,
        /// What helps.
        hint: String,
    },
    /// File watching could not start.
    #[error("cannot watch for changes: {0}")]
    Watch(String),
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The named file is not there or cannot be read.
    #[error("cannot read the configuration {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not TOML.
    #[error("{path} is not valid TOML: {what}")]
    Syntax {
        /// Which file.
        path: PathBuf,
        /// What the parser says.
        what: String,
    },
    /// A key nobody knows.
    #[error("{path}: unknown key `{key}`{hint}")]
    UnknownKey {
        /// Which file.
        path: PathBuf,
        /// The key.
        key: String,
        /// The nearest right one, as a sentence part.
        hint: String,
    },
    /// A price that cannot be used.
    #[error("{place}: price of {model:?}: {problem}")]
    Price {
        /// File and line.
        place: String,
        /// The model.
        model: String,
        /// What is wrong.
        problem: String,
    },
    /// A signal of the user's own that cannot be used.
    #[error("{path}: {problem}")]
    Signal {
        /// Which file.
        path: PathBuf,
        /// What is wrong, with the key.
        problem: String,
    },
    /// The file cannot be written.
    #[error("cannot write the configuration {path}: {source}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A value of the wrong kind.
    #[error("{path}: `{key}` must be {expected}")]
    WrongType {
        /// Which file.
        path: PathBuf,
        /// The key.
        key: String,
        /// What it should be.
        expected: String,
    },
}

impl Error {
    /// Whether it is the matter of one session, so that others can go on: a file of
    /// its own is damaged, or of a later retro.
    pub fn is_of_one_session(&self) -> bool {
        use retro_store::Error::{Damaged, Newer, Range};
        matches!(
            self,
            Error::Raw { .. }
                | Error::Evicted { .. }
                | Error::Store(Damaged { .. } | Newer { .. } | Range { .. })
        )
    }

    /// Whether bytes of the store are not what was written.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self, Error::Store(retro_store::Error::Damaged { .. }))
    }
}

/// The day of a time, in UTC.
fn day(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn agent_names() -> String {
    retro_agents::AGENTS.iter().map(|agent| agent.title()).collect::<Vec<_>>().join(", ")
}
