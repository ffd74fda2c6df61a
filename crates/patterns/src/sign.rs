//! What a detector saw in one session: small, and what is left when the raw bytes are gone.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};

/// Whether something went wrong or well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    /// It costs time again and again.
    Problem,
    /// It works.
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

/// Whose words a piece of evidence is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    /// A person typed them.
    User,
    /// The model wrote them: a command, an edit.
    Model,
    /// A program printed them, or they came from the web.
    Program,
}

/// Words of an event.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Evidence {
    /// The event that holds them, or its call.
    pub event_id: String,
    /// The words, shortened.
    pub text: String,
    /// Whose they are.
    pub voice: Voice,
}

/// What was done when it went well afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Remedy {
    /// What was run or edited, in order.
    pub steps: Vec<Evidence>,
}

impl Remedy {
    /// The steps as one line.
    pub fn text(&self) -> String {
        self.steps.iter().map(|step| step.text.as_str()).collect::<Vec<_>>().join("; then ")
    }
}

/// What a session used for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    /// Calls.
    pub calls: u32,
    /// Tokens: the calls' share of the session's.
    pub tokens: u64,
    /// Milliseconds between the first and the last of the calls, pauses left out.
    pub ms: u64,
}

/// One sign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sign {
    /// The detector.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it is good.
    pub polarity: Polarity,
    /// Where or what: equal in every session in which it is the same.
    pub locus: String,
    /// The words by which near loci are found, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub terms: Vec<String>,
    /// Names among its words: of packages, tables, functions. They may differ where the rest
    /// is the same.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub names: Vec<String>,
    /// The session made it itself, and only while it worked: another name is another matter.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub own: bool,
    /// What it is, in words of the evidence.
    pub title: String,
    /// How often in this session.
    pub times: u32,
    /// What a limit over all sessions is compared with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub measure: Option<u64>,
    /// What shows it.
    pub evidence: Vec<Evidence>,
    /// What helped.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remedy: Option<Remedy>,
    /// What it used.
    #[serde(default)]
    pub spent: Spent,
}

/// The signs of one session, and what clustering needs to know of it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionSigns {
    /// Whose.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// The session that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The last part of its working directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// Whether it was real work. One that was not has no signs.
    pub real: bool,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// Its tokens, sub-agents' included.
    pub tokens: u64,
    /// Minutes in which something happened.
    pub minutes: u64,
    /// Calls before the first change of a file; nothing without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_to_edit: Option<u64>,
    /// Names the first prompt, where the session only looked: the same in every run of a check
    /// that a program asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
    /// Names the captured bytes.
    pub source: String,
    /// What was seen.
    pub signs: Vec<Sign>,
}

impl SessionSigns {
    /// The tree that the session is in: sub-agents count with their root.
    pub fn root(&self) -> (&str, &str) {
        (&self.agent, self.parent.as_deref().unwrap_or(&self.session_id))
    }
}
