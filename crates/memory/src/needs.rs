//! Occasions on which memory was needed: words said again, commands that failed again, requests
//! asked again with the same command as the answer. None of these come from the rule recognizer, so
//! its misses count as misses.

use hashbrown::HashMap;
use retro_model::SessionKey;
use serde::Serialize;

use crate::again::{is_said_again, said_terms, terms};
use crate::memory::Memory;
use crate::past::{Past, Prompt};
use crate::place::Place;

/// Maximum terms compared per prompt. A longer one is a document.
const TERMS_MAX: usize = 60;
/// Minimum terms of a prompt that counts as said again.
const TERMS_MIN: usize = 3;

/// How often something was needed, was already known, and was shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Needed {
    /// Number of times it was needed.
    pub count: usize,
    /// How often a memory already knew it.
    pub known: usize,
    /// How often that memory was shown.
    pub shown: usize,
}

/// The needs, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Messages that repeat an earlier session.
    pub said_again: Needed,
    /// Requests that an earlier session answered with the same command.
    pub asked_again: Needed,
    /// Errors that an earlier session met.
    pub failed_again: Needed,
}

/// A prompt and its terms.
struct Said<'a> {
    past: &'a Past,
    prompt: &'a Prompt,
    terms: Vec<String>,
}

/// The judgement of one prompt.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// The prompt's event.
    pub event_id: String,
    /// The memories shown, best first.
    pub memory_ids: Vec<String>,
    /// `right`, `wrong`, `applies`, `idle` or `missed`.
    pub verdict: &'static str,
    /// The reason for the verdict.
    pub why: String,
}

/// Counts needs over sessions. `shown` has the memories shown to each. Returns a row for each need
/// that was known and not shown.
pub(crate) fn needs(
    pasts: &[Past],
    memories: &[Memory],
    shown: &HashMap<&SessionKey, Vec<String>>,
) -> (Needs, Vec<Row>) {
    let (mut needs, mut rows) = (Needs::default(), Vec::new());
    let said: Vec<Vec<String>> = memories.iter().map(said_terms).collect();
    let mut count = |needed: &mut Needed, past: &Past, prompt: &Prompt, knows: &dyn Fn(usize) -> bool| {
        needed.count += 1;
        let is_known = |(at, memory): &(usize, &Memory)| {
            memory.created_at.zip(prompt.at).is_some_and(|(created, at)| created < at)
                && memory.superseded_by.is_none()
                && !memory.origins.iter().any(|origin| origin.session_id == past.key.id)
                && knows(*at)
        };
        let known: Vec<&Memory> =
            memories.iter().enumerate().filter(is_known).map(|(_, memory)| memory).collect();
        let Some(first) = known.first() else { return };
        needed.known += 1;
        let ids = shown.get(&past.key);
        if known.iter().any(|memory| ids.is_some_and(|ids| ids.contains(&memory.id))) {
            needed.shown += 1;
            return;
        }
        rows.push(Row {
            agent: past.key.agent.clone(),
            session_id: past.key.id.clone(),
            event_id: prompt.event_id.clone(),
            memory_ids: vec![first.id.clone()],
            verdict: "missed",
            why: "it was known, and the prompt did not fit it".to_owned(),
        });
    };
    let mut earlier: Vec<Said<'_>> = Vec::new();
    let mut failed: Vec<(&Past, String)> = Vec::new();
    let mut all: Vec<(&Past, &Prompt)> =
        pasts.iter().flat_map(|past| past.prompts.iter().map(move |prompt| (past, prompt))).collect();
    all.sort_by_key(|(past, prompt)| (prompt.at, &past.key, prompt.place));
    for (past, prompt) in all {
        let terms = terms(&prompt.text);
        let is_other = |other: &Past| other.key != past.key && is_same_place(other, past);
        if (TERMS_MIN..=TERMS_MAX).contains(&terms.len()) {
            let before = earlier
                .iter()
                .rev()
                .filter(|other| is_other(other.past) && is_said_again(&terms, &other.terms, 0.0));
            let before: Vec<&Said<'_>> = before.collect();
            let command = before.iter().find_map(|other| past.same_command(prompt, other.past, other.prompt));
            let has_terms = |at: usize| said.get(at).is_some_and(|said| is_said_again(&terms, said, 0.0));
            match command {
                Some(command) => count(&mut needs.asked_again, past, prompt, &|at| {
                    memories.get(at).is_some_and(|memory| memory.text.contains(command))
                }),
                None if !before.is_empty() => count(&mut needs.said_again, past, prompt, &has_terms),
                None => {}
            }
            earlier.push(Said { past, prompt, terms });
        }
        for error in past.failures_after(prompt) {
            if failed.iter().any(|(other, known)| is_other(other) && known == error) {
                count(&mut needs.failed_again, past, prompt, &|at| {
                    memories.get(at).is_some_and(|memory| memory.subject == error)
                });
            }
            failed.push((past, error.to_owned()));
        }
    }
    (needs, rows)
}

fn is_same_place(one: &Past, other: &Past) -> bool {
    fn place(past: &Past) -> Place<'_> {
        Place {
            folder: past.cwd.as_deref(),
            resolved: None,
            root: past.root.as_deref(),
            remote: past.remote.as_deref(),
        }
    }
    place(one).is_same(&place(other))
}
