//! `risk_aware`: keeps the few candidates that are worth it.
//!
//! # What
//! Sorts by priority, confidence, kind and id. Drops those of high risk, those below a
//! confidence of 0.40 and near duplicates: of the same kind, with at least 75 % of their words
//! in common. Stops at 8.
//!
//! # Why
//! Long lists cost tokens and distract. What could do harm is for a person to decide.

use hashbrown::HashSet;

use super::{Filter, Kept, Rule};
use crate::candidate::{Candidate, Risk, by_worth};

/// Maximum candidates kept.
const KEPT_MAX: usize = 8;
/// Candidates below this are dropped.
const CONFIDENCE_MIN: f64 = 0.40;
/// The share of common words that makes two candidates the same.
const LIKENESS_MIN: f64 = 0.75;

pub(super) const FILTER: Filter = Filter {
    name: "risk_aware",
    title: "keeps at most 8, none of high risk, of low confidence or twice",
    rule: Rule::Choice(keep),
};

fn keep(mut candidates: Vec<Candidate>) -> Kept {
    let total = candidates.len();
    candidates.sort_by(by_worth);
    let (mut risky, mut unsure, mut twice, mut over) = (0, 0, 0, 0);
    let mut kept: Vec<(Candidate, HashSet<String>)> = Vec::new();
    for candidate in candidates {
        let words = words(&candidate);
        let is_twin = |(other, others): &(Candidate, HashSet<String>)| {
            other.kind == candidate.kind && jaccard(others, &words) >= LIKENESS_MIN
        };
        if candidate.risk == Risk::High {
            risky += 1;
        } else if candidate.confidence < CONFIDENCE_MIN || candidate.confidence.is_nan() {
            unsure += 1;
        } else if kept.iter().any(is_twin) {
            twice += 1;
        } else if kept.len() >= KEPT_MAX {
            over += 1;
        } else {
            kept.push((candidate, words));
        }
    }
    let note = format!(
        "risk_aware: kept {} of {total} (dropped {risky} of high risk, {unsure} of low confidence, \
         {twice} near duplicates, {over} over the limit of {KEPT_MAX})",
        kept.len()
    );
    (kept.into_iter().map(|(candidate, _)| candidate).collect(), Some(note))
}

/// The words of a candidate's text and of its `when_to_use`.
fn words(candidate: &Candidate) -> HashSet<String> {
    [&candidate.text, &candidate.when_to_use]
        .into_iter()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn jaccard(a: &HashSet<String>, b: &HashSet<String>) -> f64 {
    let common = a.intersection(b).count();
    let all = a.len() + b.len() - common;
    if all == 0 { 1.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::super::tests::candidate;
    use super::*;
    use crate::candidate::Kind;
    use proptest::prelude::*;

    fn ids(kept: &[Candidate]) -> String {
        kept.iter().map(|one| one.id.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_order_is_priority_confidence_kind_id() {
        let make = |id: &str, priority, confidence, kind| {
            let mut one = candidate(id, &format!("word{id} other{id} third{id}"));
            (one.priority, one.confidence, one.kind) = (priority, confidence, kind);
            one
        };
        let all = vec![
            make("e", 3, 0.8, Kind::Skill),
            make("d", 3, 0.8, Kind::Case),
            make("c", 3, 0.8, Kind::Case),
            make("b", 3, 0.9, Kind::Skill),
            make("a", 5, 0.4, Kind::Skill),
        ];
        let (kept, note) = keep(all);
        assert_eq!(ids(&kept), "a b c d e");
        assert_eq!(
            note.as_deref(),
            Some(
                "risk_aware: kept 5 of 5 (dropped 0 of high risk, 0 of low confidence, 0 near duplicates, \
                 0 over the limit of 8)"
            )
        );
    }

    #[test]
    fn what_is_dropped_is_counted() {
        let mut all: Vec<Candidate> =
            (0..10).map(|n| candidate(&format!("k{n}"), &format!("one{n} two{n} three{n}"))).collect();
        let mut risky = candidate("risky", "alpha");
        risky.risk = Risk::High;
        let mut unsure = candidate("unsure", "beta");
        unsure.confidence = 0.39;
        let twin = candidate("k0-again", "THREE0, two0 one0!");
        let mut cousin = candidate("cousin", "one0 two0 three0");
        cousin.kind = Kind::RiskRule;
        cousin.priority = 5;
        all.extend([risky, unsure, twin, cousin]);
        let (kept, note) = keep(all);
        assert_eq!(ids(&kept), "cousin k0 k1 k2 k3 k4 k5 k6");
        assert_eq!(
            note.as_deref(),
            Some(
                "risk_aware: kept 8 of 14 (dropped 1 of high risk, 1 of low confidence, 1 near duplicates, \
                 3 over the limit of 8)"
            )
        );
    }

    #[test]
    fn three_words_of_four_are_a_near_duplicate() {
        let pair = |a: &str, b: &str| {
            let (mut a, mut b) = (candidate("a", a), candidate("b", b));
            (a.when_to_use, b.when_to_use) = (String::new(), String::new());
            keep(vec![a, b]).0.len()
        };
        assert_eq!(pair("one two three", "one two three four"), 1);
        assert_eq!(pair("one two three", "one two four"), 2);
    }

    proptest! {
        #[test]
        fn filtering_again_changes_nothing(texts in prop::collection::vec("[a-d]( [a-d]){0,4}", 0..16)) {
            let all = texts.iter().enumerate().map(|(n, text)| candidate(&format!("k{n}"), text)).collect();
            let once = keep(all).0;
            prop_assert!(once.len() <= KEPT_MAX);
            prop_assert_eq!(keep(once.clone()).0, once);
        }
    }
}
