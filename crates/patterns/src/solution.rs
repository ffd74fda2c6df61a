//! A pattern as it is written down: what goes wrong or well, what to do, where it holds, and the
//! evidence. One file each, so that a person, git and other programs can read and change it.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::candidate::{Candidate, Resolution};
use crate::gate::Verdict;
use crate::review::evidence_of;
use crate::sign::Polarity;
use crate::terms;

/// Whether a person has approved it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The gate let it in.
    Provisional,
    /// A person approved it.
    Approved,
}

/// Where a pattern holds.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PatternScope {
    /// Agents in which it was seen.
    pub agents: Vec<String>,
    /// Labels of these repositories, from `[domains]`.
    pub domains: Vec<String>,
    /// Repositories in which it was seen.
    pub repositories: Vec<String>,
}

/// What a pattern rests on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Provenance {
    /// The candidate.
    pub source_key: String,
    /// Everything that was put together in it.
    pub loci: Vec<String>,
    /// Names the evidence.
    pub hash: String,
    /// How often it was seen.
    pub frequency: u32,
    /// The sessions, with what shows it: at most twenty.
    pub sessions: Vec<SessionEvidence>,
    /// Sessions in all.
    pub session_count: u32,
    /// When it was first and last seen.
    pub first_seen: Option<Timestamp>,
    /// See `first_seen`.
    pub last_seen: Option<Timestamp>,
    /// Tokens that it cost.
    pub tokens: u64,
    /// Minutes that it cost.
    pub minutes: u64,
}

/// What one session shows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionEvidence {
    /// Whose.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// Words of it, quoted, as they were when this was written.
    pub snapshot: Vec<String>,
    /// Their events.
    pub evidence_refs: Vec<String>,
}

/// What one agent can be given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PatternHints {
    /// The file that this agent reads.
    pub file: String,
    /// What can be put into it as it is.
    pub body: String,
}

/// A pattern of the catalog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// Its name, and that of its file.
    pub id: String,
    /// Evidence, words, meaning: the last, second and first number.
    pub version: String,
    /// Whether a person approved it.
    pub status: Status,
    /// Whether it may be handed out.
    pub distribution_ready: bool,
    /// Why it may not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_ready: Option<String>,
    /// Whether it is good.
    pub polarity: Polarity,
    /// What it is: the detector that says most.
    #[serde(rename = "type")]
    pub kind: String,
    /// All detectors that saw it.
    #[serde(default)]
    pub types: Vec<String>,
    /// What it is, in a line.
    pub title: String,
    /// What goes wrong, or well.
    pub problem: String,
    /// What helped.
    #[serde(default)]
    pub resolutions: Vec<Resolution>,
    /// When to think of it.
    pub when_to_use: String,
    /// When not.
    pub when_not: String,
    /// Where it holds.
    #[serde(default)]
    pub scope: PatternScope,
    /// What it rests on.
    #[serde(default)]
    pub provenance: Provenance,
    /// A text for each agent.
    #[serde(default)]
    pub hints: BTreeMap<String, PatternHints>,
}

/// How a pattern differs from the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// In nothing.
    Unchanged,
    /// In its evidence.
    Patch,
    /// In its words, or in its status.
    Minor,
    /// In what it means.
    Major,
}

/// Sessions that a file names.
const SESSIONS_MAX: usize = 20;
/// The files that agents read.
const FILES: &[(&str, &str)] = &[("claude", "CLAUDE.md"), ("codex", "AGENTS.md"), ("grok", "AGENTS.md")];

impl Pattern {
    /// The pattern that a candidate would make. `domain` labels a repository.
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
        };
        pattern.hint();
        pattern
    }

    /// Says whether it may be handed out.
    pub fn settle(&mut self, verdict: Verdict) {
        self.distribution_ready = verdict.is_ok() && !self.resolutions.is_empty();
        self.not_ready = verdict.err();
    }

    /// Everything that it says to a reader.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n{}\n{}\n", self.title, self.problem, self.when_to_use, self.when_not);
        text.extend(self.hints.values().map(|hint| format!("{}\n", hint.body)));
        text
    }

    /// Writes a body for each agent out of its words.
    pub fn hint(&mut self) {
        let mut body = format!("## {}\n\n{}\n", self.title.replace('\n', " "), self.problem);
        if !self.resolutions.is_empty() {
            body.push_str(match self.polarity {
                Polarity::Problem => "\nWhat helped:\n",
                Polarity::Success => "\nWhat such sessions run:\n",
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

    /// This pattern with what a newer candidate knows: its evidence, and what else helped. Its
    /// words stay as they are: a person may have chosen them.
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

    /// How this differs from the one before it.
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

    /// The number that follows `before` after such a change.
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

    /// Whether a candidate is this pattern.
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
        Some(evidence) => format!("\"{}\".", evidence.text.replace('"', "'")),
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
    match candidate.polarity {
        Polarity::Problem => "the message only looks alike and its cause is another".to_owned(),
        Polarity::Success => "the checks of the repository have changed since".to_owned(),
    }
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

/// How like two texts are, by the words that they share.
pub fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (terms::said(a), terms::said(b));
    let shared = a.iter().filter(|term| b.binary_search(term).is_ok()).count();
    let all = a.len() + b.len() - shared;
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// From here on two patterns are near duplicates.
const DUPLICATE: f64 = 0.75;

/// The pattern of the catalog that a candidate nearly says again.
pub fn duplicate_of<'a>(candidate: &Candidate, catalog: &'a [Pattern]) -> Option<&'a Pattern> {
    let says = |pattern: &Pattern| similarity(&pattern.title, &candidate.title);
    let alike =
        catalog.iter().filter(|pattern| pattern.polarity == candidate.polarity && !pattern.is_of(candidate));
    alike.filter(|pattern| says(pattern) >= DUPLICATE).max_by(|a, b| says(a).total_cmp(&says(b)))
}
