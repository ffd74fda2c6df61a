//! A saved pattern: the problem or success, the solution, its scope, and the evidence. One file
//! each, so that people, git and other programs can read and change it.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::candidate::{Candidate, Resolution};
use crate::review::evidence_of;
use crate::sign::Polarity;
use crate::terms;

/// Whether a person has approved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The gate accepted it.
    Provisional,
    /// A person approved it.
    Approved,
}

/// The scope of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PatternScope {
    /// Agents with an occurrence.
    pub agents: Vec<String>,
    /// Labels of these repositories, from `[domains]`.
    pub domains: Vec<String>,
    /// Repositories with an occurrence.
    pub repositories: Vec<String>,
}

/// The evidence of a pattern.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The key of the candidate.
    pub source_key: String,
    /// All loci that were merged into it.
    pub loci: Vec<String>,
    /// A hash of the evidence.
    pub hash: String,
    /// The number of occurrences.
    pub frequency: u32,
    /// At most twenty sessions, with their evidence.
    pub sessions: Vec<SessionEvidence>,
    /// The number of all sessions.
    pub session_count: u32,
    /// The time of the first occurrence.
    pub first_seen: Option<Timestamp>,
    /// The time of the last occurrence.
    pub last_seen: Option<Timestamp>,
    /// Tokens that it used.
    pub tokens: u64,
    /// Minutes that it took.
    pub minutes: u64,
}

/// The evidence in one session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionEvidence {
    /// The name of the agent.
    pub agent: String,
    /// The agent's id of the session.
    pub session_id: String,
    /// Quotations from it, as they were when this was written.
    pub snapshot: Vec<String>,
    /// The events of the quotations.
    pub evidence_refs: Vec<String>,
}

/// A text for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PatternHints {
    /// The file that this agent reads.
    pub file: String,
    /// A text that can be added to the file unchanged.
    pub body: String,
}

/// A pattern of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Its id, also the name of its file.
    pub id: String,
    /// Major, minor and patch: they change with the meaning, the wording and the evidence.
    pub version: String,
    /// Whether a person has approved it.
    pub status: Status,
    /// True if it may be distributed.
    pub distribution_ready: bool,
    /// The reason if it may not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_ready: Option<String>,
    /// Whether it is a problem or a success.
    pub polarity: Polarity,
    /// The detector that describes it best.
    #[serde(rename = "type")]
    pub kind: String,
    /// All detectors that found it.
    #[serde(default)]
    pub types: Vec<String>,
    /// A title of one line.
    pub title: String,
    /// A description of the problem, or of the success.
    pub problem: String,
    /// The solutions, with their evidence.
    #[serde(default)]
    pub resolutions: Vec<Resolution>,
    /// When a reader should apply it.
    pub when_to_use: String,
    /// When a reader should not apply it.
    pub when_not: String,
    /// The scope of the pattern.
    #[serde(default)]
    pub scope: PatternScope,
    /// The evidence of the pattern.
    #[serde(default)]
    pub provenance: Provenance,
    /// A text for each agent, by name.
    #[serde(default)]
    pub hints: BTreeMap<String, PatternHints>,
    /// Keys that a person or another program added. They stay.
    #[serde(flatten)]
    pub other: BTreeMap<String, serde_json::Value>,
}

/// How much a pattern differs from the previous version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing has changed.
    Unchanged,
    /// Only the evidence has changed.
    Patch,
    /// The wording or the status has changed.
    Minor,
    /// The meaning has changed.
    Major,
}

/// The most sessions that a file lists.
const SESSIONS_MAX: usize = 20;
/// The files that agents read.
const FILES: &[(&str, &str)] = &[("claude", "CLAUDE.md"), ("codex", "AGENTS.md"), ("grok", "AGENTS.md")];

impl Pattern {
    /// Makes a pattern from a candidate. `domain` labels a repository.
    pub fn of(candidate: &Candidate, domain: impl Fn(&str) -> Option<String>) -> Pattern {
        let repositories = candidate.repos();
        let mut domains: Vec<String> = repositories.iter().filter_map(|repo| domain(repo)).collect();
        domains.sort();
        domains.dedup();
        let mut pattern = Pattern {
            id: candidate.key.clone(),
            version: "1.0.0".to_owned(),
            status: Status::Provisional,
            distribution_ready: false,
            not_ready: None,
            polarity: candidate.polarity,
            kind: candidate.kind.clone(),
            types: candidate.types.clone(),
            title: candidate.title.clone(),
            problem: problem(candidate),
            resolutions: candidate.resolutions.clone(),
            when_to_use: when(candidate),
            when_not: when_not(candidate),
            scope: PatternScope { agents: candidate.agents(), domains, repositories },
            provenance: provenance(candidate),
            hints: BTreeMap::new(),
            other: BTreeMap::new(),
        };
        pattern.hint();
        pattern
    }

    /// Records whether it may be distributed.
    pub fn settle(&mut self, verdict: Result<(), String>) {
        self.distribution_ready = verdict.is_ok() && !self.resolutions.is_empty();
        self.not_ready = verdict.err();
    }

    /// All of its text for readers.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n{}\n{}\n", self.title, self.problem, self.when_to_use, self.when_not);
        text.extend(self.hints.values().map(|hint| format!("{}\n", hint.body)));
        text
    }

    /// Generates the text for each agent.
    pub fn hint(&mut self) {
        let mut body = format!("## {}\n\n{}\n", self.title.replace('\n', " "), self.problem);
        if !self.resolutions.is_empty() {
            body.push_str(match (self.polarity, self.kind.as_str()) {
                (_, "correction_repeated") => "\nWhat the person asks for:\n",
                (_, "clean_pass") => "\nWhat such sessions run:\n",
                _ => "\nWhat helped:\n",
            });
            for resolution in &self.resolutions {
                let times = if resolution.times == 1 { "session" } else { "sessions" };
                let text = resolution.text.replace('"', "'");
                body.push_str(&format!("- \"{text}\" ({} {times})\n", resolution.times));
            }
        }
        body.push_str(&format!("\nUse this when {}. Not when {}.\n", self.when_to_use, self.when_not));
        self.hints = FILES
            .iter()
            .map(|(agent, file)| {
                ((*agent).to_owned(), PatternHints { file: (*file).to_owned(), body: body.clone() })
            })
            .collect();
    }

    /// This pattern with the evidence and the new solutions of a newer candidate. Its wording
    /// stays, because a person may have edited it.
    pub fn updated(&self, candidate: &Candidate, domain: impl Fn(&str) -> Option<String>) -> Pattern {
        let fresh = Pattern::of(candidate, domain);
        let mut pattern = self.clone();
        let mut is_new = false;
        for resolution in fresh.resolutions {
            let same = |known: &&mut Resolution| known.text == resolution.text;
            match pattern.resolutions.iter_mut().find(same) {
                Some(known) => *known = resolution,
                None => {
                    is_new = true;
                    pattern.resolutions.push(resolution);
                }
            }
        }
        pattern.types = fresh.types;
        pattern.scope = fresh.scope;
        pattern.provenance = fresh.provenance;
        if is_new {
            pattern.hint();
        }
        pattern
    }

    /// The difference from the previous version.
    pub fn change_from(&self, before: &Pattern) -> Change {
        if (self.polarity, &self.kind) != (before.polarity, &before.kind) {
            return Change::Major;
        }
        let texts = |pattern: &Pattern| {
            pattern.resolutions.iter().map(|known| known.text.clone()).collect::<Vec<_>>()
        };
        let words = |pattern: &Pattern| {
            let Pattern { title, problem, when_to_use, when_not, .. } = pattern.clone();
            (title, problem, when_to_use, when_not, texts(pattern), pattern.hints.clone())
        };
        let state = |pattern: &Pattern| (pattern.status, pattern.distribution_ready);
        if words(self) != words(before) || state(self) != state(before) {
            return Change::Minor;
        }
        let mut other = before.clone();
        other.version.clone_from(&self.version);
        if *self == other { Change::Unchanged } else { Change::Patch }
    }

    /// The version number after such a change.
    pub fn next_version(before: &str, change: Change) -> String {
        let mut parts = before.split('.').map(|part| part.parse::<u64>().unwrap_or(0));
        let mut next = || parts.next().unwrap_or(0);
        let (major, minor, patch) = (next(), next(), next());
        match change {
            Change::Unchanged => before.to_owned(),
            Change::Patch => format!("{major}.{minor}.{}", patch.saturating_add(1)),
            Change::Minor => format!("{major}.{}.0", minor.saturating_add(1)),
            Change::Major => format!("{}.0.0", major.saturating_add(1)),
        }
    }

    /// True if a candidate belongs to this pattern.
    pub fn is_of(&self, candidate: &Candidate) -> bool {
        self.id == candidate.key
            || self.provenance.source_key == candidate.key
            || self.provenance.loci.iter().any(|locus| candidate.loci.contains(locus))
    }
}

fn problem(candidate: &Candidate) -> String {
    let sessions = candidate.members.len();
    let mut text = match candidate.polarity {
        Polarity::Problem => format!("Seen {} times in {sessions} sessions", candidate.frequency()),
        Polarity::Success => format!("Worked in {sessions} sessions"),
    };
    let repos = candidate.repos();
    match repos.as_slice() {
        [] => {}
        [one] => text.push_str(&format!(" of {one}")),
        many => text.push_str(&format!(" of {} repositories", many.len())),
    }
    text.push_str(": ");
    let quote = candidate.members.first().and_then(|member| member.evidence.first());
    text.push_str(&match quote {
        Some(evidence) => {
            let quote = evidence.text.replace('"', "'");
            let end = if quote.ends_with(['.', '!', '?', '…']) { "" } else { "." };
            format!("\"{quote}\"{end}")
        }
        None => format!("{}.", candidate.title),
    });
    text
}

fn when(candidate: &Candidate) -> String {
    let place = match candidate.repos().as_slice() {
        [one] => format!(" in {one}"),
        _ => String::new(),
    };
    match candidate.locus.split(':').next().unwrap_or_default() {
        "error" => format!("this error, or one like it, comes up{place}"),
        "command" | "thrash" => format!("this command is about to be run again{place}"),
        "correction" => format!("work touches what the person spoke of{place}"),
        "abandoned" => format!("the same is asked for again{place}"),
        "clean" => format!("files are changed{place}"),
        "schema" => format!("the same schema is needed again{place}"),
        "rework" => format!("this file is changed{place}"),
        _ => format!("a session begins{place}"),
    }
}

fn when_not(candidate: &Candidate) -> String {
    match candidate.locus.split(':').next().unwrap_or_default() {
        "clean" => "the checks of the repository have changed since",
        "command" | "thrash" => "the command is meant to be run again, as when something is waited for",
        "correction" => "the person has said otherwise since",
        "abandoned" => "the person no longer asks for it",
        "schema" => "the schema has changed since",
        "rework" => "the check is meant to fail, as before the code is written",
        "budget" | "start" => "the task itself is large",
        "infra" => "the environment is the task",
        _ => "the message only looks alike and its cause is another",
    }
    .to_owned()
}

fn provenance(candidate: &Candidate) -> Provenance {
    let (first_seen, last_seen) = candidate.span();
    let sessions = candidate.members.iter().take(SESSIONS_MAX).map(|member| SessionEvidence {
        agent: member.agent.clone(),
        session_id: member.session_id.clone(),
        snapshot: member.evidence.iter().take(2).map(|evidence| evidence.text.clone()).collect(),
        evidence_refs: member.refs(2),
    });
    Provenance {
        source_key: candidate.key.clone(),
        loci: candidate.loci.clone(),
        hash: evidence_of(candidate),
        frequency: candidate.frequency(),
        sessions: sessions.collect(),
        session_count: u32::try_from(candidate.members.len()).unwrap_or(u32::MAX),
        first_seen,
        last_seen,
        tokens: candidate.members.iter().map(|member| member.impact.tokens).sum(),
        minutes: candidate.members.iter().map(|member| member.impact.seconds).sum::<u64>() / 60,
    }
}

/// The similarity of two texts, by their common words.
pub fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (terms::said(a), terms::said(b));
    let shared = a.iter().filter(|term| b.binary_search(term).is_ok()).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// The similarity from which on two patterns are near duplicates.
const DUPLICATE: f64 = 0.75;

/// The pattern of the catalog that nearly duplicates a candidate.
pub fn duplicate_of<'a>(candidate: &Candidate, catalog: &'a [Pattern]) -> Option<&'a Pattern> {
    let says = |pattern: &Pattern| similarity(&pattern.title, &candidate.title);
    let alike =
        catalog.iter().filter(|pattern| pattern.polarity == candidate.polarity && !pattern.is_of(candidate));
    alike.filter(|pattern| says(pattern) >= DUPLICATE).max_by(|a, b| says(a).total_cmp(&says(b)))
}
