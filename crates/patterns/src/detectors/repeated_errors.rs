//! # What
//! The same error three times or more in one session.
//! # Why
//! Somebody worked around it, or repaired the wrong thing.
//! # How
//! Counts failed calls with the same line, as for `recurring_error`.
//! # Limits
//! Needs a line that says what went wrong. Runs without one count as `retry_storm` where the
//! command is the same.

use super::{Detector, always, faults, usual};
use crate::session::Session;
use crate::sign::{Polarity, Sign};

pub(super) const DETECTOR: Detector = Detector {
    name: "repeated_errors",
    title: "the same error again and again in one session",
    polarity: Polarity::Problem,
    order: 5,
    source: include_str!("repeated_errors.rs"),
    detect,
    counts: always,
    usual: usual::once,
};

/// The number of occurrences that counts as repeated.
const TIMES_MIN: usize = 3;

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let seen = faults::seen(session);
    let repeated = seen.iter().filter(|seen| seen.places.len() >= TIMES_MIN && !seen.fault.asserts);
    repeated.map(|seen| seen.sign(session, Polarity::Problem)).collect()
}
