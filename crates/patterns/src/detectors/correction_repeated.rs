//! # What
//! The person says the same thing again in another session, also in other words.
//! # Why
//! What has to be said twice belongs into the agent's instructions.
//! # How
//! Takes corrections that say what to do otherwise, as `retro digest` lists them. They are the
//! same if they speak of the same things, by their words and by their meaning.
//! # Limits
//! A report that something does not work is no correction of this kind. Words alone do not show
//! that two sentences contradict each other.

use super::{Detector, always, sign, usual};
use crate::session::Session;
use crate::sign::{Evidence, Polarity, Remedy, Sign, Voice};
use crate::terms::{name_of, said, shortened};

pub(super) const DETECTOR: Detector = Detector {
    name: "correction_repeated",
    title: "the person has to say the same thing again",
    polarity: Polarity::Problem,
    order: 1,
    source: include_str!("correction_repeated.rs"),
    detect,
    counts: always,
    usual: usual::none,
};

/// Corrections with less confidence are not general rules.
const SURE: f64 = 0.6;
/// Kinds of corrections that report, or undo something.
const REPORTS: &[&str] = &["complaint", "undo", "rework", "interruption"];

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let mut signs: Vec<Sign> = Vec::new();
    for correction in &session.corrections {
        let terms = said(&correction.text);
        if correction.confidence < SURE || REPORTS.contains(&correction.rule.as_str()) || terms.is_empty() {
            continue;
        }
        let locus = format!("correction:{}", name_of(&terms.join(" ")));
        let quote = shortened(&correction.text, 140).replace('"', "'");
        let evidence = Evidence {
            event_id: correction.event_id.clone(),
            text: shortened(&correction.text, 160),
            voice: Voice::User,
        };
        if let Some(known) = signs.iter_mut().find(|known| known.locus == locus) {
            known.times += 1;
            known.evidence.push(evidence);
            continue;
        }
        let mut sign = sign(Polarity::Problem, locus, format!("the person says: \"{quote}\""));
        sign.terms = terms;
        // The person's request is the solution.
        sign.remedy = Some(Remedy { steps: vec![evidence.clone()] });
        let after = session
            .acts
            .iter()
            .position(|act| act.beat.turn >= 1 && is_after(session, act, &correction.event_id));
        if let Some(place) = after {
            sign.spent = session.spent(place..(place + 4).min(session.acts.len()));
        }
        sign.evidence = vec![evidence];
        signs.push(sign);
    }
    signs
}

/// True if a call comes after the event of a correction.
fn is_after(session: &Session<'_>, act: &crate::session::Act<'_>, event_id: &str) -> bool {
    let at = |id: &str| session.trace.beats.iter().position(|beat| beat.id == id);
    act.beat.thread == 0 && at(event_id).is_some_and(|place| at(&act.beat.id).is_some_and(|own| own > place))
}
