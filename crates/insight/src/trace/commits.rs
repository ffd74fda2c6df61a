//! Commits in a session's own output and commands.

use std::sync::LazyLock;

use regex::Regex;
use retro_text::{calls, plain};

/// A commit as git printed it: `[main 1a2b3c4] Fix the tax`, or one that a quiet `git commit` made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CommitSeen {
    /// The beginning of its hash. Empty if git printed none.
    pub hash: String,
    /// Its subject. Empty if the call does not contain it.
    pub subject: String,
    /// The event that showed the commit.
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

/// The subject of a `git commit` without output. `None` for any other call.
pub(super) fn quiet(command: &calls::Call) -> Option<String> {
    let step = command.steps.iter().find(|step| step.runner == "git commit")?;
    let short = |word: &str, letter: char| {
        word.strip_prefix('-').is_some_and(|flags| !flags.starts_with('-') && flags.contains(letter))
    };
    let words = step.arguments();
    if !words.iter().any(|word| word == "--quiet" || short(word, 'q')) {
        return None;
    }
    let message = words.iter().enumerate().find_map(|(at, word)| {
        let next = || words.get(at + 1).map(String::as_str);
        match word.as_str() {
            "--message" => next(),
            word if short(word, 'm') && word.ends_with('m') => next(),
            word => word.strip_prefix("--message="),
        }
    });
    // A message from a here-document begins on the line after its opening.
    let is_opening = |line: &&str| line.contains("<<") || line.trim().is_empty();
    let subject = message.and_then(|text| text.lines().find(|line| !is_opening(line)));
    Some(super::call::cut(subject.unwrap_or_default().trim(), 120))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_commit_has_the_subject_it_was_given() {
        let subject = |line: &str| quiet(&calls::understand(line));
        assert_eq!(subject("git commit -m 'Round up'"), None, "git prints this one");
        assert_eq!(subject("git add . && git commit -q -m 'Round up'").as_deref(), Some("Round up"));
        assert_eq!(subject("git commit -qam \"Round up\n\nWhy.\"").as_deref(), Some("Round up"));
        assert_eq!(subject("git commit --quiet --message='Round up'").as_deref(), Some("Round up"));
        let document = "git commit -q -m \"$(cat <<'EOF'\nRound up\nEOF\n)\"";
        assert_eq!(subject(document).as_deref(), Some("Round up"));
        assert_eq!(subject("git commit -q").as_deref(), Some(""));
    }

    #[test]
    fn commits_are_read_from_what_git_prints() {
        let output = "[main (root-commit) 1a2b3c4] Start\n 1 file changed\n[tax 99ffee0] Round up\n[x] no\n";
        let found: Vec<_> = seen(output, "m:1").into_iter().map(|c| (c.hash, c.subject)).collect();
        assert_eq!(found, [("1a2b3c4".into(), "Start".into()), ("99ffee0".into(), "Round up".into())]);
    }
}
