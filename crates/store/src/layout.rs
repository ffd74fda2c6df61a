//! Places of raw files below the root. Pure: paths in, paths out. Documents of sessions have their
//! places in `documents.rs`.

use retro_model::{SessionKey, SourceKey};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as Unreadable, StrDeserializer};
use std::fmt;
use std::path::{Path, PathBuf};

use crate::names::{self, Decoded, SHARED};

/// The identity of a raw file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Slot {
    /// One revision of one part of a session.
    Session {
        /// Agent and id of the session.
        key: SessionKey,
        /// Part of the session.
        source: SourceKey,
        /// Number of the revision, from 1.
        revision: u32,
    },
    /// One revision of a file that serves many sessions.
    Shared {
        /// Name of the agent.
        agent: String,
        /// Our name for it.
        name: String,
        /// Number of the revision, from 1.
        revision: u32,
    },
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let revision = match self {
            Slot::Session { key, source, revision } => {
                write!(f, "{key}#{source}")?;
                revision
            }
            Slot::Shared { agent, name, revision } => {
                write!(f, "{agent}/{SHARED}#{name}")?;
                revision
            }
        };
        if *revision == 1 { Ok(()) } else { write!(f, "~{revision}") }
    }
}

/// Folders of the root with other contents than documents of sessions.
pub(crate) const RAW: &str = "raw";
/// Folder for raw files with foreign bytes that were set aside.
pub(crate) const ASIDE: &str = "aside";
pub(crate) const INDEX: &str = "index";
pub(crate) const QUEUE: &str = "queue";

/// Files of the root.
pub(crate) const HEAD: &str = "store.json";
pub(crate) const LOCK: &str = "lock";

/// File in each folder of truth that names its index.
pub(crate) const MARK: &str = "mark";

/// File in the folder of the index. It is locked while an index is created.
pub(crate) const MAKING: &str = "making";

/// Folder of the index for copies of other programs' databases, while they are read.
const COPIES: &str = "copies";

/// Ending of a file that is being written beside its place.
pub(crate) const PART: &str = ".part";

const RAW_ENDING: &str = ".zst";

/// The folder for copies of databases that cannot be read in place. `None` without a store. The
/// copying code creates the folder, and its contents may be removed at any time.
pub fn copies_folder(root: &Path) -> Option<PathBuf> {
    let is_real = |path: &Path| path.symlink_metadata().is_ok_and(|meta| !meta.is_symlink());
    let index = root.join(INDEX);
    (is_real(&root.join(HEAD)) && is_real(&index)).then(|| index.join(COPIES))
}

/// Path of a raw file. Most sessions have one raw file, the first of their main source. It is
/// beside the folder of the session, which only the other files need.
pub(crate) fn raw_file(root: &Path, slot: &Slot) -> PathBuf {
    let (folder, name, revision) = match slot {
        Slot::Session { key, .. } if is_main(slot) => {
            return agent_folder(root, &key.agent).join(main_name(&names::encode(&key.id)));
        }
        Slot::Session { key, source, revision } => {
            (raw_folder(root, key), names::encode(source.as_str()), *revision)
        }
        Slot::Shared { agent, name, revision } => {
            (shared_folder(root, agent), names::encode(name), *revision)
        }
    };
    folder.join(revision_name(&name, revision))
}

/// Path of that file in format 1, if it was elsewhere: in the folder of its session.
pub(crate) fn earlier_raw_file(root: &Path, slot: &Slot) -> Option<PathBuf> {
    match slot {
        Slot::Session { key, .. } if is_main(slot) => Some(raw_folder(root, key).join(EARLIER_MAIN)),
        _ => None,
    }
}

fn is_main(slot: &Slot) -> bool {
    matches!(slot, Slot::Session { source, revision: 1, .. } if source.is_main())
}

/// Name of the main raw file in a session's folder in format 1.
pub(crate) const EARLIER_MAIN: &str = "m.zst";

/// Ending of the main raw file of a session. No encoded name has a `~`, so no folder has such a
/// name.
const MAIN_ENDING: &str = "~m.zst";

/// The name of the main raw file of a session, from the session's encoded name.
pub(crate) fn main_name(session: &str) -> String {
    format!("{session}{MAIN_ENDING}")
}

/// The session in the name of a main raw file.
pub(crate) fn main_session(name: &str) -> Option<(&str, Decoded)> {
    let encoded = name.strip_suffix(MAIN_ENDING)?;
    Some((encoded, names::decode(encoded)?))
}

/// The name of a raw file in a folder, from the encoded name of its source.
pub(crate) fn revision_name(encoded: &str, revision: u32) -> String {
    match revision {
        1 => format!("{encoded}{RAW_ENDING}"),
        _ => format!("{encoded}~{revision}{RAW_ENDING}"),
    }
}

fn agent_folder(root: &Path, agent: &str) -> PathBuf {
    root.join(RAW).join(names::encode(agent))
}

/// The folder of a session that has more than its main raw file.
pub(crate) fn raw_folder(root: &Path, key: &SessionKey) -> PathBuf {
    agent_folder(root, &key.agent).join(names::encode(&key.id))
}

pub(crate) fn shared_folder(root: &Path, agent: &str) -> PathBuf {
    agent_folder(root, agent).join(SHARED)
}

/// Path of a file while it is written.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(PART);
    path.with_file_name(name)
}

/// The source name and revision of a raw file's name in a folder.
pub(crate) fn raw_name(name: &str) -> Option<(&str, Decoded, u32)> {
    let stem = name.strip_suffix(RAW_ENDING)?;
    let (encoded, revision) = match stem.rsplit_once('~') {
        None => (stem, 1),
        Some((encoded, number)) => {
            let revision: u32 = number.parse().ok()?;
            // Only in the written form: without a leading zero or a sign, and never the first
            // revision.
            if revision < 2 || revision.to_string() != number {
                return None;
            }
            (encoded, revision)
        }
    };
    Some((encoded, names::decode(encoded)?, revision))
}

/// A source key from its own text, already encoded once.
pub(crate) fn source_key(text: &str) -> Option<SourceKey> {
    if text == SourceKey::MAIN {
        return Some(SourceKey::main());
    }
    let text: StrDeserializer<'_, Unreadable> = text.into_deserializer();
    SourceKey::deserialize(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(source: &str, revision: u32) -> Slot {
        let key = SessionKey::new("claude", "S/1");
        Slot::Session { key, source: SourceKey::new(source), revision }
    }

    #[test]
    fn raw_files_lie_by_agent_session_source_and_revision() {
        let path = |slot: &Slot| raw_file(Path::new("root"), slot).to_string_lossy().replace('\\', "/");
        assert_eq!(path(&slot("m", 1)), "root/raw/claude/%53%2f1~m.zst");
        assert_eq!(path(&slot("m", 2)), "root/raw/claude/%53%2f1/m~2.zst");
        assert_eq!(path(&slot("a", 1)), "root/raw/claude/%53%2f1/a.zst");
        assert_eq!(path(&slot("a:b", 3)), "root/raw/claude/%53%2f1/a%253%41b~3.zst");
        let shared = Slot::Shared { agent: "codex".into(), name: "history".into(), revision: 2 };
        assert_eq!(path(&shared), "root/raw/codex/_shared/history~2.zst");
        assert_eq!(shared.to_string(), "codex/_shared#history~2");
        assert_eq!(slot("m", 1).to_string(), "claude/S/1#m");
    }

    #[test]
    fn names_of_raw_files_are_read_back() {
        assert_eq!(main_session("%53%2f1~m.zst"), Some(("%53%2f1", Decoded::Id("S/1".to_owned()))));
        for name in ["S~m.zst", "s.zst", "s~m~2.zst", "~m.zst", "_shared~m.zst", "s~m.zst.part"] {
            assert_eq!(main_session(name), None, "{name}");
        }
        for (source, revision) in [("m", 2), ("a:b", 3), ("Agent~7", 2)] {
            let path = raw_file(Path::new(""), &slot(source, revision));
            let name = path.file_name().unwrap().to_str().unwrap();
            let (_, decoded, back) = raw_name(name).unwrap();
            let Decoded::Id(text) = decoded else { panic!("{name} was cut") };
            assert_eq!((source_key(&text).unwrap(), back), (SourceKey::new(source), revision));
        }
        for name in ["m", "m~1.zst", "m~02.zst", "m~x.zst", "m~.zst", "m.zst.part", "M.zst"] {
            assert_eq!(raw_name(name), None, "{name}");
        }
    }
}
