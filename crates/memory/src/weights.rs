//! The parameters of the ranking, in one place: `weights.json`.

use std::sync::LazyLock;

use serde::Deserialize;

/// The weight of each part of the ranking.
#[derive(Debug, Clone, Deserialize)]
#[allow(missing_docs)]
pub struct Weights {
    pub words: f64,
    pub meaning: f64,
    /// Minimum coverage of a prompt that names the thing itself.
    pub named: f64,
    pub utility: f64,
    pub confidence: f64,
    /// True if a repository's memory is shown only there.
    pub scope_holds: bool,
    pub scope_match: f64,
    pub risk_medium: f64,
    pub risk_high: f64,
    pub half_life_days: f64,
    pub shown_cosine: f64,
    pub shown_stems: usize,
    pub shown_coverage: f64,
    /// Minimum coverage of a prompt that mentions a rule's subject.
    pub shown_spoken_of: f64,
    /// Minimum share of a prompt for nearly the same request.
    pub shown_same: f64,
    pub link_share: f64,
}

/// The weights in force.
pub static WEIGHTS: LazyLock<Weights> = LazyLock::new(|| {
    // The file is compiled in, and a test parses it.
    serde_json::from_str(include_str!("weights.json")).unwrap_or(Weights {
        words: 0.6,
        meaning: 0.4,
        named: 0.0,
        utility: 0.0,
        confidence: 0.0,
        scope_holds: true,
        scope_match: 0.0,
        risk_medium: 0.0,
        risk_high: 0.0,
        half_life_days: 180.0,
        shown_cosine: 1.0,
        shown_stems: usize::MAX,
        shown_coverage: 1.0,
        shown_spoken_of: 1.0,
        shown_same: 1.0,
        link_share: 0.0,
    })
});

/// A part of the ranking, and a function that disables it, to measure its effect.
pub type Part = (&'static str, fn(&mut Weights));

/// Every part of the ranking.
pub static PARTS: &[Part] = &[
    ("words in common", |weights| {
        (weights.words, weights.shown_stems, weights.shown_coverage) = (0.0, 0, f64::INFINITY);
        (weights.shown_spoken_of, weights.shown_same) = (f64::INFINITY, f64::INFINITY);
    }),
    ("likeness in meaning", |weights| (weights.meaning, weights.shown_cosine) = (0.0, f64::INFINITY)),
    ("what a rule speaks of", |weights| weights.shown_spoken_of = f64::INFINITY),
    ("commands that passed once", |weights| weights.shown_same = f64::INFINITY),
    ("names of errors, things and purposes", |weights| weights.named = 0.0),
    ("only in its own repository", |weights| weights.scope_holds = false),
    ("age", |weights| weights.half_life_days = f64::INFINITY),
    ("confidence", |weights| weights.confidence = 0.0),
    ("usefulness so far", |weights| weights.utility = 0.0),
    ("risk", |weights| (weights.risk_medium, weights.risk_high) = (0.0, 0.0)),
    ("the floor", |weights| {
        (weights.shown_cosine, weights.shown_stems, weights.shown_coverage) = (f64::NEG_INFINITY, 0, 0.0);
    }),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_the_ranking_are_read() {
        assert!(serde_json::from_str::<Weights>(include_str!("weights.json")).is_ok());
        assert_eq!(WEIGHTS.shown_stems, 2);
    }
}
