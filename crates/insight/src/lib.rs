//! How a session went: one [`Trace`] of its settled events, and what is read from it:
//! signals (`registry.rs`), corrections, the outcome, whether it was real work, and the
//! [`Digest`] that outlives the raw bytes.
//!
//! Pure: events, facts from outside and settings are handed in; nothing is read or run.
//! The same events and facts give the same digest, byte for byte.

pub mod clock;
mod corrections;
mod digest;
mod facts;
mod judged;
mod outcome;
mod own;
mod prices;
mod quality;
mod reading;
mod registry;
mod signals;
mod trace;
mod trajectory;

pub use corrections::Correction;
pub use digest::{
    CommandDigest, CommitDigest, Digest, ErrorDigest, FileDigest, Identity, Lines, Runs, VERSION,
};
pub use facts::{AGES_DAYS, Commit, DAY_MS, GitFacts, Survival};
pub use judged::{JudgedCall, judged_calls};
pub use outcome::{Outcome, OutcomeValue};
pub use own::{BadSignal, OwnSignal};
pub use prices::Prices;
pub use quality::{Quality, Thresholds};
pub use reading::Reading;
pub use registry::{Group, Method, SIGNALS, Signal, Sort, by_id};
pub use trace::{Beat, Call, Edited, PARTS, Speaker, Trace, What};

/// Everything that a digest is made from, besides the trace.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// What makes a session real work.
    pub thresholds: Thresholds,
    /// Signals of the user's own.
    pub own: Vec<OwnSignal>,
    /// Domains of projects, by their names.
    pub domain: Option<String>,
    /// Whether the session may still grow.
    pub still_running: bool,
}

impl Trace {
    /// Where the person corrected the agent, in order.
    pub fn corrections(&self) -> Vec<Correction> {
        corrections::find(self)
    }

    /// How the session ended.
    pub fn outcome(&self, settings: &Settings) -> Outcome {
        outcome::judge(self, settings)
    }

    /// Whether it was real work.
    pub fn quality(&self, thresholds: &Thresholds) -> Quality {
        quality::judge(self, thresholds)
    }
}
