//! What was decided about memories, and what was shown of them: the lines of two journals.
//!
//! A decision is about words, not about a name or a place in a list. So it carries the memory
//! as the person saw it, and holds for that, whatever later versions find or call it.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::memory::{Memory, Source, Status, Utility};

/// Every decision that there is.
pub const EVENTS: &[&str] = &[
    "memory_accepted",
    "memory_edited",
    "memory_forgotten",
    // Nothing changes: the memory that earlier lines are about is written down.
    "memory_kept",
    "memory_quarantined",
    "memory_rejected",
    "memory_restored",
    "memory_retired",
    "memory_rewarded",
];

/// Something that was decided about a memory, or shown of its use: a line of
/// `memories/events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Decision {
    /// Which memory; empty where a whole session is meant.
    pub memory_id: String,
    /// `memory_rewarded`, `memory_accepted`, `memory_rejected`, `memory_retired`,
    /// `memory_restored`, `memory_quarantined`, `memory_edited`, `memory_forgotten`,
    /// `memory_kept`: see [`EVENTS`].
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
    /// The memory as it was found, where a person decided: the decision is about what it says,
    /// whatever methods find later, and under whatever id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Box<Memory>>,
    /// What was forgotten, by [`words_hash`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words_hash: Option<String>,
}

/// Memories that were shown to a session: a line of `exposures.jsonl`.
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

impl Decision {
    /// Whether this version knows what was decided.
    pub fn is_known(&self) -> bool {
        EVENTS.contains(&self.event.as_str())
    }

    /// Takes the secrets out of the words of an edit, the reason and the memory it is about.
    pub fn redact(&mut self) {
        for text in [&mut self.text, &mut self.when_to_use, &mut self.reason].into_iter().flatten() {
            *text = retro_text::redact(text).into_inner();
        }
        if let Some(about) = &mut self.about {
            about.redact();
        }
    }
}

/// A memory as it was found, before anything was decided about it.
pub fn as_found(memory: &Memory) -> Memory {
    let status = match memory.source {
        Source::Mined if memory.review_reasons.is_empty() => Status::Candidate,
        Source::Mined => Status::NeedsReview,
        Source::Authored | Source::Added => memory.status,
    };
    Memory { status, utility: Utility::default(), superseded_by: None, ..memory.clone() }
}

/// What a memory says, so that it can be known again without being kept. How words are set
/// and written large or small makes no difference.
pub fn words_hash(text: &str) -> String {
    let words = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    blake3::hash(words.as_bytes()).to_hex().chars().take(32).collect()
}

/// Applies one decision.
pub fn decide(memory: &mut Memory, decision: &Decision) {
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
            if let Some(about) = decision.about.as_ref().filter(|_| memory.review_reasons.is_empty()) {
                // What needed a look before it was accepted needs one again.
                memory.review_reasons.clone_from(&about.review_reasons);
            }
            memory.status =
                if memory.review_reasons.is_empty() { Status::Candidate } else { Status::NeedsReview };
        }
        "memory_edited" => {
            memory.text = decision.text.clone().unwrap_or_else(|| std::mem::take(&mut memory.text));
            memory.when_to_use =
                decision.when_to_use.clone().unwrap_or_else(|| std::mem::take(&mut memory.when_to_use));
            memory.content_hash = memory.hash();
        }
        "memory_kept" | "memory_forgotten" => {}
        unknown => {
            memory.status = Status::NeedsReview;
            memory.review_reasons.push(format!("has a decision that cannot be read: {unknown}"));
        }
    }
}
