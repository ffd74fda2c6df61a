//! # What
//! Sessions that were left unfinished at the same point.
//! # Why
//! What is given up again and again is either not worth asking for or needs preparation.
//! # How
//! Of sessions whose outcome is `abandoned`: by the error that was open at the end, else by what
//! was asked for. Requests in other words are found by the words that they share.
//! # Limits
//! A session that was cut off because the person was content looks the same.

use super::{Detector, always, faults, sign, usual};
use crate::session::{QUOTE_CHARS, Session};
use crate::sign::{Evidence, Polarity, Sign, Voice};
use crate::terms::{self, name_of, shortened};
use retro_insight::OutcomeValue;

pub(super) const DETECTOR: Detector = Detector {
    name: "abandoned",
    title: "left unfinished at the same point",
    polarity: Polarity::Problem,
    order: 2,
    source: include_str!("abandoned.rs"),
    detect,
    counts: always,
    usual: usual::none,
};

/// An error among this many last calls counts as the ending of the session.
const LAST_CALLS: usize = 8;
/// The most terms of a request that are compared.
const TERMS_MAX: usize = 24;

fn detect(session: &Session<'_>) -> Vec<Sign> {
    if session.outcome.value != OutcomeValue::Abandoned {
        return Vec::new();
    }
    let near_end = session.acts.len().saturating_sub(LAST_CALLS);
    let seen = faults::seen(session);
    let open = seen
        .iter()
        .rev()
        .find(|seen| seen.end.is_none() && seen.places.last().is_some_and(|last| *last >= near_end));
    if let Some(open) = open.filter(|open| !open.fault.asserts) {
        return vec![open.sign(session, Polarity::Problem)];
    }
    let mut asked = session.trace.requests();
    let Some((beat, text)) = asked.find(|(_, text)| terms::said(text).len() >= 2) else { return Vec::new() };
    let mut words = terms::said(&shortened(text, 400));
    words.truncate(TERMS_MAX);
    let locus = format!("abandoned:{}:{}", session.place(), name_of(&words.join(" ")));
    let quote = shortened(text, 100).replace('"', "'");
    let mut sign = sign(Polarity::Problem, locus, format!("left unfinished: \"{quote}\""));
    sign.terms = words;
    sign.names = vec![session.place().to_owned()];
    let text = shortened(text, QUOTE_CHARS);
    sign.evidence = vec![Evidence { event_id: beat.id.clone(), text, voice: Voice::User }];
    let ends = session.outcome.evidence_refs.iter();
    sign.evidence.extend(ends.map(|id| Evidence {
        event_id: id.clone(),
        text: session.outcome.reason.clone(),
        voice: Voice::Model,
    }));
    sign.spent = session.spent(0..session.acts.len());
    vec![sign]
}
