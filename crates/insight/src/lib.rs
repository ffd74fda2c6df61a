//! Judges a session: one [`Trace`] of its settled events, and the results derived from it: signals
//! (`registry.rs`), corrections, the outcome, whether it was real work, and the [`Digest`] that
//! outlives the raw bytes.
//!
//! Pure: events, external facts and settings are passed in. It reads no files and runs no programs.
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

/// The input of a digest besides the trace.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// The criteria of real work.
    pub thresholds: Thresholds,
    /// Signals that the user defined.
    pub own: Vec<OwnSignal>,
    /// The configured domain of the session's project.
    pub domain: Option<String>,
    /// True if the session may still grow.
    pub still_running: bool,
}

impl Trace {
    /// The corrections by the person, in order.
    pub fn corrections(&self) -> Vec<Correction> {
        corrections::find(self)
    }

    /// Judges how the session ended.
    pub fn outcome(&self, settings: &Settings) -> Outcome {
        outcome::judge(self, settings)
    }

    /// Judges if it was real work.
    pub fn quality(&self, thresholds: &Thresholds) -> Quality {
        quality::judge(self, thresholds)
    }
}
