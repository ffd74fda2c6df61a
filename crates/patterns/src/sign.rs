//! A detector's finding in one session: small, and kept when the raw bytes are gone.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

/// Whether a sign is good or bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    /// A problem that costs time repeatedly.
    Problem,
    /// A way that works well.
    Success,
}

impl Polarity {
    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Polarity::Problem => "problem",
            Polarity::Success => "success",
        }
    }
}

/// The author of a piece of evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// A person typed it.
    User,
    /// The model wrote it: a command, an edit.
    Model,
    /// A program printed it, or it came from the web.
    Program,
}

/// A quotation from an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Evidence {
    /// The event that contains it, or its call.
    pub event_id: String,
    /// The text, shortened.
    pub text: String,
    /// The author of the text.
    pub voice: Voice,
}

/// The steps before an error was gone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Remedy {
    /// Commands and edits, in order.
    pub steps: Vec<Evidence>,
}

impl Remedy {
    /// The steps as one line.
    pub fn text(&self) -> String {
        self.steps.iter().map(|step| step.text.as_str()).collect::<Vec<_>>().join("; then ")
    }
}

/// The part of a session that something used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// The number of calls.
    pub calls: u32,
    /// Tokens: the calls' share of the session's.
    pub tokens: u64,
    /// Milliseconds between the first and the last of the calls, without pauses.
    pub ms: u64,
}

/// A finding of a detector.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sign {
    /// The name of the detector.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is a problem or a success.
    pub polarity: Polarity,
    /// Its location or subject: equal in every session with the same one.
    pub locus: String,
    /// The words for the comparison of loci, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub terms: Vec<String>,
    /// Names among its words: of packages, tables, functions. They may differ if the rest is the
    /// same.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub names: Vec<String>,
    /// True if the session caused it itself while it worked: another name is then another problem.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub own: bool,
    /// A description in words of the evidence.
    pub title: String,
    /// The number of occurrences in this session.
    pub times: u32,
    /// A value for comparison with a limit over all sessions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measure: Option<u64>,
    /// Quoted events as evidence.
    pub evidence: Vec<Evidence>,
    /// The solution, if there was one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<Remedy>,
    /// The calls, tokens and time that it used.
    #[serde(default)]
    pub spent: Spent,
}

/// The signs of one session, with the facts that clustering needs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionSigns {
    /// The name of the agent.
    pub agent: String,
    /// The agent's id of the session.
    pub session_id: String,
    /// Its parent session, if it is a sub-agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The last part of its working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// True if it was real work. Other sessions have no signs.
    pub real: bool,
    /// When the session began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Its tokens, including those of sub-agents.
    pub tokens: u64,
    /// Minutes with activity.
    pub minutes: u64,
    /// Calls before the first change of a file. `None` without a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_to_edit: Option<u64>,
    /// A hash of the first prompt, if the session only read: equal in every run of a check that a
    /// program starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Identifies the captured bytes.
    pub source: String,
    /// The signs that detectors found.
    pub signs: Vec<Sign>,
}

impl SessionSigns {
    /// The root of the session's tree: sub-agents count under their root.
    pub fn root(&self) -> (&str, &str) {
        (&self.agent, self.parent.as_deref().unwrap_or(&self.session_id))
    }
}
