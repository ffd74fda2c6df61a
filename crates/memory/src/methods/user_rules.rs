//! What a person had to say: corrections and standing rules, in their own words.
//!
//! A correction counts if it says what to do otherwise in a way that can hold again. Words
//! outside corrections count only where they say that they always hold.

use retro_insight::What;
use serde_json::json;

use super::Method;
use crate::candidate::{Candidate, Kind, Scope, Voice};
use crate::episode::{Episode, shortened};
use crate::rules::{Rule, rules};

pub(super) const METHOD: Method =
    Method { name: "user_rules", title: "what you had to say: corrections and standing rules, quoted", mine };

/// Candidates of one session.
const CANDIDATES_MAX: usize = 3;
/// A longer message is a document of its own, not something that was said.
const MESSAGE_CHARS_MAX: usize = 1500;
/// Corrections that are less sure are no rules.
const SURE: f64 = 0.6;

fn mine(episode: &Episode) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for beat in episode.trace.beats.iter().filter(|beat| beat.thread == 0) {
        // Words that a sentence of the program alone calls the person's are no rule.
        let is_said = matches!(&beat.what, What::Said { .. } | What::Denial { is_proven: true, .. });
        let text = &beat.typed;
        if !is_said || text.chars().count() > MESSAGE_CHARS_MAX || text.starts_with('/') {
            continue;
        }
        let correction =
            episode.corrections.iter().find(|found| found.event_id == beat.id && found.confidence >= SURE);
        for rule in rules(text, correction.is_some()) {
            let Some(candidate) = candidate(episode, &beat.id, &rule, correction.is_some()) else { continue };
            match found.iter_mut().find(|known| known.subject == candidate.subject) {
                Some(known) => {
                    // Said again: it matters more.
                    known.seen += 1;
                    known.priority = 5;
                    known.evidence_refs.extend(candidate.evidence_refs);
                }
                None => found.push(candidate),
            }
        }
    }
    found.sort_by_key(|candidate| std::cmp::Reverse((candidate.priority, candidate.seen)));
    found.truncate(CANDIDATES_MAX);
    found
}

fn candidate(episode: &Episode, event_id: &str, rule: &Rule, is_correction: bool) -> Option<Candidate> {
    let span = episode.span(event_id, &rule.text)?;
    if span.voice != Voice::User {
        return None;
    }
    let subject = format!("rule:{}|{}", rule.wants.join(","), rule.rejects.join(","));
    let mut candidate = episode.candidate("user_rules", Kind::RepoConvention, subject);
    if rule.everywhere || episode.cwd.is_none() {
        candidate.scope = Scope::User;
        candidate.kind = Kind::UserPreference;
        candidate.scope_reason = "the words say that it holds everywhere".to_owned();
    } else {
        candidate.scope_reason = "said in this repository".to_owned();
    }
    candidate.text = format!("The user said: \"{}\"", span.text);
    let things: Vec<String> = rule.rejects.iter().chain(&rule.wants).take(4).cloned().collect();
    let asked = episode.prompt_before(event_id).map(|(_, text)| shortened(text, 90));
    candidate.when_to_use = shortened(
        &match asked {
            Some(asked) => format!("{} come up; said after \"{asked}\"", things.join(", ")),
            None => format!("{} come up", things.join(", ")),
        },
        160,
    );
    candidate.confidence = if is_correction { 0.9 } else { 0.8 };
    candidate.priority = if is_correction { 4 } else { 3 } + u8::from(rule.lasting && is_correction);
    candidate.origin = Voice::User;
    candidate.stance = rule.wants.join(",");
    candidate.keywords = rule.rejects.iter().chain(&rule.wants).take(12).cloned().collect();
    candidate.structured =
        Some(json!({ "wants": rule.wants, "rejects": rule.rejects, "lasting": rule.lasting }));
    candidate.evidence_refs = vec![event_id.to_owned()];
    candidate.created_at = episode.time_of(event_id).or(candidate.created_at);
    candidate.spans = vec![span];
    Some(candidate)
}
