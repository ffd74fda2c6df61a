//! Forgotten sessions: a journal that names them only by a hash, and a lookup in it.
//!
//! The hash has a key of this store, so that the journal reveals no session by itself. A person
//! with the whole store can try an id and learn whether it was forgotten.

use retro_model::{SessionKey, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use crate::files::read_regular;
use crate::{Error, Journal, Lock, Store, head};

/// The journal of forgotten sessions.
pub const TOMBSTONES: &str = "tombstones.jsonl";

/// Number of hexadecimal digits of a hash.
const DIGITS: usize = 32;

/// Number of digits of a tombstone's id.
const ID_DIGITS: usize = 12;

/// One line: a session was forgotten, its removal is complete, or it may come back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// Names the tombstone: the beginning of the hash.
    pub id: String,
    /// Step that the line records.
    pub event: Event,
    /// Time of the step.
    pub at: Timestamp,
    /// Name of the agent.
    pub agent: String,
    /// The keyed hash of the session's id.
    pub session: String,
    /// Names the key of the hash. A store with another key cannot identify the session.
    pub key: String,
    /// Keyed hashes of other names of the session, used in files that serve many.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub names: Vec<String>,
    /// Whether its ledger is kept.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub keep_costs: bool,
}

/// The step in a line of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The session must be forgotten, and its removal has begun.
    Forgotten,
    /// All of its data was removed.
    Done,
    /// The session may be captured again.
    Undone,
}

/// A lookup of forgotten sessions.
#[derive(Debug, Clone, Default)]
pub struct Tombstones {
    key: [u8; 32],
    names_key: String,
    /// The newest line of each tombstone, by id.
    lines: BTreeMap<String, Tombstone>,
    /// Agent and hash of all forgotten names.
    hashes: HashSet<(String, String)>,
    /// Agent and hash of the sessions' own ids.
    sessions: HashSet<(String, String)>,
}

static JOURNAL: Journal<Tombstone> = Journal::at(TOMBSTONES);

impl Store {
    /// Reads the forgotten sessions.
    pub fn tombstones(&self) -> Result<Tombstones, Error> {
        Ok(Tombstones::of(self.tombstone_key(), JOURNAL.read(self)?.0))
    }

    /// Adds lines. They are on the medium when it returns.
    pub fn add_tombstones(&self, lock: &Lock, lines: &[Tombstone]) -> Result<(), Error> {
        JOURNAL.append(lock, self, lines)
    }

    fn tombstone_key(&self) -> [u8; 32] {
        key_of(self.head_key())
    }
}

fn key_of(head_key: &str) -> [u8; 32] {
    blake3::derive_key("retro store 1 names of forgotten sessions", head_key.as_bytes())
}

impl Tombstones {
    /// The forgotten sessions of the store at `root`. Empty if there is no store.
    pub fn at(root: &Path) -> Tombstones {
        let read = || -> Option<Tombstones> {
            let bytes = read_regular(&root.join(TOMBSTONES)).ok()??;
            let key = key_of(&head::open(root).ok()?.key);
            let lines = bytes.split(|byte| *byte == b'\n');
            Some(Tombstones::of(key, lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()))
        };
        read().unwrap_or_default()
    }

    fn of(key: [u8; 32], lines: Vec<Tombstone>) -> Tombstones {
        let names_key = blake3::hash(&key).to_hex().chars().take(16).collect();
        let mut stones = Tombstones { key, names_key, ..Tombstones::default() };
        for line in lines {
            // Only the first line has all fields of the tombstone.
            let is_later = line.event != Event::Forgotten;
            if let Some(known) = stones.lines.get_mut(&line.id).filter(|_| is_later) {
                (known.event, known.at) = (line.event, line.at);
            } else {
                stones.lines.insert(line.id.clone(), line);
            }
        }
        let standing: Vec<Tombstone> =
            stones.lines.values().filter(|line| line.event != Event::Undone).cloned().collect();
        for line in standing {
            let all = line.names.iter().chain([&line.session]);
            stones.hashes.extend(all.map(|hash| (line.agent.clone(), hash.clone())));
            stones.sessions.insert((line.agent.clone(), line.session.clone()));
        }
        stones
    }

    /// The same tombstones with further lines.
    pub fn with(&self, more: Vec<Tombstone>) -> Tombstones {
        Tombstones::of(self.key, self.lines.values().cloned().chain(more).collect())
    }

    /// Whether no session is forgotten.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Whether a session is forgotten.
    pub fn has(&self, key: &SessionKey) -> bool {
        !self.is_empty() && self.sessions.contains(&(key.agent.clone(), self.hash(&key.agent, &key.id)))
    }

    /// Whether a session of this agent is forgotten.
    pub fn has_agent(&self, agent: &str) -> bool {
        self.sessions.iter().any(|(other, _)| other == agent)
    }

    /// Whether a text is the id or another name of a forgotten session.
    pub fn is_name(&self, agent: &str, text: &str) -> bool {
        self.hashes.contains(&(agent.to_owned(), self.hash(agent, text)))
    }

    /// Every tombstone in force, by id.
    pub fn standing(&self) -> impl Iterator<Item = &Tombstone> {
        self.lines.values().filter(|line| line.event != Event::Undone)
    }

    /// Tombstones whose removal may be incomplete.
    pub fn unfinished(&self) -> impl Iterator<Item = &Tombstone> {
        self.lines.values().filter(|line| line.event == Event::Forgotten)
    }

    /// Whether a tombstone is about this session.
    pub fn is_about(&self, stone: &Tombstone, key: &SessionKey) -> bool {
        stone.agent == key.agent && stone.session == self.hash(&key.agent, &key.id)
    }

    /// Makes a line about a session.
    pub fn line(&self, key: &SessionKey, names: &[String], keep_costs: bool, at: Timestamp) -> Tombstone {
        let session = self.hash(&key.agent, &key.id);
        Tombstone {
            id: session.chars().take(ID_DIGITS).collect(),
            event: Event::Forgotten,
            at,
            agent: key.agent.clone(),
            key: self.names_key.clone(),
            names: names.iter().map(|name| self.hash(&key.agent, name)).collect(),
            session,
            keep_costs,
        }
    }

    /// Removes the lines about forgotten sessions from a file that serves many. `None` if there is
    /// no such line. A file that is a single JSON value is dropped as a whole if it names such a
    /// session.
    pub fn masked(&self, agent: &str, bytes: &[u8]) -> Option<(Vec<u8>, u64)> {
        if !self.has_agent(agent) {
            return None;
        }
        let mut kept = Vec::with_capacity(bytes.len());
        let mut masked = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match serde_json::from_slice::<serde_json::Value>(line) {
                Ok(value) if self.speaks_of(agent, &value) => masked += 1,
                Ok(_) => kept.extend_from_slice(line),
                Err(_) if self.is_said(agent, line) => masked += 1,
                Err(_) => kept.extend_from_slice(line),
            }
        }
        if masked == 0 {
            return None;
        }
        let is_one_value = serde_json::from_slice::<serde_json::Value>(bytes).is_ok();
        Some((if is_one_value { Vec::new() } else { kept }, masked))
    }

    fn speaks_of(&self, agent: &str, value: &serde_json::Value) -> bool {
        use serde_json::Value;
        match value {
            Value::String(text) => self.is_name(agent, text),
            Value::Array(values) => values.iter().any(|value| self.speaks_of(agent, value)),
            Value::Object(fields) => {
                fields.iter().any(|(name, value)| self.is_name(agent, name) || self.speaks_of(agent, value))
            }
            _ => false,
        }
    }

    /// Whether a line that is not JSON contains such a name as a word.
    fn is_said(&self, agent: &str, line: &[u8]) -> bool {
        let text = String::from_utf8_lossy(line);
        let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        text.split(|c| !is_part(c)).any(|word| word.len() >= 8 && self.is_name(agent, word))
    }

    fn hash(&self, agent: &str, name: &str) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(agent.as_bytes()).update(&[0]).update(name.as_bytes());
        hasher.finalize().to_hex().chars().take(DIGITS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stones(ids: &[&str]) -> Tombstones {
        let empty = Tombstones::of([7; 32], Vec::new());
        let at = Timestamp::from_millis(1).unwrap();
        let lines = ids
            .iter()
            .map(|id| empty.line(&SessionKey::new("claude", *id), &["leaf-0001".into()], false, at));
        Tombstones::of([7; 32], lines.collect())
    }

    #[test]
    fn a_line_names_its_session_by_a_hash_alone() {
        let stones = stones(&["6a1f0c52-secret"]);
        let text = serde_json::to_string(stones.standing().next().unwrap()).unwrap();
        assert!(!text.contains("6a1f") && !text.contains("leaf"), "{text}");
        assert!(stones.has(&SessionKey::new("claude", "6a1f0c52-secret")));
        assert!(!stones.has(&SessionKey::new("codex", "6a1f0c52-secret")));
        assert!(
            stones.is_name("claude", "leaf-0001") && !stones.has(&SessionKey::new("claude", "leaf-0001"))
        );
    }

    #[test]
    fn the_last_line_about_a_session_holds() {
        let first = stones(&["one"]);
        let line = first.standing().next().unwrap().clone();
        let with = |event| Tombstones::of([7; 32], vec![line.clone(), Tombstone { event, ..line.clone() }]);
        assert_eq!(first.unfinished().count(), 1);
        assert_eq!(with(Event::Done).unfinished().count(), 0);
        assert!(with(Event::Done).has(&SessionKey::new("claude", "one")));
        assert!(with(Event::Undone).is_empty());
    }

    #[test]
    fn lines_about_forgotten_sessions_are_cut_out() {
        let stones = stones(&["one-0001"]);
        let text = b"{\"display\":\"a\",\"sessionId\":\"one-0001\"}\n{\"display\":\"b\",\"sessionId\":\"two-0002\"}\nplain one-0001\nplain\n";
        let (kept, masked) = stones.masked("claude", text).unwrap();
        assert_eq!(masked, 2);
        assert_eq!(kept, b"{\"display\":\"b\",\"sessionId\":\"two-0002\"}\nplain\n");
        assert!(stones.masked("claude", b"{\"sessionId\":\"two-0002\"}\n").is_none());
        assert!(stones.masked("codex", text).is_none());
        let whole = b"{\n  \"one-0001\": {\"title\": \"words\"}\n}\n";
        assert_eq!(stones.masked("claude", whole), Some((Vec::new(), 1)));
    }
}
