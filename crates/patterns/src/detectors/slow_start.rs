//! # What
//! Sessions of one repository that look around for long before the first file is changed.
//! # Why
//! What every session has to find out again can be written down once.
//! # How
//! Counts calls of the session's own thread before the first change of a file. A start is slow
//! from twelve calls on, if that is at least twice the median of all sessions that change files.
//! # Limits
//! Looking around is healthy. Only its repetition in one repository, beyond what is usual, counts.

use super::{Detector, sign, usual};
use crate::corpus::Corpus;
use crate::session::Session;
use crate::sign::{Polarity, SessionSigns, Sign};

pub(super) const DETECTOR: Detector = Detector {
    name: "slow_start",
    title: "many calls before the first change",
    polarity: Polarity::Problem,
    order: 12,
    source: include_str!("slow_start.rs"),
    detect,
    counts,
    usual: usual::start,
};

/// The least number of calls of a slow start.
pub(crate) const CALLS_MIN: u64 = 12;

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let before = session.main().iter().position(|act| act.changes()).unwrap_or(0);
    if (before as u64) < CALLS_MIN || session.repo.is_none() {
        return Vec::new();
    }
    let place = session.place();
    let mut sign = sign(
        Polarity::Problem,
        format!("start:{place}"),
        format!("sessions in {place} need many calls before the first change"),
    );
    sign.measure = Some(before as u64);
    sign.evidence = session.main().iter().take(before).take(3).map(|act| session.did(act)).collect();
    sign.spent = session.spent(0..before);
    vec![sign]
}

fn counts(sign: &Sign, _: &SessionSigns, corpus: &Corpus) -> bool {
    sign.measure.is_some_and(|calls| corpus.is_slow_start(calls))
}
