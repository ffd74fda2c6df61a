//! # What
//! The same error in several sessions, whichever agent met it.
//! # Why
//! What goes wrong again and again is worth a line in the repository's notes, or a repair.
//! # How
//! Takes the line of each failed call that says what went wrong, without paths, ports, versions
//! and times. Errors with one cause of the operating system (a port that is in use, a full disk)
//! are one, however a program words them. Names may differ where the rest of the line is the same.
//! # Limits
//! Looking for what is not there, asking whether something runs, a test that fails before it is
//! met, and a mistake in code that the same session made and mended are no errors here. Lines
//! that only say that something failed are left out.

use super::{Detector, always, faults, usual};
use crate::session::Session;
use crate::sign::{Polarity, Sign};

pub(super) const DETECTOR: Detector = Detector {
    name: "recurring_error",
    title: "the same error in several sessions",
    polarity: Polarity::Problem,
    order: 8,
    source: include_str!("recurring_error.rs"),
    detect,
    counts: always,
    usual: usual::once,
};

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let seen = faults::seen(session);
    seen.iter().filter(|seen| !seen.is_work()).map(|seen| seen.sign(session, Polarity::Problem)).collect()
}
