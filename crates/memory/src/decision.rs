//! Decisions about memories, and records of memories shown: the lines of two journals.
//!
//! A decision concerns words, not a name or a place in a list. It therefore contains the memory as
//! the person saw it, and applies to that, even if later versions find it under another id.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::memory::{Memory, Source, Status, Utility};

/// Every kind of decision.
pub const EVENTS: &[&str] = &[
    "memory_accepted",
    "memory_edited",
    "memory_forgotten",
    // Changes nothing: stores the memory that earlier lines refer to.
    "memory_kept",
    "memory_quarantined",
    "memory_rejected",
    "memory_restored",
    "memory_retired",
    "memory_rewarded",
];

/// A decision about a memory, or a report on its use: a line of `memories/events.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Decision {
    /// The memory's id. Empty for a decision about a whole session.
    pub memory_id: String,
    /// `memory_rewarded`, `memory_accepted`, `memory_rejected`, `memory_retired`,
    /// `memory_restored`, `memory_quarantined`, `memory_edited`, `memory_forgotten`,
    /// `memory_kept`: see [`EVENTS`].
    pub event: String,
    /// The session concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The reward, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// The person's reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The new text of an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The new `when_to_use` of an edit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when_to_use: Option<String>,
    /// The log event that shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<String>,
    /// When it was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// The memory as it was found, if a person decided. The decision applies to this text, even if
    /// a later method finds it under another id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<Box<Memory>>,
    /// Identifies a forgotten text, by [`words_hash`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words_hash: Option<String>,
}

/// Memories shown to a session: a line of `exposures.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Exposure {
    /// When they were shown.
    pub shown_at: Option<Timestamp>,
    /// The session that saw them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Its working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The memories, best first.
    pub memory_ids: Vec<String>,
}

impl Decision {
    /// True if this version supports the event.
    pub fn is_known(&self) -> bool {
        EVENTS.contains(&self.event.as_str())
    }

    /// Removes secrets from the text of an edit, the reason and the memory concerned.
    pub fn redact(&mut self) {
        for text in [&mut self.text, &mut self.when_to_use, &mut self.reason].into_iter().flatten() {
            *text = retro_text::redact(text).into_inner();
        }
        if let Some(about) = &mut self.about {
            about.redact();
        }
    }
}

/// A memory as found, before any decision.
pub fn as_found(memory: &Memory) -> Memory {
    let status = match memory.source {
        Source::Mined if memory.review_reasons.is_empty() => Status::Candidate,
        Source::Mined => Status::NeedsReview,
        Source::Authored | Source::Added => memory.status,
    };
    Memory { status, utility: Utility::default(), superseded_by: None, ..memory.clone() }
}

/// Identifies a text without storing it. White space and case make no difference.
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
                // A memory that needed review before it was accepted needs review again.
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
