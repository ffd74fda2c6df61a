//! Signals that the user defines: `[[signals]]` in the configuration.
//!
//! ```toml
//! [[signals]]
//! name = "deploys"
//! group = "activity"
//! command = "kubectl apply|helm upgrade"
//! ```

use regex::Regex;
use retro_model::{Outcome, ToolClass};

use crate::signals::Looked;
use crate::trace::{Beat, Speaker, What};
use crate::{Group, Reading, by_id};

/// A definition of a signal: it counts the beats that match all given conditions.
#[derive(Debug, Clone)]
pub struct OwnSignal {
    /// The name of the signal.
    pub name: String,
    /// The topic of the signal.
    pub group: Group,
    kind: Option<Kind>,
    class: Option<ToolClass>,
    path: Option<Regex>,
    command: Option<Regex>,
    text: Option<Regex>,
    outcome: Option<Outcome>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Call,
    User,
    Assistant,
    Interruption,
    Denial,
    Error,
    Compaction,
}

/// A definition that cannot be used, and its wrong key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("signals.{key}: {why}")]
pub struct BadSignal {
    /// The key inside the definition.
    pub key: String,
    /// The problem, for people.
    pub why: String,
}

/// The keys of a definition.
const KEYS: &[&str] = &["class", "command", "group", "kind", "name", "outcome", "path", "text"];

impl OwnSignal {
    /// Parses a definition from its keys and values.
    pub fn parse<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<OwnSignal, BadSignal> {
        let bad = |key: &str, why: String| BadSignal { key: key.to_owned(), why };
        let mut own = OwnSignal {
            name: String::new(),
            group: Group::Activity,
            kind: None,
            class: None,
            path: None,
            command: None,
            text: None,
            outcome: None,
        };
        for (key, value) in fields {
            let pattern = || Regex::new(value).map(Some).map_err(|error| bad(key, error.to_string()));
            match key {
                "name" => own.name = value.to_owned(),
                "group" => own.group = one_of(value, GROUPS).map_err(|why| bad(key, why))?,
                "kind" => own.kind = Some(one_of(value, KINDS).map_err(|why| bad(key, why))?),
                "class" => own.class = Some(one_of(value, CLASSES).map_err(|why| bad(key, why))?),
                "outcome" => own.outcome = Some(one_of(value, OUTCOMES).map_err(|why| bad(key, why))?),
                "path" => own.path = pattern()?,
                "command" => own.command = pattern()?,
                "text" => own.text = pattern()?,
                _ => return Err(bad(key, format!("no such key; there are {}", KEYS.join(", ")))),
            }
        }
        let named =
            !own.name.is_empty() && own.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !named {
            return Err(bad("name", "needs letters, digits and _".to_owned()));
        }
        if by_id(&own.name).is_some() {
            return Err(bad("name", format!("{:?} is a signal of retro's own", own.name)));
        }
        Ok(own)
    }

    pub(crate) fn read(&self, looked: &Looked<'_>) -> Reading {
        Reading::count(looked.trace.beats.iter().filter(|beat| self.fits(beat)).map(|beat| beat.id.as_str()))
    }

    fn fits(&self, beat: &Beat) -> bool {
        let of_call =
            self.class.is_some() || self.path.is_some() || self.command.is_some() || self.outcome.is_some();
        let kind = self.kind.or(of_call.then_some(Kind::Call));
        let matches = |pattern: &Option<Regex>, text: &str| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        match (&beat.what, kind) {
            (What::Call(call), Some(Kind::Call) | None) if !call.has_nested => {
                let mut paths = call.reads.iter().chain(call.edits.iter().map(|edit| &edit.path));
                self.class.is_none_or(|class| class == call.class)
                    && self.outcome.is_none_or(|outcome| {
                        call.outcome == Some(outcome) || (outcome == Outcome::Failed && call.is_failed())
                    })
                    && matches(&self.command, call.command.as_deref().unwrap_or_default())
                    && self.path.as_ref().is_none_or(|path| paths.any(|name| path.is_match(name)))
                    && (self.text.is_none()
                        || kind.is_some() && matches(&self.text, call.sample.as_deref().unwrap_or_default()))
                    && (of_call || kind.is_some())
            }
            (What::Said { by: Speaker::User, text }, Some(Kind::User) | None) => {
                !of_call && (self.text.is_some() || kind.is_some()) && matches(&self.text, text)
            }
            (What::Said { by: Speaker::Model, text }, Some(Kind::Assistant))
            | (What::Error { text }, Some(Kind::Error))
            | (What::Denial { text, .. }, Some(Kind::Denial)) => matches(&self.text, text),
            (What::Interruption, Some(Kind::Interruption)) | (What::Compaction, Some(Kind::Compaction)) => {
                true
            }
            _ => false,
        }
    }
}

const GROUPS: &[(&str, Group)] = &[
    ("activity", Group::Activity),
    ("cost", Group::Cost),
    ("outcome", Group::Outcome),
    ("risk", Group::Risk),
];
const KINDS: &[(&str, Kind)] = &[
    ("tool_call", Kind::Call),
    ("user", Kind::User),
    ("assistant", Kind::Assistant),
    ("interruption", Kind::Interruption),
    ("denial", Kind::Denial),
    ("error", Kind::Error),
    ("compaction", Kind::Compaction),
];
const CLASSES: &[(&str, ToolClass)] = &[
    ("shell", ToolClass::Shell),
    ("read", ToolClass::Read),
    ("search", ToolClass::Search),
    ("edit", ToolClass::Edit),
    ("web", ToolClass::Web),
    ("mcp", ToolClass::Mcp),
    ("subagent", ToolClass::Subagent),
    ("plan", ToolClass::Plan),
    ("ask", ToolClass::Ask),
    ("other", ToolClass::Other),
];
const OUTCOMES: &[(&str, Outcome)] = &[
    ("ok", Outcome::Ok),
    ("failed", Outcome::Failed),
    ("denied", Outcome::Denied),
    ("interrupted", Outcome::Interrupted),
    ("unknown", Outcome::Unknown),
];

fn one_of<T: Copy>(value: &str, table: &[(&str, T)]) -> Result<T, String> {
    let found = table.iter().find(|(name, _)| *name == value).map(|(_, found)| *found);
    let names: Vec<&str> = table.iter().map(|(name, _)| *name).collect();
    found.ok_or_else(|| format!("{value:?} is none of {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_definition_names_its_key() {
        let bad = |fields: &[(&str, &str)]| OwnSignal::parse(fields.iter().copied()).unwrap_err().to_string();
        assert_eq!(
            bad(&[("name", "x"), ("class", "shel")]),
            "signals.class: \"shel\" is none of shell, read, search, edit, web, mcp, subagent, plan, ask, other"
        );
        assert!(bad(&[("name", "x"), ("command", "(")]).starts_with("signals.command: "));
        assert!(bad(&[("nam", "x")]).starts_with("signals.nam: no such key"));
        assert!(bad(&[]).starts_with("signals.name: "));
        assert!(bad(&[("name", "command_count")]).contains("retro's own"));
    }
}
