//! What memory might have been asked for: what a person said again, what failed again, what
//! was asked again and answered by the same command. None of it comes from the recogniser that
//! finds rules, so that what it misses counts as missed.

use hashbrown::HashMap;
use retro_model::SessionKey;
use serde::Serialize;

use crate::again::{is_said_again, said_terms, terms};
use crate::memory::Memory;
use crate::past::{Past, Prompt};
use crate::place::Place;

/// Terms of a prompt that are compared; a longer one is a document.
const TERMS_MAX: usize = 60;
/// Terms of the shortest prompt that is one to say again.
const TERMS_MIN: usize = 3;

/// How often something was needed, known before, and shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Needed {
    /// Times that it was needed.
    pub count: usize,
    /// Of these, times that a memory knew it before.
    pub known: usize,
    /// Of these, times that it was shown.
    pub shown: usize,
}

/// What was needed, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Needs {
    /// Words that a person had said in an earlier session.
    pub said_again: Needed,
    /// Requests that an earlier session had answered, with the same command.
    pub asked_again: Needed,
    /// Errors that an earlier session had met.
    pub failed_again: Needed,
}

/// A prompt with its terms.
struct Said<'a> {
    past: &'a Past,
    prompt: &'a Prompt,
    terms: Vec<String>,
}

/// One prompt.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// The prompt.
    pub event_id: String,
    /// What was shown, best first.
    pub memory_ids: Vec<String>,
    /// `right`, `wrong`, `applies`, `idle` or `missed`.
    pub verdict: &'static str,
    /// Why.
    pub why: String,
}

/// Counts needs over sessions; `shown` has what each was shown. Gives a row for what was known and
/// not shown.
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
