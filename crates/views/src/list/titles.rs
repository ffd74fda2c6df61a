//! Distinguishes sessions whose titles begin alike, because a template wrote their prompts.

use retro_engine::Config;
use retro_insight::Digest;
use retro_model::SessionKey;
use retro_store::{DIGESTS, RealDisk, Store};
use std::collections::HashMap;
use std::sync::Arc;

use super::SessionView;

/// Titles that share this many leading characters are hard to distinguish.
const ALIKE_CHARS: usize = 24;

/// Digests read for one list, enough for a few screens.
const DIGESTS_MAX: usize = 500;

/// Sets the `difference` of each session whose title begins like another's. If the titles are
/// equal, compares the full first prompts.
pub(super) fn tell_apart(config: &Config, sessions: &mut [SessionView]) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for title in sessions.iter().filter_map(|session| session.title.as_ref()) {
        *counts.entry(title.clone()).or_default() += 1;
    }
    let is_repeated = |title: &str| counts.get(title).is_some_and(|count| *count > 1);
    let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
    for (at, session) in sessions.iter().enumerate() {
        let title = session.title.as_deref().unwrap_or_default();
        let start: String = title.chars().take(ALIKE_CHARS).collect();
        if start.chars().count() == ALIKE_CHARS || is_repeated(title) {
            alike.entry(start).or_default().push(at);
        }
    }
    let mut groups: Vec<Vec<usize>> = alike.into_values().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    let mut digests = Digests { config, store: None, left: DIGESTS_MAX };
    for group in groups {
        let texts: Vec<String> = group
            .iter()
            .filter_map(|at| sessions.get(*at))
            .map(|session| {
                let title = session.title.clone().unwrap_or_default();
                let asked = if is_repeated(&title) { digests.first_prompt(session) } else { None };
                asked.unwrap_or(title)
            })
            .collect();
        for (at, difference) in group.iter().zip(differences(&texts)) {
            if let Some(session) = sessions.get_mut(*at) {
                session.difference = difference;
            }
        }
    }
}

/// Reads the first prompts of sessions from their digests.
struct Digests<'c> {
    config: &'c Config,
    store: Option<Store>,
    /// How many more digests may be read.
    left: usize,
}

impl Digests<'_> {
    /// The beginning of a session's first prompt, from its digest.
    fn first_prompt(&mut self, session: &SessionView) -> Option<String> {
        self.left = self.left.checked_sub(1)?;
        if self.store.is_none() {
            self.store = Store::open(&self.config.root.value, Arc::new(RealDisk)).ok();
        }
        let key = SessionKey::new(session.agent.clone(), session.session_id.clone());
        let digest: Digest = self.store.as_ref()?.object(&DIGESTS, &key).ok()??;
        Some(digest.first_prompt).filter(|text| !text.is_empty())
    }
}

/// Each text from the first word that differs from its nearest neighbour. `None` for a text that is
/// equal to another or differs at once.
fn differences(texts: &[String]) -> Vec<Option<String>> {
    let words: Vec<Vec<&str>> = texts.iter().map(|text| text.split_whitespace().collect()).collect();
    let mut order: Vec<usize> = (0..texts.len()).collect();
    order.sort_by(|a, b| words.get(*a).cmp(&words.get(*b)));
    let mut found = vec![None; texts.len()];
    for (place, at) in order.iter().enumerate() {
        let Some(own) = words.get(*at) else { continue };
        let neighbours = [place.checked_sub(1), place.checked_add(1)];
        let shared = neighbours
            .into_iter()
            .flatten()
            .filter_map(|place| words.get(*order.get(place)?))
            .map(|other| own.iter().zip(other).take_while(|(a, b)| a == b).count())
            .max()
            .unwrap_or(0);
        let rest = own.get(shared..).unwrap_or_default().join(" ");
        if shared > 0
            && !rest.is_empty()
            && let Some(slot) = found.get_mut(*at)
        {
            *slot = Some(rest);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_apart_by_the_first_word_that_differs() {
        let told =
            |texts: &[&str]| differences(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            told(&[
                "You are a reviewer. Look at cart.rs",
                "You are a reviewer. Look at tax.rs now",
                "Write it"
            ]),
            [some("cart.rs"), some("tax.rs now"), None]
        );
        // A text that begins another, or equals it, has nothing of its own.
        assert_eq!(
            told(&["Fix the tests", "Fix the tests of tax", "Fix the tests"]),
            [None, some("of tax"), None]
        );
        assert_eq!(told(&[]), Vec::<Option<String>>::new());
    }
}
