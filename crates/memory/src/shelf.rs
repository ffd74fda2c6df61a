//! All memories, folded from what was mined, what people wrote, and what was decided.
//!
//! The fold takes candidates in the order in which things happened, not in which they were
//! found, so that the order of arrival does not show. What is said twice becomes one memory
//! that keeps every origin; what contradicts an older memory takes its place, and the older
//! one is kept and linked.

use hashbrown::HashMap;
use retro_model::Timestamp;
use retro_search::embed::{BuiltIn, Embedder, Embedding};
use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, Kind, Scope};
use crate::memory::{Memory, Status};
use crate::screen;
use crate::weights::WEIGHTS;

/// Likeness of meaning from which two memories are one.
const SAME_COSINE: f32 = 0.90;
/// Likeness from which a person should look.
const LIKE_COSINE: f32 = 0.75;
/// Likeness of keywords from which two memories are one.
const SAME_JACCARD: f64 = 0.8;
/// Evidence that is kept of one memory.
const EVIDENCE_MAX: usize = 40;
/// Active memories of one repository, and of everywhere.
const REPO_MAX: usize = 200;
const EVERYWHERE_MAX: usize = 100;

/// Something that was decided about a memory, or shown of its use: a line of
/// `memories/events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Decision {
    /// Which memory; empty where a whole session is meant.
    pub memory_id: String,
    /// `memory_rewarded`, `memory_accepted`, `memory_rejected`, `memory_retired`,
    /// `memory_restored`, `memory_quarantined`, `memory_edited`, `memory_forgotten`.
    pub event: String,
    /// The session that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// From 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The new words, of an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// When it is to be used from now on, of an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_to_use: Option<String>,
    /// The event of a log that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
}

/// What was shown to a session: a line of `exposures.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Exposure {
    /// When.
    pub shown_at: Option<Timestamp>,
    /// To which session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Where it worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The memories, best first.
    pub memory_ids: Vec<String>,
}

/// All memories.
#[derive(Default)]
pub struct Shelf {
    items: Vec<Memory>,
    vectors: Vec<Embedding>,
    at: HashMap<String, usize>,
    /// Places that share a subject.
    subjects: HashMap<String, Vec<usize>>,
    forgotten: Vec<String>,
    model: Option<BuiltIn>,
}

impl Shelf {
    /// A shelf without memories.
    pub fn new() -> Shelf {
        Shelf { model: BuiltIn::new().ok(), ..Shelf::default() }
    }

    /// The memories, in the order in which they came.
    pub fn items(&self) -> &[Memory] {
        &self.items
    }

    /// What each means, in the same order.
    pub fn vectors(&self) -> &[Embedding] {
        &self.vectors
    }

    /// The memory with this id; one that was merged into another answers by that one.
    pub fn get(&self, id: &str) -> Option<&Memory> {
        self.items.get(*self.at.get(id)?)
    }

    /// These were forgotten and must not come back.
    pub fn forget(&mut self, decisions: &[Decision]) {
        let forgotten = decisions.iter().filter(|decision| decision.event == "memory_forgotten");
        self.forgotten.extend(forgotten.map(|decision| decision.memory_id.clone()));
    }

    /// Adds what was mined. Call it in the order of [`before`].
    pub fn add(&mut self, agent: &str, session_id: &str, candidate: &Candidate) {
        if self.forgotten.contains(&candidate.id) {
            return;
        }
        let mut memory = Memory::mined(candidate, agent, session_id);
        let reasons = screen::screen_memory(&memory);
        if !reasons.is_empty() {
            memory.status = Status::NeedsReview;
            memory.review_reasons = reasons;
        }
        self.put(memory);
    }

    /// Adds what a person wrote, screened before.
    pub fn write(&mut self, memory: Memory) {
        if !self.forgotten.contains(&memory.id) {
            self.put(memory);
        }
    }

    fn put(&mut self, mut memory: Memory) {
        let vector = self.vector(&memory);
        if let Some(at) = self.same(&memory, &vector) {
            self.at.insert(memory.id.clone(), at);
            if let Some(known) = self.items.get_mut(at) {
                merge(known, memory);
            }
            return;
        }
        self.supersede(&mut memory);
        let at = self.items.len();
        if let Some(like) = self.like(&memory, &vector)
            && memory.status == Status::Candidate
        {
            memory.status = Status::NeedsReview;
            memory.review_reasons.push(format!("says nearly the same as {like}"));
        }
        let replaced = self.at.insert(memory.id.clone(), at);
        // Two files with one id: the later one has it, the earlier keeps its content.
        if let Some(known) = replaced.and_then(|known| self.items.get_mut(known)) {
            known.review_reasons.push(format!("another memory has the id {}", memory.id));
        }
        self.subjects.entry(memory.subject.clone()).or_default().push(at);
        self.items.push(memory);
        self.vectors.push(vector);
    }

    fn vector(&self, memory: &Memory) -> Embedding {
        let text = memory.key_text();
        self.model
            .as_ref()
            .and_then(|model| model.embed(&[&text]).ok()?.pop())
            .unwrap_or_else(|| Embedding::zero(1))
    }

    /// The memory that says the same, if there is one.
    fn same(&mut self, memory: &Memory, vector: &Embedding) -> Option<usize> {
        let by_subject = self.subjects.get(&memory.subject).cloned().unwrap_or_default();
        for at in by_subject.into_iter().filter(|_| !memory.subject.is_empty()) {
            let Some(known) = self.items.get_mut(at) else { continue };
            if known.kind != memory.kind && !(is_rule(known) && is_rule(memory))
                || known.superseded_by.is_some()
            {
                continue;
            }
            if is_same_place(known, memory) {
                if known.stance == memory.stance {
                    return Some(at);
                }
            } else if is_rule(memory) && is_rule(known) && known.stance == memory.stance {
                // Said in two repositories: it is the person's, not the repository's.
                (known.scope, known.kind) = (Scope::User, Kind::UserPreference);
                return Some(at);
            }
        }
        // Candidates that name what they are about are not compared by likeness.
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
                        || jaccard(&known.keywords, &memory.keywords) >= SAME_JACCARD))
        })
    }

    /// Active memories of the same kind and place.
    fn near<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = usize> + 'a {
        self.items.iter().enumerate().filter_map(move |(at, known)| {
            let fits =
                known.kind == memory.kind && known.superseded_by.is_none() && is_same_place(known, memory);
            fits.then_some(at)
        })
    }

    /// The memory that is so like this one that a person should look.
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

    /// Marks what the new memory takes the place of.
    fn supersede(&mut self, memory: &mut Memory) {
        for known in &mut self.items {
            if known.superseded_by.is_some() || known.method != memory.method || !is_same_place(known, memory)
            {
                continue;
            }
            if contradicts(memory, known) {
                known.superseded_by = Some(memory.id.clone());
            }
        }
    }

    /// Applies what was decided and shown, in the order of their files. Gives the ids that
    /// no memory has.
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
            if decision.event == "memory_quarantined" && decision.memory_id.is_empty() {
                let session = decision.session_id.as_deref().unwrap_or_default();
                for memory in &mut self.items {
                    if memory.origins.iter().any(|origin| origin.session_id == session) {
                        memory.status = Status::Quarantined;
                    }
                }
                continue;
            }
            match self.at.get(&decision.memory_id).copied().and_then(|at| self.items.get_mut(at)) {
                Some(memory) => decide(memory, decision),
                None if decision.event == "memory_forgotten" => {}
                None => unknown.push(decision.memory_id.clone()),
            }
        }
        unknown
    }

    /// Retires what is over the limit of its place, the least useful first, and with
    /// `useless` what was shown often and never helped. Nothing that a person accepted.
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

/// The order in which candidates are added: when they happened, then their ids.
pub fn before(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    a.created_at.cmp(&b.created_at).then_with(|| a.id.cmp(&b.id))
}

fn worth(memory: &Memory, now: Timestamp) -> f64 {
    memory.utility.share()
        * memory.confidence
        * memory.kind.left(memory.created_at, now, WEIGHTS.half_life_days)
}

fn decide(memory: &mut Memory, decision: &Decision) {
    memory.updated_at = memory.updated_at.max(decision.created_at);
    match decision.event.as_str() {
        "memory_rewarded" => memory.utility.reward(decision.reward.unwrap_or(0.5), decision.created_at),
        "memory_accepted" => {
            memory.status = Status::Accepted;
            memory.review_reasons.clear();
        }
        "memory_rejected" => memory.status = Status::Rejected,
        "memory_retired" => memory.status = Status::Retired,
        "memory_quarantined" => memory.status = Status::Quarantined,
        "memory_restored" => {
            memory.status =
                if memory.review_reasons.is_empty() { Status::Candidate } else { Status::NeedsReview };
        }
        "memory_edited" => {
            memory.text = decision.text.clone().unwrap_or_else(|| std::mem::take(&mut memory.text));
            memory.when_to_use =
                decision.when_to_use.clone().unwrap_or_else(|| std::mem::take(&mut memory.when_to_use));
            memory.content_hash = memory.hash();
        }
        _ => {}
    }
}

/// Takes a memory that says the same into the one that is known.
fn merge(known: &mut Memory, newer: Memory) {
    // A line that was written twice, as after a stop in the middle, says nothing new.
    let is_news = match newer.origins.as_slice() {
        [] => newer.id != known.id,
        origins => origins.iter().any(|origin| !known.origins.contains(origin)),
    };
    for origin in newer.origins {
        if !known.origins.contains(&origin) {
            known.origins.push(origin);
            known.seen = known.seen.saturating_add(newer.seen);
            known.worked = known.worked.saturating_add(newer.worked);
        }
    }
    known.origins.sort();
    for event in newer.evidence_refs {
        if !known.evidence_refs.contains(&event) && known.evidence_refs.len() < EVIDENCE_MAX {
            known.evidence_refs.push(event);
        }
    }
    if is_news {
        // Seen in another session: surer, and it matters more.
        known.confidence = (known.confidence.max(newer.confidence) + 0.05).min(0.95);
        known.priority = known.priority.max(newer.priority).saturating_add(1).min(5);
    }
    known.updated_at = known.updated_at.max(newer.updated_at);
    if newer.status == Status::NeedsReview && known.status == Status::Candidate {
        known.status = Status::NeedsReview;
        known.review_reasons.extend(newer.review_reasons);
    }
    if newer.status == Status::Accepted {
        known.status = Status::Accepted;
    }
}

fn is_rule(memory: &Memory) -> bool {
    memory.method == "user_rules"
}

fn is_same_place(a: &Memory, b: &Memory) -> bool {
    let everywhere = |memory: &Memory| memory.scope != Scope::Repo;
    (everywhere(a) && everywhere(b))
        || (a.scope == Scope::Repo && b.scope == Scope::Repo && a.place().is_same(&b.place()))
}

/// Whether the newer one says that the older one does not hold any more.
fn contradicts(newer: &Memory, older: &Memory) -> bool {
    let things = |memory: &Memory, name: &str| -> Vec<String> {
        let list = memory.structured.as_ref().and_then(|value| value.get(name)?.as_array().cloned());
        list.unwrap_or_default().iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let meet = |a: &[String], b: &[String]| a.iter().any(|thing| b.contains(thing));
    match newer.method.as_str() {
        "user_rules" => {
            meet(&things(newer, "rejects"), &things(older, "wants"))
                || meet(&things(newer, "wants"), &things(older, "rejects"))
        }
        "repo_commands" => newer.subject == older.subject && things(newer, "unable").contains(&older.stance),
        // The same error, mended in another way: the newer way is what works now.
        "error_fix" => newer.subject == older.subject && newer.stance != older.stance,
        _ => false,
    }
}

fn share_object(a: &Memory, b: &Memory) -> bool {
    a.keywords.iter().any(|word| b.keywords.contains(word))
}

fn jaccard(a: &[String], b: &[String]) -> f64 {
    let shared = a.iter().filter(|word| b.contains(word)).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}
