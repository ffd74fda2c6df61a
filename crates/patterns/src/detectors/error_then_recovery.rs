//! # What
//! An error, and what was run or edited before the same command passed.
//! # Why
//! The next session can begin with what helped.
//! # How
//! After the last failure, looks for the first run of the same command that passed, or, soon
//! afterwards, of the same in other words: another option, another program with the same arguments,
//! without a wrapper. What was run and edited in between is quoted (first what names what the error
//! names, else what changes the environment), and the command that passed where it differs from the
//! one that failed. An edit that did not fit is followed to the next one of the same file.
//! # Limits
//! What passes when it is simply run again has no recovery. At most three steps are quoted, the
//! last ones. It is no proof that each of them was needed.

use super::{Detector, always, faults, usual};
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
    usual: usual::once,
};

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let seen = faults::seen(session);
    let recovered = seen.iter().filter(|seen| seen.remedy.is_some() && !seen.is_work());
    recovered.map(|seen| seen.sign(session, Polarity::Success)).collect()
}
