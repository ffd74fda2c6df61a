//! # What
//! Sessions of one repository that use far more tokens than sessions usually do.
//! # Why
//! A repository in which this happens again lacks something: notes, a smaller build, a faster test.
//! # How
//! A session overruns if its tokens reach the 90th percentile of all sessions that were real work
//! and three times their median. Needs ten such sessions to compare with.
//! # Limits
//! It says that a session was large, not that it was too large for its task.

use super::{Detector, sign, usual};
use crate::corpus::Corpus;
use crate::session::Session;
use crate::sign::{Evidence, Polarity, SessionSigns, Sign, Voice};
use crate::terms::shortened;

pub(super) const DETECTOR: Detector = Detector {
    name: "budget_overrun",
    title: "far more tokens than sessions usually use",
    polarity: Polarity::Problem,
    order: 11,
    source: include_str!("budget_overrun.rs"),
    detect,
    counts,
    usual: usual::none,
};

fn detect(session: &Session<'_>) -> Vec<Sign> {
    if session.tokens == 0 || session.repo.is_none() {
        return Vec::new();
    }
    let place = session.place();
    let mut sign = sign(
        Polarity::Problem,
        format!("budget:{place}"),
        format!("sessions in {place} use far more tokens than usual"),
    );
    sign.measure = Some(session.tokens);
    let asked = session.trace.requests().next();
    sign.evidence.extend(asked.map(|(beat, text)| Evidence {
        event_id: beat.id.clone(),
        text: shortened(text, 100),
        voice: Voice::User,
    }));
    vec![sign]
}

fn counts(sign: &Sign, _: &SessionSigns, corpus: &Corpus) -> bool {
    sign.measure.is_some_and(|tokens| corpus.is_overrun(tokens))
}
