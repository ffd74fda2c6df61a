//! The stages in their order, and how a session's stage is known to be current.
//!
//! A stage is a pure function with a version. What it was made from is written
//! down as a text, its *input*; when version or input differ, it runs again. So a
//! new parser, a changed stage and a grown log are the same case.

use retro_agents::Agent;
use retro_model::{SessionKey, SourceKind};
use retro_store::{SessionFile, Slot, Store};

use crate::Error;
use crate::capture::{Later, end_of};

/// One stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its version; raise it when it makes something else of the same input.
    pub version: u32,
    /// Hot stages run on every append, cold ones when a session has gone quiet.
    pub hot: bool,
    /// What it does.
    pub help: &'static str,
}

/// Every stage, in the order in which they run.
pub const STAGES: &[Stage] = &[
    Stage { name: "discover", version: 1, hot: true, help: "find the files of every session" },
    Stage { name: "capture", version: 1, hot: true, help: "keep their new bytes, and read them" },
    Stage { name: "ledger", version: 2, hot: false, help: "one row for each answer of a model" },
    Stage { name: "turns", version: 1, hot: true, help: "one row for each message that opens a turn" },
    Stage { name: "normalized", version: 1, hot: false, help: "the settled events of a quiet session" },
    Stage { name: "repack", version: 1, hot: false, help: "pack raw files of a session quiet for a day" },
];

/// The stage with this name.
pub fn by_name(name: &str) -> Option<&'static Stage> {
    STAGES.iter().find(|stage| stage.name == name)
}

/// Whether `stage` runs when syncing up to and including `until`.
pub fn runs(stage: &str, until: Option<&Stage>) -> bool {
    let place = |name: &str| STAGES.iter().position(|stage| stage.name == name);
    until.is_none_or(|until| place(stage) <= place(until.name))
}

/// Minutes without a change after which a session is quiet.
pub const QUIET_MINUTES: i64 = 10;

/// Hours without a change after which its raw files are packed.
pub const PACK_HOURS: i64 = 24;

/// Everything a session's events depend on: which bytes were captured. A log
/// only grows, so its length says which; a state file is told by its hash.
pub fn content(store: &Store, file: &SessionFile) -> Result<String, Error> {
    content_with(store, file, &[])
}

/// Like [`content`], with sources that are written later.
pub(crate) fn content_with(store: &Store, file: &SessionFile, later: &[Later]) -> Result<String, Error> {
    let mut parts = Vec::new();
    for (source, entry) in &file.sources {
        for revision in 1..=entry.revisions {
            if let Some(end) = end_of(later, source, revision) {
                parts.push(format!("{source}~{revision}:{end}"));
                continue;
            }
            let slot = Slot::Session { key: file.key.clone(), source: source.clone(), revision };
            let Some(commit) = store.archive(&slot).tail()? else { continue };
            let mut part = format!("{source}~{revision}:{}", commit.end);
            if entry.kind == SourceKind::State {
                part.push_str(&format!("={}", blake3::Hash::from_bytes(commit.hash).to_hex()));
            }
            parts.push(part);
        }
    }
    Ok(blake3::hash(parts.join("\n").as_bytes()).to_hex().to_string())
}

/// What a ledger is made from: the parser, and the content it read.
pub fn ledger_input(agent: &dyn Agent, content: &str) -> String {
    format!("{}.{content}", agent.parser_version())
}

/// The stamp a cached stream must carry to be current.
pub fn normalized_stamp(store: &Store, agent: &dyn Agent, key: &SessionKey) -> Result<String, Error> {
    let file = store.session(key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
    Ok(stamp(agent, &content(store, &file)?))
}

/// The stamp of a stream made from this content.
pub fn stamp(agent: &dyn Agent, content: &str) -> String {
    let version = by_name("normalized").map_or(0, |stage| stage.version);
    let rules = retro_text::secrets::RULES_VERSION;
    format!("{version}.{}.{rules}.{content}", agent.parser_version())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn until_is_inclusive() {
        let capture = by_name("capture");
        assert!(runs("discover", capture) && runs("capture", capture));
        assert!(!runs("turns", capture) && !runs("normalized", capture));
        assert!(runs("repack", None));
    }
}
