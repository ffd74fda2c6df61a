//! A recurring problem or success: its members, its cost, its solutions.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use crate::near::same_remedy;
use crate::sign::{Evidence, Polarity};

/// The most resolutions of one candidate.
const RESOLUTIONS_MAX: usize = 5;

/// One session with the candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The name of the agent.
    pub agent: String,
    /// The agent's id of the session.
    pub session_id: String,
    /// The repository, if known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repo: Option<String>,
    /// When the session began.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Timestamp>,
    /// The number of occurrences in the session.
    pub times: u32,
    /// The detectors that found it in the session.
    pub types: Vec<String>,
    /// Its cost in the session.
    pub impact: MemberImpact,
    /// Quoted events as evidence.
    pub evidence: Vec<Evidence>,
    /// The solution in the session, if there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<crate::Remedy>,
    /// Identifies the captured bytes.
    pub source: String,
}

/// The cost of an occurrence in one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberImpact {
    /// Tokens that it used.
    pub tokens: u64,
    /// Seconds that it took.
    pub seconds: u64,
    /// All tokens of the session, to calculate its part of the dollars.
    pub of_tokens: u64,
}

/// The cost in all sessions together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Impact {
    /// Tokens that it used.
    pub tokens: u64,
    /// Dollars, if the prices are known.
    pub usd: Option<f64>,
    /// Minutes that it took.
    pub minutes: f64,
}

/// A solution, and the number of sessions with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// The command or edit, quoted.
    pub text: String,
    /// The number of sessions.
    pub times: u32,
    /// The events, as `agent/session#event`.
    pub evidence_refs: Vec<String>,
}

/// A candidate for the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// A stable key.
    pub key: String,
    /// All loci that were merged into it.
    pub loci: Vec<String>,
    /// Whether it is a problem or a success.
    pub polarity: Polarity,
    /// The detector that describes it best.
    #[serde(rename = "type")]
    pub kind: String,
    /// All detectors that found it, sorted.
    pub types: Vec<String>,
    /// Its location or subject.
    pub locus: String,
    /// A description in words of the evidence.
    pub title: String,
    /// The sessions, the earliest first.
    pub members: Vec<Member>,
    /// Solutions, the most frequent first.
    pub resolutions: Vec<Resolution>,
}

impl Candidate {
    /// The number of occurrences.
    pub fn frequency(&self) -> u32 {
        self.members.iter().map(|member| member.times).fold(0, u32::saturating_add)
    }

    /// The agents, sorted.
    pub fn agents(&self) -> Vec<String> {
        distinct(self.members.iter().map(|member| member.agent.clone()))
    }

    /// The repositories, sorted.
    pub fn repos(&self) -> Vec<String> {
        distinct(self.members.iter().filter_map(|member| member.repo.clone()))
    }

    /// True if it occurred in more than one agent.
    pub fn is_cross_agent(&self) -> bool {
        self.agents().len() > 1
    }

    /// The first and the last time.
    pub fn span(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let times = || self.members.iter().filter_map(|member| member.at);
        (times().min(), times().max())
    }

    /// Its evidence as `agent/session#event`, limited per session.
    pub fn refs(&self, of_each: usize) -> Vec<String> {
        self.members.iter().flat_map(|member| member.refs(of_each)).collect()
    }

    /// The same with these members only. `None` if there are none.
    pub fn with(&self, keep: impl Fn(&Member) -> bool) -> Option<Candidate> {
        let members: Vec<Member> = self.members.iter().filter(|member| keep(member)).cloned().collect();
        if members.is_empty() {
            return None;
        }
        if members.len() == self.members.len() {
            return Some(self.clone());
        }
        let resolutions = resolutions(&members);
        Some(Candidate { members, resolutions, ..self.clone() })
    }
}

impl Member {
    /// Addresses of its evidence.
    pub fn refs(&self, most: usize) -> Vec<String> {
        self.evidence.iter().take(most).map(|evidence| self.address(&evidence.event_id)).collect()
    }

    /// The full address of an event of this session.
    pub fn address(&self, event_id: &str) -> String {
        match event_id.contains('#') {
            true => event_id.to_owned(),
            false => format!("{}/{}#{event_id}", self.agent, self.session_id),
        }
    }
}

/// The solutions of all members, the most frequent first.
pub(crate) fn resolutions(members: &[Member]) -> Vec<Resolution> {
    let mut found: BTreeMap<String, Resolution> = BTreeMap::new();
    for member in members {
        let Some(remedy) = &member.remedy else { continue };
        let text = remedy.text();
        let resolution = found.entry(same_remedy(&text)).or_insert_with(|| Resolution {
            text,
            times: 0,
            evidence_refs: Vec::new(),
        });
        resolution.times += 1;
        if resolution.evidence_refs.len() < 6 {
            resolution.evidence_refs.extend(remedy.steps.iter().map(|step| member.address(&step.event_id)));
        }
    }
    let mut all: Vec<Resolution> = found.into_values().collect();
    all.sort_by(|a, b| {
        b.times.cmp(&a.times).then_with(|| a.text.len().cmp(&b.text.len())).then_with(|| a.text.cmp(&b.text))
    });
    all.truncate(RESOLUTIONS_MAX);
    all
}

fn distinct(values: impl Iterator<Item = String>) -> Vec<String> {
    let mut values: Vec<String> = values.collect();
    values.sort();
    values.dedup();
    values
}
