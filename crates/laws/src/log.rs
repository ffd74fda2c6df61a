//! `log-<agent>`: any bytes are a log of this agent.
//!
//! The bytes are the sources of one session, one after the other. A line `@@ agent-7` begins the
//! source with that name, and a second such line its next revision. Bytes before the first such
//! line, or after one without a name, are the main log.

use retro_agents::Agent;
use retro_model::{SessionKey, SourceKey};
use std::path::PathBuf;

use crate::Tried;
use crate::session::{self, Source};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

pub(crate) fn check(agent: &'static dyn Agent, bytes: &[u8]) -> Tried {
    session::check(agent, &key(agent), &sources(agent, bytes));
    Ok(())
}

/// The session that all bytes belong to.
pub(crate) fn key(agent: &dyn Agent) -> SessionKey {
    SessionKey::new(agent.name(), SESSION)
}

/// The sources in the bytes.
pub(crate) fn sources(agent: &dyn Agent, bytes: &[u8]) -> Vec<Source> {
    let mut sources = vec![source(agent, SourceKey::MAIN, &[])];
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"@@ ") {
            let name = match String::from_utf8_lossy(name.trim_ascii()) {
                name if name.is_empty() => SourceKey::MAIN.into(),
                name => name,
            };
            sources.push(source(agent, &name, &sources));
        } else if let Some(last) = sources.last_mut() {
            last.bytes.extend_from_slice(line);
        }
    }
    sources
}

fn source(agent: &dyn Agent, name: &str, before: &[Source]) -> Source {
    let key = SourceKey::new(name);
    let revision = 1 + before.iter().filter(|source| source.key == key).count() as u32;
    let stem = if key.is_main() { SESSION } else { key.as_str() };
    let path = PathBuf::from(format!("{stem}.jsonl"));
    Source { format: agent.source_form(&key).1, key, revision, path, bytes: Vec::new() }
}
