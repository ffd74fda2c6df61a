//! A memory: a reusable finding with a status and a record of its usefulness.

use retro_model::Timestamp;
use retro_text::secrets;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::candidate::{Candidate, Kind, Repository, Risk, Scope, Span, Voice};
use crate::place::Place;

/// The status of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Mined, and not yet reviewed.
    Candidate,
    /// A person wrote or accepted it.
    Accepted,
    /// A person must decide. See its review reasons.
    NeedsReview,
    /// A person rejected it.
    Rejected,
    /// It is no longer useful, or never was.
    #[serde(alias = "deprecated")]
    Retired,
    /// Its session is not trusted.
    Quarantined,
}

impl Status {
    /// Every status, in order.
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

    /// The status with this name. `deprecated` is an old name of `retired`.
    pub fn parse(text: &str) -> Option<Status> {
        if text == "deprecated" {
            return Some(Status::Retired);
        }
        Status::ALL.iter().copied().find(|status| status.as_str() == text)
    }
}

/// Where an undecided memory may appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Not before a person reviews it.
    Review,
    /// In answers to a query.
    Asked,
    /// Also unasked, if it fits.
    Unasked,
}

impl Level {
    /// The level's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Review => "review",
            Level::Asked => "asked",
            Level::Unasked => "unasked",
        }
    }
}

/// Methods whose candidates are based on executed commands. They may be shown before anyone accepts
/// them.
const PROVEN: &[&str] = &["error_fix", "repo_commands"];
/// A rule that was said this often is taken to be permanent.
const SAID_AGAIN: u32 = 2;

/// The origin of a memory.
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

/// A session in which a memory was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Origin {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// The candidate's id.
    pub candidate: String,
    /// Identifies the captured bytes it is based on.
    #[serde(default)]
    pub source_hash: String,
}

/// A memory and its record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// The memory's id.
    pub id: String,
    /// The origin of the memory.
    pub source: Source,
    /// The method that found it. Empty if a person wrote it.
    #[serde(default)]
    pub method: String,
    /// The kind of memory.
    pub kind: Kind,
    /// Where it applies.
    pub scope: Scope,
    /// The current status.
    pub status: Status,
    /// The memory's text.
    pub text: String,
    /// The situation in which to use it.
    pub when_to_use: String,
    /// The situations in which not to use it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub do_not_use_when: Option<String>,
    /// The folder it belongs to.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub origin_repo: Option<String>,
    /// The repository it belongs to.
    #[serde(default)]
    pub repository: Repository,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// From 1 to 5. 5 comes first.
    pub priority: u8,
    /// The harm it could do if wrong.
    pub risk: Risk,
    /// The author of the words it would pass on.
    pub origin: Voice,
    /// The subject, for comparison with others.
    #[serde(default)]
    pub subject: String,
    /// The statement about the subject.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub stance: String,
    /// Identifiers, tools, error codes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub keywords: Vec<String>,
    /// Files that it mentions.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<String>,
    /// Quotations from its events.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub spans: Vec<Span>,
    /// The events that support it: `agent/session#event`.
    #[serde(default)]
    pub evidence_refs: Vec<String>,
    /// Every session in which it was found.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub origins: Vec<Origin>,
    /// Further data from the method.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub structured: Option<Value>,
    /// How often it was seen, and how often it worked, over all sessions.
    #[serde(default)]
    pub seen: u32,
    /// See `seen`.
    #[serde(default)]
    pub worked: u32,
    /// Its record of usefulness.
    #[serde(default)]
    pub utility: Utility,
    /// Identifies its text and scope.
    #[serde(default)]
    pub content_hash: String,
    /// When the events behind it happened, or when it was written.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub created_at: Option<Timestamp>,
    /// When it last changed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub updated_at: Option<Timestamp>,
    /// It is not shown after this time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Timestamp>,
    /// The memory that replaces it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub superseded_by: Option<String>,
    /// Why a person must review it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub review_reasons: Vec<String>,
}

/// How useful a memory has been.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Utility {
    /// The moving average of rewards.
    pub q_value: f64,
    /// Total number of rewards.
    pub hits: u32,
    /// Rewards of 0.5 or more.
    pub successes: u32,
    /// Rewards below 0.5.
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
    /// Records a reward from 0 to 1.
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

    /// The share of good rewards, with one more of each kind added (Laplace smoothing).
    pub fn share(&self) -> f64 {
        f64::from(self.successes + 1) / f64::from(self.successes + self.failures + 2)
    }

    /// The one-sided 95 % lower bound of that share (Wilson). The added rewards pull it towards one
    /// half.
    pub fn lower_bound(&self) -> f64 {
        let count = f64::from(self.successes + self.failures) + 2.0;
        let share = self.share();
        let z2 = 1.645_f64 * 1.645;
        let middle = share + z2 / (2.0 * count);
        let spread = 1.645 * (share * (1.0 - share) / count + z2 / (4.0 * count * count)).sqrt();
        ((middle - spread) / (1.0 + z2 / count)).clamp(0.0, 1.0)
    }

    /// True if it should be retired: shown often, never useful.
    pub fn is_useless(&self) -> bool {
        (self.shown >= 5 && self.share() < 0.35) || (self.shown >= 10 && self.successes == 0)
    }
}

impl Memory {
    /// A memory made from a session's candidate.
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

    /// Where it may appear. Unasked: accepted memories, commands that ran, and rules of a person,
    /// except those recognized by their form alone and stated only once.
    pub fn level(&self) -> Level {
        match self.status {
            Status::Accepted => Level::Unasked,
            Status::Candidate if self.risk == Risk::High => Level::Review,
            Status::Candidate if self.method == "user_rules" => {
                let is_meant = !self.says("shaped") || self.says("lasting") || self.seen >= SAID_AGAIN;
                if is_meant && self.risk == Risk::Low { Level::Unasked } else { Level::Review }
            }
            Status::Candidate if PROVEN.contains(&self.method.as_str()) && self.risk == Risk::Low => {
                Level::Unasked
            }
            // The same command for the same request in two sessions, or in one session where
            // another way failed.
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

    /// Whether its method says this of it.
    pub(crate) fn says(&self, name: &str) -> bool {
        self.structured.as_ref().is_some_and(|value| value.get(name) == Some(&Value::Bool(true)))
    }

    /// True for a command that answered a request once. It is shown unasked only for nearly the
    /// same request.
    pub(crate) fn is_once(&self) -> bool {
        self.method == "asked_commands" && self.risk == Risk::Low && self.level() == Level::Asked
    }

    /// True if a person may still decide about it.
    pub fn is_waiting(&self) -> bool {
        matches!(self.status, Status::Candidate | Status::NeedsReview) && self.superseded_by.is_none()
    }

    /// Identifies its text and scope: scope, kind, repository, words.
    pub fn hash(&self) -> String {
        let repo = match self.scope {
            Scope::Repo => self.repository_name(),
            _ => String::new(),
        };
        let words = self.text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let all = [self.scope.as_str(), self.kind.as_str(), &repo, &words].join("\0");
        blake3::hash(all.as_bytes()).to_hex().to_string()
    }

    /// Removes secrets from every text in it. Returns the matching rules, each once.
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

    /// The name of its repository: the remote, else the root, else the folder.
    pub fn repository_name(&self) -> String {
        let known = [&self.repository.remote, &self.repository.root, &self.origin_repo];
        known.into_iter().flatten().next().cloned().unwrap_or_default()
    }

    /// Where it was learned. A memory written for a folder applies to the repository there.
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

    /// The text that searches match: when to use it, its quotations, its keywords. From a sentence
    /// that a method wrote around a quotation, only the quotation counts: "failed" is in every such
    /// sentence. A rule is found by its own words alone. The prompt before it is often about
    /// something else.
    pub(crate) fn key_text(&self) -> String {
        let is_mined = self.source == Source::Mined;
        let is_quoting = is_mined && self.when_to_use.contains('"');
        let mut text = match is_quoting {
            _ if is_mined && self.method == "user_rules" => String::new(),
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

    /// Every text of it that a person or agent may read.
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
    /// The remaining relevance of such a memory after this time. A person's preferences do not
    /// fade.
    pub(crate) fn left(self, created: Option<Timestamp>, now: Timestamp, half_life_days: f64) -> f64 {
        if matches!(self, Kind::UserPreference | Kind::RepoConvention) {
            return 1.0;
        }
        let Some(created) = created else { return 1.0 };
        let days = (now.as_millis() - created.as_millis()).max(0) as f64 / 86_400_000.0;
        0.5_f64.powf(days / half_life_days)
    }
}

/// Removes secrets from a text, and adds the matching rules.
fn take_out(text: &mut String, rules: &mut Vec<&'static str>) {
    let found = secrets::find(text);
    if !found.is_empty() {
        rules.extend(found.iter().map(|found| found.rule));
        *text = retro_text::redact(text).into_inner();
    }
}

/// Every string in a JSON value, except keys.
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
