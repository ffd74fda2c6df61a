//! The lasting summary of a session, which remains when its raw bytes are gone.

mod fit;
mod lists;

use std::collections::BTreeMap;

use retro_model::{Kind, Timestamp, Tokens};
use retro_text::calls::Verdict;
use serde::{Deserialize, Serialize};

use crate::facts::GitFacts;
use crate::outcome::{self, Outcome};
use crate::prices::Prices;
use crate::quality::{self, Quality};
use crate::signals::{self, Looked, survival};
use crate::trace::{Speaker, Trace, cut};
use crate::{Correction, Reading, SIGNALS, Settings, corrections, registry, trajectory};

/// Raise it when a digest is made in another way.
pub const VERSION: u32 = 8;

/// The most entries of a list. Removed ones are counted.
const ERRORS_MAX: usize = 20;
const FILES_MAX: usize = 40;
const COMMANDS_MAX: usize = 40;
const CORRECTIONS_MAX: usize = 12;
const COMMITS_MAX: usize = 40;
const CHILDREN_MAX: usize = 40;
/// The most characters of a snippet.
const SNIPPET_CHARS: usize = 280;

/// The identity of a session, passed in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Identity {
    /// The agent's name in retro.
    pub agent: String,
    /// The agent's id of the session.
    pub session_id: String,
    /// Its title, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The git branch of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The models that answered.
    pub models: Vec<String>,
    /// Its parent session, if it is a sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Identifies the captured bytes that it was made from.
    pub raw: String,
}

/// An error, and how often it occurred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorDigest {
    /// Identifies the error in other sessions.
    pub fingerprint: String,
    /// The line as printed.
    pub sample: String,
    /// The number of occurrences.
    pub count: u64,
    /// The tool, or the command's usual name.
    pub tool: String,
    /// True if the same call passed later.
    pub fixed: bool,
    /// The first event with the error.
    pub event_id: String,
}

/// A command and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommandDigest {
    /// The line, shortened.
    pub command: String,
    /// The purpose of the command.
    pub purpose: String,
    /// The number of runs.
    pub count: u64,
    /// The number of failed runs.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub failed: u64,
    /// The result of the last run.
    pub last: Verdict,
}

/// Counts of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub struct Runs {
    /// The number of runs.
    pub count: u64,
    /// The number of failed runs.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub failed: u64,
}

/// Lines of all changed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default)]
pub struct Lines {
    /// Lines that were added.
    pub added: u64,
    /// Lines that were removed.
    pub removed: u64,
}

/// A commit that the session made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitDigest {
    /// The beginning of its hash. Empty if git printed none.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub hash: String,
    /// The subject line of its message.
    pub subject: String,
}

/// A file that the session changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FileDigest {
    /// The path as logged.
    pub path: String,
    /// Calls that changed the file.
    pub edits: u64,
    /// Lines that were added.
    pub added: u64,
    /// Lines that were removed.
    pub removed: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The summary of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Digest {
    /// [`VERSION`] when it was made.
    pub version: u32,
    /// The identity of the session.
    #[serde(flatten)]
    pub identity: Identity,
    /// The repository, from git.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub repository: Option<Repository>,
    /// The project's domain, if it is configured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub domain: Option<String>,
    /// The time of the first event.
    pub started_at: Option<Timestamp>,
    /// The time of the last event.
    pub ended_at: Option<Timestamp>,
    /// Tokens, sub-agents included.
    pub tokens: Tokens,
    /// Ids of the sub-agents.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub children: Vec<String>,
    /// Events by kind.
    pub events: BTreeMap<Kind, u64>,
    /// Calls by the tool's name.
    pub tools: BTreeMap<String, u64>,
    /// The beginning of the first message.
    pub first_prompt: String,
    /// The beginning of the last message.
    pub last_prompt: String,
    /// The beginning of the model's last answer.
    pub last_answer: String,
    /// How the session ended.
    pub outcome: Outcome,
    /// The verdict on real work.
    pub quality: Quality,
    /// Errors, the most frequent first.
    pub errors: Vec<ErrorDigest>,
    /// Corrections by the person.
    pub corrections: Vec<Correction>,
    /// Tests, builds, checks and other important commands.
    pub commands: Vec<CommandDigest>,
    /// The most frequent programs, by usual name. All commands are counted here.
    #[serde(default)]
    pub runs: BTreeMap<String, Runs>,
    /// Lines of all changed files, including files that are not listed below.
    #[serde(default)]
    pub lines: Lines,
    /// Files that were changed.
    pub files: Vec<FileDigest>,
    /// Commits that it made.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub commits: Vec<CommitDigest>,
    /// The number of entries that the lists above leave out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub left_out: BTreeMap<String, u64>,
    /// True if the middle was left out because the session is too large.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub truncated: bool,
    /// Readings of every signal that needs no price, by its name.
    pub readings: BTreeMap<String, Reading>,
}

/// A repository, from git.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Repository {
    /// Its top folder.
    pub root: String,
    /// Its remote URL, without credentials.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remote: Option<String>,
}

impl Digest {
    /// Makes the digest of a session.
    pub fn of(trace: &Trace, identity: Identity, settings: &Settings, facts: Option<&GitFacts>) -> Digest {
        let steps = trajectory::steps(trace);
        let corrections = corrections::find(trace);
        let looked = Looked { trace, steps: &steps, corrections: &corrections, prices: None };
        let mut readings = registry::read_all(&looked);
        for own in &settings.own {
            readings.insert(own.name.clone(), own.read(&looked));
        }
        let mut left_out = BTreeMap::new();
        if trace.left_out > 0 {
            left_out.insert("beats".to_owned(), trace.left_out);
        }
        let snippet = |text: Option<&str>| cut(&lists::one_line(text.unwrap_or_default()), SNIPPET_CHARS);
        let mut digest = Digest {
            version: VERSION,
            identity,
            repository: None,
            domain: settings.domain.clone(),
            started_at: trace.first,
            ended_at: trace.last,
            tokens: trace.tokens.plus(&trace.tokens_below),
            children: lists::capped(trace.children.clone(), CHILDREN_MAX, "children", &mut left_out),
            events: trace.kinds.clone(),
            tools: lists::tools(trace),
            first_prompt: snippet(trace.requests().next().map(|(_, text)| text)),
            last_prompt: snippet(trace.requests().last().map(|(_, text)| text)),
            last_answer: snippet(
                trace.said(Speaker::Model).filter(|(beat, _)| beat.thread == 0).last().map(|(_, text)| text),
            ),
            outcome: outcome::judge(trace, settings),
            quality: quality::judge(trace, &settings.thresholds),
            errors: lists::capped(lists::errors(trace), ERRORS_MAX, "errors", &mut left_out),
            commands: lists::capped(lists::commands(trace), COMMANDS_MAX, "commands", &mut left_out),
            runs: lists::runs(trace, &mut left_out),
            lines: lists::lines(trace),
            files: lists::capped(lists::files(trace), FILES_MAX, "files", &mut left_out),
            corrections: lists::capped(corrections.clone(), CORRECTIONS_MAX, "corrections", &mut left_out),
            commits: lists::capped(lists::commits(trace), COMMITS_MAX, "commits", &mut left_out),
            left_out,
            truncated: trace.left_out > 0,
            readings,
        };
        digest.fit();
        if let Some(facts) = facts {
            digest.observe(facts);
        }
        digest
    }

    /// Replaces the earlier git observation. Nothing else in a digest depends on it, so events need
    /// not be read for this.
    pub fn observe(&mut self, facts: &GitFacts) {
        self.repository = facts.root.clone().map(|root| Repository { root, remote: facts.remote.clone() });
        if self.commits.is_empty() {
            return;
        }
        self.readings.insert("git_survival".to_owned(), survival::observed(facts));
        if let Some(reading) = self.readings.get_mut("git_commits_made_during") {
            signals::commits::observed(reading, facts);
        }
    }

    /// Readings that need a price, from the cost of a session.
    pub fn priced(&self, prices: &Prices) -> BTreeMap<String, Reading> {
        let mut trace =
            Trace::new(retro_model::SessionKey::new(&*self.identity.agent, &*self.identity.session_id));
        let commits = self
            .readings
            .get("git_commits_made_during")
            .and_then(|reading| reading.value.as_u64())
            .unwrap_or(0);
        trace.commits = (0..commits).map(|_| Default::default()).collect();
        trace.cwd = self.identity.cwd.clone();
        let looked = Looked { trace: &trace, steps: &[], corrections: &[], prices: Some(prices) };
        let priced = SIGNALS.iter().filter(|signal| signal.priced);
        priced.map(|signal| (signal.id.to_owned(), signal.read(&looked))).collect()
    }
}
