//! Something that recurs: its members, what it costs, what helped.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use crate::near::same_remedy;
use crate::sign::{Evidence, Polarity};

/// Resolutions of one candidate.
const RESOLUTIONS_MAX: usize = 5;

/// What one session has to do with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// Whose session.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// Its repository.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repo: Option<String>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at: Option<Timestamp>,
    /// How often it was seen there.
    pub times: u32,
    /// The detectors that saw it there.
    pub types: Vec<String>,
    /// What it cost there.
    pub impact: MemberImpact,
    /// What shows it.
    pub evidence: Vec<Evidence>,
    /// What helped there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<crate::Remedy>,
    /// Names the captured bytes.
    pub source: String,
}

/// What something cost in one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemberImpact {
    /// Tokens.
    pub tokens: u64,
    /// Seconds.
    pub seconds: u64,
    /// All tokens of the session, so that dollars can be shared out.
    pub of_tokens: u64,
}

/// What something cost in all sessions together.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Impact {
    /// Tokens.
    pub tokens: u64,
    /// Dollars, where the prices are known.
    pub usd: Option<f64>,
    /// Minutes.
    pub minutes: f64,
}

/// Something that helped, in how many sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    /// What was run or edited, quoted.
    pub text: String,
    /// In how many sessions.
    pub times: u32,
    /// The events, as `agent/session#event`.
    pub evidence_refs: Vec<String>,
}

/// A candidate for the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its stable name.
    pub key: String,
    /// Names of everything that was put together in it.
    pub loci: Vec<String>,
    /// Whether it is good.
    pub polarity: Polarity,
    /// The detector that says most about it.
    #[serde(rename = "type")]
    pub kind: String,
    /// All that saw it, sorted.
    pub types: Vec<String>,
    /// Where or what it is.
    pub locus: String,
    /// What it is, in words of the evidence.
    pub title: String,
    /// The sessions, the earliest first.
    pub members: Vec<Member>,
    /// What helped, most often first.
    pub resolutions: Vec<Resolution>,
}

impl Candidate {
    /// How often it was seen.
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

    /// Whether it was seen in more than one agent.
    pub fn is_cross_agent(&self) -> bool {
        self.agents().len() > 1
    }

    /// When it was first and last seen.
    pub fn span(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        let times = || self.members.iter().filter_map(|member| member.at);
        (times().min(), times().max())
    }

    /// Its evidence as `agent/session#event`, at most so many of each session.
    pub fn refs(&self, of_each: usize) -> Vec<String> {
        self.members.iter().flat_map(|member| member.refs(of_each)).collect()
    }

    /// The same with these members only; nothing if none is left.
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
    /// Addresses of what shows it.
    pub fn refs(&self, most: usize) -> Vec<String> {
        self.evidence.iter().take(most).map(|evidence| self.address(&evidence.event_id)).collect()
    }

    /// The whole address of an event of this session.
    pub fn address(&self, event_id: &str) -> String {
        match event_id.contains('#') {
            true => event_id.to_owned(),
            false => format!("{}/{}#{event_id}", self.agent, self.session_id),
        }
    }
}

/// What helped, put together over sessions, most often first.
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
