//! The user's corrections and standing rules, verbatim.
//!
//! A correction counts if its instruction can apply again. Words outside corrections count if they
//! state a permanent rule. A sentence that only has the form of a rule needs review, until the user
//! repeats it.

use std::cell::OnceCell;

use hashbrown::HashMap;
use retro_insight::{PARTS, What};
use serde_json::json;

use super::Method;
use crate::again::terms;
use crate::candidate::{Candidate, Kind, Scope, Voice};
use crate::episode::{Episode, shortened};
use crate::rules::{Rule, is_task, names, rules, shaped};

pub(super) const METHOD: Method =
    Method { name: "user_rules", title: "what you had to say: corrections and standing rules, quoted", mine };

/// Maximum candidates of one session.
const CANDIDATES_MAX: usize = 8;
/// A longer message is a document, not a remark.
const MESSAGE_CHARS_MAX: usize = 1500;
/// A longer part of a message is a task with steps: its sentences have the form of rules, but apply
/// only to that task, unless they plainly say otherwise.
const SHAPED_CHARS_MAX: usize = 700;
/// Maximum characters of `when_to_use`, without the ellipsis.
const WHEN_CHARS_MAX: usize = 159;
/// Failing calls whose output is compared with what is said, and bytes of one.
const ERRORS_MAX: usize = 40;
const ERROR_BYTES_MAX: usize = 2_000;
/// Less certain corrections are not rules.
const SURE: f64 = 0.6;

fn mine(episode: &Episode) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    let mut said_before: HashMap<String, usize> = HashMap::new();
    let errors = OnceCell::new();
    for beat in episode.trace.beats.iter().filter(|beat| beat.thread == 0) {
        // Words that only the agent program attributes to the user are not a rule.
        let is_said = matches!(&beat.what, What::Said { .. } | What::Denial { is_proven: true, .. });
        let text = &beat.typed;
        if !is_said || text.chars().count() > MESSAGE_CHARS_MAX || text.starts_with('/') {
            continue;
        }
        let correction =
            episode.corrections.iter().find(|found| found.event_id == beat.id && found.confidence >= SURE);
        let mut said = rules(text, correction.is_some());
        for part in text.split(PARTS).map(str::trim) {
            let times = said_before.entry(squeezed(part)).and_modify(|times| *times += 1).or_insert(1);
            let is_long = part.chars().count() > SHAPED_CHARS_MAX;
            let found = shaped(part, *times, is_long || is_task(text), &said);
            said.extend(found.into_iter().filter(|rule| !is_long || rule.clear));
        }
        let reports = |rule: &Rule| reports(&rule.text, errors.get_or_init(|| self::errors(episode)));
        for rule in said.into_iter().filter(|rule| !reports(rule)) {
            let Some(candidate) = candidate(episode, &beat.id, &rule, correction.is_some()) else { continue };
            match found.iter_mut().find(|known| known.subject == candidate.subject) {
                Some(known) => {
                    // The user repeated it, so it matters more.
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

/// The terms of what failing calls of a session printed.
fn errors(episode: &Episode) -> Vec<Vec<String>> {
    let failed = episode.trace.calls().filter(|(_, call)| call.is_failed());
    let printed = failed.filter_map(|(_, call)| episode.quotes.text(call.result_id.as_deref()?));
    printed.take(ERRORS_MAX).map(|text| terms(shorter(text))).collect()
}

/// The end of an output: what went wrong is mostly there.
fn shorter(text: &str) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(ERROR_BYTES_MAX))..).unwrap_or(text)
}

/// Whether somebody only says which error came up: half of the words are in what a call printed.
fn reports(said: &str, errors: &[Vec<String>]) -> bool {
    let words = terms(said);
    let shared = |error: &Vec<String>| words.iter().filter(|word| error.contains(word)).count();
    errors.iter().map(shared).any(|shared| shared >= 2 && shared * 2 >= words.len())
}

/// A message, normalized for comparison.
fn squeezed(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn candidate(episode: &Episode, event_id: &str, rule: &Rule, is_correction: bool) -> Option<Candidate> {
    let span = episode.span(event_id, &rule.text)?;
    if span.voice != Voice::User {
        return None;
    }
    let mut things: Vec<&String> = rule.rejects.iter().chain(&rule.wants).collect();
    let mut names = names(&rule.text);
    names.retain(|name| !things.iter().any(|thing| thing.contains(name.as_str())));
    things.extend(&names);
    let subject = match rule.shaped {
        true => format!("rule:{}", squeezed(&rule.text)),
        false => format!("rule:{}|{}", rule.wants.join(","), rule.rejects.join(",")),
    };
    let mut candidate = episode.candidate("user_rules", Kind::RepoConvention, subject);
    if rule.everywhere || episode.cwd.is_none() {
        candidate.scope = Scope::User;
        candidate.kind = Kind::UserPreference;
        candidate.scope_reason = "the words say that it holds everywhere".to_owned();
    } else {
        candidate.scope_reason = "said in this repository".to_owned();
    }
    candidate.text = format!("The user said: \"{}\"", span.text);
    let named: Vec<&str> = things.iter().take(4).map(|thing| thing.as_str()).collect();
    let named =
        if named.is_empty() { "it comes up".to_owned() } else { format!("{} come up", named.join(", ")) };
    let asked = episode.prompt_before(event_id).map(|(_, text)| shortened(text, 90));
    candidate.when_to_use = shortened(
        &match asked {
            Some(asked) => format!("{named}; said after \"{asked}\""),
            None => named,
        },
        WHEN_CHARS_MAX,
    );
    (candidate.confidence, candidate.priority) = match (rule.shaped, is_correction) {
        (true, _) => (if rule.lasting { 0.7 } else { 0.5 }, 3),
        (false, true) => (0.9, 4 + u8::from(rule.lasting)),
        (false, false) => (0.8, 3),
    };
    candidate.origin = Voice::User;
    candidate.stance = rule.wants.join(",");
    candidate.keywords = things.into_iter().take(12).cloned().collect();
    candidate.structured = Some(json!({
        "wants": rule.wants, "rejects": rule.rejects, "lasting": rule.lasting, "shaped": rule.shaped,
        "changes": rule.changes, "clear": rule.clear, "again": rule.again,
    }));
    candidate.evidence_refs = vec![event_id.to_owned()];
    candidate.created_at = episode.time_of(event_id).or(candidate.created_at);
    candidate.spans = vec![span];
    Some(candidate)
}
