//! A reusable finding from a session, and the result of one method on one session.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Defines an enum with text names, for both directions.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$about])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every variant, in order.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Its name in files and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// The variant with this name.
            pub fn parse(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }
        }
    };
}

names! {
    /// The kind of a candidate or memory.
    Kind {
        /// How to do something, in steps.
        Procedure = "procedure",
        /// A procedure with a start, an end and a check.
        Skill = "skill",
        /// A failure, and its remedy.
        FailureTrigger = "failure_trigger",
        /// A preference of a person, everywhere.
        UserPreference = "user_preference",
        /// A person's convention for one repository.
        RepoConvention = "repo_convention",
        /// How to use a tool.
        ToolLesson = "tool_lesson",
        /// An action that needs care.
        RiskRule = "risk_rule",
        /// A single event or fact.
        Case = "case",
    }
}

names! {
    /// Where a memory applies.
    Scope {
        /// To one person, everywhere.
        User = "user",
        /// To one repository.
        Repo = "repo",
        /// To one kind of task.
        Task = "task",
        /// To every user.
        Global = "global",
    }
}

names! {
    /// The harm it could do if wrong.
    Risk {
        /// Little or no harm.
        Low = "low",
        /// Some, limited harm.
        Medium = "medium",
        /// Serious harm: it is never shown unasked.
        High = "high",
    }
}

names! {
    /// The author of the words that a candidate is based on.
    Voice {
        /// A person typed them.
        User = "user",
        /// The model wrote them, as commands or answers.
        Model = "model",
        /// A program on this machine printed them.
        Tool = "tool",
        /// They came from outside, such as the web or MCP.
        External = "external",
    }
}

/// A quotation from an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The event that contains it.
    pub event_id: String,
    /// The words, verbatim.
    pub text: String,
    /// The author of the words.
    pub voice: Voice,
}

/// Identifies a repository.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Repository {
    /// Its top folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Its remote, without credentials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
    /// The branch of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
}

/// The priority of a candidate that only reports an edit and the result of a check: true, but not
/// useful.
pub const THIN: u8 = 1;

/// A reusable finding, with its quotations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// `<session>:<method>:<words>`. The last part is derived from the text.
    pub id: String,
    /// Its number among the method's findings, from 1. 0 for findings of earlier versions.
    #[serde(default)]
    pub number: usize,
    /// The method that made it.
    pub method: String,
    /// The kind of finding.
    pub kind: Kind,
    /// The text of the finding.
    pub text: String,
    /// The situation in which to use it. Searches match it.
    pub when_to_use: String,
    /// The situations in which not to use it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub do_not_use_when: Option<String>,
    /// The events that support it.
    pub evidence_refs: Vec<String>,
    /// Quotations from these events.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub spans: Vec<Span>,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// From 1 to 5. 5 comes first, and 1 means little information.
    pub priority: u8,
    /// Where it applies.
    pub scope: Scope,
    /// The reason for the scope.
    pub scope_reason: String,
    /// The harm it could do if wrong.
    pub risk: Risk,
    /// Further data from the method.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub structured: Option<Value>,
    /// The working directory of the session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub origin_repo: Option<String>,
    /// The session's repository.
    #[serde(default)]
    pub repository: Repository,
    /// The author of the words it would pass on.
    pub origin: Voice,
    /// The subject. Two candidates with equal subject, kind and scope are the same, or one replaces
    /// the other.
    pub subject: String,
    /// The statement about the subject. Different statements contradict each other.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub stance: String,
    /// Identifiers, tools, error codes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub keywords: Vec<String>,
    /// Files it speaks of.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<String>,
    /// Files that it mentions.
    #[serde(default)]
    pub seen: u32,
    /// How often it was seen, and how often it worked, in this session.
    #[serde(default)]
    pub worked: u32,
    /// Identifies the captured bytes it is based on.
    pub source_hash: String,
    /// When the events behind it happened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub created_at: Option<Timestamp>,
    /// It is not shown after this time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Timestamp>,
}

impl Candidate {
    /// Its id in earlier versions, based on its number.
    pub fn earlier_id(&self) -> Option<String> {
        let (of, _) = self.id.rsplit_once(':')?;
        (self.number > 0).then(|| format!("{of}:{}", self.number))
    }
}

/// The result of one method on one session: the content of `mined/<method>/<agent>/<id>.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mined {
    /// The agent's session id.
    pub session_id: String,
    /// retro's name for the agent.
    pub agent: String,
    /// Same as `agent`, for older readers.
    pub host: String,
    /// The method's name.
    pub method: String,
    /// A summary of the session: its first prompt, shortened.
    pub task_summary: String,
    /// The method's findings.
    pub candidates: Vec<Candidate>,
    /// Remarks about the result.
    pub notes: Vec<String>,
    /// The filters that were applied, in order.
    pub filters_applied: Vec<String>,
}

/// The order in which candidates are stored and shown.
pub fn by_worth(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.priority
        .cmp(&a.priority)
        .then(b.confidence.total_cmp(&a.confidence))
        .then(a.kind.as_str().cmp(b.kind.as_str()))
        .then(a.number.cmp(&b.number))
        .then(a.id.cmp(&b.id))
}
