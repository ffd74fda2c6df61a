//! Commits that a session's own output shows.

use std::sync::LazyLock;

use regex::Regex;
use retro_text::plain;

/// A commit as git printed it when it was made: `[main 1a2b3c4] Fix the tax`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitSeen {
    /// The beginning of its hash.
    pub hash: String,
    /// Its subject.
    pub subject: String,
    /// The event that showed it.
    pub event: String,
}

static LINE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\[[^\]]*?\s?([0-9a-f]{7,40})\]\s+(.*)$").ok());

/// Commits that an output of git reports.
pub(super) fn seen(output: &str, event: &str) -> Vec<CommitSeen> {
    let mut seen: Vec<CommitSeen> = Vec::new();
    for line in plain::ends(output).flat_map(str::lines) {
        let line = plain::plain(line);
        let Some(found) = LINE.as_ref().and_then(|pattern| pattern.captures(&line)) else { continue };
        let text = |at: usize| found.get(at).map_or("", |found| found.as_str()).to_owned();
        let hash = text(1);
        if !seen.iter().any(|commit| commit.hash == hash) {
            seen.push(CommitSeen { hash, subject: super::call::cut(&text(2), 120), event: event.to_owned() });
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_from_what_git_prints() {
        let output = "[main (root-commit) 1a2b3c4] Start\n 1 file changed\n[tax 99ffee0] Round up\n[x] no\n";
        let found: Vec<_> = seen(output, "m:1").into_iter().map(|c| (c.hash, c.subject)).collect();
        assert_eq!(found, [("1a2b3c4".into(), "Start".into()), ("99ffee0".into(), "Round up".into())]);
    }
}
