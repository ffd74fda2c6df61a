//! Something that was mined from a session, and the result of one method on one session.

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Makes an enum that is written as its names, and read by them.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$about:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$about])* #[serde(rename = $text)] $variant),+ }

        impl $name {
            /// Every one of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Its name in files and on the command line.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }

            /// The one with this name.
            pub fn parse(text: &str) -> Option<$name> {
                match text { $($text => Some($name::$variant),)+ _ => None }
            }
        }
    };
}

names! {
    /// What a candidate or memory is.
    Kind {
        /// How something is done, in steps.
        Procedure = "procedure",
        /// A procedure with a start, an end and a check.
        Skill = "skill",
        /// What goes wrong, and what helped.
        FailureTrigger = "failure_trigger",
        /// What a person wants everywhere.
        UserPreference = "user_preference",
        /// What a person wants in one repository.
        RepoConvention = "repo_convention",
        /// How a tool is used.
        ToolLesson = "tool_lesson",
        /// What must not be done carelessly.
        RiskRule = "risk_rule",
        /// Something that happened.
        Case = "case",
    }
}

names! {
    /// Where it holds.
    Scope {
        /// For one person, everywhere.
        User = "user",
        /// In one repository.
        Repo = "repo",
        /// For one kind of task.
        Task = "task",
        /// For everybody.
        Global = "global",
    }
}

names! {
    /// What it could do if it is wrong.
    Risk {
        /// Little.
        Low = "low",
        /// Something.
        Medium = "medium",
        /// Much: it is never shown unasked.
        High = "high",
    }
}

names! {
    /// Whose words a candidate rests on.
    Voice {
        /// A person typed them.
        User = "user",
        /// The model wrote them: commands, answers.
        Model = "model",
        /// A program of this machine printed them.
        Tool = "tool",
        /// They came from outside: the web, MCP.
        External = "external",
    }
}

/// Words of an event that a candidate quotes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// The event that holds them.
    pub event_id: String,
    /// The words, exactly as they are there.
    pub text: String,
    /// Whose words they are.
    pub voice: Voice,
}

/// Which repository.
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

/// The priority of a candidate that says no more than that something was edited and a check
/// passed or did not: true, and of no use to anybody.
pub const THIN: u8 = 1;

/// Something reusable, with the words that it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// `<session>:<method>:<words>`: the last part names what it says.
    pub id: String,
    /// Its place among what the method found, from 1; 0 for what earlier versions found.
    #[serde(default)]
    pub number: usize,
    /// The method that made it.
    pub method: String,
    /// What it is.
    pub kind: Kind,
    /// What it says.
    pub text: String,
    /// When it is of use: what it is found by.
    pub when_to_use: String,
    /// When it is not.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub do_not_use_when: Option<String>,
    /// The events it rests on.
    pub evidence_refs: Vec<String>,
    /// What it quotes of them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub spans: Vec<Span>,
    /// How sure it is, from 0 to 1.
    pub confidence: f64,
    /// From 1 to 5; 5 first, and 1 for what says little.
    pub priority: u8,
    /// Where it holds.
    pub scope: Scope,
    /// Why it holds there.
    pub scope_reason: String,
    /// What it could do if it is wrong.
    pub risk: Risk,
    /// What the method knows besides.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub structured: Option<Value>,
    /// The working directory of the session.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub origin_repo: Option<String>,
    /// Its repository.
    #[serde(default)]
    pub repository: Repository,
    /// Whose words it would hand on.
    pub origin: Voice,
    /// What it is about: two candidates about the same thing of the same kind and scope are
    /// the same, or one takes the place of the other.
    pub subject: String,
    /// Of what is said about the subject: another value contradicts.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub stance: String,
    /// Identifiers, tools, error codes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub keywords: Vec<String>,
    /// Files it speaks of.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub files: Vec<String>,
    /// Times it was seen, and times it worked, in this session.
    #[serde(default)]
    pub seen: u32,
    /// See `seen`.
    #[serde(default)]
    pub worked: u32,
    /// Names the captured bytes it was made from.
    pub source_hash: String,
    /// When what it rests on happened.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub created_at: Option<Timestamp>,
    /// After this it is not shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Timestamp>,
}

impl Candidate {
    /// What earlier versions called it: by its place.
    pub fn earlier_id(&self) -> Option<String> {
        let (of, _) = self.id.rsplit_once(':')?;
        (self.number > 0).then(|| format!("{of}:{}", self.number))
    }
}

/// What one method made of one session: the content of `mined/<method>/<agent>/<id>.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mined {
    /// The agent's id of the session.
    pub session_id: String,
    /// Our name of the agent.
    pub agent: String,
    /// The same, for readers of older files.
    pub host: String,
    /// The method.
    pub method: String,
    /// What the session was about: its first prompt, shortened.
    pub task_summary: String,
    /// What was found.
    pub candidates: Vec<Candidate>,
    /// What there is to say about it.
    pub notes: Vec<String>,
    /// The filters that were applied, in order.
    pub filters_applied: Vec<String>,
}

/// The order in which candidates are kept and shown.
pub fn by_worth(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.priority
        .cmp(&a.priority)
        .then(b.confidence.total_cmp(&a.confidence))
        .then(a.kind.as_str().cmp(b.kind.as_str()))
        .then(a.number.cmp(&b.number))
        .then(a.id.cmp(&b.id))
}
