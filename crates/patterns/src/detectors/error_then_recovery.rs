//! # What
//! An error, and what was run or edited before the same command passed.
//! # Why
//! The next session can begin with what helped.
//! # How
//! After the last failure, looks for the first run of the same command, or of the same program,
//! that passed. What was run and edited in between, and the command that passed where it differs
//! from the one that failed, are quoted.
//! # Limits
//! What passes when it is simply run again has no recovery. At most three steps are quoted, the
//! last ones. It is no proof that each of them was needed.

use super::{Detector, always, faults};
use crate::session::Session;
use crate::sign::{Polarity, Sign};

pub(super) const DETECTOR: Detector = Detector {
    name: "error_then_recovery",
    title: "an error, and what helped",
    polarity: Polarity::Success,
    order: 9,
    source: include_str!("error_then_recovery.rs"),
    detect,
    counts: always,
};

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let seen = faults::seen(session);
    let recovered = seen.iter().filter(|seen| seen.remedy.is_some() && !seen.is_work());
    recovered.map(|seen| seen.sign(session, Polarity::Success)).collect()
}
