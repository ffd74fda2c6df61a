//! Addresses of sessions, sources, records and events.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use smol_str::SmolStr;
use std::fmt;
use std::str::FromStr;

/// One conversation: its agent, and the agent's own id for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SessionKey {
    /// The agent's name in retro, such as `claude`.
    pub agent: String,
    /// The agent's own id, as logged.
    pub id: String,
}

impl SessionKey {
    /// A key from its two parts.
    pub fn new(agent: impl Into<String>, id: impl Into<String>) -> Self {
        SessionKey { agent: agent.into(), id: id.into() }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.agent, self.id)
    }
}

/// The agent's own name for one part of a session, such as `m` for the main
/// log or `agent-1f3a` for a sub-agent's. Never a path.
///
/// The order is the order in which sources are folded: the main source first,
/// the others by name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SourceKey(SmolStr);

impl SourceKey {
    /// Key of the main source of every session.
    pub const MAIN: &'static str = "m";

    /// A key from the agent's name for the part. The characters that separate
    /// the parts of an event id are percent-encoded.
    pub fn new(name: &str) -> Self {
        let mut key = String::with_capacity(name.len());
        for c in name.chars() {
            match c {
                ':' | '~' | '#' | '%' | '/' | '\\' => key.push_str(&format!("%{:02X}", c as u32)),
                c if c.is_control() || c.is_whitespace() => key.push_str(&format!("%{:02X}", c as u32)),
                c => key.push(c),
            }
        }
        SourceKey(key.into())
    }

    /// The key of the main source.
    pub fn main() -> Self {
        SourceKey(SmolStr::new_static(Self::MAIN))
    }

    /// True for the key of the main source.
    pub fn is_main(&self) -> bool {
        &*self.0 == Self::MAIN
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialOrd for SourceKey {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SourceKey {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let (own, others) = (self.as_str(), other.as_str());
        (own != Self::MAIN, own).cmp(&(others != Self::MAIN, others))
    }
}

impl fmt::Display for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Position of one record: source, revision and record number, both from 1.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Address {
    /// The part of the session.
    pub source: SourceKey,
    /// The revision of that part, from 1.
    pub revision: u32,
    /// The number of the record, from 1. Blank lines count.
    pub record: u64,
}

impl Address {
    /// The id of an event of this record.
    pub fn event(&self, part: Part) -> EventId {
        EventId { source: self.source.clone(), revision: self.revision, record: self.record, part }
    }
}

/// The position of an event in its record.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The only event of the record.
    Whole,
    /// The event of the content block with this index.
    Block(u32),
    /// An event derived beside the others: `usage`, `rewind`, `denial`, …
    Tag(&'static str),
}

/// Tags that a derived event can carry. Fixed, so that ids are stable for ever.
const TAGS: &[&str] = &[
    "attachment",
    "call",
    "compaction",
    "denial",
    "error",
    "interruption",
    "model",
    "note",
    "plan",
    "result",
    "rewind",
    "session",
    "subagent",
    "usage",
    "user",
];

/// Address of an event inside its session: `<source>[~<revision>]:<record>[.<part>]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EventId {
    /// The part of the session.
    pub source: SourceKey,
    /// The revision, from 1. Revision 1 is not written.
    pub revision: u32,
    /// Record number, from 1.
    pub record: u64,
    /// The position of the event in its record.
    pub part: Part,
}

impl EventId {
    /// The address of the record that gave this event.
    pub fn address(&self) -> Address {
        Address { source: self.source.clone(), revision: self.revision, record: self.record }
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source.as_str())?;
        if self.revision != 1 {
            write!(f, "~{}", self.revision)?;
        }
        write!(f, ":{}", self.record)?;
        match &self.part {
            Part::Whole => Ok(()),
            Part::Block(index) => write!(f, ".{index}"),
            Part::Tag(tag) => write!(f, ".{tag}"),
        }
    }
}

/// A string that is not an event id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an event id; one looks like m:1042.1")]
pub struct BadAddress(pub String);

impl FromStr for EventId {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let bad = || BadAddress(text.to_owned());
        let (source, rest) = text.rsplit_once(':').ok_or_else(bad)?;
        let (source, revision) = match source.rsplit_once('~') {
            Some((source, revision)) => (source, revision.parse().map_err(|_| bad())?),
            None => (source, 1),
        };
        let (record, part) = match rest.split_once('.') {
            None => (rest, Part::Whole),
            Some((record, part)) => match part.parse() {
                Ok(index) => (record, Part::Block(index)),
                Err(_) => {
                    let tag = TAGS.iter().find(|tag| **tag == part).ok_or_else(bad)?;
                    (record, Part::Tag(tag))
                }
            },
        };
        let record = record.parse().map_err(|_| bad())?;
        if source.is_empty() || record == 0 || revision == 0 {
            return Err(bad());
        }
        Ok(EventId { source: SourceKey(source.to_owned().into()), revision, record, part })
    }
}

impl Serialize for EventId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ids_read_back_as_they_are_written() {
        for text in ["m:1", "m:1042.1", "agent-1f~3:7.usage", "a%3Ab:9.rewind"] {
            let id: EventId = text.parse().unwrap();
            assert_eq!(id.to_string(), text);
        }
        for text in ["", "m", "m:0", "m:x", "m:1.nope", ":1", "m~0:1", "m~x:1"] {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }

    #[test]
    fn tags_are_sorted() {
        assert!(TAGS.is_sorted());
    }

    #[test]
    fn the_main_source_comes_first() {
        let mut keys = [SourceKey::new("agent-1"), SourceKey::new("a"), SourceKey::main()];
        keys.sort();
        assert_eq!(keys.map(|k| k.to_string()), ["m", "a", "agent-1"]);
    }

    proptest! {
        #[test]
        fn any_name_makes_an_id_that_reads_back(name in "\\PC{1,20}", revision in 1u32.., record in 1u64..) {
            let source = SourceKey::new(&name);
            let id = EventId { source, revision, record, part: Part::Block(3) };
            prop_assert_eq!(id.to_string().parse::<EventId>().unwrap(), id);
        }
    }
}
