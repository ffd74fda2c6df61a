//! What was decided about candidates, and what of it still holds.

use hashbrown::HashMap;
use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::terms::name_of;

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// A person wrote it down.
    Approved,
    /// The gate let it in.
    Promoted,
    /// It is no pattern.
    Rejected,
    /// It stays open.
    Discussed,
    /// The decision before is taken back.
    Undone,
}

impl Choice {
    /// Whether it ends the matter until the evidence changes.
    pub fn is_final(self) -> bool {
        matches!(self, Choice::Approved | Choice::Promoted | Choice::Rejected)
    }

    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Choice::Approved => "approved",
            Choice::Promoted => "promoted",
            Choice::Rejected => "rejected",
            Choice::Discussed => "discussed",
            Choice::Undone => "undone",
        }
    }
}

/// One line of the review log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// Names it, so that whoever receives it twice can tell.
    pub id: String,
    /// When.
    pub at: Timestamp,
    /// What.
    pub decision: Choice,
    /// The candidate, and the pattern where it became one.
    pub key: String,
    /// Everything that was put together in it.
    #[serde(default)]
    pub loci: Vec<String>,
    /// Names the evidence that was there.
    pub evidence: String,
    /// The version of the pattern that it made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    /// In words, for who receives it.
    #[serde(default)]
    pub title: String,
}

impl Decision {
    /// A decision about a candidate. `number` counts the lines of the log before it.
    pub fn of(
        candidate: &Candidate,
        decision: Choice,
        at: Timestamp,
        version: Option<String>,
        number: usize,
    ) -> Decision {
        let evidence = evidence_of(candidate);
        let text = format!("{}\n{}\n{evidence}\n{version:?}\n{number}", candidate.key, decision.as_str());
        Decision {
            id: name_of(&text),
            at,
            decision,
            key: candidate.key.clone(),
            loci: candidate.loci.clone(),
            evidence,
            version,
            title: candidate.title.clone(),
        }
    }
}

/// Names the evidence of a candidate: its sessions with what was seen in them, and what helped.
pub fn evidence_of(candidate: &Candidate) -> String {
    let mut text = String::new();
    let mut members: Vec<String> = candidate
        .members
        .iter()
        .map(|member| format!("{}/{} {}", member.agent, member.session_id, member.times))
        .collect();
    members.sort();
    text.push_str(&members.join("\n"));
    for resolution in &candidate.resolutions {
        text.push_str(&format!("\n{} {}", resolution.times, resolution.text));
    }
    name_of(&text)
}

/// What holds of the review log: the last decision about each locus.
#[derive(Debug, Default)]
pub struct Review {
    by_locus: HashMap<String, Decision>,
}

impl Review {
    /// Folds the log.
    pub fn of(log: &[Decision]) -> Review {
        let mut review = Review::default();
        for decision in log {
            for name in decision.loci.iter().chain([&decision.key]) {
                match decision.decision {
                    Choice::Undone => {
                        review.by_locus.remove(name);
                    }
                    _ => {
                        review.by_locus.insert(name.clone(), decision.clone());
                    }
                }
            }
        }
        review
    }

    /// The last decision about a candidate, whatever it was called then.
    pub fn about(&self, candidate: &Candidate) -> Option<&Decision> {
        let names = std::iter::once(&candidate.key).chain(&candidate.loci);
        names.filter_map(|name| self.by_locus.get(name)).max_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)))
    }

    /// The same, if it is final and the evidence is what it was.
    pub fn settled(&self, candidate: &Candidate) -> Option<&Decision> {
        let decision = self.about(candidate)?;
        (decision.decision.is_final() && decision.evidence == evidence_of(candidate)).then_some(decision)
    }
}
