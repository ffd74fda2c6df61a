//! Decisions about candidates, and those that are still valid.

use hashbrown::HashMap;
use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

use crate::candidate::Candidate;
use crate::terms::name_of;

/// The kind of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// A person accepted it as a pattern.
    Approved,
    /// The gate accepted it as a pattern.
    Promoted,
    /// It is not a pattern.
    Rejected,
    /// It remains open.
    Discussed,
    /// The previous decision is revoked.
    Undone,
}

impl Choice {
    /// True if it is valid until the evidence changes.
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
    /// A unique id, so that duplicates can be recognized.
    pub id: String,
    /// The time of the decision.
    pub at: Timestamp,
    /// The kind of decision.
    pub decision: Choice,
    /// The key of the candidate, or of the pattern if it became one.
    pub key: String,
    /// All loci that were merged into the candidate.
    #[serde(default)]
    pub loci: Vec<String>,
    /// A hash of the evidence at that time.
    pub evidence: String,
    /// The version of the resulting pattern.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub version: Option<String>,
    /// A description for the recipients.
    #[serde(default)]
    pub title: String,
}

impl Decision {
    /// A decision about a candidate. `number` is the count of earlier lines in the log.
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

/// A hash of a candidate's evidence: its sessions, the occurrences in them, and the solutions.
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

/// The valid decisions of a review log: the last one about each locus.
#[derive(Debug, Default)]
pub struct Review {
    by_locus: HashMap<String, Decision>,
}

impl Review {
    /// Folds the decisions of a log.
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

    /// The last decision about a candidate, even under an earlier key.
    pub fn about(&self, candidate: &Candidate) -> Option<&Decision> {
        let names = std::iter::once(&candidate.key).chain(&candidate.loci);
        names.filter_map(|name| self.by_locus.get(name)).max_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)))
    }

    /// The same, if it is final and the evidence has not changed.
    pub fn settled(&self, candidate: &Candidate) -> Option<&Decision> {
        let decision = self.about(candidate)?;
        (decision.decision.is_final() && decision.evidence == evidence_of(candidate)).then_some(decision)
    }
}
