//! Errors that end a sync or a command. An error in one session is reported with that session and
//! does not stop the others.

use retro_model::Timestamp;
use std::path::PathBuf;

/// An error that ends a command.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store returned an error.
    #[error(transparent)]
    Store(#[from] retro_store::Error),
    /// The text index or the vectors failed.
    #[error(transparent)]
    Search(#[from] retro_search::Error),
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A path the user named cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Path that the user named.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A file of ours outside the store cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// Prices that cannot be used.
    #[error("the prices in {path} cannot be used: {what}; mend the file, or delete it and import again")]
    Prices {
        /// Path of the prices file.
        path: PathBuf,
        /// The problem, for people.
        what: String,
    },
    /// A path the user named holds no session of a known agent.
    #[error("no agent session found in {0}; retro reads these agents: {agents}", agents = agent_names())]
    NothingThere(PathBuf),
    /// A stop was requested while we waited for the store.
    #[error("stopped while another retro was writing; nothing was changed")]
    Interrupted,
    /// A session that is not in the store.
    #[error("session {0} is not in the store; `retro sync` captures what is on this machine")]
    NoSession(String),
    /// A session whose raw bytes were evicted.
    #[error(
        "the raw bytes of {session} were given up on {}; its costs, outcome, files and memories are kept: \
         `retro digest {session}`",
        day(*at)
    )]
    Evicted {
        /// Name of the session.
        session: String,
        /// Time of the eviction.
        at: Timestamp,
    },
    /// A raw file could not be read back.
    #[error("cannot read back {what}: {source}; `retro verify --deep` tells more")]
    Raw {
        /// Name of the source.
        what: String,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A large session needs room on disk while it is settled.
    #[error(
        "cannot put parts of a large session aside: {0}; free some space where the store or temporary files lie"
    )]
    Scratch(#[from] std::io::Error),
    /// The clock is behind the last sweep, so retention cannot know which sessions are old.
    #[error(
        "the clock says {now}, and raw bytes were last given up at {last}: nothing is given up\nhint: set the \
         clock, or remove the last line of retention.jsonl in the store if that time is wrong"
    )]
    ClockBehind {
        /// Time by the clock.
        now: Timestamp,
        /// Time of the last sweep.
        last: Timestamp,
    },
    /// A stop was requested, or the time limit passed.
    #[error("stopped before the end")]
    Stopped,
    /// A pattern of the catalog that does not exist or cannot be used.
    #[error("{what}\nhint: {hint}")]
    Pattern {
        /// The problem, for people.
        what: String,
        /// Advice for the `hint:` line.
        hint: String,
    },
    /// A text that cannot be forgotten.
    #[error("{what}\nhint: {hint}")]
    Text {
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
        /// Path of the configuration file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is not valid TOML.
    #[error("{path} is not valid TOML: {what}")]
    Syntax {
        /// Path of the configuration file.
        path: PathBuf,
        /// Message of the parser.
        what: String,
    },
    /// A key that retro does not know.
    #[error("{path}: unknown key `{key}`{hint}")]
    UnknownKey {
        /// Path of the configuration file.
        path: PathBuf,
        /// The unknown key.
        key: String,
        /// The nearest known key, as a part of the sentence.
        hint: String,
    },
    /// A price that cannot be used.
    #[error("{place}: price of {model:?}: {problem}")]
    Price {
        /// File and line.
        place: String,
        /// Model of the price.
        model: String,
        /// The problem, for people.
        problem: String,
    },
    /// A signal of the user's own that cannot be used.
    #[error("{path}: {problem}")]
    Signal {
        /// Path of the configuration file.
        path: PathBuf,
        /// The problem, with the key.
        problem: String,
    },
    /// The file cannot be written.
    #[error("cannot write the configuration {path}: {source}")]
    Write {
        /// Path of the configuration file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A value of the wrong kind.
    #[error("{path}: `{key}` must be {expected}")]
    WrongType {
        /// Path of the configuration file.
        path: PathBuf,
        /// Key with the wrong value.
        key: String,
        /// The expected kind of value.
        expected: String,
    },
}

impl Error {
    /// Whether it concerns one session only, so that others can continue: a file of its own is
    /// damaged, or comes from a later retro.
    pub fn is_of_one_session(&self) -> bool {
        use retro_store::Error::{Damaged, Newer, Range};
        matches!(
            self,
            Error::Raw { .. }
                | Error::Evicted { .. }
                | Error::Store(Damaged { .. } | Newer { .. } | Range { .. })
        )
    }

    /// Whether a file of the store is damaged.
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
