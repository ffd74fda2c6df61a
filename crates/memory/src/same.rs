//! Compares two memories: equal, applicable in the same place, or contradictory.

use crate::candidate::{Scope, Span};
use crate::memory::{Memory, Source};
use crate::rules::rules;

pub(crate) fn is_rule(memory: &Memory) -> bool {
    memory.method == "user_rules"
}

/// True if it was found by asking a model. Such findings do not confirm those made without a model.
pub(crate) fn is_of_model(memory: &Memory) -> bool {
    memory.method.ends_with("_headless")
}

pub(crate) fn is_same_place(a: &Memory, b: &Memory) -> bool {
    let everywhere = |memory: &Memory| memory.scope != Scope::Repo;
    (everywhere(a) && everywhere(b))
        || (a.scope == Scope::Repo && b.scope == Scope::Repo && a.place().is_same(&b.place()))
}

/// True if the newer memory states that the older one no longer applies.
pub(crate) fn contradicts(newer: &Memory, older: &Memory) -> bool {
    let meet = |a: &[String], b: &[String]| a.iter().any(|thing| b.contains(thing));
    match newer.method.as_str() {
        "user_rules" => {
            meet(&things(newer, "rejects"), &things(older, "wants"))
                || meet(&things(newer, "wants"), &things(older, "rejects"))
                || (newer.says("changes") && speak_of_the_same(newer, older))
        }
        "asked_commands" => things(newer, "unable").contains(&older.stance),
        "repo_commands" => newer.subject == older.subject && things(newer, "unable").contains(&older.stance),
        // A different fix for the same error: the newer one is current.
        "error_fix" => newer.subject == older.subject && newer.stance != older.stance,
        _ => false,
    }
}

/// Minimum common terms of two rules with the same subject.
const SHARED_TERMS_MIN: usize = 2;

/// True if two rules have the same subject: both name a path, or they share some words.
fn speak_of_the_same(a: &Memory, b: &Memory) -> bool {
    let said =
        |memory: &Memory| memory.spans.iter().map(|span| span.text.as_str()).collect::<Vec<_>>().join(" ");
    let mut words = retro_search::Words::default();
    let (one, two) = (words.distinct(&said(a)), words.distinct(&said(b)));
    let shared = one.iter().filter(|term| two.contains(term)).count();
    shared >= SHARED_TERMS_MIN || share_object(a, b)
}

/// A list that the method stored under a name: a rule's wanted or rejected things.
fn things(memory: &Memory, name: &str) -> Vec<String> {
    let list = memory.structured.as_ref().and_then(|value| value.get(name)?.as_array().cloned());
    list.unwrap_or_default().iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

pub(crate) fn share_object(a: &Memory, b: &Memory) -> bool {
    a.keywords.iter().any(|word| b.keywords.contains(word))
}

pub(crate) fn jaccard(a: &[String], b: &[String]) -> f64 {
    let shared = a.iter().filter(|word| b.contains(word)).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// True if a person wrote both, with the same words, for the same use, in the same place. Any
/// difference makes another memory: a number, an order or a "not" matters.
pub fn is_written_twice(a: &Memory, b: &Memory) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let all = |memory: &Memory| {
        let not = memory.do_not_use_when.as_deref().unwrap_or_default();
        [words(&memory.text), words(&memory.when_to_use), words(not)]
    };
    let is_written = a.source != Source::Mined && b.source != Source::Mined;
    is_written && (a.scope, a.kind) == (b.scope, b.kind) && is_same_place(a, b) && all(a) == all(b)
}

/// True if both are based on the same words of the same session: each quotation of one is part of a
/// quotation of the other from the same event. The surrounding text may differ.
pub(crate) fn rests_on_the_same(a: &Memory, b: &Memory) -> bool {
    let partner = |span: &Span, other: &Span| {
        span.event_id == other.event_id
            && (span.text.contains(&other.text) || other.text.contains(&span.text))
    };
    let all = |these: &[Span], those: &[Span]| {
        !these.is_empty() && these.iter().all(|span| those.iter().any(|other| partner(span, other)))
    };
    a.method == b.method && all(&a.spans, &b.spans) && all(&b.spans, &a.spans)
}

/// True if the outer memory quotes everything that the inner one quotes, as when a repetition was
/// merged.
pub(crate) fn rests_within(inner: &Memory, outer: &Memory) -> bool {
    let is_in = |span: &Span| {
        outer.spans.iter().any(|other| other.event_id == span.event_id && other.text.contains(&span.text))
    };
    inner.method == outer.method && !inner.spans.is_empty() && inner.spans.iter().all(is_in)
}

/// True if a person's own text rejects a rule.
pub(crate) fn rejects_rule(written: &Memory, known: &Memory) -> bool {
    if !is_rule(known) || written.source == Source::Mined {
        return false;
    }
    let meet = |mine: &[String], name: &str| things(known, name).iter().any(|thing| mine.contains(thing));
    rules(&written.text, true).iter().any(|rule| meet(&rule.wants, "rejects") || meet(&rule.rejects, "wants"))
}
