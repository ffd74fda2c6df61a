//! A memory: something reusable with a status and a record of how useful it was.

use retro_model::Timestamp;
use retro_text::secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::candidate::{Candidate, Kind, Repository, Risk, Scope, Span, Voice};
use crate::place::Place;

/// Where a memory stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Mined, and nobody has looked at it.
    Candidate,
    /// A person wrote or accepted it.
    Accepted,
    /// A person has to decide: see its review reasons.
    NeedsReview,
    /// A person does not want it.
    Rejected,
    /// It was of use once, or never.
    #[serde(alias = "deprecated")]
    Retired,
    /// Its session is not to be trusted.
    Quarantined,
}

impl Status {
    /// Every status.
    pub const ALL: &'static [Status] = &[
        Status::Candidate,
        Status::Accepted,
        Status::NeedsReview,
        Status::Rejected,
        Status::Retired,
        Status::Quarantined,
    ];

    /// Its name in files and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Candidate => "candidate",
            Status::Accepted => "accepted",
            Status::NeedsReview => "needs_review",
            Status::Rejected => "rejected",
            Status::Retired => "retired",
            Status::Quarantined => "quarantined",
        }
    }

    /// The status with this name; `deprecated` is an old name of `retired`.
    pub fn parse(text: &str) -> Option<Status> {
        if text == "deprecated" {
            return Some(Status::Retired);
        }
        Status::ALL.iter().copied().find(|status| status.as_str() == text)
    }
}

/// Who may see a memory that nobody decided about, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// A person has to look at it first.
    Review,
    /// It answers a question.
    Asked,
    /// It is shown unasked, where it fits.
    Unasked,
}

impl Level {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Review => "review",
            Level::Asked => "asked",
            Level::Unasked => "unasked",
        }
    }
}

/// Methods whose candidates rest on what ran, so that they may be shown before anybody
/// accepted them.
const PROVEN: &[&str] = &["error_fix", "repo_commands"];
/// From this often on, what was said is meant to hold.
const SAID_AGAIN: u32 = 2;

/// Where a memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A method found it in sessions.
    Mined,
    /// A person wrote it as a file.
    Authored,
    /// A person added it by command.
    Added,
}

/// One session that a memory was found in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// The candidate.
    pub candidate: String,
    /// Names the captured bytes it was made from.
    #[serde(default)]
    pub source_hash: String,
}

/// A memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its name.
    pub id: String,
    /// Where it comes from.
    pub source: Source,
    /// The method that found it; empty for one that a person wrote.
    #[serde(default)]
    pub method: String,
    /// What it is.
    pub kind: Kind,
    /// Where it holds.
    pub scope: Scope,
    /// Where it stands.
    pub status: Status,
    /// What it says.
    pub text: String,
    /// When it is of use.
    pub when_to_use: String,
    /// When it is not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub do_not_use_when: Option<String>,
    /// The folder it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub origin_repo: Option<String>,
    /// Its repository.
    #[serde(default)]
    pub repository: Repository,
    /// How sure it is.
    pub confidence: f64,
    /// From 1 to 5; 5 first.
    pub priority: u8,
    /// What it could do if it is wrong.
    pub risk: Risk,
    /// Whose words it would hand on.
    pub origin: Voice,
    /// What it is about.
    #[serde(default)]
    pub subject: String,
    /// What is said about it.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub stance: String,
    /// Identifiers, tools, error codes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub keywords: Vec<String>,
    /// Files it speaks of.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<String>,
    /// What it quotes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub spans: Vec<Span>,
    /// The events it rests on: `agent/session#event`.
    #[serde(default)]
    pub evidence_refs: Vec<String>,
    /// Every session that it was found in.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub origins: Vec<Origin>,
    /// What the method knows besides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub structured: Option<Value>,
    /// Times it was seen, and times it worked, over all sessions.
    #[serde(default)]
    pub seen: u32,
    /// See `seen`.
    #[serde(default)]
    pub worked: u32,
    /// How useful it was.
    #[serde(default)]
    pub utility: Utility,
    /// Names what it says and where it holds.
    #[serde(default)]
    pub content_hash: String,
    /// When what it rests on happened, or when it was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub updated_at: Option<Timestamp>,
    /// After this it is not shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Timestamp>,
    /// The memory that takes its place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub superseded_by: Option<String>,
    /// Why a person has to look at it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub review_reasons: Vec<String>,
}

/// How useful a memory was.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Utility {
    /// The moving mean of rewards.
    pub q_value: f64,
    /// Rewards in all.
    pub hits: u32,
    /// Rewards of a half and more.
    pub successes: u32,
    /// Smaller rewards.
    pub failures: u32,
    /// Times it was shown.
    pub shown: u32,
    /// The last time it was shown or rewarded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<Timestamp>,
}

impl Default for Utility {
    fn default() -> Self {
        Utility { q_value: 0.5, hits: 0, successes: 0, failures: 0, shown: 0, last_used_at: None }
    }
}

impl Utility {
    /// Takes in a reward from 0 to 1.
    pub fn reward(&mut self, reward: f64, at: Option<Timestamp>) {
        let reward = reward.clamp(0.0, 1.0);
        self.q_value += 0.2 * (reward - self.q_value);
        self.hits += 1;
        if reward >= 0.5 {
            self.successes += 1;
        } else {
            self.failures += 1;
        }
        self.last_used_at = self.last_used_at.max(at);
    }

    /// The share of rewards that were good, counted as if there had been one more of each.
    pub fn share(&self) -> f64 {
        f64::from(self.successes + 1) / f64::from(self.successes + self.failures + 2)
    }

    /// The lower bound of that share that holds in nineteen of twenty cases (Wilson), mixed
    /// with a half where nothing is known.
    pub fn lower_bound(&self) -> f64 {
        let count = f64::from(self.successes + self.failures) + 2.0;
        let share = self.share();
        let z2 = 1.645_f64 * 1.645;
        let middle = share + z2 / (2.0 * count);
        let spread = 1.645 * (share * (1.0 - share) / count + z2 / (4.0 * count * count)).sqrt();
        ((middle - spread) / (1.0 + z2 / count)).clamp(0.0, 1.0)
    }

    /// Whether it should be retired: shown often, and of no use.
    pub fn is_useless(&self) -> bool {
        (self.shown >= 5 && self.share() < 0.35) || (self.shown >= 10 && self.successes == 0)
    }
}

impl Memory {
    /// A memory made from a candidate of a session.
    pub fn mined(candidate: &Candidate, agent: &str, session_id: &str) -> Memory {
        let global = |id: &String| {
            if id.contains('#') { id.clone() } else { format!("{agent}/{session_id}#{id}") }
        };
        let mut memory = Memory {
            id: candidate.id.clone(),
            source: Source::Mined,
            method: candidate.method.clone(),
            kind: candidate.kind,
            scope: candidate.scope,
            status: Status::Candidate,
            text: candidate.text.clone(),
            when_to_use: candidate.when_to_use.clone(),
            do_not_use_when: candidate.do_not_use_when.clone(),
            origin_repo: candidate.origin_repo.clone(),
            repository: candidate.repository.clone(),
            confidence: candidate.confidence,
            priority: candidate.priority,
            risk: candidate.risk,
            origin: candidate.origin,
            subject: candidate.subject.clone(),
            stance: candidate.stance.clone(),
            keywords: candidate.keywords.clone(),
            files: candidate.files.clone(),
            spans: candidate
                .spans
                .iter()
                .map(|span| Span { event_id: global(&span.event_id), ..span.clone() })
                .collect(),
            evidence_refs: candidate.evidence_refs.iter().map(global).collect(),
            origins: vec![Origin {
                agent: agent.to_owned(),
                session_id: session_id.to_owned(),
                candidate: candidate.id.clone(),
                source_hash: candidate.source_hash.clone(),
            }],
            structured: candidate.structured.clone(),
            seen: candidate.seen,
            worked: candidate.worked,
            utility: Utility::default(),
            content_hash: String::new(),
            created_at: candidate.created_at,
            updated_at: candidate.created_at,
            expires_at: candidate.expires_at,
            superseded_by: None,
            review_reasons: Vec::new(),
        };
        memory.content_hash = memory.hash();
        memory
    }

    /// Who may see it: what a person accepted, what ran, and what a person said twice or
    /// said to hold for good may be shown unasked.
    pub fn level(&self) -> Level {
        let says = |name: &str| {
            self.structured.as_ref().is_some_and(|value| value.get(name) == Some(&Value::Bool(true)))
        };
        match self.status {
            Status::Accepted => Level::Unasked,
            Status::Candidate if self.risk == Risk::High => Level::Review,
            Status::Candidate if self.method == "user_rules" => {
                let is_meant = !says("shaped") || says("lasting") || self.seen >= SAID_AGAIN;
                if is_meant && self.risk == Risk::Low { Level::Unasked } else { Level::Review }
            }
            Status::Candidate if PROVEN.contains(&self.method.as_str()) && self.risk == Risk::Low => {
                Level::Unasked
            }
            // The same command for the same request in two sessions, or in one where another way
            // could not run.
            Status::Candidate if self.method == "asked_commands" && self.risk == Risk::Low => {
                let names_other = self
                    .structured
                    .as_ref()
                    .and_then(|value| value.get("unable")?.as_array())
                    .is_some_and(|unable| !unable.is_empty());
                if self.origins.len() > 1 || names_other { Level::Unasked } else { Level::Asked }
            }
            Status::Candidate => Level::Asked,
            _ => Level::Review,
        }
    }

    /// Whether it is a command that answered a request once: it is shown unasked only where
    /// nearly the same is asked.
    pub(crate) fn is_once(&self) -> bool {
        self.method == "asked_commands" && self.risk == Risk::Low && self.level() == Level::Asked
    }

    /// Whether a person may still decide about it.
    pub fn is_waiting(&self) -> bool {
        matches!(self.status, Status::Candidate | Status::NeedsReview) && self.superseded_by.is_none()
    }

    /// Names what it says and where it holds: scope, kind, repository, words.
    pub fn hash(&self) -> String {
        let repo = match self.scope {
            Scope::Repo => self.repository_name(),
            _ => String::new(),
        };
        let words = self.text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let all = [self.scope.as_str(), self.kind.as_str(), &repo, &words].join("\0");
        blake3::hash(all.as_bytes()).to_hex().to_string()
    }

    /// Takes the secrets out of everything that somebody wrote in it. Gives back the rules that
    /// knew them, each once.
    pub fn redact(&mut self) -> Vec<&'static str> {
        let mut rules = Vec::new();
        let texts = [&mut self.text, &mut self.when_to_use, &mut self.subject, &mut self.stance];
        for text in texts.into_iter().chain(&mut self.do_not_use_when).chain(&mut self.keywords) {
            take_out(text, &mut rules);
        }
        self.spans.iter_mut().for_each(|span| take_out(&mut span.text, &mut rules));
        if let Some(structured) = &mut self.structured {
            let clean = retro_text::redact_json(structured.clone()).into_inner();
            if clean != *structured {
                let mut texts = Vec::new();
                strings(structured, &mut texts);
                rules.extend(texts.iter().flat_map(|text| secrets::find(text)).map(|found| found.rule));
                *structured = clean;
            }
        }
        if !rules.is_empty() {
            self.content_hash = self.hash();
        }
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    /// What its repository is known by: remote, else root, else the folder.
    pub fn repository_name(&self) -> String {
        let known = [&self.repository.remote, &self.repository.root, &self.origin_repo];
        known.into_iter().flatten().next().cloned().unwrap_or_default()
    }

    /// Where it was learned. Who wrote a memory for a folder meant the repository there.
    pub fn place(&self) -> Place<'_> {
        let folder = self.origin_repo.as_deref();
        let meant = folder.filter(|_| self.source != Source::Mined);
        Place {
            folder,
            resolved: None,
            root: self.repository.root.as_deref().or(meant),
            remote: self.repository.remote.as_deref(),
        }
    }

    /// What it is found by: when it is of use, what it quotes, its keywords. Of a sentence that
    /// a method put around a quotation only the quotation counts: "failed" and "said after" are
    /// in every such sentence.
    pub(crate) fn key_text(&self) -> String {
        let is_quoting = self.source == Source::Mined && self.when_to_use.contains('"');
        let mut text = match is_quoting {
            true => self.when_to_use.split('"').skip(1).step_by(2).collect::<Vec<_>>().join("\n"),
            false => self.when_to_use.clone(),
        };
        if self.spans.is_empty() {
            text.push('\n');
            text.push_str(&self.text);
        }
        for words in self.spans.iter().map(|span| &span.text).chain(&self.keywords) {
            text.push('\n');
            text.push_str(words);
        }
        text
    }

    /// Every text of it that somebody reads.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = vec![self.text.clone(), self.when_to_use.clone()];
        texts.extend(self.do_not_use_when.clone());
        texts.extend(self.keywords.iter().cloned());
        if let Some(structured) = &self.structured {
            strings(structured, &mut texts);
        }
        texts
    }
}

impl Kind {
    /// How much of such a thing is left after so long. What a person wants does not fade.
    pub(crate) fn left(self, created: Option<Timestamp>, now: Timestamp, half_life_days: f64) -> f64 {
        if matches!(self, Kind::UserPreference | Kind::RepoConvention) {
            return 1.0;
        }
        let Some(created) = created else { return 1.0 };
        let days = (now.as_millis() - created.as_millis()).max(0) as f64 / 86_400_000.0;
        0.5_f64.powf(days / half_life_days)
    }
}

/// Takes the secrets out of a text, and names the rules that knew them.
fn take_out(text: &mut String, rules: &mut Vec<&'static str>) {
    let found = secrets::find(text);
    if !found.is_empty() {
        rules.extend(found.iter().map(|found| found.rule));
        *text = retro_text::redact(text).into_inner();
    }
}

/// Every string of a JSON value, keys left out.
pub(crate) fn strings(value: &Value, to: &mut Vec<String>) {
    match value {
        Value::String(text) => to.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| strings(value, to)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, to)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_secret_goes_from_every_field_that_a_person_writes() {
        let token = format!("gh{}_{}", "p", "aZ3kQ9xT7mB2vN5cR8wL1yD4fG6hJ0sPeUiO");
        let note = format!(
            "---\nwhen_to_use: with {token}\nkeywords: [deploy, {token}]\nsubject: {token}\nmore: {{ a: {token} }}\n---\nThe key is {token}.\n"
        );
        let memory = crate::authored::parse("note", &note).unwrap().unwrap();
        let json = serde_json::to_string(&memory).unwrap();
        assert!(!json.contains(&token), "{json}");
        assert_eq!(memory.text, "The key is [redacted:github-token].");
        assert_eq!(memory.content_hash, memory.hash());
        let mut again = memory.clone();
        assert!(again.redact().is_empty());
        assert_eq!(again, memory);
    }
}
