//! All memories, folded from mined candidates, people's own texts, and decisions.
//!
//! The fold takes candidates in the order of their events, not in the order of discovery, so that
//! the order of arrival does not matter. Equal findings become one memory that keeps every origin.
//! A memory that contradicts an older one replaces it, and the older one is kept and linked.
//!
//! A person's decisions come first, with the words they are about (`decision.rs`). Later findings
//! never replace, change or accept a memory that a person wrote or accepted. Equal findings are
//! hidden behind it, and contradictory ones need review.

use hashbrown::HashMap;
use retro_model::Timestamp;
use retro_search::embed::{BuiltIn, Embedder, Embedding};

use crate::again::{is_rule_again, said_terms};
use crate::candidate::{Candidate, Kind, Scope, Span};
use crate::decision::{Decision, Exposure, as_found, decide, words_hash};
use crate::memory::{Level, Memory, Source, Status};
use crate::same::{
    contradicts, is_of_model, is_rule, is_same_place, is_written_twice, jaccard, rejects_rule,
    rests_on_the_same, rests_within, share_object,
};
use crate::screen;
use crate::weights::WEIGHTS;

/// Minimum similarity in meaning of two equal memories.
const SAME_COSINE: f32 = 0.90;
/// Minimum similarity that a person should check.
const LIKE_COSINE: f32 = 0.75;
/// Minimum similarity of keywords of two equal memories.
const SAME_JACCARD: f64 = 0.8;
/// Minimum keywords that identify a rule: two rules can name the same folder.
const RULE_KEYWORDS_MIN: usize = 2;
/// Maximum evidence kept for one memory.
const EVIDENCE_MAX: usize = 40;
/// Maximum active memories of one repository, and of those that apply everywhere.
const REPO_MAX: usize = 200;
const EVERYWHERE_MAX: usize = 100;

/// All memories, folded.
#[derive(Default)]
pub struct Shelf {
    items: Vec<Memory>,
    vectors: Vec<Embedding>,
    /// Terms of the quotations of rules. Empty for other memories.
    terms: Vec<Vec<String>>,
    at: HashMap<String, usize>,
    /// Indexes that share a subject.
    subjects: HashMap<String, Vec<usize>>,
    /// Memories with a decision, as they were found. These are the first items.
    decided: Vec<Decided>,
    forgotten: Vec<Forgotten>,
    model: Option<BuiltIn>,
}

/// A memory with a decision.
struct Decided {
    about: Memory,
    words_hash: String,
}

/// A memory that a person wants gone.
struct Forgotten {
    id: String,
    /// `None` if an earlier version recorded it.
    words_hash: Option<String>,
    at: Option<Timestamp>,
}

impl Forgotten {
    fn is_mined(&self, candidate: &Candidate, hash: &str) -> bool {
        match &self.words_hash {
            Some(words) => *words == hash,
            None => candidate.id == self.id || candidate.earlier_id().as_ref() == Some(&self.id),
        }
    }

    /// A text written again after it was forgotten is intentional.
    fn is_written(&self, memory: &Memory) -> bool {
        let is_later = memory.created_at.zip(self.at).is_some_and(|(written, at)| written > at);
        let is_it = match &self.words_hash {
            Some(words) => *words == words_hash(&memory.text),
            None => self.id == memory.id,
        };
        is_it && !is_later
    }
}

impl Shelf {
    /// An empty shelf.
    pub fn new() -> Shelf {
        Shelf { model: BuiltIn::new().ok(), ..Shelf::default() }
    }

    /// The memories, in order of arrival.
    pub fn items(&self) -> &[Memory] {
        &self.items
    }

    /// The vector of each memory, in the same order.
    pub fn vectors(&self) -> &[Embedding] {
        &self.vectors
    }

    /// The memory with this id. If it was merged, returns the memory that contains it.
    pub fn get(&self, id: &str) -> Option<&Memory> {
        self.items.get(*self.at.get(id)?)
    }

    /// Takes the decisions of people. Call this before adding anything.
    pub fn decided(&mut self, decisions: &[Decision]) {
        let forgotten = decisions.iter().filter(|decision| decision.event == "memory_forgotten");
        self.forgotten.extend(forgotten.map(|decision| Forgotten {
            id: decision.memory_id.clone(),
            words_hash: decision.words_hash.clone(),
            at: decision.created_at,
        }));
        let mut found: Vec<Memory> = Vec::new();
        for about in decisions.iter().filter_map(|decision| decision.about.as_deref()) {
            let is_known = found.iter().any(|memory| memory.id == about.id);
            let is_forgotten = self.forgotten.iter().any(|forgotten| forgotten.id == about.id);
            if about.source == Source::Mined && !is_known && !is_forgotten {
                found.push(as_found(about));
            }
        }
        found.sort_by(|a, b| a.created_at.cmp(&b.created_at).then_with(|| a.id.cmp(&b.id)));
        for about in found {
            let mut memory = about.clone();
            for decision in decisions {
                if decision.memory_id == about.id || is_about_session(decision, &memory) {
                    decide(&mut memory, decision);
                }
            }
            self.decided.push(Decided { words_hash: words_hash(&about.text), about });
            let vector = self.vector(&memory);
            self.push(memory, vector);
        }
    }

    /// Adds a mined candidate. Call it in the order of [`before`].
    pub fn add(&mut self, agent: &str, session_id: &str, candidate: &Candidate) {
        let hash = words_hash(&candidate.text);
        if self.forgotten.iter().any(|forgotten| forgotten.is_mined(candidate, &hash)) {
            return;
        }
        let mut memory = Memory::mined(candidate, agent, session_id);
        let reasons = screen::screen_memory(&memory);
        if !reasons.is_empty() {
            memory.status = Status::NeedsReview;
            memory.review_reasons = reasons;
        }
        let id = memory.id.clone();
        self.put(memory);
        if let (Some(earlier), Some(at)) = (candidate.earlier_id(), self.at.get(&id).copied()) {
            self.at.entry(earlier).or_insert(at);
        }
    }

    /// True if a candidate was forgotten, though its words are still in a file of findings.
    pub fn is_forgotten(&self, candidate: &Candidate) -> bool {
        let hash = words_hash(&candidate.text);
        self.forgotten.iter().any(|forgotten| forgotten.is_mined(candidate, &hash))
    }

    /// True if a person's own text was forgotten, though it is still in a file.
    pub fn is_written_off(&self, memory: &Memory) -> bool {
        self.forgotten.iter().any(|forgotten| forgotten.is_written(memory))
    }

    /// True if a memory with this id was forgotten.
    pub fn is_id_forgotten(&self, id: &str) -> bool {
        self.forgotten.iter().any(|forgotten| forgotten.id == id)
    }

    /// Adds a person's own memory, already screened. Call it after all mined candidates.
    pub fn write(&mut self, mut memory: Memory) {
        if self.is_written_off(&memory) {
            return;
        }
        if let Some(at) = self.items.iter().position(|known| is_written_twice(&memory, known)) {
            self.at.entry(memory.id).or_insert(at);
            return;
        }
        if self.at.contains_key(&memory.id) {
            // Decisions about the other memory do not apply to this one.
            let other = memory.id.clone();
            memory.id = format!("{other}-{}", words_hash(&memory.text).get(..8).unwrap_or_default());
            memory.review_reasons.push(format!("another memory has the id {other}"));
        }
        if memory.status == Status::Accepted {
            for at in 0..self.items.len() {
                let is_decided = self.is_of_a_person(at);
                let Some(known) = self.items.get_mut(at).filter(|_| !is_decided) else { continue };
                let is_same = words_hash(&known.text) == words_hash(&memory.text);
                let holds = is_same_place(known, &memory) || memory.scope != Scope::Repo;
                if known.superseded_by.is_none() && holds && (is_same || rejects_rule(&memory, known)) {
                    known.superseded_by = Some(memory.id.clone());
                }
            }
        }
        let vector = self.vector(&memory);
        self.push(memory, vector);
    }

    fn put(&mut self, mut memory: Memory) {
        if let Some(at) = self.decided_before(&memory) {
            self.at.entry(memory.id.clone()).or_insert(at);
            if let Some(known) = self.items.get_mut(at) {
                take_evidence(known, memory);
            }
            return;
        }
        let vector = self.vector(&memory);
        match self.same(&memory, &vector) {
            Some(at) if self.is_of_a_person(at) => {
                memory.superseded_by = self.items.get(at).map(|known| known.id.clone());
            }
            Some(at) => {
                self.at.entry(memory.id.clone()).or_insert(at);
                if let Some(known) = self.items.get_mut(at) {
                    merge(known, memory);
                }
                return;
            }
            None => {
                self.supersede(&mut memory);
                let is_again = self.say_again(&mut memory, &vector);
                if !is_again
                    && memory.level() == Level::Unasked
                    && let Some(like) = self.like(&memory, &vector)
                    && memory.status == Status::Candidate
                {
                    memory.status = Status::NeedsReview;
                    memory.review_reasons.push(format!("says nearly the same as {like}"));
                }
            }
        }
        self.push(memory, vector);
    }

    fn push(&mut self, memory: Memory, vector: Embedding) {
        let at = self.items.len();
        self.at.entry(memory.id.clone()).or_insert(at);
        self.subjects.entry(memory.subject.clone()).or_default().push(at);
        self.terms.push(if is_rule(&memory) { said_terms(&memory) } else { Vec::new() });
        self.items.push(memory);
        self.vectors.push(vector);
    }

    /// Merges a rule that repeats an earlier one in different words. The newest wording replaces
    /// the older ones and sums up their counts. Searches still match the older words.
    fn say_again(&mut self, memory: &mut Memory, vector: &Embedding) -> bool {
        if !is_rule(memory) || memory.status != Status::Candidate {
            return false;
        }
        let terms = said_terms(memory);
        let says_so = memory.says("again");
        let mut is_again = false;
        for at in self.decided.len()..self.items.len() {
            let (Some(known), Some(other)) = (self.items.get(at), self.vectors.get(at)) else { continue };
            let is_open = known.superseded_by.is_none() && known.status == Status::Candidate;
            if !is_open || !is_rule(known) || !is_same_place(known, memory) {
                continue;
            }
            let said = self.terms.get(at).map(Vec::as_slice).unwrap_or_default();
            if !is_rule_again(&terms, said, vector.cosine(other), says_so) {
                continue;
            }
            if let Some(known) = self.items.get_mut(at) {
                known.superseded_by = Some(memory.id.clone());
                let older = known.clone();
                memory.spans.extend(older.spans.iter().take(SPANS_MAX).cloned());
                memory.spans.truncate(SPANS_MAX);
                memory.confidence = (memory.confidence.max(older.confidence) + 0.05).min(0.95);
                memory.priority = memory.priority.max(older.priority).saturating_add(1).min(5);
                take_evidence(memory, older);
                is_again = true;
            }
        }
        is_again
    }

    /// The earlier decision that applies to this memory, if any: the same words in the same place,
    /// or the same quotations of the same session in different words.
    fn decided_before(&self, memory: &Memory) -> Option<usize> {
        if self.decided.is_empty() {
            return None;
        }
        let hash = words_hash(&memory.text);
        self.decided.iter().position(|Decided { about, words_hash }| {
            about.method == memory.method
                && is_same_place(about, memory)
                && (*words_hash == hash
                    || rests_on_the_same(about, memory)
                    || (is_rule(memory) && rests_within(memory, about)))
        })
    }

    fn is_decided(&self, at: usize) -> bool {
        at < self.decided.len()
    }

    /// True if a person wrote or accepted the memory at this index.
    fn is_of_a_person(&self, at: usize) -> bool {
        self.items.get(at).is_some_and(|known| {
            known.source != Source::Mined || (known.status == Status::Accepted && self.is_decided(at))
        })
    }

    fn vector(&self, memory: &Memory) -> Embedding {
        let text = memory.key_text();
        self.model
            .as_ref()
            .and_then(|model| model.embed(&[&text]).ok()?.pop())
            .unwrap_or_else(|| Embedding::zero(1))
    }

    /// The equal memory, if there is one.
    fn same(&mut self, memory: &Memory, vector: &Embedding) -> Option<usize> {
        let by_subject = self.subjects.get(&memory.subject).cloned().unwrap_or_default();
        for at in by_subject.into_iter().filter(|_| !memory.subject.is_empty()) {
            let Some(known) = self.items.get_mut(at) else { continue };
            if known.kind != memory.kind && !(is_rule(known) && is_rule(memory))
                || is_of_model(known) != is_of_model(memory)
                || known.superseded_by.is_some()
            {
                continue;
            }
            if is_same_place(known, memory) {
                if known.stance == memory.stance {
                    return Some(at);
                }
            } else if is_rule(memory)
                && is_rule(known)
                && known.stance == memory.stance
                && at >= self.decided.len()
            {
                // Stated in two repositories: it belongs to the person, not to the repository.
                (known.scope, known.kind) = (Scope::User, Kind::UserPreference);
                return Some(at);
            }
        }
        // Candidates with a subject are not compared by similarity.
        if !memory.subject.is_empty() && !is_rule(memory) {
            return None;
        }
        self.near(memory).find(|at| {
            let (Some(known), Some(other)) = (self.items.get(*at), self.vectors.get(*at)) else {
                return false;
            };
            known.content_hash == memory.content_hash
                || (!contradicts(memory, known)
                    && (vector.cosine(other) >= SAME_COSINE
                        || (!is_rule(memory) || memory.keywords.len() >= RULE_KEYWORDS_MIN)
                            && jaccard(&known.keywords, &memory.keywords) >= SAME_JACCARD))
        })
    }

    /// Active memories of the same kind and place.
    fn near<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = usize> + 'a {
        self.items.iter().enumerate().filter_map(move |(at, known)| {
            let fits = known.kind == memory.kind
                && is_of_model(known) == is_of_model(memory)
                && known.superseded_by.is_none()
                && is_same_place(known, memory);
            fits.then_some(at)
        })
    }

    /// A memory so similar to this one that a person should check.
    fn like(&self, memory: &Memory, vector: &Embedding) -> Option<String> {
        if !is_rule(memory) {
            return None;
        }
        let like = self.near(memory).find(|at| {
            let Some((known, other)) = self.items.get(*at).zip(self.vectors.get(*at)) else { return false };
            vector.cosine(other) >= LIKE_COSINE && !contradicts(memory, known) && !share_object(memory, known)
        })?;
        self.items.get(like).map(|known| known.id.clone())
    }

    /// Marks the memories that the new one replaces. Accepted memories are not replaced.
    fn supersede(&mut self, memory: &mut Memory) {
        for at in 0..self.items.len() {
            let (is_decided, is_of_a_person) = (self.is_decided(at), self.is_of_a_person(at));
            let Some(known) = self.items.get_mut(at) else { continue };
            if known.superseded_by.is_some()
                || known.method != memory.method
                || !is_same_place(known, memory)
                || !contradicts(memory, known)
            {
                continue;
            }
            if !is_decided {
                known.superseded_by = Some(memory.id.clone());
            } else if is_of_a_person && memory.created_at < known.created_at {
                memory.superseded_by = Some(known.id.clone());
            } else if is_of_a_person {
                memory.status = Status::NeedsReview;
                memory.review_reasons.push(format!("says the opposite of {}, which you accepted", known.id));
            }
        }
    }

    /// Applies decisions and showings, in the order of their files. Returns ids without a memory.
    pub fn apply(&mut self, decisions: &[Decision], exposures: &[Exposure]) -> Vec<String> {
        let mut unknown = Vec::new();
        for exposure in exposures {
            for id in &exposure.memory_ids {
                if let Some(memory) = self.at.get(id).copied().and_then(|at| self.items.get_mut(at)) {
                    memory.utility.shown += 1;
                    memory.utility.last_used_at = memory.utility.last_used_at.max(exposure.shown_at);
                }
            }
        }
        for decision in decisions {
            if decision.memory_id.is_empty() {
                for memory in self.items.iter_mut().skip(self.decided.len()) {
                    if is_about_session(decision, memory) {
                        decide(memory, decision);
                    }
                }
                continue;
            }
            if self.decided.iter().any(|decided| decided.about.id == decision.memory_id) {
                continue;
            }
            match self.at.get(&decision.memory_id).copied().and_then(|at| self.items.get_mut(at)) {
                Some(memory) if is_about(decision, memory) => decide(memory, decision),
                Some(_) => {}
                None if decision.event == "memory_forgotten" => {}
                None => unknown.push(decision.memory_id.clone()),
            }
        }
        unknown
    }

    /// Retires memories above the limit of their place, the least useful first. With `useless`,
    /// also those shown often that never helped. Never retires an accepted memory.
    pub fn trim(&mut self, now: Timestamp, useless: bool) {
        let mut places: HashMap<String, Vec<usize>> = HashMap::new();
        for (at, memory) in self.items.iter_mut().enumerate() {
            if memory.status != Status::Candidate {
                continue;
            }
            if useless && memory.utility.is_useless() {
                memory.status = Status::Retired;
                memory.review_reasons.push("shown often, and of no use".to_owned());
                continue;
            }
            let place = if memory.scope == Scope::Repo { memory.repository_name() } else { String::new() };
            places.entry(place).or_default().push(at);
        }
        for (place, mut members) in places {
            let max = if place.is_empty() { EVERYWHERE_MAX } else { REPO_MAX };
            if members.len() <= max {
                continue;
            }
            let worth = |at: &usize| self.items.get(*at).map_or(0.0, |memory| worth(memory, now));
            members.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then(a.cmp(b)));
            for at in members.split_off(max) {
                if let Some(memory) = self.items.get_mut(at) {
                    memory.status = Status::Retired;
                    memory
                        .review_reasons
                        .push("more was found here than is kept; others are more useful".to_owned());
                }
            }
        }
    }
}

/// The order for adding candidates: by time, then session and method, then as the method found
/// them.
pub fn before(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    let found = |candidate: &Candidate| candidate.id.rsplit_once(':').map(|(of, _)| of.to_owned());
    a.created_at
        .cmp(&b.created_at)
        .then_with(|| found(a).cmp(&found(b)))
        .then_with(|| a.number.cmp(&b.number))
        .then_with(|| a.id.cmp(&b.id))
}

/// True if a decision about a whole session applies to this memory.
fn is_about_session(decision: &Decision, memory: &Memory) -> bool {
    let session = decision.session_id.as_deref().unwrap_or_default();
    decision.memory_id.is_empty()
        && decision.event == "memory_quarantined"
        && memory.origins.iter().any(|origin| origin.session_id == session)
}

/// True if a decision applies to the current words of this memory. An earlier version identified a
/// mined memory by its place in a list. Such a decision can hide a memory, but not accept it.
fn is_about(decision: &Decision, memory: &Memory) -> bool {
    match &decision.about {
        Some(about) => words_hash(&about.text) == words_hash(&memory.text),
        None if decision.memory_id == memory.id => true,
        None => !matches!(decision.event.as_str(), "memory_accepted" | "memory_edited" | "memory_restored"),
    }
}

fn worth(memory: &Memory, now: Timestamp) -> f64 {
    memory.utility.share()
        * memory.confidence
        * memory.kind.left(memory.created_at, now, WEIGHTS.half_life_days)
}

/// Adds the origins of an equal finding to a decided memory. Changes nothing else.
fn take_evidence(known: &mut Memory, newer: Memory) {
    let before = known.origins.len();
    for origin in newer.origins {
        if !known.origins.contains(&origin) {
            known.origins.push(origin);
        }
    }
    if known.origins.len() > before {
        known.seen = known.seen.saturating_add(newer.seen);
        known.worked = known.worked.saturating_add(newer.worked);
    }
    known.origins.sort();
    for event in newer.evidence_refs {
        if !known.evidence_refs.contains(&event) && known.evidence_refs.len() < EVIDENCE_MAX {
            known.evidence_refs.push(event);
        }
    }
}

/// Maximum quotations kept for one memory.
const SPANS_MAX: usize = 8;

/// Merges an equal memory into the known one.
fn merge(known: &mut Memory, newer: Memory) {
    if known.method == "asked_commands" {
        // Searches match every request that it answered.
        let is_new = |span: &Span, known: &Memory| !known.spans.iter().any(|other| other.text == span.text);
        for span in &newer.spans {
            if known.spans.len() < SPANS_MAX && is_new(span, known) {
                known.spans.push(span.clone());
            }
        }
    }
    // A line written twice, as after a crash, adds no evidence.
    let is_news = newer.origins.iter().any(|origin| !known.origins.contains(origin));
    if is_news {
        // Seen in another session: more certain, and more important.
        known.confidence = (known.confidence.max(newer.confidence) + 0.05).min(0.95);
        known.priority = known.priority.max(newer.priority).saturating_add(1).min(5);
    }
    known.updated_at = known.updated_at.max(newer.updated_at);
    if newer.status == Status::NeedsReview && known.status == Status::Candidate {
        known.status = Status::NeedsReview;
        known.review_reasons.extend(newer.review_reasons.clone());
    }
    take_evidence(known, newer);
}

#[cfg(test)]
mod tests;
