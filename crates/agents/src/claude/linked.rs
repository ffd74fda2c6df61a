//! Which files behind a link to a project folder are taken.
//!
//! People move their logs to other disks and leave a link. But a link may also lead to a folder
//! that has nothing to do with any session, or to the whole disk. Therefore names must be those
//! that Claude Code gives: logs and folders of sessions are named by their ids, and a session's
//! folder may hold only the names listed here.

use std::ffi::OsStr;
use std::path::PathBuf;

use crate::walk::Entry;

/// The most files and folders visited behind all links together. A session with 50,000 sub-agents
/// has 100,000.
const ENTRIES_MAX: usize = 400_000;

/// The contents of a session's own folder (1.0 to 2.1).
const IN_SESSION: &[&str] = &["custom-title.json", "subagents", "tool-results"];

/// The contents of a project folder beside its sessions.
const IN_PROJECT: &[&str] = &["memory", "sessions-index.json"];

/// The links that a walk has passed through.
#[derive(Default)]
pub(super) struct Linked {
    links: Vec<PathBuf>,
    entries: usize,
    is_full_said: bool,
}

impl Linked {
    /// True if an entry of the projects folder is taken: always outside of links, and behind a link
    /// only if a project may contain it.
    pub(super) fn takes(&mut self, entry: &Entry<'_>) -> bool {
        if entry.depth == 1 {
            if entry.is_dir && entry.is_link() {
                self.links.push(entry.path.to_owned());
            }
            return true;
        }
        if !self.links.iter().any(|link| entry.path.starts_with(link)) {
            return true;
        }
        self.entries += 1;
        if self.entries > ENTRIES_MAX {
            return false;
        }
        let name = entry.name;
        let above = entry.path.parent().and_then(|folder| folder.file_name());
        match entry.depth {
            2 => is_of_session(name) || IN_PROJECT.iter().any(|known| *known == name),
            3 => above == Some(OsStr::new("memory")) || IN_SESSION.iter().any(|known| *known == name),
            _ => true,
        }
    }

    /// True once, when the limit is first passed.
    pub(super) fn is_full_now(&mut self) -> bool {
        self.entries > ENTRIES_MAX && !std::mem::replace(&mut self.is_full_said, true)
    }
}

/// True for the name of a session's log or folder, or of a sub-agent's log beside it.
fn is_of_session(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    let stem = name.strip_suffix(".jsonl").unwrap_or(name);
    is_id(stem) || (stem != name && stem.starts_with("agent-"))
}

/// True for an id as Claude Code makes them: a UUID.
fn is_id(name: &str) -> bool {
    const DASHES: [usize; 4] = [8, 13, 18, 23];
    let fits = |(at, byte): (usize, u8)| match DASHES.contains(&at) {
        true => byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    name.len() == 36 && name.bytes().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sessions_are_ids() {
        let id = "6a1f0c52-3b7d-4c1e-9a55-0d2b8e7f1a01";
        for name in [id.to_owned(), format!("{id}.jsonl"), "agent-a1.jsonl".to_owned()] {
            assert!(is_of_session(OsStr::new(&name)), "{name}");
        }
        for name in ["notes", "notes.jsonl", "agent-a1", "6a1f0c52-3b7d-4c1e-9a55-0d2b8e7f1a0", ""] {
            assert!(!is_of_session(OsStr::new(name)), "{name}");
        }
    }
}
