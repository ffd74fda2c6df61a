//! What patterns keep of sessions that are forgotten: the review log, the queue of decisions and
//! the catalog with its earlier versions.
//!
//! A pattern that rests on nothing else goes. Another one loses that evidence, and every word
//! that is quoted from it: what recurs without the session says what stays. Which sessions are
//! meant is asked of their tombstones, so that a second run finds what the first one left.

use retro_patterns::{Candidate, Decision, Pattern, Remedy, SessionSigns, cluster, evidence_of};
use retro_store::{Index, Lock, Store};
use serde::Serialize;
use std::collections::{BTreeSet, HashSet};

use crate::patterns::{QUEUE, REVIEWS, SIGNS, bytes_of, catalog, recurring};
use crate::{Config, Error};

/// Patterns of the catalog that rest on sessions that are forgotten.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct PatternsTouched {
    /// Ids of those that rest on nothing else: they go.
    pub removed: Vec<String>,
    /// Ids of those that lose evidence.
    pub weakened: Vec<String>,
}

/// Says whether a session, by agent and id, is one of those.
pub(super) type IsGone<'a> = dyn Fn(&str, &str) -> bool + 'a;

/// Everything that is known of patterns, and what recurs without the sessions.
struct Known<'a> {
    is_gone: &'a IsGone<'a>,
    before: Vec<Candidate>,
    after: Vec<Candidate>,
    /// Words that were quoted from the sessions.
    words: BTreeSet<String>,
    catalog: Vec<Pattern>,
}

/// What becomes of a pattern.
enum Fate {
    Stays,
    Goes,
    Loses(Box<Pattern>),
}

/// Which patterns rest on these sessions.
pub(super) fn touched(
    config: &Config,
    store: &Store,
    index: &Index,
    is_gone: &IsGone<'_>,
) -> Result<PatternsTouched, Error> {
    let known = Known::read(config, store, index, is_gone)?;
    let mut touched = PatternsTouched::default();
    for pattern in &known.catalog {
        match known.fate(pattern, config) {
            Fate::Stays => {}
            Fate::Goes => touched.removed.push(pattern.id.clone()),
            Fate::Loses(_) => touched.weakened.push(pattern.id.clone()),
        }
    }
    Ok(touched)
}

/// Takes the sessions out of all that patterns keep. Says how many lines and files that were.
pub(super) fn mask(
    config: &Config,
    store: &Store,
    lock: &Lock,
    index: &Index,
    is_gone: &IsGone<'_>,
) -> Result<u64, Error> {
    let known = Known::read(config, store, index, is_gone)?;
    let mut masked = 0;
    // The catalog is last: it says what decisions are about.
    for journal in [&REVIEWS, &QUEUE] {
        let count = std::cell::Cell::new(0);
        journal.change(store, |decision| {
            let kept = known.decision(decision, config);
            count.set(count.get() + u64::from(kept.as_ref() != Some(decision)));
            kept
        })?;
        masked += count.get();
    }
    let folder = catalog(store, config)?.folder;
    let ids: BTreeSet<&String> = known.catalog.iter().map(|pattern| &pattern.id).collect();
    let names = |pattern: &Pattern| known.names(pattern);
    for pattern in &known.catalog {
        let fate = known.fate(pattern, config);
        let is_gone = matches!(fate, Fate::Goes);
        masked += store.change_catalog_history(lock, &folder, &pattern.id, &|line| {
            serde_json::from_slice::<Pattern>(line).is_ok_and(|before| is_gone || names(&before))
        })?;
        match fate {
            Fate::Stays => continue,
            Fate::Goes => drop(store.remove_catalog(lock, &folder, &pattern.id)?),
            Fate::Loses(left) => {
                store.put_catalog(lock, &folder, &left.id, &bytes_of(&left), None)?;
            }
        }
        masked += 1;
    }
    // Histories of patterns that are gone from the catalog.
    for id in store.catalog_histories(&folder)?.iter().filter(|id| !ids.contains(id)) {
        masked += store.change_catalog_history(lock, &folder, id, &|line| {
            serde_json::from_slice::<Pattern>(line).is_ok_and(|before| names(&before))
        })?;
    }
    Ok(masked)
}

impl<'a> Known<'a> {
    fn read(
        config: &Config,
        store: &Store,
        index: &Index,
        is_gone: &'a IsGone<'a>,
    ) -> Result<Known<'a>, Error> {
        let before = recurring(store)?.candidates;
        let read = |text: &str| serde_json::from_str::<SessionSigns>(text).ok();
        let signs: Vec<SessionSigns> =
            index.bodies(SIGNS)?.iter().filter_map(|row| read(&row.text)).collect();
        let (gone, left): (Vec<_>, Vec<_>) =
            signs.into_iter().partition(|session| is_gone(&session.agent, &session.session_id));
        let catalog = catalog(store, config)?.patterns;
        let mut words = BTreeSet::new();
        for sign in gone.iter().flat_map(|session| &session.signs) {
            words.insert(sign.title.clone());
            words.extend(sign.evidence.iter().map(|evidence| evidence.text.clone()));
            words.extend(sign.remedy.iter().map(Remedy::text));
        }
        for pattern in &catalog {
            let of_gone =
                pattern.provenance.sessions.iter().filter(|one| is_gone(&one.agent, &one.session_id));
            words.extend(of_gone.flat_map(|one| one.snapshot.clone()));
        }
        // A word or two is in many texts.
        words.retain(|text| text.len() >= WORDS_BYTES_MIN);
        Ok(Known { is_gone, before, after: cluster(&left).candidates, words, catalog })
    }

    /// Whether a pattern names one of the sessions.
    fn names(&self, pattern: &Pattern) -> bool {
        let is_of = |reference: &String| self.is_ref_of_gone(reference);
        pattern.provenance.sessions.iter().any(|one| (self.is_gone)(&one.agent, &one.session_id))
            || pattern.resolutions.iter().flat_map(|known| &known.evidence_refs).any(is_of)
    }

    /// Whether an address `agent/session#event` is of one of the sessions.
    fn is_ref_of_gone(&self, reference: &str) -> bool {
        let session = reference.split('#').next().unwrap_or_default();
        session.split_once('/').is_some_and(|(agent, id)| (self.is_gone)(agent, id))
    }

    /// Whether a text quotes one of the sessions.
    fn quotes(&self, text: &str) -> bool {
        let plain = |words: &String| text.contains(words.as_str());
        self.words.iter().any(|words| plain(words) || plain(&words.replace('"', "'")))
    }

    fn fate(&self, pattern: &Pattern, config: &Config) -> Fate {
        if !self.names(pattern) {
            return Fate::Stays;
        }
        let domain = |repo: &str| config.domain(repo).map(str::to_owned);
        let fresh = self.after.iter().find(|candidate| pattern.is_of(candidate));
        let mut left = pattern.clone();
        left.provenance.sessions.retain(|one| !(self.is_gone)(&one.agent, &one.session_id));
        for known in &mut left.resolutions {
            let before = known.evidence_refs.len();
            known.evidence_refs.retain(|reference| !self.is_ref_of_gone(reference));
            if known.evidence_refs.is_empty() && before > 0 {
                known.times = 0;
            }
        }
        left.resolutions.retain(|known| known.times > 0 && !self.quotes(&known.text));
        let Some(fresh) = fresh else {
            if left.provenance.sessions.is_empty() {
                return Fate::Goes;
            }
            let lost = pattern.provenance.sessions.len() - left.provenance.sessions.len();
            left.provenance.session_count = left.provenance.session_count.saturating_sub(lost as u32);
            // It has to be looked at again: its evidence changed.
            left.provenance.hash.clear();
            let count = left.provenance.session_count;
            self.reword(&mut left, |field| match field {
                Field::Title => pattern.kind.replace('_', " "),
                Field::Problem => format!("Seen in {count} sessions."),
                Field::When => "the same comes up".to_owned(),
                Field::WhenNot => "the cause is another".to_owned(),
            });
            return Fate::Loses(Box::new(left));
        };
        left = left.updated(fresh, domain);
        left.provenance.hash = evidence_of(fresh);
        let new = Pattern::of(fresh, domain);
        self.reword(&mut left, |field| match field {
            Field::Title => new.title.clone(),
            Field::Problem => new.problem.clone(),
            Field::When => new.when_to_use.clone(),
            Field::WhenNot => new.when_not.clone(),
        });
        left.version = Pattern::next_version(&pattern.version, left.change_from(pattern));
        Fate::Loses(Box::new(left))
    }

    /// Puts other words in the place of those that quote one of the sessions.
    fn reword(&self, pattern: &mut Pattern, instead: impl Fn(Field) -> String) {
        let fields = [
            (&mut pattern.title, Field::Title),
            (&mut pattern.problem, Field::Problem),
            (&mut pattern.when_to_use, Field::When),
            (&mut pattern.when_not, Field::WhenNot),
        ];
        for (text, field) in fields {
            if self.quotes(text) {
                *text = instead(field);
            }
        }
        pattern.hint();
    }

    /// What stays of a decision.
    fn decision(&self, decision: &Decision, config: &Config) -> Option<Decision> {
        let names: HashSet<&String> = decision.loci.iter().chain([&decision.key]).collect();
        let is_about = |candidate: &&Candidate| {
            names.contains(&candidate.key) || candidate.loci.iter().any(|locus| names.contains(locus))
        };
        let is_of = |pattern: &&Pattern| {
            names.contains(&pattern.id) || pattern.provenance.loci.iter().any(|locus| names.contains(locus))
        };
        let before = self.before.iter().find(is_about);
        let after = self.after.iter().find(is_about);
        let pattern = self.catalog.iter().find(is_of);
        let rests = |candidate: &Candidate| {
            candidate.members.iter().any(|member| (self.is_gone)(&member.agent, &member.session_id))
        };
        let is_touched = before.is_some_and(rests) || pattern.is_some_and(|pattern| self.names(pattern));
        let is_known = before.is_some() || pattern.is_some();
        if is_known && !is_touched && !self.quotes(&decision.title) {
            return Some(decision.clone());
        }
        let stays = match pattern {
            Some(pattern) => !matches!(self.fate(pattern, config), Fate::Goes),
            None => false,
        };
        if is_touched && after.is_none() && !stays {
            return None;
        }
        // The title is for people. Of what is no longer known nothing says whose words it has.
        let title = after.map(|candidate| candidate.title.clone()).unwrap_or_default();
        Some(Decision { title, ..decision.clone() })
    }
}

/// Quoted words of fewer bytes are not taken for a quotation.
const WORDS_BYTES_MIN: usize = 6;

/// A part of a pattern that is written for people.
#[derive(Clone, Copy)]
enum Field {
    Title,
    Problem,
    When,
    WhenNot,
}
