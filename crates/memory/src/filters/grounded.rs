//! `grounded`: keeps only what its session says.
//!
//! # What
//! Drops a candidate without evidence, one with a span that its event does not hold, and one
//! whose text quotes something that is in none of its spans.
//!
//! # Why
//! A memory is imitated. What did not happen must not be handed on as if it had.
//!
//! # Limits
//! White space aside, words are compared as they are. A quotation of a single sign or letter
//! is not checked.

use super::{Filter, Kept, Rule};
use crate::candidate::Candidate;
use crate::episode::Quotes;
use crate::screen::quotations;

pub(super) const FILTER: Filter =
    Filter { name: "grounded", title: "drops what its session does not say", rule: Rule::Check(keep) };

fn keep(candidates: Vec<Candidate>, quotes: &Quotes) -> Kept {
    let total = candidates.len();
    let (mut bare, mut unheld, mut unquoted) = (0, 0, 0);
    let kept: Vec<Candidate> = candidates
        .into_iter()
        .filter(|candidate| {
            let count = if candidate.evidence_refs.is_empty() {
                &mut bare
            } else if !candidate.spans.iter().all(|span| quotes.hold(&span.event_id, &span.text)) {
                &mut unheld
            } else if !quotes_its_spans(candidate) {
                &mut unquoted
            } else {
                return true;
            };
            *count += 1;
            false
        })
        .collect();
    let note = (kept.len() < total).then(|| {
        format!(
            "grounded: kept {} of {total} (dropped {bare} without evidence, {unheld} with words that \
             their event does not hold, {unquoted} with a quotation from nowhere)",
            kept.len()
        )
    });
    (kept, note)
}

/// Whether everything that the text quotes is in one of its spans.
fn quotes_its_spans(candidate: &Candidate) -> bool {
    let spans: Vec<String> = candidate.spans.iter().map(|span| words(&span.text)).collect();
    quotations(&candidate.text, &candidate.spans).map(words).all(|quoted| {
        // A shortened quotation ends in an ellipsis.
        let quoted = quoted.trim_end_matches('…').trim_end();
        quoted.chars().count() < 2 || spans.iter().any(|span| span.contains(quoted))
    })
}

fn words(text: impl AsRef<str>) -> String {
    text.as_ref().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::candidate;
    use super::*;

    fn kept(change: fn(&mut Candidate)) -> (usize, Option<String>) {
        let mut one = candidate("a", "After `cargo test` fails, run `cargo clean`");
        one.spans[0].text = "cargo test && cargo clean".to_owned();
        change(&mut one);
        let quotes = Quotes::of(&[("e1", "$ cargo test &&\n  cargo clean")]);
        let (kept, note) = keep(vec![one], &quotes);
        (kept.len(), note)
    }

    #[test]
    fn what_the_session_says_is_kept() {
        assert_eq!(kept(|_| ()), (1, None));
        assert_eq!(kept(|one| one.text = "run “cargo…” first".to_owned()), (1, None));
    }

    #[test]
    fn what_it_does_not_say_is_dropped_and_counted() {
        let note = |counts: &str| Some(format!("grounded: kept 0 of 1 (dropped {counts})"));
        assert_eq!(
            kept(|one| one.evidence_refs.clear()),
            (
                0,
                note(
                    "1 without evidence, 0 with words that their event does not hold, 0 with a quotation from nowhere"
                )
            )
        );
        assert_eq!(
            kept(|one| one.spans[0].text = "cargo run".to_owned()),
            (
                0,
                note(
                    "0 without evidence, 1 with words that their event does not hold, 0 with a quotation from nowhere"
                )
            )
        );
        assert_eq!(kept(|one| one.spans[0].event_id = "e2".to_owned()).0, 0, "another event does not count");
        assert_eq!(
            kept(|one| one.text = "run \"cargo bench\"".to_owned()),
            (
                0,
                note(
                    "0 without evidence, 0 with words that their event does not hold, 1 with a quotation from nowhere"
                )
            )
        );
    }
}
