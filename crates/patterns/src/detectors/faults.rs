//! The errors of a session, each once, with its occurrences and its end. The detectors for errors
//! share this.

use hashbrown::HashMap;

use super::sign;
use crate::fault::{Fault, is_setting};
use crate::session::{Act, QUOTE_CHARS, Session};
use crate::sign::{Polarity, Remedy, Sign};
use crate::terms::shortened;

/// An error of a session.
pub(super) struct Seen<'s> {
    pub fault: &'s Fault,
    /// Indices of the calls that showed it.
    pub places: Vec<usize>,
    pub remedy: Option<Remedy>,
    /// Index of the call that passed.
    pub end: Option<usize>,
    /// True if the work itself caused it and fixed it.
    pub own: bool,
    /// True if code was changed before its first occurrence.
    edited_before: bool,
}

/// Occurrences from which on an error of the session's own code is more than a normal round of
/// work.
const ROUNDS_MIN: usize = 3;
/// The most pieces of evidence for one error.
const EVIDENCE_MAX: usize = 3;

/// Every error of a session, in order of their first occurrence.
pub(super) fn seen<'s>(session: &'s Session<'_>) -> Vec<Seen<'s>> {
    let mut order: Vec<&'s str> = Vec::new();
    let mut by_locus: HashMap<&'s str, Vec<usize>> = HashMap::new();
    for (place, act) in session.acts.iter().enumerate() {
        let Some(fault) = &act.fault else { continue };
        let places = by_locus.entry(&fault.locus).or_default();
        if places.is_empty() {
            order.push(&fault.locus);
        }
        places.push(place);
    }
    let one = |locus: &'s str| {
        let places = by_locus.remove(locus)?;
        let (first, last) = (*places.first()?, *places.last()?);
        let fault = session.acts.get(first)?.fault.as_ref()?;
        let ended = session.remedy(last);
        let is_code =
            |act: &Act<'_>| act.changes() && act.call.edits.iter().any(|edit| !is_setting(&edit.path));
        let edited_before = session.acts.get(..first).unwrap_or_default().iter().any(is_code);
        let only_code = ended.as_ref().is_some_and(|(found, _)| found.only_code);
        let ran = ended.as_ref().is_some_and(|(found, _)| found.remedy.is_some() && !found.only_code);
        let own = (fault.of_code && !ran) || (only_code && (edited_before || fault.of_code));
        let end = ended.as_ref().map(|(_, end)| *end);
        Some(Seen {
            fault,
            places,
            remedy: ended.and_then(|(found, _)| found.remedy),
            end,
            own,
            edited_before,
        })
    };
    order.into_iter().filter_map(one).collect()
}

impl Seen<'_> {
    /// True for a normal part of work: a test that fails before the code is written, or a mistake
    /// that was fixed at once.
    pub(super) fn is_work(&self) -> bool {
        let is_round =
            self.own && self.places.len() < ROUNDS_MIN && (self.end.is_some() || self.edited_before);
        self.fault.asserts || is_round
    }

    /// Makes the sign of this error.
    pub(super) fn sign(&self, session: &Session<'_>, polarity: Polarity) -> Sign {
        let first = self.places.first().and_then(|place| session.acts.get(*place));
        let tool = first.map_or(String::new(), |act| act.typed());
        let line = shortened(&self.fault.line, QUOTE_CHARS).replace('"', "'");
        let mut sign = sign(polarity, self.fault.locus.clone(), format!("{tool}: \"{line}\""));
        sign.terms = self.fault.terms.words.clone();
        sign.names = self.fault.terms.names.clone();
        sign.own = self.own;
        sign.times = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        let acts = self.places.iter().filter_map(|place| session.acts.get(*place)).take(EVIDENCE_MAX);
        for act in acts {
            let line = act.fault.as_ref().map_or("", |fault| fault.line.as_str());
            sign.evidence.push(session.said(act, line));
        }
        sign.evidence.extend(first.map(|act| session.did(act)));
        sign.remedy = self.remedy.clone();
        let last = self.places.last().copied().unwrap_or_default();
        let places: Vec<usize> = match (self.places.first(), self.end) {
            (Some(first), Some(end)) => (*first..=end).collect(),
            (Some(first), None) => (*first..=last).collect(),
            _ => Vec::new(),
        };
        // If the occurrences are far apart, only the failed calls and those just after them count.
        let places = if places.len() > 3 * self.places.len() + 12 { self.places.clone() } else { places };
        sign.spent = session.spent(places);
        sign
    }
}
