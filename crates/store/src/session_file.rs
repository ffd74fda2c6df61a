//! The file that says what a session is: truth, kept even when its raw bytes go.

use retro_model::{Facts, Link, SessionKey, SourceKey, SourceKind, Timestamp, TitleRank};
use retro_text::Redacted;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::{Error, sealed};

/// Number of the schema.
pub(crate) const VERSION: u32 = 1;

const SCHEMA_NAME: &str = "retro.session/";

/// Lines of growth that a source may have. More are a mistake or malice, and
/// whoever goes through them one by one would never end.
const REVISIONS_MAX: u32 = 1_000_000;

/// What is kept of a session as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionFile {
    /// Which session.
    pub key: SessionKey,
    /// What its records say of it. `ended_at` and `limits` change with every
    /// append and are not kept.
    pub facts: Facts,
    /// Its parts.
    pub sources: BTreeMap<SourceKey, SourceEntry>,
    /// When its raw bytes were given up, if they were.
    pub evicted_at: Option<Timestamp>,
    /// Why it must not be given up, in the user's words.
    pub pins: BTreeSet<String>,
}

/// One part of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// How it changes.
    pub kind: SourceKind,
    /// How it is cut into records.
    pub format: String,
    /// Lines of growth captured.
    pub revisions: u32,
    /// The paths at which it was found.
    pub places: BTreeSet<String>,
}

/// The file as it is written. What stands before `sources` is for people and
/// other programs; `facts` says the same with the records that say it, and is
/// what we read back.
#[derive(Serialize, Deserialize)]
struct Written {
    schema: String,
    agent: String,
    id: String,
    #[serde(default)]
    title: Option<Redacted<String>>,
    #[serde(default)]
    title_from: Option<TitleRank>,
    #[serde(default)]
    cwd: Option<Redacted<String>>,
    #[serde(default)]
    branch: Option<Redacted<String>>,
    #[serde(default)]
    started_at: Option<Timestamp>,
    #[serde(default)]
    versions: BTreeSet<String>,
    #[serde(default)]
    models: BTreeSet<String>,
    #[serde(default)]
    links: BTreeSet<Link>,
    #[serde(default)]
    evicted_at: Option<Timestamp>,
    #[serde(default)]
    pins: BTreeSet<String>,
    sources: BTreeMap<SourceKey, SourceEntry>,
    facts: Facts,
}

/// Only what every schema has.
#[derive(Deserialize)]
struct AnySchema {
    schema: String,
}

impl SessionFile {
    /// A session of which nothing is known yet.
    pub fn new(key: SessionKey) -> SessionFile {
        SessionFile {
            key,
            facts: Facts::default(),
            sources: BTreeMap::new(),
            evicted_at: None,
            pins: BTreeSet::new(),
        }
    }

    /// The same without what is not kept.
    pub fn kept(&self) -> SessionFile {
        let mut kept = self.clone();
        kept.facts.ended_at = None;
        kept.facts.limits.clear();
        kept
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, serde_json::Error> {
        let SessionFile { key, facts, sources, evicted_at, pins } = self.kept();
        let title = facts.own_title();
        sealed::pretty(&Written {
            schema: format!("{SCHEMA_NAME}{VERSION}"),
            agent: key.agent,
            id: key.id,
            title_from: title.as_ref().map(|title| title.rank),
            title: title.map(|title| title.text),
            cwd: facts.cwd.clone().map(|(_, cwd)| cwd),
            branch: facts.branch.clone().map(|(_, branch)| branch),
            started_at: facts.started_at,
            versions: facts.versions.clone(),
            models: facts.models.clone(),
            links: facts.links.clone(),
            evicted_at,
            pins,
            sources,
            facts,
        })
    }

    /// The number of a file's schema, if it is a later one than ours.
    pub(crate) fn newer(bytes: &[u8]) -> Option<u32> {
        let any: AnySchema = sealed::unseal_if_sealed(bytes).ok()?;
        let number: u32 = any.schema.strip_prefix(SCHEMA_NAME)?.parse().ok()?;
        (number > VERSION).then_some(number)
    }

    /// The session of a file's bytes, or what is wrong with them.
    pub(crate) fn decode(bytes: &[u8]) -> Result<SessionFile, String> {
        let written: Written = sealed::unseal_if_sealed(bytes)?;
        if written.schema != format!("{SCHEMA_NAME}{VERSION}") {
            return Err(format!("its schema is {:?}, not \"{SCHEMA_NAME}{VERSION}\"", written.schema));
        }
        if let Some((source, _)) = written.sources.iter().find(|(_, entry)| entry.revisions > REVISIONS_MAX) {
            return Err(format!("it lists more than {REVISIONS_MAX} revisions of {source}"));
        }
        let Written { agent, id, sources, evicted_at, pins, facts, .. } = written;
        Ok(SessionFile { key: SessionKey { agent, id }, facts, sources, evicted_at, pins })
    }
}

/// The session file of these bytes, which are those at `path`.
pub(crate) fn decode_session(path: &Path, bytes: &[u8]) -> Result<SessionFile, Error> {
    SessionFile::decode(bytes).map_err(|what| match SessionFile::newer(bytes) {
        Some(found) => Error::Newer { path: path.to_owned(), found, known: VERSION },
        None => Error::Damaged {
            path: path.to_owned(),
            what,
            help: "`retro doctor --fix` makes it again from the raw bytes while they are there",
        },
    })
}
