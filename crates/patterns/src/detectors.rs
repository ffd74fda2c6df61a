//! The detectors: one file each, one line of [`DETECTORS`].
//!
//! The comment at the top of each file is the user's reference: `retro detect --explain` prints it,
//! and `docs/reference/detectors.md` is generated from it.

mod abandoned;
mod budget_overrun;
mod clean_pass;
mod correction_repeated;
mod error_then_recovery;
mod faults;
mod infra_overhead;
mod recurring_error;
mod repeated_errors;
mod retry_storm;
mod rework_loop;
mod schema_thrash;
mod slow_start;
mod tool_thrash;

use crate::corpus::Corpus;
use crate::session::Session;
use crate::sign::{Polarity, SessionSigns, Sign, Spent};

/// A function from a session to signs, with its description.
pub struct Detector {
    /// Its name, and the type of its signs.
    pub name: &'static str,
    /// A title in a few words.
    pub title: &'static str,
    /// Whether its signs are problems or successes.
    pub polarity: Polarity,
    /// If several detectors find the same problem, the lowest order names it.
    pub(crate) order: u8,
    pub(crate) source: &'static str,
    pub(crate) detect: fn(&Session<'_>) -> Vec<Sign>,
    /// Decides if a sign counts, compared with all sessions.
    pub(crate) counts: fn(&Sign, &SessionSigns, &Corpus) -> bool,
    /// Calls of this kind that a comparable session makes too: these cost nothing extra.
    pub(crate) usual: fn(&SessionSigns, &Corpus) -> u64,
}

/// How many of the calls concerned a comparable session makes.
mod usual {
    use crate::corpus::Corpus;
    use crate::sign::SessionSigns;

    /// Without it, none would have been made.
    pub(super) fn none(_: &SessionSigns, _: &Corpus) -> u64 {
        0
    }

    /// The command is run, and passes.
    pub(super) fn once(_: &SessionSigns, _: &Corpus) -> u64 {
        1
    }

    /// The file is changed, and its check passes.
    pub(super) fn round(_: &SessionSigns, _: &Corpus) -> u64 {
        2
    }

    /// What other sessions of the agent look at before they change something.
    pub(super) fn start(session: &SessionSigns, corpus: &Corpus) -> u64 {
        corpus.usual(&session.agent).calls_to_edit
    }
}

impl Detector {
    /// What, why, how and limits, from the comment at the top of its file, as Markdown.
    pub fn explanation(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(str::trim_start).collect::<Vec<_>>().join("\n")
    }
}

impl Corpus {
    /// True if a sign counts among these sessions.
    pub(crate) fn counts(&self, sign: &Sign, session: &SessionSigns) -> bool {
        let detector = DETECTORS.iter().find(|detector| detector.name == sign.kind);
        detector.is_some_and(|detector| (detector.counts)(sign, session, self))
    }

    /// What the calls of a sign used beyond those that a comparable session makes.
    pub(crate) fn above(&self, sign: &Sign, session: &SessionSigns) -> Spent {
        let Spent { calls, tokens, ms } = sign.spent;
        let usual = by_name(&sign.kind).map_or(0, |detector| (detector.usual)(session, self));
        let more = u64::from(calls).saturating_sub(usual);
        let share = |all: u64| (u128::from(all) * u128::from(more) / u128::from(calls.max(1))) as u64;
        Spent { calls: u32::try_from(more).unwrap_or(u32::MAX), tokens: share(tokens), ms: share(ms) }
    }
}

fn always(_: &Sign, _: &SessionSigns, _: &Corpus) -> bool {
    true
}

/// Every detector, sorted by name.
pub static DETECTORS: &[Detector] = &[
    abandoned::DETECTOR,
    budget_overrun::DETECTOR,
    clean_pass::DETECTOR,
    correction_repeated::DETECTOR,
    error_then_recovery::DETECTOR,
    infra_overhead::DETECTOR,
    recurring_error::DETECTOR,
    repeated_errors::DETECTOR,
    retry_storm::DETECTOR,
    rework_loop::DETECTOR,
    schema_thrash::DETECTOR,
    slow_start::DETECTOR,
    tool_thrash::DETECTOR,
];

/// Finds a detector by its name.
pub fn by_name(name: &str) -> Option<&'static Detector> {
    DETECTORS.binary_search_by(|detector| detector.name.cmp(name)).ok().and_then(|at| DETECTORS.get(at))
}

/// A sign with what most of them leave empty.
pub(crate) fn sign(polarity: Polarity, locus: String, title: String) -> Sign {
    Sign {
        kind: String::new(),
        polarity,
        locus,
        terms: Vec::new(),
        names: Vec::new(),
        own: false,
        title,
        times: 1,
        measure: None,
        evidence: Vec::new(),
        remedy: None,
        spent: Spent::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detectors_are_sorted_and_explained() {
        assert!(DETECTORS.windows(2).all(|pair| pair[0].name < pair[1].name));
        for detector in DETECTORS {
            let text = detector.explanation();
            for heading in ["# What", "# Why", "# How", "# Limits"] {
                assert!(text.contains(heading), "{} lacks {heading}", detector.name);
            }
        }
        let mut orders: Vec<u8> = DETECTORS.iter().map(|detector| detector.order).collect();
        orders.sort_unstable();
        orders.dedup();
        assert_eq!(orders.len(), DETECTORS.len());
    }
}
