//! `no_secrets`: drops what holds a secret.
//!
//! # What
//! Drops a candidate of which any text, quotation or path holds something that the scanner of
//! secrets knows.
//!
//! # Why
//! Events are redacted before they are mined. A method that puts text together, or a model
//! that was asked, could still write one.
//!
//! # Limits
//! As those of the scanner: a secret without a known form passes.

use super::{Filter, Kept, Rule};
use crate::candidate::Candidate;
use crate::episode::Quotes;
use crate::memory::strings;

pub(super) const FILTER: Filter =
    Filter { name: "no_secrets", title: "drops what holds a secret", rule: Rule::Check(keep) };

fn keep(candidates: Vec<Candidate>, _: &Quotes) -> Kept {
    let total = candidates.len();
    let kept: Vec<Candidate> = candidates.into_iter().filter(|candidate| !has_secret(candidate)).collect();
    let note = (kept.len() < total).then(|| {
        format!("no_secrets: kept {} of {total} (dropped {} with a secret)", kept.len(), total - kept.len())
    });
    (kept, note)
}

/// Whether any string of it holds a secret.
fn has_secret(candidate: &Candidate) -> bool {
    let mut texts = Vec::new();
    match serde_json::to_value(candidate) {
        Ok(value) => strings(&value, &mut texts),
        // Only numbers without a value cannot be written; such a candidate is not kept.
        Err(_) => return true,
    }
    // Names of captured bytes and of events are long and random, and no secrets.
    let is_name = |text: &String| {
        *text == candidate.source_hash
            || candidate.evidence_refs.contains(text)
            || candidate.spans.iter().any(|span| span.event_id == *text)
    };
    texts.iter().filter(|text| !is_name(text)).any(|text| !retro_text::secrets::find(text).is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::tests::candidate;
    use super::*;

    #[test]
    fn a_secret_in_any_field_drops_the_candidate() {
        let token = || format!("gh{}_{}", "p", "aZ3kQ9xT7mB2vN5cR8wL1yD4fG6hJ0sPeUiO");
        let fields: [fn(&mut Candidate, String); 5] = [
            |one, text| one.text = text,
            |one, text| one.when_to_use = text,
            |one, text| one.spans[0].text = text,
            |one, text| one.repository.remote = Some(text),
            |one, text| one.structured = Some(serde_json::json!({"steps": [{"run": text}]})),
        ];
        for (n, set) in fields.iter().enumerate() {
            let mut one = candidate("a", "plain");
            set(&mut one, token());
            let (kept, note) = keep(vec![one, candidate("b", "also plain")], &Quotes::default());
            assert_eq!(kept.len(), 1, "field {n}");
            assert_eq!(note.as_deref(), Some("no_secrets: kept 1 of 2 (dropped 1 with a secret)"));
        }
        let mut one = candidate("a", "plain");
        one.source_hash = token();
        assert_eq!(keep(vec![one], &Quotes::default()).1, None);
    }
}
