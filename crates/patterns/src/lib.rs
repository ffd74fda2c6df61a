//! Recurring problems and successes over sessions, and their solutions.
//!
//! A detector (`detectors/`, one file each, one line of `detectors.rs`) maps one session to
//! [`Sign`]s. `cluster.rs` merges signs of the same problem from all detectors and agents,
//! `rank.rs` sorts the [`Candidate`]s, `gate.rs` decides which may become patterns, `solution.rs`
//! has the patterns, `review.rs` has the decisions.
//!
//! Pure: sessions, configuration, files and the clock are passed in.

mod buckets;
mod candidate;
mod cluster;
mod corpus;
mod detectors;
mod fault;
mod gate;
mod listener;
mod near;
mod rank;
mod remedy;
mod review;
mod session;
mod sign;
mod solution;
mod terms;

pub use buckets::Buckets;
pub use candidate::{Candidate, Impact, Member, MemberImpact, Resolution};
pub use cluster::{Clusters, cluster};
pub use corpus::Corpus;
pub use detectors::{DETECTORS, Detector, by_name};
pub use gate::{Gate, Verdict, outside_quotes};
pub use listener::{Listener, Origin};
pub use rank::{Scored, rank};
pub use review::{Choice, Decision, Review, evidence_of};
pub use sign::{Evidence, Polarity, Remedy, SessionSigns, Sign, Spent, Voice};
pub use solution::{
    Change, Pattern, PatternHints, PatternScope, Provenance, Status, duplicate_of, similarity,
};

/// Raised when the same sessions give other signs.
pub const VERSION: u32 = 2;
/// Raised when the same signs give other candidates.
pub const CLUSTER_VERSION: u32 = 2;
